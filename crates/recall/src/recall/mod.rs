//! Memory at the moment of need: what a prompt, a file or a failure brings to mind.
//!
//! In: what was said, and whose session it is. Out: at most a few memories in the words that carry
//! them, within a budget.
//!
//! Invariant: silence is the rule. A memory is offered only on evidence that is measured
//! absolutely: the best of nothing is still nothing. Of two rules about one subject the newer goes
//! first, and the older one is left out or says that it is older.

mod account;
mod prompt_question;
mod recalled_memory;
mod everyday;
mod evidence;
mod function_words;
mod governing;
mod memory_files;
mod near;
mod near_rows;
mod newest;
mod prompt;
mod remedy;
mod request_words;
mod tell;
mod turn;

pub use evidence::{EvidenceThreshold, MatchEvidence};
pub use prompt::prompt;
pub use prompt_question::PromptQuestion;
pub use recalled_memory::{MEMORIES_MAX, RecallQuery, RecalledMemory, RecalledText};
pub(super) use remedy::{remedy_sentence, tells_failure};
pub(super) use tell::{frame, said};

#[cfg(test)]
mod cases;
#[cfg(test)]
mod failure_cases;
#[cfg(test)]
mod failure_tests;
#[cfg(test)]
mod governed_cases;
#[cfg(test)]
mod governed_tests;
#[cfg(test)]
mod second_failure_cases;
#[cfg(test)]
mod second_governed_cases;
#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
