//! Imports a client's old transcripts below one folder, distilled without a model.
//!
//! Reader threads read, redact and distil sessions (`session`, through `transcript`). The calling
//! thread stores them with `TranscriptPersister`, session by session in chronological order
//! whichever thread finishes first, so that the same transcripts always give the same memories.
//! Imported rows keep their original times and projects.
//!
//! Invariant: the rows of an episode and the transcript position behind it are one transaction. If the
//! import is killed at any point, the next run resumes there.

mod database_sessions;
mod find;
mod found_session;
mod persist;
mod summary;
mod place;
mod redo;
mod redo_with_model;
mod session;
mod episode_splitter;

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};

pub use find::list_transcripts;
pub use place::KIND;
pub use redo::{REDO_KIND, RedoRequest, RedoSummary, redo_sessions};
pub use redo_with_model::{ModelRedo, RedoPreview, SessionCost, preview_model_redo, redo_with_model};
pub use summary::{ImportSummary, ProjectImportCounts};

use super::{ImportContext, ImportError, ImportProgress, ImportReport, ImportSkipReason};
use claude_mem_core::agents::CodingAgent;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::paths::DataDir;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_store::{Store, StoreError};
use found_session::{FoundSession, TranscriptScan};
use persist::TranscriptPersister;
use session::{ReaderContext, ReaderMessage, SessionReadJob};

/// Maximum threads that read transcripts.
const IMPORT_THREADS_MAX: usize = 4;

/// Sessions per reader thread that are queued or being read.
const IMPORT_SESSIONS_PER_THREAD: usize = 4;

/// Maximum parts of one session that its reader thread may be ahead of the writer.
const IMPORT_AHEAD_MAX: usize = 8;

/// The kind of row that the report counts.
pub const SESSIONS: &str = "sessions";

/// Selects the transcripts to import.
#[derive(Clone, Debug)]
pub struct TranscriptImportRequest<'a> {
    /// The client that wrote them.
    pub agent: &'static CodingAgent,
    /// A folder, or one transcript.
    pub path: PathBuf,
    /// Only sessions with activity since this time.
    pub since: Option<Millis>,
    pub project: Option<ImportProjectFilter>,
    pub data: &'a DataDir,
    pub vocabulary: &'a Vocabulary,
    pub now: Millis,
}

/// Selects a project by its name or by the keys of one of its directories.
#[derive(Clone, Debug, Default)]
pub struct ImportProjectFilter {
    pub name: String,
    pub keys: Vec<String>,
}

impl ImportProjectFilter {
    fn matches(&self, hint: &ProjectHint) -> bool {
        self.name.eq_ignore_ascii_case(&hint.name) || self.keys.iter().any(|key| hint.keys.contains(key))
    }
}

/// Imports transcripts.
pub fn run(
    store: &mut Store,
    around: ImportContext<'_>,
    wanted: &TranscriptImportRequest<'_>,
    progress: &mut dyn ImportProgress,
) -> Result<(ImportReport, ImportSummary), ImportError> {
    let unreadable = |e| ImportError::Unreadable(wanted.path.display().to_string(), e);
    let TranscriptScan { sessions: found, unreadable: closed } =
        find::scan_transcripts(wanted.agent, &wanted.path, wanted.now).map_err(unreadable)?;
    progress.total(found.iter().map(FoundSession::bytes).sum());
    let source = wanted.path.display().to_string();
    store.defer_checkpoints()?;
    let run = store.write(|tx| tx.resume_import(KIND, &source, wanted.now))?;
    let mut report = ImportReport { run: Some(run), source, problems: closed, ..ImportReport::default() };
    let readers = ReaderContext {
        settings: around.settings,
        home: around.home,
        data: wanted.data,
        vocabulary: wanted.vocabulary,
        keeps_episodes: false,
    };
    let mut persister = TranscriptPersister::new(store, run, wanted.now);
    let mut selector = SessionSelector { context: around, request: wanted, seen_sessions: HashSet::new() };
    read_sessions(&found, &readers, &mut persister, &mut selector, &mut report, progress)?;
    let learnt = persister.summary;
    finish_run(store, run, &mut report, &learnt, wanted.now)?;
    Ok((report, learnt))
}

fn finish_run(
    store: &mut Store,
    run: i64,
    report: &mut ImportReport,
    learnt: &ImportSummary,
    now: Millis,
) -> Result<(), ImportError> {
    let told = serde_json::json!({ "report": &*report, "learnt": learnt }).to_string();
    let left = store.write(|tx| {
        let rows = tx.count_import_rows(run)?;
        // A run without rows needs no undo, so its record is removed.
        if rows == 0 {
            tx.undo_import(run, 1)?;
        } else {
            tx.finish_import(run, &told, now)?;
        }
        Ok(rows)
    })?;
    if left == 0 || report.imported() == 0 {
        report.run = None;
    }
    Ok(())
}

/// A session that a reader thread is working on.
struct RunningRead<'f> {
    found: &'f FoundSession,
    job: Arc<SessionReadJob>,
    messages: Receiver<ReaderMessage>,
}

/// A job for a reader thread and the channel for its messages.
type ReadOrder = (Arc<SessionReadJob>, SyncSender<ReaderMessage>);

