//! Where its projects lie. It knew them by the name of their directory alone; the transcripts
//! that the client still has tell where a session was.
//!
//! A name that no transcript tells of is the one project of ours that is called so. If there is
//! none, it waits under its name for the first directory that is called so.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::hook::event::ProjectHint;
use crate::project;
use crate::transcript;

#[derive(Debug, Default)]
pub(super) struct Places {
    /// The folder of each session's transcript.
    folders: HashMap<String, PathBuf>,
    /// A folder is one directory's, so one look is enough.
    looked: HashMap<PathBuf, Option<ProjectHint>>,
    /// Where sessions of this name were; `None` where they were in several places.
    by_name: HashMap<String, Option<ProjectHint>>,
}

impl Places {
    /// Only the names of files are read here. Without transcripts nothing is known.
    pub(super) fn look(client_dir: &Path) -> Self {
        let mut folders = HashMap::new();
        let projects = std::fs::read_dir(client_dir.join("projects"));
        for folder in projects.into_iter().flatten().flatten() {
            let files = std::fs::read_dir(folder.path());
            for file in files.into_iter().flatten().flatten() {
                let path = file.path();
                if path.extension().is_some_and(|ending| ending == "jsonl")
                    && let Some(session) = path.file_stem().and_then(|stem| stem.to_str())
                {
                    folders.insert(session.to_owned(), folder.path());
                }
            }
        }
        Self {
            folders,
            ..Self::default()
        }
    }

    /// Where this session was, if its transcript is still there.
    pub(super) fn of_session(&mut self, session: &str, name: &str) -> Option<ProjectHint> {
        let folder = self.folders.get(session)?.clone();
        let looked = self.looked.entry(folder.clone()).or_insert_with(|| {
            let head = transcript::head(&folder.join(format!("{session}.jsonl")));
            let cwd = head.ok()??.cwd?;
            Some(project::identify(Path::new(&cwd)))
        });
        let hint = looked.clone()?;
        let same = |known: &Option<ProjectHint>| {
            known.as_ref().is_some_and(|known| known.keys == hint.keys)
        };
        match self.by_name.get(name) {
            Some(known) if !same(known) => {
                self.by_name.insert(name.to_owned(), None);
            }
            Some(_) => {}
            None => {
                self.by_name.insert(name.to_owned(), Some(hint.clone()));
            }
        }
        Some(hint)
    }

    /// Where all sessions of this name were that are known.
    pub(super) fn of_name(&self, name: &str) -> Option<ProjectHint> {
        self.by_name.get(name).cloned().flatten()
    }
}
