//! Finds the transcripts below a folder and sorts them by start time.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::database_sessions;
use super::found_session::{FoundSession, IMPORT_LIVE_SECONDS, TranscriptScan};
use claude_mem_capture::transcript;
use claude_mem_capture::transcript::{SubagentTranscript, TranscriptHeader};
use claude_mem_core::agents::{CodingAgent, TranscriptSpec};
use claude_mem_core::clock::Millis;
use claude_mem_core::paths;

/// Maximum directory levels below the given folder that are searched for transcripts.
const IMPORT_DEPTH_MAX: usize = 6;

/// Bytes at the end of a transcript that are searched for its last timestamp.
const TRANSCRIPT_END_BYTES: u64 = 1 << 20;

/// Scans a folder recursively, or a single transcript.
pub(super) fn scan_transcripts(agent: &CodingAgent, root: &Path, now: Millis) -> io::Result<TranscriptScan> {
    let Some(spec) = agent.transcripts else {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "its transcripts cannot be read"));
    };
    if let Some(name) = spec.database {
        return database_sessions::scan_database(root, name, now);
    }
    let is_translated = spec.translate.is_some();
    let mut files = TranscriptFiles { prefix: spec.file_prefix, is_translated, ..TranscriptFiles::default() };
    if root.is_file() {
        files.mains.push(root.to_owned());
        let agents = root.with_extension("").join("subagents");
        if agents.is_dir() && !is_translated {
            files.collect(&agents, 0)?;
        }
    } else {
        files.collect(root, 0)?;
    }
    let mut agents = files.agents_by_session();
    let mut found: Vec<FoundSession> = Vec::new();
    for path in files.mains {
        found.push(inspect_session(spec, path, &mut agents, now));
    }
    found.sort_by(|a, b| (a.header.at, &a.path).cmp(&(b.header.at, &b.path)));
    if !is_translated {
        mark_continued(&mut found);
    }
    Ok(TranscriptScan { sessions: found, unreadable: files.unreadable })
}

/// The sessions of a client below a folder that can be imported, without reading any of them: paths of
/// transcripts, or of sessions in the client's database. A folder that does not exist has none.
pub fn list_transcripts(agent: &CodingAgent, root: &Path) -> io::Result<Vec<PathBuf>> {
    let Some(spec) = agent.transcripts.filter(|_| root.is_dir()) else {
        return Ok(Vec::new());
    };
    if let Some(name) = spec.database {
        if !root.join(name).is_file() {
            return Ok(Vec::new());
        }
        let found = database_sessions::scan_database(root, name, Millis(0))?;
        return Ok(found.sessions.into_iter().map(|session| session.path).collect());
    }
    let is_translated = spec.translate.is_some();
    let mut files = TranscriptFiles { prefix: spec.file_prefix, is_translated, ..TranscriptFiles::default() };
    files.collect(root, 0)?;
    Ok(files.mains)
}

#[derive(Default)]
struct TranscriptFiles {
    /// How the name of a transcript begins.
    prefix: &'static str,
    is_translated: bool,
    mains: Vec<PathBuf>,
    agents: Vec<SubagentTranscript>,
    unreadable: Vec<String>,
}

impl TranscriptFiles {
    fn collect(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            match entry {
                Ok(entry) => paths.push(entry.path()),
                // Use the entries that were listed before the error.
                Err(why) => {
                    self.add_unreadable(folder, &why);
                    break;
                }
            }
        }
        paths.sort();
        for path in paths {
            if path.is_dir() {
                // An unreadable folder does not stop the scan of the others.
                if depth < IMPORT_DEPTH_MAX
                    && let Err(why) = self.collect(&path, depth + 1)
                {
                    self.add_unreadable(&path, &why);
                }
            } else if self.is_transcript(&path) {
                if self.is_translated {
                    self.mains.push(path);
                    continue;
                }
                match transcript::subagent_transcript(path.clone()) {
                    Some(agent) => self.agents.push(agent),
                    None => self.mains.push(path),
                }
            }
        }
        Ok(())
    }

    fn is_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        path.extension().is_some_and(|ending| ending == "jsonl") && name.starts_with(self.prefix)
    }

    fn add_unreadable(&mut self, folder: &Path, why: &io::Error) {
        self.unreadable.push(format!("{}: {why}", folder.display()));
    }

    /// Groups subagent transcripts by session. Newer clients store them in the session's folder; those
    /// of older clients name their session in the header.
    fn agents_by_session(&mut self) -> HashMap<String, Vec<SubagentTranscript>> {
        let mut by_session: HashMap<String, Vec<SubagentTranscript>> = HashMap::new();
        for agent in std::mem::take(&mut self.agents) {
            let folder = agent.path.parent();
            let own = folder.filter(|folder| folder.ends_with("subagents")).and_then(Path::parent);
            let own = own.and_then(|folder| folder.file_name()?.to_str().map(str::to_owned));
            let session = own.map_or_else(
                || transcript::read_header(&agent.path).map(|head| head.and_then(|head| head.session)),
                |own| Ok(Some(own)),
            );
            match session {
                Ok(Some(session)) => by_session.entry(session).or_default().push(agent),
                Ok(None) => {
                    let why = io::Error::other("names no session");
                    self.add_unreadable(&agent.path, &why);
                }
                Err(why) => self.add_unreadable(&agent.path, &why),
            }
        }
        by_session
    }
}

