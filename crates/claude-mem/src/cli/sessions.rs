//! `claude-mem sessions`: lists sessions with what they were for and how they ended.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args::ProjectArgs;
use crate::cli::{format, query_args};
use claude_mem_core::clock::Millis;
use claude_mem_recall::quote;
use claude_mem_store::{
    AccountRow, PageRequest, RowFilter, RowId, RowKind, SessionRow, SessionStatus, StoreError, StoreReader,
};

/// List sessions, with what each was for and how it ended
///
/// The account of a session says what it was for, what was done, learned and decided, and what is still
/// open: `claude-mem show A4`. The summary of a single turn has an id such as S3.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem sessions
  claude-mem sessions --all-projects --limit 50
  claude-mem show A4                    the whole account of one session")]
pub(super) struct Args {
    #[command(flatten)]
    whose: ProjectArgs,
    /// Maximum number of sessions
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Skip this many sessions
    #[arg(long, default_value_t = 0)]
    offset: u32,
}

#[derive(Serialize)]
struct SessionLine {
    /// The client's id of the session.
    session: String,
    client: String,
    project: Option<String>,
    branch: Option<String>,
    outcome: SessionStatus,
    started_at: Millis,
    last_activity_at: Millis,
    prompts: u32,
    observations: u64,
    /// The id of its account, if it has one.
    account: Option<RowId>,
    #[serde(rename = "for")]
    purpose: String,
    open: Vec<String>,
}

#[derive(Serialize)]
struct SessionList {
    sessions: Vec<SessionLine>,
    has_more: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut list = SessionList { sessions: Vec::new(), has_more: false };
    if let Some(store) = app.store_if_any()? {
        let reads = store.read();
        let filter = RowFilter { project: args.whose.resolve(&reads)?, ..RowFilter::default() };
        let page = PageRequest { offset: args.offset, limit: args.limit };
        let found = reads.sessions(&filter, page)?;
        list.has_more = found.has_more;
        for row in found.items {
            list.sessions.push(session_line(&reads, row)?);
        }
    }
    screen.show(&list, |screen, list| {
        if list.sessions.is_empty() {
            return writeln!(screen, "no sessions found");
        }
        let rows: Vec<[String; 5]> = list.sessions.iter().map(cells).collect();
        screen.table(["account", "when", "outcome", "branch", "for"], &rows)?;
        if list.has_more {
            writeln!(screen, "{QUIET}more results: use --limit or --offset{QUIET:#}")?;
        }
        Ok(())
    })
}

fn session_line(reads: &StoreReader<'_>, row: SessionRow) -> Result<SessionLine, StoreError> {
    let account = reads.account_of_session(row.id)?;
    let (observations, _) = reads.counts_of_session(row.id)?;
    let purpose = account.as_ref().map(|account| account.text.purpose.clone());
    let purpose = purpose.filter(|text| !text.is_empty()).or(row.user_prompt).unwrap_or_default();
    Ok(SessionLine {
        session: row.client_session.0,
        client: row.client,
        project: row.project.map(|id| reads.project_name(id)).transpose()?.flatten(),
        branch: row.branch,
        outcome: row.status,
        started_at: row.created_at,
        last_activity_at: row.last_activity,
        prompts: row.prompt_counter,
        observations,
        account: account.as_ref().map(|account| RowId::new(RowKind::Account, account.id.0)),
        purpose: quote::line(&purpose, 200),
        open: account.map_or_else(Vec::new, |account: AccountRow| account.text.open),
    })
}

fn cells(line: &SessionLine) -> [String; 5] {
    [
        line.account.map_or_else(|| "-".to_owned(), |id| id.to_string()),
        format::local_time(line.last_activity_at),
        line.outcome.as_str().to_owned(),
        query_args::sanitized(line.branch.as_deref().unwrap_or("-")),
        query_args::sanitized(&line.purpose),
    ]
}
