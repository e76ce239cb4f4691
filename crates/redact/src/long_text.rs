//! [`LongText`]: a text of any length as it may be stored.
//!
//! Long texts are redacted where they are read: in hooks, in the transcript reader, in the parser of a model's
//! answer, in imports. The store writes them only as a [`LongText`], which redacts once more. Redaction is
//! idempotent, so this changes nothing unless one of these places has missed something.

use std::borrow::Cow;

use crate::{private, secrets};

/// A redacted text without private blocks and secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongText<'a>(Cow<'a, str>);

impl<'a> LongText<'a> {
    pub fn new(text: &'a str) -> Self {
        Self(match private(text).text {
            Cow::Borrowed(text) => secrets(text),
            Cow::Owned(visible) => Cow::Owned(secrets(&visible).into_owned()),
        })
    }

    pub fn into_text(self) -> Cow<'a, str> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_secrets_and_private_blocks_change_a_text() {
        let secret = "ghp_9fQ2mVx7Lk4TzR1bYc8WnE5sJd3HaP6uGi0o";
        for (text, stored) in [
            ("Money is counted in cents.", "Money is counted in cents."),
            ("a <private>b</private> c", "a  c"),
            (&format!("the token {secret} expired"), "the token [redacted:github-pat] expired"),
            (&format!("<private>x</private>{secret}"), "[redacted:github-pat]"),
        ] {
            let once = LongText::new(text).into_text();
            assert_eq!(once, stored);
            assert_eq!(LongText::new(&once).into_text(), stored, "twice");
        }
        assert!(matches!(LongText::new("plain").into_text(), Cow::Borrowed(_)));
    }
}
