//! Redaction: removes private blocks and secrets before anything is written.
//!
//! Text and JSON come in as the client sent them. Out comes the same without private blocks and
//! without memory's own context, cut to size, with `[redacted:<rule>]` for every secret. [`text`]
//! and [`json()`] do all of this; [`OpenBlockTracker`] follows blocks that span several fields.
//!
//! The order matters. Private blocks are removed first, because one may begin in a part that is
//! cut; then the text is cut, because scanning for secrets is expensive; then secrets are masked,
//! with a margin beyond the cut.
//!
//! Invariant: redaction is idempotent, and a clean text is returned borrowed, not copied. A hook is
//! a new process each time, so there are no regular expressions and nothing that must be built at
//! run time; there are no files and no clock either.

mod assign;
mod assigned_value;
mod cell;
mod class;
mod code;
mod code_list;
mod command;
mod command_input;
mod connection;
mod console;
mod cookie;
mod cut;
mod encoded;
mod expect;
mod flow;
mod generated_password;
mod joint;
mod json;
mod json_text;
mod json_walk;
mod judge;
mod json_braces;
mod literal;
mod long_text;
mod look_up;
mod manifest;
mod names;
mod neighbour;
mod output_secrecy;
mod password_form;
mod path;
mod pem;
mod place;
mod plain_view;
mod private;
mod private_words;
mod prose;
mod query;
mod redacted_text;
mod reference;
mod rules;
mod samples;
mod scheme;
mod secret_output;
mod secrecy;
mod secret_span;
mod secret_words;
mod secrets;
mod shape;
mod sentence;
mod share;
mod shell_words;
mod short_text;
mod table;
mod tag;
mod url;
mod value;
mod value_form;

pub use cut::HeadTailLimit;
pub use flow::{OpenBlockTracker, VisibleText};
pub use json::{json, json_output};
pub use long_text::LongText;
pub use path::path;
pub use private::{StrippedText, strip as private};
pub use private_words::PrivateWords;
pub use redacted_text::{RedactedText, is_clean, secrets, text};
#[doc(hidden)]
pub use samples::{RuleSample, rule_samples};
pub use secrecy::OutputSecrecy;
pub use short_text::{ShortText, event_fields, project_hint};

#[cfg(test)]
mod assign_tests;
#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod flow_tests;
#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod output_secrecy_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod private_tests;
#[cfg(test)]
mod private_words_tests;
#[cfg(test)]
mod properties_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod secret_places_tests;
