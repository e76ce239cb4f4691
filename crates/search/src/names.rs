//! Finds code names (functions, constants, files) in prose.
//!
//! A shared [`CodeName`] is the strongest evidence that two texts are about the same thing.

/// How strongly a name identifies a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameConfidence {
    /// A file name, `JavaScript`, `under2camel`: many share the form, including product names.
    Hint,
    /// `claim_job`, `MAX_ATTEMPTS`, `advance()`: unmistakably code.
    Certain,
}

/// A code name found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeName {
    /// The name in lower case.
    pub text: String,
    pub confidence: NameConfidence,
}

/// Maximum names per text; a text with more is a listing.
const NAMES_MAX: usize = 24;
/// Minimum length of a name, in characters.
const CHARS_MIN: usize = 4;

/// The distinct code names in a text, at most `NAMES_MAX`.
pub fn code_names(text: &str) -> Vec<CodeName> {
    let mut found: Vec<CodeName> = Vec::new();
    for token in text.split(|c: char| c.is_whitespace() || "\"'`“”‘’,;|<>[]{}=".contains(c)) {
        let called = token.contains("()");
        for piece in token.split(['(', ')']) {
            let Some(name) = parse_code_name(piece, called) else {
                continue;
            };
            if found.len() < NAMES_MAX && !found.iter().any(|known| known.text == name.text) {
                found.push(name);
            }
        }
    }
    found
}

/// Parses one piece as a code name; `called` means it was written as a call, `f()`.
fn parse_code_name(piece: &str, called: bool) -> Option<CodeName> {
    let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
    // `session.rs:42` names the file.
    let piece = match piece.rsplit_once(':') {
        Some((file, line)) if line.chars().all(|c| c.is_ascii_digit()) => file,
        _ => piece,
    };
    // Takes the last component of a path, `module.function` or `Type::method`, but keeps a file's
    // extension.
    let last = piece.rsplit(['/', '\\', '#', ':']).next()?;
    let last = last.trim_matches(|c: char| !c.is_alphanumeric());
    let (text, sureness) = match last.rsplit_once('.') {
        Some((stem, end)) if is_extension(end) && stem.chars().any(char::is_alphabetic) => {
            (last, NameConfidence::Hint)
        }
        Some((_, end)) => (end, classify_word(end, called)?),
        None => (last, classify_word(last, called)?),
    };
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    if text.chars().count() < CHARS_MIN || !text.chars().all(is_plain) {
        return None;
    }
    Some(CodeName { text: text.to_lowercase(), confidence: sureness })
}

/// Whether this looks like a file extension: `py`, `rs`, `mp4`, `json`.
fn is_extension(end: &str) -> bool {
    (1..=4).contains(&end.len())
        && end.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        && end.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Classifies a word by its spelling; `None` for an ordinary word.
fn classify_word(word: &str, called: bool) -> Option<NameConfidence> {
    let chars: Vec<char> = word.chars().collect();
    if !chars.first().is_some_and(|c| c.is_alphabetic()) || word.contains('-') {
        return None;
    }
    let joins = chars.windows(3).any(|w| w[0].is_alphanumeric() && w[1] == '_' && w[2].is_alphanumeric());
    if joins || called {
        return Some(NameConfidence::Certain);
    }
    let humps = chars.windows(2).any(|w| w[0].is_lowercase() && w[1].is_uppercase());
    let digit_inside =
        chars.windows(3).any(|w| w[0].is_lowercase() && w[1].is_ascii_digit() && w[2].is_lowercase());
    (humps || (digit_inside && chars.len() >= 6)).then_some(NameConfidence::Hint)
}

/// Whether a lower-case text contains the name as a whole word.
pub fn contains_name(name: &str, text: &str) -> bool {
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
    fn code_names_are_found_in_prose() {
        for (text, want) in [
            ("fix overage_charge rounding", "overage_charge!"),
            ("why is MAX_ATTEMPTS 7?", "max_attempts!"),
            ("look at src/auth/session.rs:42", "session.rs"),
            ("/srv/app/cfg/flags.py is broken.", "flags.py"),
            ("sha_256 and hash_v2: same", "sha_256! hash_v2!"),
            ("getUserById() fails", "getuserbyid!"),
            ("advance() lets it through, Retrier does not", "advance!"),
            ("`under2camel` mangles HttpResponse", "under2camel httpresponse"),
            ("apply_updates({'db': 1})", "apply_updates!"),
            ("write JavaScript and/or TypeScript", "javascript typescript"),
            ("TCP and UDP, e.g. on 3.11, well-known", ""),
            ("billing.overage_charge and Queue::claim_job", "overage_charge! claim_job!"),
            ("", ""),
        ] {
            let found: Vec<String> = code_names(text)
                .iter()
                .map(|name| {
                    let sure = name.confidence == NameConfidence::Certain;
                    format!("{}{}", name.text, if sure { "!" } else { "" })
                })
                .collect();
            assert_eq!(found.join(" "), want, "in {text:?}");
        }
    }

    #[test]
    fn names_match_whole_words_only() {
        let text = "claim_job takes a lease; see src/queue.rs";
        assert!(contains_name("claim_job", text) && contains_name("queue.rs", text));
        assert!(!contains_name("claim", text) && !contains_name("aim_job", text));
    }
}
