//! Handles one hook invocation, from the payload on stdin to an event in the spool.
//!
//! [`run`] reads the payload, has it captured and prints one JSON object, a [`HookResponse`], to stdout.
//! [`ingest_payload`] does the same for a payload that arrives over HTTP. In between, `handler` decodes
//! the call, `facts` gathers what the `decision` depends on, `capture` applies the decision, and `respond`
//! recalls memories.
//!
//! Invariant: a hook never blocks or breaks the client. On any failure the client receives the
//! neutral response and exit code 0, and every wait and every size is bounded. An event is redacted
//! before it leaves this process's memory, and a turn that may be private is not captured. A hook opens
//! the database and the worker's socket at most once each. The hook path uses no threads, async runtime,
//! network, regular expressions or migrations.

mod answer;
mod args;
mod capture;
mod deadline;
mod decision;
mod environment;
mod facts;
mod file_recall;
mod guard;
mod hand_over;
mod handler;
mod recall;
mod recall_request;
mod resources;
mod respond;
mod run;
mod session_start;
mod skip_reason;
mod start_worker;
mod stdin;

pub use answer::HookResponse;
pub use args::HookInvocation;
pub use capture::HandledCall;
pub use environment::{HookEnvironment, StartNotices};
pub use guard::STRICT_EXIT_CODE;
pub use run::{HookOutcome, ingest_payload, run};
pub use skip_reason::SkipReason;