fn inspect_session(
    spec: TranscriptSpec,
    path: PathBuf,
    agents: &mut HashMap<String, Vec<SubagentTranscript>>,
    now: Millis,
) -> FoundSession {
    let (mut head, unreadable) = match transcript::read_translated_header(&path, spec.translate) {
        Ok(head) => (head.unwrap_or_default(), None),
        Err(why) => (TranscriptHeader::default(), Some(why.to_string())),
    };
    if head.cwd.is_none() {
        head.cwd = directory_beside(&path, spec);
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.unwrap_or_default();
    let session = head.session.clone().unwrap_or_else(|| stem.clone());
    let agents = agents.remove(&session).or_else(|| agents.remove(&stem)).unwrap_or_default();
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    let own = size(&path);
    let last_at = last_timestamp(&path).ok().flatten().or(head.at).unwrap_or_default();
    FoundSession {
        bytes: own + agents.iter().map(|agent| size(&agent.path)).sum::<u64>(),
        is_empty: own == 0 || head.session.is_none(),
        ended: now - last_at > IMPORT_LIVE_SECONDS * 1_000,
        since: None,
        is_compressor: is_compressor(&path).unwrap_or(false),
        unreadable,
        path,
        session,
        header: head,
        agents,
        last_at,
    }
}

/// The working directory that a file beside the transcript tells.
fn directory_beside(path: &Path, spec: TranscriptSpec) -> Option<String> {
    let file = path.parent()?.join(spec.directory_file?);
    let mut text = String::new();
    paths::open_file(&file).ok()?.take(DIRECTORY_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Maximum bytes of a path in a file beside a transcript.
const DIRECTORY_BYTES_MAX: u64 = 4 << 10;

/// Whether the session was started by a program and its answers are observations or summaries.
fn is_compressor(path: &Path) -> io::Result<bool> {
    let mut bytes = Vec::new();
    paths::open_file(path)?.take(COMPRESSOR_LOOK_BYTES).read_to_end(&mut bytes)?;
    let says = |text: &[u8]| memchr::memmem::find(&bytes, text).is_some();
    let answers: [&[u8]; 3] =
        [b"\"text\":\"<observation>", b"\"text\":\"<summary>", b"<observed_from_primary_session>"];
    Ok(says(b"\"entrypoint\":\"sdk-") && answers.iter().any(|text| says(text)))
}

const COMPRESSOR_LOOK_BYTES: u64 = 64 << 10;

/// Sets `since` on continued sessions. Older clients begin the transcript of a continued session with a
/// copy of its history, timestamps included. Transcripts that start with the same message at the same
/// time are one conversation: the longer one contributes only what the shorter one lacks.
fn mark_continued(found: &mut [FoundSession]) {
    type ConversationStart = (PathBuf, Millis, Option<String>);
    let mut ends: HashMap<ConversationStart, Vec<(Millis, usize)>> = HashMap::new();
    for (at, one) in found.iter().enumerate() {
        if let (Some(began), Some(folder)) = (one.header.at, one.path.parent()) {
            let begin = (folder.to_owned(), began, one.header.message.clone());
            ends.entry(begin).or_default().push((one.last_at, at));
        }
    }
    for mut group in ends.into_values() {
        group.sort_unstable();
        for pair in group.windows(2) {
            found[pair[1].1].since = Some(Millis(pair[0].0.0 + 1));
        }
    }
}

/// The timestamp of the last record that has one.
fn last_timestamp(path: &Path) -> io::Result<Option<Millis>> {
    const FIELD: &[u8] = b"\"timestamp\":\"";
    let mut file = paths::open_file(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    // Most lines are short, so try a small tail before the largest.
    for look in [16 << 10, TRANSCRIPT_END_BYTES] {
        bytes.clear();
        file.seek(SeekFrom::Start(length.saturating_sub(look)))?;
        Read::by_ref(&mut file).take(look).read_to_end(&mut bytes)?;
        if let Some(at) = memchr::memmem::rfind(&bytes, FIELD) {
            let rest = &bytes[at + FIELD.len()..];
            let text = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
            let text = std::str::from_utf8(text).unwrap_or_default();
            if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
                return Ok(Some(Millis(stamp.as_millisecond())));
            }
        }
    }
    Ok(None)
}
