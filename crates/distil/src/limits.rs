//! Bounds that several files of this crate share.

/// Maximum characters of an observation's title, so that it fits on one line of an index.
pub(crate) const OBSERVATION_TITLE_CHARS_MAX: usize = 120;

/// Maximum facts of one observation.
pub(crate) const OBSERVATION_FACTS_MAX: usize = 12;

/// Maximum characters of one fact, concept or path of an observation.
pub(crate) const OBSERVATION_FACT_CHARS_MAX: usize = 300;

/// Maximum paths in each list of files, read or modified, of an observation or a summary.
pub(crate) const OBSERVATION_FILES_MAX: usize = 40;

/// Maximum bytes of one prompt, message or output that are read.
pub(crate) const DISTIL_TEXT_BYTES_MAX: usize = 64 << 10;
