//! Names from code in a text: the surest sign of what it is about.

/// How surely a name tells what is spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sureness {
    /// A file, `JavaScript`, `under2camel`: there are many of the kind, and products are called
    /// so too.
    Hint,
    /// `claim_job`, `MAX_ATTEMPTS`, `advance()`: nobody writes it who does not mean it.
    Sure,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// In lower case.
    pub text: String,
    pub sureness: Sureness,
}

/// Names that one prompt may have; more are a listing.
const NAMES_MAX: usize = 24;
const CHARS_MIN: usize = 4;

/// The names in a text, each once.
pub fn names(text: &str) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    for token in text.split(|c: char| c.is_whitespace() || "\"'`“”‘’,;|<>[]{}=".contains(c))
    {
        let called = token.contains("()");
        for piece in token.split(['(', ')']) {
            let Some(name) = name(piece, called) else {
                continue;
            };
            if found.len() < NAMES_MAX && !found.iter().any(|known| known.text == name.text) {
                found.push(name);
            }
        }
    }
    found
}

fn name(piece: &str, called: bool) -> Option<Name> {
    let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
    // `session.rs:42` is said of the file.
    let piece = match piece.rsplit_once(':') {
        Some((file, line)) if line.chars().all(|c| c.is_ascii_digit()) => file,
        _ => piece,
    };
    // Of a path the last part; of `module.function` and `Type::method` too, unless it is a file.
    let last = piece.rsplit(['/', '\\', '#', ':']).next()?;
    let last = last.trim_matches(|c: char| !c.is_alphanumeric());
    let (text, sureness) = match last.rsplit_once('.') {
        Some((stem, end)) if is_extension(end) && stem.chars().any(char::is_alphabetic) => {
            (last, Sureness::Hint)
        }
        Some((_, end)) => (end, sureness(end, called)?),
        None => (last, sureness(last, called)?),
    };
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    if text.chars().count() < CHARS_MIN || !text.chars().all(is_plain) {
        return None;
    }
    Some(Name {
        text: text.to_lowercase(),
        sureness,
    })
}

/// Short, and a letter among it: `py`, `rs`, `mp4`, `json`.
fn is_extension(end: &str) -> bool {
    (1..=4).contains(&end.len())
        && end
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        && end.starts_with(|c: char| c.is_ascii_lowercase())
}

/// `None`: a word like any other.
fn sureness(word: &str, called: bool) -> Option<Sureness> {
    let chars: Vec<char> = word.chars().collect();
    if !chars.first().is_some_and(|c| c.is_alphabetic()) || word.contains('-') {
        return None;
    }
    let joins = chars
        .windows(3)
        .any(|w| w[0].is_alphanumeric() && w[1] == '_' && w[2].is_alphanumeric());
    if joins || called {
        return Some(Sureness::Sure);
    }
    let humps = chars
        .windows(2)
        .any(|w| w[0].is_lowercase() && w[1].is_uppercase());
    let digit_inside = chars
        .windows(3)
        .any(|w| w[0].is_lowercase() && w[1].is_ascii_digit() && w[2].is_lowercase());
    (humps || (digit_inside && chars.len() >= 6)).then_some(Sureness::Hint)
}

/// Whether a name stands whole in a text that is in lower case.
pub fn stands_in(name: &str, text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_prose() {
        for (text, want) in [
            ("fix overage_charge rounding", "overage_charge!"),
            ("why is MAX_ATTEMPTS 7?", "max_attempts!"),
            ("look at src/auth/session.rs:42", "session.rs"),
            ("/srv/app/cfg/flags.py is broken.", "flags.py"),
            ("sha_256 and hash_v2: same", "sha_256! hash_v2!"),
            ("getUserById() fails", "getuserbyid!"),
            ("advance() lets it through, Retrier does not", "advance!"),
            (
                "`under2camel` mangles HttpResponse",
                "under2camel httpresponse",
            ),
            ("apply_updates({'db': 1})", "apply_updates!"),
            (
                "write JavaScript and/or TypeScript",
                "javascript typescript",
            ),
            ("TCP and UDP, e.g. on 3.11, well-known", ""),
            (
                "billing.overage_charge and Queue::claim_job",
                "overage_charge! claim_job!",
            ),
            ("", ""),
        ] {
            let found: Vec<String> = names(text)
                .iter()
                .map(|name| {
                    let sure = name.sureness == Sureness::Sure;
                    format!("{}{}", name.text, if sure { "!" } else { "" })
                })
                .collect();
            assert_eq!(found.join(" "), want, "in {text:?}");
        }
    }

    #[test]
    fn a_name_stands_whole_or_not_at_all() {
        let text = "claim_job takes a lease; see src/queue.rs";
        assert!(stands_in("claim_job", text) && stands_in("queue.rs", text));
        assert!(!stands_in("claim", text) && !stands_in("aim_job", text));
    }
}
