//! Takes out what must not be kept, before the first byte is written anywhere.
//!
//! In: text and JSON as the client sent them. Out: the same without private blocks, without
//! memory's own context, cut to size, with `[redacted:<rule>]` for every secret.
//!
//! The order is part of the promise: private blocks over everything, because one may begin in a
//! part that is cut; then the cut, because secrets are the dear step; then secrets, with a margin
//! beyond the cut.
//!
//! Invariant: redacting twice is the same as redacting once, and a clean text is returned as it
//! was, not copied. Absent on purpose: files, clocks, regular expressions, anything that must be
//! built before it can be used. A hook is a fresh process every time.

use std::borrow::Cow;

mod assign;
mod class;
mod code;
mod command;
mod cookie;
mod cut;
mod expect;
mod flow;
mod joint;
mod json;
mod judge;
mod literal;
mod manifest;
mod names;
mod path;
mod pem;
mod place;
mod private;
mod query;
mod reference;
mod rules;
mod samples;
mod scheme;
mod secrets;
mod shape;
mod share;
mod tag;
mod url;
mod value;

pub use cut::Cut;
pub use flow::{Flow, Passed};
pub use json::json;
pub use path::path;
pub use private::{Stripped, strip as private};
#[doc(hidden)]
pub use samples::{Sample, rules};

/// A text that may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    pub text: Cow<'a, str>,
    /// There was something private and nothing else: a prompt like this mutes its turn.
    pub fully_private: bool,
    /// How many secrets were masked.
    pub masked: u32,
}

/// Redacts one text: private blocks, then the cut, then secrets.
pub fn text(text: &str, keep: Cut) -> Redacted<'_> {
    let stripped = private(text);
    let fully_private = stripped.is_fully_private();
    match cut::redact(&stripped.text, keep) {
        Some((text, masked)) => Redacted {
            text: Cow::Owned(text),
            fully_private,
            masked,
        },
        None => Redacted {
            text: stripped.text,
            fully_private,
            masked: 0,
        },
    }
}

/// Masks the secrets of a text and does nothing else.
pub fn secrets(text: &str) -> Cow<'_, str> {
    secrets::mask(text).map_or(Cow::Borrowed(text), |(masked, _)| Cow::Owned(masked))
}

/// True if nothing of the text has to go.
pub fn is_clean(text: &str) -> bool {
    matches!(private(text).text, Cow::Borrowed(_)) && secrets::find(text).is_empty()
}

#[cfg(test)]
mod assign_tests;
#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod flow_tests;
#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod private_tests;
#[cfg(test)]
mod properties_tests;
#[cfg(test)]
mod rules_tests;
