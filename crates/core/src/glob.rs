//! Glob patterns of the settings: `*` matches any characters but `/`, `**` any at all, `?` a single
//! one. Matching is case-sensitive and needs no compilation step.

/// Whether the pattern matches the whole text.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to resume with a longer match of the last `*` and the last `**`.
    let mut star: Option<(usize, usize)> = None;
    let mut deep: Option<DoubleStar> = None;
    loop {
        match pattern.get(p) {
            Some(b'*') if pattern.get(p + 1) == Some(&b'*') => {
                p += 2;
                // `**/x` matches an `x` in this directory or any below it.
                let whole_directories = pattern.get(p) == Some(&b'/') && is_component_start(text, t);
                p += usize::from(whole_directories);
                deep = Some(DoubleStar { after: p, from: t, whole_directories });
                star = None;
                continue;
            }
            Some(b'*') => {
                p += 1;
                star = Some((p, t));
                continue;
            }
            Some(b'?') if text.get(t).is_some_and(|&byte| byte != b'/') => {
                p += 1;
                t = char_end(text, t);
                continue;
            }
            Some(byte) if text.get(t) == Some(byte) => {
                p += 1;
                t += 1;
                continue;
            }
            None if t == text.len() => return true,
            _ => {}
        }
        if let Some((after, from)) = star
            && text.get(from).is_some_and(|&byte| byte != b'/')
        {
            star = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else if let Some(more) = deep.and_then(|deep| deep.extend(text)) {
            (p, t) = (more.after, more.from);
            deep = Some(more);
            star = None;
        } else {
            return false;
        }
    }
}

/// A `**` and how much it matches so far.
#[derive(Clone, Copy)]
struct DoubleStar {
    /// Where the pattern continues.
    after: usize,
    /// Where the text continues.
    from: usize,
    whole_directories: bool,
}

impl DoubleStar {
    fn extend(self, text: &[u8]) -> Option<Self> {
        let rest = text.get(self.from..).filter(|rest| !rest.is_empty())?;
        let step = if self.whole_directories { rest.iter().position(|byte| *byte == b'/')? + 1 } else { 1 };
        Some(Self { from: self.from + step, ..self })
    }
}

/// Whether the pattern matches the path or one of its parent directories, whole or from any `/` on:
/// `build` and `*.pem` work as in an ignore file. A pattern that begins with `/` or `~/` is
/// anchored to the root or the home directory.
pub fn matches_path(pattern: &str, path: &str, home: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    if pattern.is_empty() {
        return false;
    }
    if let Some(below) = pattern.strip_prefix("~/") {
        let full = format!("{}/{below}", home.trim_end_matches('/'));
        return !home.is_empty() && self_and_ancestors(path).any(|path| matches(&full, path));
    }
    if pattern.starts_with('/') {
        return self_and_ancestors(path).any(|path| matches(pattern, path));
    }
    self_and_ancestors(path).any(|path| {
        let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
        std::iter::once(path).chain(ends).any(|end| matches(pattern, end))
    })
}

/// `/a/b`, then `/a`.
fn self_and_ancestors(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches('/');
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(above, _)| above))
        .filter(|path| !path.is_empty())
}

fn is_component_start(text: &[u8], at: usize) -> bool {
    at == 0 || text[at - 1] == b'/'
}

fn char_end(text: &[u8], at: usize) -> usize {
    let rest = text[at + 1..].iter();
    at + 1 + rest.take_while(|byte| **byte & 0xC0 == 0x80).count()
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
