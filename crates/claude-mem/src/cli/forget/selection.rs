//! Selects the memories that `forget` removes together.

use anyhow::Context as _;

use crate::cli::app::App;
use crate::cli::{UsageError, project};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, SessionId};
use claude_mem_search::{analyzer, date_arg};
use claude_mem_store::{FtsQuery, RowId, RowKind, StoreReader, TextSelection};

/// Rows that one command forgets at most; it can be repeated.
const SELECTED_ROWS_MAX: u32 = 10_000;

/// Which memories are forgotten together: those that fit all of these.
#[derive(Debug, clap::Args)]
pub(super) struct SelectionArgs {
    /// Everything of a project (name, id or directory)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Everything of a session: its account (A4), or the start of the client's session id
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Everything that contains all of these words
    #[arg(long, value_name = "WORDS")]
    words: Option<String>,
    /// From this time on: 2026-01-31, yesterday, 3d, 2w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Up to this time; a date includes the whole day
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
}

impl SelectionArgs {
    pub(super) const fn is_empty(&self) -> bool {
        let Self { project, session, words, since, until } = self;
        project.is_none() && session.is_none() && words.is_none() && since.is_none() && until.is_none()
    }

    /// The rows that fit.
    pub(super) fn rows(&self, app: &App, reads: &StoreReader<'_>) -> anyhow::Result<Vec<RowId>> {
        let zone = claude_mem_core::clock::zone();
        let time = |text: &Option<String>, parse: date_arg::TimeParser| -> anyhow::Result<Option<Millis>> {
            let Some(text) = text else { return Ok(None) };
            let found = parse(text, app.now, &zone);
            found.map(Some).ok_or_else(|| {
                UsageError::error(format!("{text:?} is not a time; use 2026-01-31, yesterday, 3d or 2w"))
            })
        };
        let selection = TextSelection {
            project: match &self.project {
                Some(named) => Some(project::find(reads, named)?.id),
                None => None,
            },
            session: self.session.as_ref().map(|named| find_session(reads, named)).transpose()?,
            since: time(&self.since, date_arg::parse_time)?,
            until: time(&self.until, date_arg::parse_time_end)?,
            words: self.words.as_ref().map(|words| all_words(words)).transpose()?,
            kind: None,
        };
        let found = reads.select_texts(&selection, SELECTED_ROWS_MAX)?;
        Ok(found.iter().map(|row| RowId::new(row.kind, row.row_id)).collect())
    }
}

fn all_words(text: &str) -> anyhow::Result<FtsQuery> {
    let words: Vec<FtsQuery> = analyzer::words(text).map(FtsQuery::Term).collect();
    if words.is_empty() {
        return Err(UsageError::error("--words needs at least one word"));
    }
    Ok(FtsQuery::And(words))
}

fn find_session(reads: &StoreReader<'_>, named: &str) -> anyhow::Result<SessionId> {
    if let Ok(RowId { kind: RowKind::Account, row_id }) = named.parse() {
        return Ok(reads.account(AccountId(row_id))?.session);
    }
    let found = reads.sessions_starting_with(named)?;
    anyhow::ensure!(found.len() < 2, "several sessions start with {named:?}; give more of the id");
    found.first().copied().with_context(|| format!("no session {named:?}; see `claude-mem sessions --json`"))
}
