//! Where its projects lie. It knew them by the name of their directory alone; the transcripts
//! that the client still has tell where a session was.
//!
//! A name that no transcript tells of is the one project of ours that is called so. If there is
//! none, it waits under its name for the first directory that is called so.

use std::collections::HashMap;
use std::fs::ReadDir;
use std::io::{self, ErrorKind};
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
    /// With what could not be looked into: the sessions of those are known by name alone.
    pub(super) fn look(client_dir: &Path) -> (Self, Vec<(PathBuf, io::Error)>) {
        let (mut folders, mut unread) = (HashMap::new(), Vec::new());
        let mut listed = |dir: &Path| {
            let paths = |entries: ReadDir| entries.map(|entry| Ok(entry?.path())).collect();
            match std::fs::read_dir(dir).and_then(paths) {
                Ok(paths) => paths,
                Err(e) => {
                    if !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                        unread.push((dir.to_owned(), e));
                    }
                    Vec::<PathBuf>::new()
                }
            }
        };
        for folder in listed(&client_dir.join("projects")) {
            for path in listed(&folder) {
                if path.extension().is_some_and(|ending| ending == "jsonl")
                    && let Some(session) = path.file_stem().and_then(|stem| stem.to_str())
                {
                    folders.insert(session.to_owned(), folder.clone());
                }
            }
        }
        let places = Self {
            folders,
            ..Self::default()
        };
        (places, unread)
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
