//! The worker's reply to a hook that asks for memories.

use serde::{Deserialize, Serialize};

/// The reply to a `recall` request. An empty text means that there is nothing to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecallReply {
    pub text: String,
}
