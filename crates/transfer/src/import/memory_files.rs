//! Imports the memory files that the client itself keeps for each project: `projects/*/memory/*.md`.
//!
//! Every section of a file, and every bullet of a list, becomes one observation, marked as imported: the agent wrote
//! it, and nothing in it counts as the user's words. The project is that of the transcripts beside the folder, or the
//! known one whose directory gives the folder its name. Public ids are derived from the text, so that a second run
//! imports only what is new or changed.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::memory_file_sections::{MemorySection, parse};
use super::{ImportContext, ImportError, ImportProgress, ImportReport, ImportSkipReason, ImportWriter};
use claude_mem_capture::transcript;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::event_key;
use claude_mem_core::ids::PublicId;
use claude_mem_core::memory::{ObservationText, ObservationType, Origin};
use claude_mem_core::{paths, project};
use claude_mem_store::{MemoryLevel, ObservationRecord, ProjectRecord, Store};

/// Kind of the run in the list of imports, and of its rows.
pub const KIND: &str = "memory-files";

/// Maximum bytes of one file. A longer one is no memory file, and a part of it would pass for the whole.
const FILE_BYTES_MAX: u64 = 256 << 10;

/// Imports the memory files of all projects of the client.
pub fn run(
    store: &mut Store,
    around: ImportContext<'_>,
    now: Millis,
    progress: &mut dyn ImportProgress,
) -> Result<ImportReport, ImportError> {
    let root = around.client_dir.join("projects");
    let mut writer = ImportWriter::resume_or_begin(store, around, KIND, &root.display().to_string(), now)?;
    let folders = list(&root, &mut writer);
    progress.total(folders.len() as u64);
    for folder in folders {
        let files: Vec<PathBuf> = list(&folder.join("memory"), &mut writer)
            .into_iter()
            .filter(|path| has_ending(path, "md"))
            .collect();
        if !files.is_empty() {
            match project_of_folder(&folder, &mut writer)? {
                Some(hint) => import_files(&mut writer, &hint, &files, now)?,
                None => writer.skip_many(KIND, ImportSkipReason::ProjectUnknown, files.len() as u64),
            }
        }
        progress.advance(1);
    }
    writer.finish(now)
}

/// The entries of a directory in the order of their names. A directory that is missing has none.
fn list(dir: &Path, writer: &mut ImportWriter<'_>) -> Vec<PathBuf> {
    let paths = |entries: std::fs::ReadDir| entries.map(|entry| Ok(entry?.path())).collect();
    match std::fs::read_dir(dir).and_then(paths) {
        Ok(paths) => {
            let mut paths: Vec<PathBuf> = paths;
            paths.sort();
            paths
        }
        Err(e) => {
            if !matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) {
                writer.add_problem(dir, e);
            }
            Vec::new()
        }
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// The project of a folder: that of the transcripts in it, else the only known one whose directory has this name in
/// the client's folders.
fn project_of_folder(
    folder: &Path,
    writer: &mut ImportWriter<'_>,
) -> Result<Option<ProjectHint>, ImportError> {
    let transcripts = list(folder, writer).into_iter().filter(|path| has_ending(path, "jsonl"));
    let cwd = transcripts.rev().find_map(|path| transcript::read_header(&path).ok()??.cwd);
    if let Some(cwd) = cwd {
        return Ok(Some(project::identify(Path::new(&cwd))));
    }
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else {
        return Ok(None);
    };
    let reads = writer.reads();
    let mut found = Vec::new();
    for known in reads.projects()? {
        let keys = reads.project_keys(known.id)?;
        let paths = keys.iter().filter_map(|key| key.strip_prefix("path:"));
        if paths.chain([known.root.as_str()]).any(|path| folder_name(path) == name) {
            found.push(ProjectHint { name: known.name, keys, root: known.root, branch: None });
        }
    }
    // Several directories may have the same name there, and then none of them is known to be meant.
    Ok(found.pop().filter(|_| found.is_empty()))
}

/// The name that the client gives to the folder of a directory: all but letters and digits become hyphens.
fn folder_name(directory: &str) -> String {
    directory.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn import_files(
    writer: &mut ImportWriter<'_>,
    hint: &ProjectHint,
    files: &[PathBuf],
    now: Millis,
) -> Result<(), ImportError> {
    let keys = hint.keys.join("\n");
    let mut texts = Vec::new();
    for path in files {
        match read_file(path) {
            Ok((text, at)) => texts.push((path, text, at.unwrap_or(now))),
            Err(e) => {
                writer.add_problem(path, e);
                writer.skip(KIND, ImportSkipReason::Unreadable);
            }
        }
    }
    let times = || texts.iter().map(|(_, _, at)| *at);
    let project = derived_id(&["project", &keys]);
    writer.project(&ProjectRecord {
        uid: project,
        name: hint.name.clone(),
        root: hint.root.clone(),
        keys: hint.keys.clone(),
        last_active: times().max().unwrap_or(now),
        created_at: times().min().unwrap_or(now),
    })?;
    for (path, text, at) in texts {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let (kind, sections) = parse(&name, &text);
        for section in sections {
            let uid = derived_id(&["memory-file", &keys, &name, &section.title, &section.text]);
            writer.observation(KIND, observation(uid, project, kind.clone(), section, at))?;
        }
    }
    Ok(())
}

fn derived_id(parts: &[&str]) -> PublicId {
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
    PublicId::derived(&event_key::digest(&parts))
}

fn read_file(path: &Path) -> std::io::Result<(String, Option<Millis>)> {
    let file = paths::open_file(path)?;
    let meta = file.metadata()?;
    if meta.len() > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!("longer than {} KB", FILE_BYTES_MAX >> 10)));
    }
    let changed = meta.modified().ok();
    let since = changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let at = since.map(|since| Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)));
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), at))
}

fn observation(
    uid: PublicId,
    project: PublicId,
    kind: ObservationType,
    section: MemorySection,
    at: Millis,
) -> ObservationRecord {
    ObservationRecord {
        text: ObservationText {
            kind,
            title: section.title,
            subtitle: section.heading,
            narrative: section.text,
            facts: Vec::new(),
            concepts: Vec::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
        },
        uid,
        session: None,
        project: Some(project),
        level: MemoryLevel::Project,
        prompt_number: 0,
        branch: None,
        agent_id: None,
        agent_type: None,
        origin: Some(Origin::Import),
        made_by: KIND.to_owned(),
        discovery_tokens: 0,
        read_tokens: 0,
        pinned: false,
        wrong: false,
        replaced_by: None,
        created_at: at,
        updated_at: at,
        edited: false,
        sessions: Vec::new(),
    }
}

#[cfg(test)]
#[path = "memory_files_tests.rs"]
mod tests;
