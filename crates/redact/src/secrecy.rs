//! How secret the output of a tool is.

/// How much of a tool's output is secret because of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputSecrecy {
    /// Only what the rules find.
    #[default]
    Ordinary,
    /// Values behind a name, if they look like a secret.
    Values,
    /// The answer to a question for one value, if it looks like a secret.
    Answer,
    /// Every line that looks like a value.
    Lines,
    /// Everything.
    Whole,
}
