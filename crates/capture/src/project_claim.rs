//! Words the notice about a directory that claims to be a known project by its remote alone.

use claude_mem_recall::quote;
use claude_mem_store::ProjectRow;

/// The command with which a person confirms the claim.
pub const JOIN_COMMAND: &str = "claude-mem project join";

/// The message to the user about the claim.
pub fn describe_claim(claimed: &ProjectRow) -> String {
    let name = quote::line(&claimed.name, 60);
    format!(
        "this directory has the remote of {name} but shares no commit with it, so the memories stay separate; \
         if it is the same project, run `{JOIN_COMMAND}` here"
    )
}
