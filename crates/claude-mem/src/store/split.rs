//! Identifiers and paths taken apart, so that a part of one finds it.

/// The parts of every identifier or path in `text` that has more than one, each once:
/// `getUserById` gives `get User By Id`, `src/auth/session.rs` gives `src auth session rs`.
/// Words that have no parts are not repeated; the index has them already.
pub fn split_identifiers(text: &str) -> String {
    let mut out = String::new();
    let mut seen = std::collections::HashSet::new();
    for word in
        text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/' | '.' | ':'))
    {
        let parts = parts(word);
        if parts.len() < 2 {
            continue;
        }
        for part in parts {
            if part.len() > 1 && seen.insert(part.to_lowercase()) {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(part);
            }
        }
    }
    out
}

/// Cuts at every separator, at each step from lower to upper case, before the last capital of
/// a run that goes on in lower case (`HTTPServer` → `HTTP Server`), and between letters and digits.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in word.split(|c: char| !c.is_alphanumeric()) {
        let chars: Vec<(usize, char)> = piece.char_indices().collect();
        let mut start = 0;
        for at in 1..chars.len() {
            let (before, (byte, here)) = (chars[at - 1].1, chars[at]);
            let goes_on_lower = chars.get(at + 1).is_some_and(|next| next.1.is_lowercase());
            let cut = (before.is_lowercase() && here.is_uppercase())
                || (before.is_uppercase() && here.is_uppercase() && goes_on_lower)
                || (before.is_numeric() != here.is_numeric());
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
    use super::split_identifiers;

    #[test]
    fn identifiers_and_paths_are_found_by_their_parts() {
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
            ("", ""),
        ] {
            assert_eq!(split_identifiers(text), want, "of {text:?}");
        }
    }
}
