//! Locates the directories of legacy projects.
//!
//! The legacy program identified a project only by its directory's name. [`ProjectLocator`] finds the
//! directory of a session in the client's transcript, if it still exists. A name without a transcript
//! maps to our only project of that name; without one, the project is stored under its name and
//! adopts the first directory that has it.

use std::collections::HashMap;
use std::fs::ReadDir;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use claude_mem_capture::transcript;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::project;

/// Maps legacy sessions and project names to projects.
#[derive(Debug, Default)]
pub(super) struct ProjectLocator {
    /// The transcript folder of each session.
    folders: HashMap<String, PathBuf>,
    /// The project of each transcript folder; a folder belongs to one directory.
    by_folder: HashMap<PathBuf, Option<ProjectHint>>,
    /// The project of each name; `None` if its sessions were in several directories.
    by_name: HashMap<String, Option<ProjectHint>>,
}

impl ProjectLocator {
    /// Lists the client's transcripts by file name, without opening them. Also returns the folders that
    /// could not be read: their sessions are known by name only.
    pub(super) fn scan(client_dir: &Path) -> (Self, Vec<(PathBuf, io::Error)>) {
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
        let places = Self { folders, ..Self::default() };
        (places, unread)
    }

    /// The project of this session, if its transcript still exists.
    pub(super) fn for_session(&mut self, session: &str, name: &str) -> Option<ProjectHint> {
        let folder = self.folders.get(session)?.clone();
        let looked = self.by_folder.entry(folder.clone()).or_insert_with(|| {
            let head = transcript::read_header(&folder.join(format!("{session}.jsonl")));
            let cwd = head.ok()??.cwd?;
            Some(project::identify(Path::new(&cwd)))
        });
        let hint = looked.clone()?;
        let same = |known: &Option<ProjectHint>| known.as_ref().is_some_and(|known| known.keys == hint.keys);
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

    /// The project of all located sessions of this name, if it is the same for all.
    pub(super) fn for_name(&self, name: &str) -> Option<ProjectHint> {
        self.by_name.get(name).cloned().flatten()
    }
}
