//! Recall: the few memories that are given to the agent with a prompt, a file or a failed command.
//!
//! [`recall_for_prompt`] takes a [`RecallQuery`] (the text, and the session it belongs to) and returns a
//! [`RecalledText`]: at most [`MEMORIES_MAX`] memories, quoted, within a token budget.
//!
//! Invariant: by default nothing is recalled. A memory needs [`MatchEvidence`] above an absolute
//! [`EvidenceThreshold`]; being the best candidate is not enough. Of two rules about one subject the newer one
//! comes first, and the older one is left out or marked as older.

mod domain_stopwords;
mod earlier_turn;
mod evidence;
mod function_words;
mod governing;
mod governing_candidates;
mod governing_score;
mod memory_files;
mod near_rows;
mod newest;
mod open_work;
mod pointers;
mod prompt;
mod prompt_kind;
mod prompt_question;
mod recalled_memory;
mod recap_first;
mod recent_files;
mod remedy;
mod render_memories;
mod request_words;
mod retrieve;
mod session_memories;
mod work_files;

pub use evidence::{EvidenceThreshold, MatchEvidence, PromptSize};
pub use prompt::recall_for_prompt;
pub use prompt_question::PromptQuestion;
pub use recalled_memory::{MEMORIES_MAX, RecallQuery, RecalledMemory, RecalledText};
pub(super) use remedy::{remedy_sentence, tells_failure};
pub(super) use render_memories::{quote_by_origin, wrap_block};

#[cfg(test)]
mod cases;
#[cfg(test)]
mod failure_cases;
#[cfg(test)]
mod failure_tests;
#[cfg(test)]
mod eighth_governed_cases;
#[cfg(test)]
mod fifth_governed_cases;
#[cfg(test)]
mod governed_cases;
#[cfg(test)]
mod governed_tests;
#[cfg(test)]
mod second_failure_cases;
#[cfg(test)]
mod second_governed_cases;
#[cfg(test)]
mod sixth_governed_cases;
#[cfg(test)]
mod third_failure_cases;
#[cfg(test)]
mod third_governed_cases;
#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
