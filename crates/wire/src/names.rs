//! Rules for the short texts that members see of each other.

use crate::limits::{HANDLE_CHARS_MAX, NAME_CHARS_MAX, SPACE_KEY_BYTES_MAX};

/// Whether this can be a member's handle: lower-case letters, digits, `-`, `_` and `.`, beginning with a
/// letter or digit. Handles stand in queries (`who:mira`) and in lines that an agent reads.
pub fn is_handle(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= HANDLE_CHARS_MAX
        && text.starts_with(is_plain)
        && text.chars().all(|c| is_plain(c) || matches!(c, '-' | '_' | '.'))
}

/// Whether this can be a key of a project's space, such as `remote:github.com/acme/app`.
pub fn is_space_key(text: &str) -> bool {
    let is_visible = |c: char| c.is_ascii_graphic() || (c.is_alphanumeric() && !c.is_ascii());
    text.len() <= SPACE_KEY_BYTES_MAX
        && text.strip_prefix("remote:").is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_visible))
}

/// A display name in one line: control and invisible characters removed, blanks joined, cut to the limit.
/// `None` if nothing is left.
pub fn tidy_name(text: &str) -> Option<String> {
    let visible = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| is_shown(*c));
    let joined: String = visible.collect();
    let short: String =
        joined.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(NAME_CHARS_MAX).collect();
    let short = short.trim_end().to_owned();
    (!short.is_empty()).then_some(short)
}

/// Whether a character is neither a control nor one that reorders or hides text.
fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        && !matches!(c, '<' | '>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_plain_words() {
        for good in ["mira", "j.doe-2", "ci_bot", "7"] {
            assert!(is_handle(good), "{good}");
        }
        for bad in ["", "Mira", "-a", "a b", "é", &"a".repeat(33), "a\n"] {
            assert!(!is_handle(bad), "{bad}");
        }
    }

    #[test]
    fn names_are_one_visible_line() {
        for (given, want) in [
            ("  Mira \n Vogt ", Some("Mira Vogt")),
            ("a\u{202e}b\u{200b}c", Some("abc")),
            ("</system>", Some("/system")),
            (" \u{feff}\n", None),
        ] {
            assert_eq!(tidy_name(given).as_deref(), want, "{given:?}");
        }
        assert_eq!(tidy_name(&"é".repeat(100)).unwrap().chars().count(), NAME_CHARS_MAX);
    }

    #[test]
    fn keys_name_a_remote() {
        assert!(is_space_key("remote:github.com/acme/app"));
        for bad in ["", "remote:", "path:/home/mira", "remote:a b", "remote:a\0"] {
            assert!(!is_space_key(bad), "{bad:?}");
        }
    }
}
