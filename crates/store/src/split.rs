//! Splits identifiers and paths into words, so that a part of one finds it.

/// The parts of each compound identifier or path in `text`, without duplicates: `getUserById` gives
/// `get User By Id`, `src/auth/session.rs` gives `src auth session rs`. Words without parts are
/// left out: the index already holds them.
pub fn split_identifiers(text: &str) -> String {
    let mut out = String::new();
    let mut seen = std::collections::HashSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/' | '.' | ':')) {
        let parts = identifier_parts(word);
        let mut add = |part: &str| {
            if part.len() > 1 && seen.insert(part.to_lowercase()) {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(part);
            }
        };
        if parts.len() > 1 {
            parts.iter().copied().for_each(&mut add);
        }
        for run in unspaced_runs(word) {
            bigrams(run).for_each(&mut add);
            unigrams(run).for_each(&mut add);
        }
    }
    out
}

/// A query word as index tokens: runs of an unspaced script become bigrams, all of which are
/// indexed; other runs stay whole.
pub fn split_unspaced(word: String) -> Vec<String> {
    if word.is_ascii() || !word.chars().any(is_unspaced) {
        return vec![word];
    }
    let mut found = Vec::new();
    for run in script_runs(&word) {
        if run.starts_with(is_unspaced) && run.chars().nth(1).is_some() {
            found.extend(bigrams(run).map(str::to_owned));
        } else {
            found.push(run.to_owned());
        }
    }
    found
}

/// Han, kana, Hangul, Thai, Lao, Khmer, Burmese: scripts that do not separate words by spaces, or
/// not by spaces alone.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// Cuts a word where the script changes between spaced and unspaced.
fn script_runs(word: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in word.char_indices() {
        let here = is_unspaced(c);
        if before.is_some_and(|before| before != here) {
            runs.push(&word[start..at]);
            start = at;
        }
        before = Some(here);
    }
    if start < word.len() {
        runs.push(&word[start..]);
    }
    runs
}

fn unspaced_runs(word: &str) -> impl Iterator<Item = &str> {
    let runs = if word.is_ascii() { Vec::new() } else { script_runs(word) };
    runs.into_iter().filter(|run| run.starts_with(is_unspaced))
}

/// Each pair of neighbouring characters.
fn bigrams(run: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    (2..starts.len()).map(move |end| &run[starts[end - 2]..starts[end]])
}

fn unigrams(run: &str) -> impl Iterator<Item = &str> {
    let ends = run.char_indices();
    ends.map(|(at, c)| &run[at..at + c.len_utf8()])
}

/// Cuts at every separator, at each change from lower to upper case, before the last capital of a
/// run that continues in lower case (`HTTPServer` → `HTTP Server`), and between letters and digits.
pub fn identifier_parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in word.split(|c: char| !c.is_alphanumeric()) {
        let chars: Vec<(usize, char)> = piece.char_indices().collect();
        let mut start = 0;
        for at in 1..chars.len() {
            let (before, (byte, here)) = (chars[at - 1].1, chars[at]);
            let goes_on_lower = chars.get(at + 1).is_some_and(|next| next.1.is_lowercase());
            let cut = (before.is_lowercase() && here.is_uppercase())
                || (before.is_uppercase() && here.is_uppercase() && goes_on_lower)
                || (before.is_numeric() != here.is_numeric())
                || (is_unspaced(before) != is_unspaced(here));
            if cut {
                parts.push(&piece[start..byte]);
                start = byte;
            }
        }
        if start < piece.len() {
            parts.push(&piece[start..]);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{split_identifiers, split_unspaced};

    #[test]
    fn unspaced_scripts_are_split_into_bigrams() {
        for (word, want) in [
            ("login", vec!["login"]),
            ("ошибка", vec!["ошибка"]),
            ("登", vec!["登"]),
            ("登录", vec!["登录"]),
            ("登录错误", vec!["登录", "录错", "错误"]),
            ("api登录", vec!["api", "登录"]),
            ("ログイン", vec!["ログ", "グイ", "イン"]),
        ] {
            assert_eq!(split_unspaced(word.to_owned()), want, "of {word}");
        }
    }

    #[test]
    fn identifiers_and_paths_are_split() {
        for (text, want) in [
            ("getUserById", "get User By Id"),
            ("snake_case_name", "snake case name"),
            ("src/auth/session.rs", "src auth session rs"),
            ("HTTPServerError", "HTTP Server Error"),
            ("sha256sum", "sha 256 sum"),
            ("std::sync::Arc", "std sync Arc"),
            ("kebab-case and plain words", "kebab case"),
            ("MAX_ATTEMPTS max_attempts", "MAX ATTEMPTS"),
            ("plain words only", ""),
            ("größeÄndern", "größe Ändern"),
            ("修复登录", "修复 复登 登录 修 复 登 录"),
            ("API登录", "API 登录 登 录"),
            ("", ""),
        ] {
            assert_eq!(split_identifiers(text), want, "of {text:?}");
        }
    }
}
