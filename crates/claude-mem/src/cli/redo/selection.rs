//! Selects the sessions that `claude-mem redo` distils again, and describes those that it skipped.

use std::io::Write as _;

use crate::cli::app::App;
use crate::cli::output::{QUIET, Screen};
use crate::cli::project;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_store::Store;
use claude_mem_transfer::import::ImportReport;
use claude_mem_transfer::import::transcripts::RedoRequest;

/// The options that select sessions.
#[derive(Debug, clap::Args)]
pub(super) struct SessionSelection {
    /// Only this project: name, id or directory
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only this session, by its client's id
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

impl SessionSelection {
    /// The sessions that the options select.
    pub(super) fn request<'a>(
        &self,
        store: &Store,
        app: &'a App,
        vocabulary: &'a Vocabulary,
    ) -> anyhow::Result<RedoRequest<'a>> {
        let reads = store.read();
        let project = self.project.as_deref().map(|named| project::find(&reads, named)).transpose()?;
        Ok(RedoRequest {
            project: project.map(|project| project.id),
            session: self.session.clone().map(ClientSessionId),
            data: &app.data,
            vocabulary,
            now: app.now,
        })
    }
}

/// Prints how many sessions were left as they are, and why.
pub(super) fn print_skipped(screen: &mut Screen, report: &ImportReport) -> std::io::Result<()> {
    for (_, tally) in &report.kinds {
        for (why, count) in &tally.skipped {
            writeln!(screen, "{QUIET}left as they are: {count} ({}){QUIET:#}", why.description())?;
        }
    }
    Ok(())
}
