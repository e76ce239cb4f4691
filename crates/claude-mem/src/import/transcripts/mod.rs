//! What the client wrote down before anybody listened.
//!
//! In: its transcripts, below one folder. Out: memories of old sessions, made by the distiller,
//! with their own times and projects.
//!
//! Threads read, redact and distil (`session`, through `transcript`); this one stores, session
//! after session in the order of time, whatever thread is done first, so that the same transcripts
//! always give the same memories. What an episode leaves and the place up to which its transcript
//! was read are one transaction: killed at any point, the next run goes on there.

mod find;
mod keep;
mod learnt;
mod place;
mod session;
mod teller;

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};

pub use learnt::{Learnt, OfProject};

use super::{Around, ImportError, Progress, Report, Skipped};
use crate::clock::Millis;
use crate::hook::event::ProjectHint;
use crate::limits::{IMPORT_AHEAD_MAX, IMPORT_SESSIONS_PER_THREAD, IMPORT_THREADS_MAX};
use crate::paths::DataDir;
use crate::store::{Store, StoreError};
use crate::vocabulary::Vocabulary;
use find::{Below, Found};
use keep::Keeper;
use session::{Job, Readers, Said};

/// How the run is listed.
pub const KIND: &str = "transcripts";
/// What the report counts.
pub const SESSIONS: &str = "sessions";

/// What to take in.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// A folder, or one transcript.
    pub path: PathBuf,
    /// Only sessions in which something happened since.
    pub since: Option<Millis>,
    pub project: Option<WantedProject>,
    pub data: &'a DataDir,
    pub vocabulary: &'a Vocabulary,
    pub now: Millis,
}

/// A project by its name, or by a directory of it.
#[derive(Clone, Debug, Default)]
pub struct WantedProject {
    pub name: String,
    pub keys: Vec<String>,
}

impl WantedProject {
    fn is(&self, hint: &ProjectHint) -> bool {
        self.name.eq_ignore_ascii_case(&hint.name)
            || self.keys.iter().any(|key| hint.keys.contains(key))
    }
}

/// Takes transcripts in.
pub fn run(
    store: &mut Store,
    around: Around<'_>,
    wanted: &Wanted<'_>,
    progress: &mut dyn Progress,
) -> Result<(Report, Learnt), ImportError> {
    let unreadable = |e| ImportError::Unreadable(wanted.path.display().to_string(), e);
    let Below { found, closed } = find::below(&wanted.path, wanted.now).map_err(unreadable)?;
    progress.total(found.iter().map(Found::bytes).sum());
    let source = wanted.path.display().to_string();
    store.expect_much()?;
    let run = store.write(|tx| tx.resume_import(KIND, &source, wanted.now))?;
    let mut report = Report {
        run: Some(run),
        source,
        problems: closed,
        ..Report::default()
    };
    let readers = Readers {
        settings: around.settings,
        home: around.home,
        data: wanted.data,
        vocabulary: wanted.vocabulary,
    };
    let mut keeper = Keeper::new(store, run, wanted.now);
    let mut picker = Picker {
        around,
        wanted,
        seen: HashSet::new(),
    };
    read_all(
        &found,
        &readers,
        &mut keeper,
        &mut picker,
        &mut report,
        progress,
    )?;
    let learnt = keeper.learnt;
    finish(store, run, &mut report, &learnt, wanted.now)?;
    Ok((report, learnt))
}

