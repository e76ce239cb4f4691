//! Distils sessions anew whose transcripts are still there, by the rules of this version.
//!
//! Each session is one transaction: a snapshot of what it had left behind, its new claims, and their
//! consolidation. Killed at any point, the next run goes on with the next session, and undoing the run restores
//! the snapshots. Rows that a person touched stay, and forgotten ones do not return.

use std::path::Path;
use std::sync::mpsc;

use super::database_sessions;
use super::find;
use super::session::{self, DistilledEpisode, ReaderContext, ReaderMessage, ResumePoint, SessionReadJob};
use crate::import::{ImportContext, ImportError, ImportProgress, ImportReport, ImportSkipReason};
use claude_mem_capture::privacy_marks::PrivacyMarks;
use claude_mem_core::agents::CodingAgent;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, ProjectId};
use claude_mem_core::paths::DataDir;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_distil::EpisodeClaims;
use claude_mem_ingest::session_memory::SessionMemoryWriter;
use claude_mem_store::{
    PageRequest, RowFilter, SessionRow, SessionStatus, Store, StoreError, StoreReader, StoreWriter,
};

/// Kind of the run in the list of imports.
pub const REDO_KIND: &str = "redo";

/// The kind of row that the report counts.
pub(super) const SESSIONS: &str = "sessions";

/// Messages of one session that the reader thread may be ahead.
const AHEAD_MAX: usize = 8;

/// Selects the sessions to distil again.
#[derive(Clone, Debug)]
pub struct RedoRequest<'a> {
    pub project: Option<ProjectId>,
    /// Only this session, by its client's id.
    pub session: Option<ClientSessionId>,
    pub data: &'a DataDir,
    pub vocabulary: &'a Vocabulary,
    pub now: Millis,
}

impl RedoRequest<'_> {
    /// Names the sessions in the list of runs.
    pub(super) fn source(&self) -> String {
        match (&self.session, self.project) {
            (Some(session), _) => format!("session {session}"),
            (None, Some(project)) => format!("project {project}"),
            (None, None) => "all sessions".to_owned(),
        }
    }
}

/// The changes of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RedoSummary {
    pub sessions: u64,
    pub observations_before: u64,
    pub observations_after: u64,
    pub accounts: u64,
}

impl RedoSummary {
    pub(super) fn add(&mut self, more: &Self) {
        self.sessions += more.sessions;
        self.observations_before += more.observations_before;
        self.observations_after += more.observations_after;
        self.accounts += more.accounts;
    }
}

/// Distils sessions anew.
pub fn redo_sessions(
    store: &mut Store,
    around: ImportContext<'_>,
    wanted: &RedoRequest<'_>,
    progress: &mut dyn ImportProgress,
) -> Result<(ImportReport, RedoSummary), ImportError> {
    let source = wanted.source();
    let run = store.write(|tx| tx.resume_import(REDO_KIND, &source, wanted.now))?;
    let mut report = ImportReport { run: Some(run), source, ..ImportReport::default() };
    let mut summary = RedoSummary::default();
    let sessions = selected_sessions(&store.read(), wanted)?;
    progress.total(sessions.len() as u64);
    for row in sessions {
        progress.advance(1);
        if store.read().has_session_snapshot(run, row.id)? {
            report.tally(SESSIONS).skip(ImportSkipReason::ReadBefore);
            continue;
        }
        match read_session_again(&store.read(), around, wanted, &row, false)? {
            Err(why) => report.tally(SESSIONS).skip(why),
            Ok(episodes) => {
                let claims: Vec<EpisodeClaims> = episodes.into_iter().map(|read| read.claims).collect();
                summary.add(&redo_one(store, run, &row, None, &mut |tx, memory| {
                    memory.redo(tx, &claims, &claude_mem_distil::consolidate).map(drop)
                })?);
                report.tally(SESSIONS).count_imported();
            }
        }
    }
    finish_redo(store, run, &mut report, &summary, wanted.now)?;
    Ok((report, summary))
}

/// Marks the run as finished. A run that changed nothing needs no undo, so its record is removed.
pub(super) fn finish_redo(
    store: &mut Store,
    run: i64,
    report: &mut ImportReport,
    summary: &RedoSummary,
    now: Millis,
) -> Result<(), StoreError> {
    let told = serde_json::json!({ "report": &*report, "redone": summary }).to_string();
    let left = store.write(|tx| {
        let left = tx.count_session_snapshots(run)?;
        if left == 0 {
            tx.undo_import(run, 1)?;
        } else {
            tx.finish_import(run, &told, now)?;
        }
        Ok(left)
    })?;
    if left == 0 {
        report.run = None;
    }
    Ok(())
}

