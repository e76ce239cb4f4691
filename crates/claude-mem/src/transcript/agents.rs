//! The transcripts of a session's subagents.
//!
//! New clients keep them in the session's own folder, older ones next to the transcript, where
//! those of all sessions of a project lie.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Agent, record};

/// One subagent's transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFile {
    pub path: PathBuf,
    pub agent: Agent,
}

/// The subagents of the session whose transcript lies at `main`. Of those next to it only the
/// ones that were written to since `modified_since` are looked into: there may be thousands.
pub fn agent_files(
    main: &Path,
    session: &str,
    modified_since: std::time::SystemTime,
) -> io::Result<Vec<AgentFile>> {
    let mut found = Vec::new();
    for path in agents_in(&main.with_extension("").join("subagents"))? {
        found.extend(agent_file(path));
    }
    let Some(beside) = main.parent() else {
        return Ok(found);
    };
    for path in agents_in(beside)? {
        let modified = if_there(std::fs::metadata(&path).and_then(|meta| meta.modified()))?;
        if modified.is_some_and(|modified| modified >= modified_since) && is_of(&path, session)? {
            found.extend(agent_file(path));
        }
    }
    Ok(found)
}

fn is_of(path: &Path, session: &str) -> io::Result<bool> {
    let head = if_there(record::head(path))?.flatten();
    Ok(head.is_some_and(|head| head.session.as_deref() == Some(session)))
}

/// What was removed meanwhile is told by nobody any more.
fn if_there<T>(looked: io::Result<T>) -> io::Result<Option<T>> {
    match looked {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        looked => looked.map(Some),
    }
}

fn agents_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut found: Vec<PathBuf> = paths
        .collect::<io::Result<Vec<_>>>()?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .filter(|path| id_of(path).is_some())
        .collect();
    found.sort();
    Ok(found)
}

fn id_of(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.strip_prefix("agent-")
}

/// Whose transcript this is. `None`: it is no subagent's.
pub fn agent_file(path: PathBuf) -> Option<AgentFile> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Meta {
        agent_type: Option<String>,
    }
    let id = id_of(&path)?.to_owned();
    // Older clients keep none, and then its kind is not known.
    let meta = std::fs::read(path.with_extension("meta.json"));
    let meta: Meta = meta
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let agent = Agent {
        id,
        kind: meta.agent_type,
    };
    Some(AgentFile { path, agent })
}
