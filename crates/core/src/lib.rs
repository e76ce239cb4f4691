//! Values that every crate of claude-mem shares: ids, time, paths, settings, events and the memories
//! themselves.
//!
//! [`Event`](event::Event) is a hook call as we keep it, [`DataDir`](paths::DataDir) names our files,
//! [`Settings`](config::Settings) is the configuration, [`NewObservation`](memory::NewObservation) is a
//! memory before it is stored, and [`ChildSpawner`](child::ChildSpawner) starts processes that never
//! outlive us. [`queue`] is the pure state machine of a queued event.
//!
//! Invariant: nothing in here opens a database, a socket or a connection, and the crate depends on none of
//! ours.

pub mod agents;
pub mod child;
pub mod client_version;
pub mod clock;
pub mod config;
pub mod episode;
pub mod event;
pub mod event_key;
mod files;
mod first_sentence;
pub mod glob;
pub mod glyph;
pub mod ids;
pub mod limits;
pub mod live_settings;
pub mod log;
pub mod lone_surrogates;
pub mod memory;
pub mod paths;
pub mod pause;
pub mod platform;
pub mod project;
pub mod queue;
pub mod source;
pub mod suggest;
pub mod sync;
pub mod tokens;
pub mod vocabulary;

pub use first_sentence::first_sentence;