/// The sessions to look at, oldest first: later sessions close the open items of earlier ones.
pub(super) fn selected_sessions(
    reads: &StoreReader<'_>,
    wanted: &RedoRequest<'_>,
) -> Result<Vec<SessionRow>, StoreError> {
    if let Some(session) = &wanted.session {
        return Ok(reads.newest_session_with_id(session)?.into_iter().collect());
    }
    let filter = RowFilter { project: wanted.project, oldest_first: true, ..RowFilter::default() };
    let mut found = Vec::new();
    loop {
        let page = PageRequest { offset: found.len() as u32, limit: claude_mem_core::limits::PAGE_ROWS_MAX };
        let rows = reads.sessions(&filter, page)?;
        found.extend(rows.items);
        if !rows.has_more {
            return Ok(found);
        }
    }
}

/// Reads the episodes of a session from its transcripts. The inner `Err` says why it is left as it is.
pub(super) fn read_session_again(
    reads: &StoreReader<'_>,
    around: ImportContext<'_>,
    wanted: &RedoRequest<'_>,
    row: &SessionRow,
    keeps_episodes: bool,
) -> Result<Result<Vec<DistilledEpisode>, ImportSkipReason>, ImportError> {
    let marks = PrivacyMarks::for_session(wanted.data, &row.client, &row.client_session.0);
    if marks.is_transcript_closed() || reads.is_transcript_closed(row.id)? {
        return Ok(Err(ImportSkipReason::Ignored));
    }
    if row.status == SessionStatus::Active {
        return Ok(Err(ImportSkipReason::StillActive));
    }
    let exists = |path: &&Path| path.is_file() || database_sessions::is_in_database(path);
    let Some(path) = row.transcript_path.as_deref().map(Path::new).filter(exists) else {
        return Ok(Err(ImportSkipReason::TranscriptGone));
    };
    let Some(agent) = CodingAgent::by_name(&row.client) else {
        return Ok(Err(ImportSkipReason::Unreadable));
    };
    let Ok(scan) = find::scan_transcripts(agent, path, wanted.now) else {
        return Ok(Err(ImportSkipReason::Unreadable));
    };
    let Some(found) = scan.sessions.into_iter().find(|found| found.session == row.client_session.0) else {
        return Ok(Err(ImportSkipReason::Unreadable));
    };
    let Some(cwd) = found.header.cwd.as_deref().filter(|cwd| cwd.starts_with('/')) else {
        return Ok(Err(ImportSkipReason::Unreadable));
    };
    let mut project = claude_mem_core::project::identify(Path::new(cwd));
    project.branch.clone_from(&row.branch);
    let settings = around.settings;
    if settings.ignore_everything || settings.ignores_project_hint(&project, around.home) {
        return Ok(Err(ImportSkipReason::Ignored));
    }
    let job = SessionReadJob {
        agent,
        path: found.path.clone(),
        session: row.client_session.clone(),
        project,
        agents: found.agents.into_iter().map(|agent| (agent, ResumePoint::default())).collect(),
        resume: ResumePoint::default(),
        since: found.since,
        ended: true,
        prompt_count: 0,
        last_prompt: None,
        carry: None,
        is_known: true,
    };
    let readers = ReaderContext {
        settings,
        home: around.home,
        data: wanted.data,
        vocabulary: wanted.vocabulary,
        keeps_episodes,
    };
    let episodes = collect_episodes(&readers, &job);
    Ok(episodes.filter(|episodes| !episodes.is_empty()).ok_or(ImportSkipReason::Unreadable))
}

fn collect_episodes(readers: &ReaderContext<'_>, job: &SessionReadJob) -> Option<Vec<DistilledEpisode>> {
    let (say, said) = mpsc::sync_channel(AHEAD_MAX);
    std::thread::scope(|scope| {
        scope.spawn(move || session::read_session(readers, job, &say));
        let mut episodes = Vec::new();
        for message in said {
            match message {
                ReaderMessage::Part(part) => episodes.extend(part.episodes),
                ReaderMessage::Unreadable(_) => return None,
            }
        }
        Some(episodes)
    })
}

/// Makes the memories of one session anew in one transaction, after a snapshot of what it had left behind.
pub(super) fn redo_one(
    store: &mut Store,
    run: i64,
    row: &SessionRow,
    model: Option<&str>,
    redo: &mut dyn FnMut(&StoreWriter<'_>, &SessionMemoryWriter<'_>) -> Result<(), StoreError>,
) -> Result<RedoSummary, StoreError> {
    let memory = SessionMemoryWriter {
        session: row.id,
        project: row.project,
        branch: row.branch.as_deref(),
        import_run: None,
        prompt_number: row.prompt_counter,
        now: row.last_activity,
        model,
    };
    store.write(|tx| {
        let (observations_before, _) = tx.counts_of_session(row.id)?;
        tx.save_session_snapshot(run, row.id)?;
        redo(tx, &memory)?;
        let (observations_after, _) = tx.counts_of_session(row.id)?;
        let accounts = u64::from(tx.account_of_session(row.id)?.is_some());
        Ok(RedoSummary { sessions: 1, observations_before, observations_after, accounts })
    })
}
