//! The pipeline from the spool to stored memories.
//!
//! [`EpisodePipeline`](pipeline::EpisodePipeline) names the steps in their order; read it first. The
//! [`Scheduler`](scheduler::Scheduler) runs it on its threads, a
//! [`Compressor`](compressor::Compressor) makes the memories (with a model or without), and the
//! [`EpisodeWriter`](persist::EpisodeWriter), which the import of transcripts shares, stores them.
//! [`SharedStore`](shared_store::SharedStore) is the worker's one writing connection.
//!
//! Invariant: every event is processed exactly once. The rows of an episode and the acknowledgement
//! of its events are one transaction, and one thread at a time works on a session.

mod backfill_sink;
mod citations;
pub mod compressor;
pub mod compressor_config;
mod compressor_parts;
mod crash_guard;
mod dedup;
pub mod episodes;
pub mod heuristic_compressor;
pub mod job;
mod item_matcher;
mod known_rows;
mod limits;
pub mod live_compressor;
mod llm_compressor;
mod merged_observation;
pub mod persist;
pub mod pipeline;
mod pitfall;
pub mod pipeline_observer;
mod replacements;
mod saved_notes;
pub mod scheduler;
mod select_compressor;
pub mod session_memory;
pub mod session_model;
mod session_picker;
pub mod session_redo;
mod settlement;
pub mod shared_store;
mod supersede;
pub mod transcript_backfill;
mod trouble_recorder;