fn read_sessions(
    found: &[FoundSession],
    readers: &ReaderContext<'_>,
    persister: &mut TranscriptPersister<'_>,
    selector: &mut SessionSelector<'_>,
    report: &mut ImportReport,
    progress: &mut dyn ImportProgress,
) -> Result<(), ImportError> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = cores.min(IMPORT_THREADS_MAX);
    let (hand_out, jobs) = mpsc::channel::<ReadOrder>();
    let jobs = Mutex::new(jobs);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((job, said)) = next_order(&jobs) {
                    session::read_session(readers, &job, &said);
                }
            });
        }
        // Moved in here: the reader threads end when the sender is dropped.
        let hand_out = hand_out;
        let mut rest = found.iter();
        let mut under_way: VecDeque<RunningRead<'_>> = VecDeque::new();
        loop {
            while under_way.len() < threads * IMPORT_SESSIONS_PER_THREAD
                && let Some(found) = rest.next()
            {
                match selector.select(&persister.reads(), found)? {
                    Ok(job) => {
                        let job = Arc::new(job);
                        let (say, said) = mpsc::sync_channel(IMPORT_AHEAD_MAX);
                        // The reader threads live as long as this scope.
                        if hand_out.send((Arc::clone(&job), say)).is_ok() {
                            under_way.push_back(RunningRead { found, job, messages: said });
                        }
                    }
                    Err(why) => {
                        report.tally(SESSIONS).skip(why);
                        if let Some(why) = &found.unreadable {
                            report.add_problem(&found.path, why);
                        }
                        progress.advance(found.bytes());
                    }
                }
            }
            let Some(next) = under_way.pop_front() else {
                return Ok(persister.flush()?);
            };
            let kept = persist_session(&next, persister, report, progress)?;
            let tally = report.tally(SESSIONS);
            match kept {
                Ok(()) => {
                    tally.found += 1;
                    tally.imported += 1;
                }
                Err(why) => tally.skip(why),
            }
        }
    })
}

fn next_order(jobs: &Mutex<Receiver<ReadOrder>>) -> Option<ReadOrder> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Stores the parts of one session as its reader sends them.
fn persist_session(
    session: &RunningRead<'_>,
    persister: &mut TranscriptPersister<'_>,
    report: &mut ImportReport,
    progress: &mut dyn ImportProgress,
) -> Result<Result<(), ImportSkipReason>, ImportError> {
    let mut told = 0;
    let mut advanced = 0;
    let total = session.found.bytes();
    while let Ok(said) = session.messages.recv() {
        match said {
            ReaderMessage::Part(part) => {
                told += part.episodes.len();
                let bytes = part.bytes.min(total - advanced);
                advanced += bytes;
                persister.add_part(&session.job, part)?;
                progress.advance(bytes);
            }
            ReaderMessage::Unreadable(why) => {
                report.add_problem(&session.job.path, why);
                progress.advance(total - advanced);
                return Ok(Err(ImportSkipReason::Unreadable));
            }
        }
    }
    progress.advance(total - advanced);
    persister.end_session(&session.job);
    Ok(if told > 0 { Ok(()) } else { Err(session.job.skip_reason()) })
}

/// Decides which sessions are read, and from which position.
struct SessionSelector<'a> {
    context: ImportContext<'a>,
    request: &'a TranscriptImportRequest<'a>,
    seen_sessions: HashSet<String>,
}

impl SessionSelector<'_> {
    fn select(
        &mut self,
        reads: &claude_mem_store::StoreReader<'_>,
        found: &FoundSession,
    ) -> Result<Result<SessionReadJob, ImportSkipReason>, StoreError> {
        let Some(cwd) = found.header.cwd.as_deref().filter(|cwd| cwd.starts_with('/')) else {
            return Ok(Err(if found.is_empty && found.unreadable.is_none() {
                ImportSkipReason::Empty
            } else {
                ImportSkipReason::Unreadable
            }));
        };
        if found.is_compressor || is_own_work(cwd, self.request.data) {
            return Ok(Err(ImportSkipReason::OwnWork));
        }
        if !self.seen_sessions.insert(found.session.clone()) {
            return Ok(Err(ImportSkipReason::Duplicate));
        }
        let (mut project, unseen) = claude_mem_core::project::identify_with_error(Path::new(cwd));
        // The branch comes from the transcript: the one checked out now may be another.
        project.branch = found.header.branch.clone().filter(|branch| branch != "HEAD");
        let too_old = self.request.since.is_some_and(|since| found.last_at < since);
        let other = self.request.project.as_ref().is_some_and(|wanted| !wanted.matches(&project));
        if too_old || other {
            return Ok(Err(ImportSkipReason::NotAskedFor));
        }
        let settings = self.context.settings;
        let unsure = unseen.is_some() && settings.has_project_rules();
        if unsure || settings.ignore_everything || settings.ignores_project_hint(&project, self.context.home)
        {
            return Ok(Err(ImportSkipReason::Ignored));
        }
        place::plan_read(reads, self.request.agent, found, project, self.request.data)
    }
}

/// Whether the directory is that of a memory program's own compressor sessions.
fn is_own_work(cwd: &str, data: &DataDir) -> bool {
    let cwd = Path::new(cwd);
    cwd.starts_with(data.compressor()) || cwd.ends_with(".claude-mem/observer-sessions")
}

#[cfg(test)]
mod live_tests;
#[cfg(test)]
#[path = "transcripts_tests.rs"]
mod tests;
