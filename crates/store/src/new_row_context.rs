//! [`NewRowContext`]: the fields of a new observation, summary or account that do not come from its text.

use crate::MemoryLevel;
use claude_mem_core::ids::{ProjectId, SessionId};

/// The session, project and compressor of a new row. A summary or an account takes its session as an argument of its own.
#[derive(Clone, Debug, Default)]
pub struct NewRowContext<'a> {
    pub session: Option<SessionId>,
    pub project: Option<ProjectId>,
    pub level: MemoryLevel,
    pub prompt_number: u32,
    pub branch: Option<&'a str>,
    pub agent_id: Option<&'a str>,
    pub agent_type: Option<&'a str>,
    pub made_by: &'a str,
    pub read_tokens: u32,
    pub import_run: Option<i64>,
}
