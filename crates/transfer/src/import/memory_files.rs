//! Imports the memory files that the client itself keeps for each project: `projects/*/memory/*.md`.
//!
//! Every section of a file becomes one observation, marked as imported: the agent wrote it, and nothing in it counts
//! as the user's words. The project is that of the transcripts beside the folder. Public ids are derived from the
//! text, so that a second run imports only what is new or changed.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{ImportContext, ImportError, ImportProgress, ImportReport, ImportSkipReason, ImportWriter};
use claude_mem_capture::transcript;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::event_key;
use claude_mem_core::ids::PublicId;
use claude_mem_core::memory::{ObservationType, Origin};
use claude_mem_core::{paths, project};
use claude_mem_store::{MemoryLevel, ObservationRecord, ProjectRecord, Store};

/// Kind of the run in the list of imports, and of its rows.
pub const KIND: &str = "memory-files";

/// Maximum bytes read of one file.
const FILE_BYTES_MAX: u64 = 256 << 10;

/// One section of a memory file.
#[derive(Debug, PartialEq, Eq)]
struct MemorySection {
    title: String,
    text: String,
}

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
            match project_of_folder(&folder, &mut writer) {
                Some(hint) => import_files(&mut writer, &hint, &files, now)?,
                None => writer.skip_many(KIND, ImportSkipReason::Unreadable, files.len() as u64),
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

/// The project of the transcripts in a folder. Its name alone does not tell the directory.
fn project_of_folder(folder: &Path, writer: &mut ImportWriter<'_>) -> Option<ProjectHint> {
    let transcripts = list(folder, writer).into_iter().filter(|path| has_ending(path, "jsonl"));
    let cwd = transcripts.rev().find_map(|path| transcript::read_header(&path).ok()??.cwd)?;
    Some(project::identify(Path::new(&cwd)))
}

fn import_files(
    writer: &mut ImportWriter<'_>,
    hint: &ProjectHint,
    files: &[PathBuf],
    now: Millis,
) -> Result<(), ImportError> {
    let keys = hint.keys.join("\n");
    let project = derived_id(&["project", &keys]);
    writer.project(&ProjectRecord {
        uid: project,
        name: hint.name.clone(),
        root: hint.root.clone(),
        keys: hint.keys.clone(),
        last_active: now,
        created_at: now,
    })?;
    for path in files {
        let read = read_file(path);
        let (text, at) = match read {
            Ok(read) => read,
            Err(e) => {
                writer.add_problem(path, e);
                writer.skip(KIND, ImportSkipReason::Unreadable);
                continue;
            }
        };
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let (kind, sections) = parse(&name, &text);
        for section in sections {
            let uid = derived_id(&["memory-file", &keys, &name, &section.title, &section.text]);
            writer.observation(KIND, observation(uid, project, kind.clone(), section, at.unwrap_or(now)))?;
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
    let changed = file.metadata()?.modified().ok();
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
        uid,
        session: None,
        project: Some(project),
        level: MemoryLevel::Project,
        prompt_number: 0,
        kind,
        title: section.title,
        subtitle: String::new(),
        narrative: section.text,
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
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

/// The type of a file's memories, and its sections. A section without text, or with nothing but links to other
/// memory files, is left out.
fn parse(name: &str, text: &str) -> (ObservationType, Vec<MemorySection>) {
    let (head, body) = front_matter(text);
    let field = |wanted: &str| {
        let fields = head.lines().filter_map(|line| line.split_once(':'));
        let found = fields.into_iter().find(|(key, _)| key.trim() == wanted);
        found.map(|(_, value)| value.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty())
    };
    let kind = match field("type").as_deref() {
        Some("feedback" | "user") => ObservationType::DECISION,
        _ => ObservationType::DISCOVERY,
    };
    let whole =
        field("description").or_else(|| field("name")).unwrap_or_else(|| name.replace(['-', '_'], " "));
    let mut sections = vec![MemorySection { title: whole, text: String::new() }];
    let mut is_code = false;
    for line in body.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        let is_heading = !is_code && heading.len() < line.len() && heading.starts_with(' ');
        if is_heading {
            sections.push(MemorySection { title: heading.trim().to_owned(), text: String::new() });
        } else if let Some(section) = sections.last_mut() {
            section.text.push_str(line);
            section.text.push('\n');
        }
    }
    for section in &mut sections {
        section.text = section.text.trim().to_owned();
    }
    sections.retain(|section| !section.text.is_empty() && !is_list_of_links(&section.text));
    (kind, sections)
}

/// The fields between two lines `---` at the start, and the rest.
fn front_matter(text: &str) -> (&str, &str) {
    let fields = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    fields.map_or(("", text), |(head, rest)| (head, rest.split_once('\n').map_or("", |(_, rest)| rest)))
}

fn is_list_of_links(text: &str) -> bool {
    text.lines().filter(|line| !line.trim().is_empty()).all(|line| line.contains(".md)"))
}

#[cfg(test)]
#[path = "memory_files_tests.rs"]
mod tests;