fn finish(
    store: &mut Store,
    run: i64,
    report: &mut Report,
    learnt: &Learnt,
    now: Millis,
) -> Result<(), ImportError> {
    let told = serde_json::json!({ "report": &*report, "learnt": learnt }).to_string();
    let left = store.write(|tx| {
        let rows = tx.rows_of_import(run)?;
        // A run that brought nothing has nothing to be undone.
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

/// A session that is being read.
struct UnderWay<'f> {
    found: &'f Found,
    job: Arc<Job>,
    said: Receiver<Said>,
}

/// A session for a reader, and where to say what it tells.
type Order = (Arc<Job>, SyncSender<Said>);

fn read_all(
    found: &[Found],
    readers: &Readers<'_>,
    keeper: &mut Keeper<'_>,
    picker: &mut Picker<'_>,
    report: &mut Report,
    progress: &mut dyn Progress,
) -> Result<(), ImportError> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = threads.min(IMPORT_THREADS_MAX);
    let (hand_out, jobs) = mpsc::channel::<Order>();
    let jobs = Mutex::new(jobs);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((job, said)) = next(&jobs) {
                    session::read(readers, &job, &said);
                }
            });
        }
        // The readers end when nobody can hand anything out any more.
        let hand_out = hand_out;
        let mut rest = found.iter();
        let mut under_way: VecDeque<UnderWay<'_>> = VecDeque::new();
        loop {
            while under_way.len() < threads * IMPORT_SESSIONS_PER_THREAD
                && let Some(found) = rest.next()
            {
                match picker.pick(&keeper.reads(), found)? {
                    Ok(job) => {
                        let job = Arc::new(job);
                        let (say, said) = mpsc::sync_channel(IMPORT_AHEAD_MAX);
                        // The readers are there as long as this thread is.
                        if hand_out.send((Arc::clone(&job), say)).is_ok() {
                            under_way.push_back(UnderWay { found, job, said });
                        }
                    }
                    Err(why) => {
                        report.tally(SESSIONS).skip(why);
                        if let Some(why) = &found.unreadable {
                            report.problem(&found.path, why);
                        }
                        progress.advance(found.bytes());
                    }
                }
            }
            let Some(next) = under_way.pop_front() else {
                return Ok(keeper.store()?);
            };
            let kept = keep_one(&next, keeper, report, progress)?;
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

fn next(jobs: &Mutex<Receiver<Order>>) -> Option<Order> {
    jobs.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recv()
        .ok()
}

/// Hands on what is said of one session, as it is said.
fn keep_one(
    session: &UnderWay<'_>,
    keeper: &mut Keeper<'_>,
    report: &mut Report,
    progress: &mut dyn Progress,
) -> Result<Result<(), Skipped>, ImportError> {
    let mut told = 0;
    let mut advanced = 0;
    let total = session.found.bytes();
    while let Ok(said) = session.said.recv() {
        match said {
            Said::Part(part) => {
                told += part.episodes.len();
                let bytes = part.bytes.min(total - advanced);
                advanced += bytes;
                keeper.keep(&session.job, *part)?;
                progress.advance(bytes);
            }
            Said::Unreadable(why) => {
                report.problem(&session.job.path, why);
                progress.advance(total - advanced);
                return Ok(Err(Skipped::Unreadable));
            }
        }
    }
    progress.advance(total - advanced);
    keeper.end(&session.job);
    Ok(if told > 0 {
        Ok(())
    } else {
        Err(session.job.nothing_new())
    })
}

/// Decides which sessions are read, and from where.
struct Picker<'a> {
    around: Around<'a>,
    wanted: &'a Wanted<'a>,
    seen: HashSet<String>,
}

impl Picker<'_> {
    fn pick(
        &mut self,
        reads: &crate::store::Reads<'_>,
        found: &Found,
    ) -> Result<Result<Job, Skipped>, StoreError> {
        let Some(cwd) = found.head.cwd.as_deref().filter(|cwd| cwd.starts_with('/')) else {
            return Ok(Err(if found.is_empty && found.unreadable.is_none() {
                Skipped::Empty
            } else {
                Skipped::Unreadable
            }));
        };
        if found.is_compressor || is_own_work(cwd, self.wanted.data) {
            return Ok(Err(Skipped::OwnWork));
        }
        if !self.seen.insert(found.session.clone()) {
            return Ok(Err(Skipped::Duplicate));
        }
        let (mut project, unseen) = crate::project::look(Path::new(cwd));
        // The branch that is checked out now is not the one it was done on.
        project.branch = found.head.branch.clone().filter(|branch| branch != "HEAD");
        let too_old = self.wanted.since.is_some_and(|since| found.last_at < since);
        let other = self
            .wanted
            .project
            .as_ref()
            .is_some_and(|wanted| !wanted.is(&project));
        if too_old || other {
            return Ok(Err(Skipped::NotAskedFor));
        }
        let settings = self.around.settings;
        let unsure = unseen.is_some() && settings.has_project_rules();
        if unsure || settings.ignore_everything || settings.ignores(&project, self.around.home) {
            return Ok(Err(Skipped::Ignored));
        }
        place::of(reads, found, project, self.wanted.data)
    }
}

/// Sessions in which a memory program talked to its compressor.
fn is_own_work(cwd: &str, data: &DataDir) -> bool {
    let cwd = Path::new(cwd);
    cwd.starts_with(data.compressor()) || cwd.ends_with(".claude-mem/observer-sessions")
}

#[cfg(test)]
#[path = "transcripts_tests.rs"]
mod tests;
