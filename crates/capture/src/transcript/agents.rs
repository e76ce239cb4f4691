//! Finds the transcripts of a session's subagents.
//!
//! Newer clients store them in the session's own folder. Older clients store those of all sessions of
//! a project next to the main transcripts.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Subagent, header};
use claude_mem_core::paths;

/// The transcript file of one subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentTranscript {
    pub path: PathBuf,
    pub agent: Subagent,
}

/// The subagent transcripts of the session whose transcript is `main`. Of the files next to it, only
/// those modified since `modified_since` are opened: there may be thousands.
pub fn subagent_transcripts(
    main: &Path,
    session: &str,
    modified_since: std::time::SystemTime,
) -> io::Result<Vec<SubagentTranscript>> {
    let mut found = Vec::new();
    for path in list_subagent_files(&main.with_extension("").join("subagents"))? {
        found.extend(subagent_transcript(path));
    }
    let Some(beside) = main.parent() else {
        return Ok(found);
    };
    for path in list_subagent_files(beside)? {
        let modified = ignore_not_found(std::fs::metadata(&path).and_then(|meta| meta.modified()))?;
        if modified.is_some_and(|modified| modified >= modified_since) && belongs_to_session(&path, session)?
        {
            found.extend(subagent_transcript(path));
        }
    }
    Ok(found)
}

fn belongs_to_session(path: &Path, session: &str) -> io::Result<bool> {
    let head = ignore_not_found(header::read_header(path))?.flatten();
    Ok(head.is_some_and(|head| head.session.as_deref() == Some(session)))
}

/// Maps "not found" to `None`: the file was removed in the meantime.
fn ignore_not_found<T>(looked: io::Result<T>) -> io::Result<Option<T>> {
    match looked {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        looked => looked.map(Some),
    }
}

fn list_subagent_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut found: Vec<PathBuf> = paths
        .collect::<io::Result<Vec<_>>>()?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .filter(|path| subagent_id(path).is_some())
        .collect();
    found.sort();
    Ok(found)
}

fn subagent_id(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.strip_prefix("agent-")
}

/// Identifies the subagent of a transcript by its file name. `None` if it is not a subagent's.
pub fn subagent_transcript(path: PathBuf) -> Option<SubagentTranscript> {
    let id = subagent_id(&path)?.to_owned();
    let agent = Subagent { id, kind: read_kind(&path) };
    Some(SubagentTranscript { path, agent })
}

/// The kind of a subagent of the session whose transcript is `main`.
pub(super) fn subagent_kind(main: &Path, id: &str) -> Option<String> {
    let is_file_name = !id.contains('/');
    is_file_name
        .then(|| main.with_extension("").join(format!("subagents/agent-{id}.jsonl")))
        .and_then(|path| read_kind(&path))
}

/// The kind that the client wrote beside a subagent's transcript. Older clients write none.
fn read_kind(transcript: &Path) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct SubagentMeta {
        agent_type: Option<String>,
    }
    let meta = paths::read_file(&transcript.with_extension("meta.json")).ok()?;
    serde_json::from_slice::<SubagentMeta>(&meta).ok()?.agent_type
}
