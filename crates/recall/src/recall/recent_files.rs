//! The files that the latest sessions of a project touched, and those among them that say nothing about a request.

use std::collections::{HashMap, HashSet};

use super::RecallQuery;
use claude_mem_core::ids::SessionId;
use claude_mem_store::{SessionFile, StoreError, StoreReader};

/// Sessions whose files count.
const SESSIONS: u32 = 25;
/// Weight of a file that was read and not edited.
pub(super) const READ_WEIGHT: f64 = 0.35;
/// How fast older sessions count less.
const AGE_EXPONENT: f64 = 0.7;
/// Sessions that must have touched a hub file: half of three sessions is chance.
const HUB_SESSIONS_MIN: u32 = 3;

/// How the latest sessions used one file.
#[derive(Clone, Copy, Debug, Default)]
struct FileUse {
    /// Summed weight of the sessions, newer ones more.
    recency: f64,
    sessions: u32,
}

/// What the latest session with edits left behind.
#[derive(Clone, Debug)]
pub(super) struct LastWork {
    pub session: SessionId,
    /// The files that it edited, hub files apart.
    pub edits: Vec<String>,
}

/// The files of the latest sessions, own session apart.
#[derive(Debug, Default)]
pub(super) struct RecentFiles {
    uses: HashMap<String, FileUse>,
    /// Sessions that touched a file of any kind.
    sessions: u32,
    last_work: Option<LastWork>,
}

impl RecentFiles {
    pub(super) fn load(reads: &StoreReader<'_>, ask: &RecallQuery<'_>) -> Result<Self, StoreError> {
        let touched = reads.recent_session_files(ask.project, SESSIONS, ask.own)?;
        let mut recent =
            Self { sessions: touched.last().map_or(0, |file| file.sessions_ago + 1), ..Self::default() };
        for file in touched.iter().filter(|file| !is_outside(&file.path)) {
            let weight = if file.edited { 1.0 } else { READ_WEIGHT };
            let known = recent.uses.entry(file.path.clone()).or_default();
            known.recency += weight / (1.0 + f64::from(file.sessions_ago)).powf(AGE_EXPONENT);
            known.sessions += 1;
        }
        recent.last_work = recent.find_last_work(&touched);
        Ok(recent)
    }

    fn find_last_work(&self, touched: &[SessionFile]) -> Option<LastWork> {
        let speaks = |file: &&SessionFile| file.edited && !is_outside(&file.path) && !self.is_hub(&file.path);
        let last = touched.iter().find(speaks)?;
        let of_last = touched.iter().filter(speaks).filter(|file| file.session == last.session);
        Some(LastWork { session: last.session, edits: of_last.map(|file| file.path.clone()).collect() })
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.uses.keys().map(String::as_str)
    }

    /// Whether at least half of the sessions touched it, whatever they were about: a changelog, a state document,
    /// the main component. It says nothing about one request, and the start context names it.
    pub(super) fn is_hub(&self, path: &str) -> bool {
        let sessions = self.uses.get(path).map_or(0, |known| known.sessions);
        sessions >= HUB_SESSIONS_MIN && sessions * 2 >= self.sessions
    }

    pub(super) fn hubs(&self) -> HashSet<String> {
        self.uses.keys().filter(|path| self.is_hub(path)).cloned().collect()
    }

    /// Summed weight of the sessions that touched it, newer ones more; 0 if none did.
    pub(super) fn recency(&self, path: &str) -> f64 {
        self.uses.get(path).map_or(0.0, |known| known.recency)
    }

    /// From 0 to 1: how few of the sessions touched it.
    pub(super) fn rarity(&self, path: &str) -> f64 {
        let all = f64::from(self.sessions.max(1));
        let sessions = self.uses.get(path).map_or(1, |known| known.sessions.max(1));
        (1.0 + all / f64::from(sessions)).ln() / (1.0 + all).ln()
    }

    pub(super) fn last_work(&self) -> Option<&LastWork> {
        self.last_work.as_ref()
    }
}

/// Paths outside of the project.
pub(super) fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.starts_with("..") || path.is_empty()
}
