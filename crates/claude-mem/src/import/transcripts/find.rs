//! Which transcripts there are, and in what order they were written.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::clock::Millis;
use crate::limits::{IMPORT_DEPTH_MAX, IMPORT_LIVE_SECONDS, TRANSCRIPT_END_BYTES};
use crate::transcript::{self, AgentFile, Head};

/// One session's transcripts.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub path: PathBuf,
    pub session: String,
    pub head: Head,
    pub agents: Vec<AgentFile>,
    /// When its last line was written.
    pub last_at: Millis,
    /// What is older is a copy of the session that this one was continued from.
    pub since: Option<Millis>,
    /// Nobody is in it any more.
    pub ended: bool,
    /// There is nothing in it at all.
    pub is_empty: bool,
    /// A program that makes memories talks to its model in it.
    pub is_compressor: bool,
    /// It is there, and this kept it from being looked into.
    pub unreadable: Option<String>,
    bytes: u64,
}

impl Found {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// What there is to read.
#[derive(Debug)]
pub(super) struct Below {
    /// The oldest first.
    pub found: Vec<Found>,
    /// Places that could not be looked into, and why.
    pub closed: Vec<String>,
}

/// Everything below a folder, or one file.
pub(super) fn below(root: &Path, now: Millis) -> io::Result<Below> {
    let mut files = Files::default();
    if root.is_file() {
        files.mains.push(root.to_owned());
        let agents = root.with_extension("").join("subagents");
        if agents.is_dir() {
            files.collect(&agents, 0)?;
        }
    } else {
        files.collect(root, 0)?;
    }
    let mut agents = files.agents_by_session();
    let mut found: Vec<Found> = Vec::new();
    for path in files.mains {
        found.push(look(path, &mut agents, now));
    }
    found.sort_by(|a, b| (a.head.at, &a.path).cmp(&(b.head.at, &b.path)));
    mark_continued(&mut found);
    Ok(Below {
        found,
        closed: files.closed,
    })
}

#[derive(Default)]
struct Files {
    mains: Vec<PathBuf>,
    agents: Vec<AgentFile>,
    closed: Vec<String>,
}

impl Files {
    fn collect(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            match entry {
                Ok(entry) => paths.push(entry.path()),
                // What was listed before the error is of use all the same.
                Err(why) => {
                    self.is_closed(folder, &why);
                    break;
                }
            }
        }
        paths.sort();
        for path in paths {
            if path.is_dir() {
                // A folder that cannot be entered does not keep the others out.
                if depth < IMPORT_DEPTH_MAX
                    && let Err(why) = self.collect(&path, depth + 1)
                {
                    self.is_closed(&path, &why);
                }
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                match transcript::agent_file(path.clone()) {
                    Some(agent) => self.agents.push(agent),
                    None => self.mains.push(path),
                }
            }
        }
        Ok(())
    }

    fn is_closed(&mut self, folder: &Path, why: &io::Error) {
        self.closed.push(format!("{}: {why}", folder.display()));
    }

    /// New clients keep them in the session's own folder; of older ones' each says itself whose
    /// it is.
    fn agents_by_session(&mut self) -> HashMap<String, Vec<AgentFile>> {
        let mut by_session: HashMap<String, Vec<AgentFile>> = HashMap::new();
        for agent in std::mem::take(&mut self.agents) {
            let folder = agent.path.parent();
            let own = folder
                .filter(|folder| folder.ends_with("subagents"))
                .and_then(Path::parent);
            let own = own.and_then(|folder| folder.file_name()?.to_str().map(str::to_owned));
            let session = own.map_or_else(
                || transcript::head(&agent.path).map(|head| head.and_then(|head| head.session)),
                |own| Ok(Some(own)),
            );
            match session {
                Ok(Some(session)) => by_session.entry(session).or_default().push(agent),
                Ok(None) => {
                    let why = io::Error::other("it does not say whose it is");
                    self.is_closed(&agent.path, &why);
                }
                Err(why) => self.is_closed(&agent.path, &why),
            }
        }
        by_session
    }
}

fn look(path: PathBuf, agents: &mut HashMap<String, Vec<AgentFile>>, now: Millis) -> Found {
    let (head, unreadable) = match transcript::head(&path) {
        Ok(head) => (head.unwrap_or_default(), None),
        Err(why) => (Head::default(), Some(why.to_string())),
    };
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.unwrap_or_default();
    let session = head.session.clone().unwrap_or_else(|| stem.clone());
    let agents = agents
        .remove(&session)
        .or_else(|| agents.remove(&stem))
        .unwrap_or_default();
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    let own = size(&path);
    let last_at = last_at(&path)
        .ok()
        .flatten()
        .or(head.at)
        .unwrap_or_default();
    Found {
        bytes: own + agents.iter().map(|agent| size(&agent.path)).sum::<u64>(),
        is_empty: own == 0 || head.session.is_none(),
        ended: now - last_at > IMPORT_LIVE_SECONDS * 1_000,
        since: None,
        is_compressor: is_compressor(&path).unwrap_or(false),
        unreadable,
        path,
        session,
        head,
        agents,
        last_at,
    }
}

/// A session without a person whose answers are memories.
fn is_compressor(path: &Path) -> io::Result<bool> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(COMPRESSOR_LOOK_BYTES)
        .read_to_end(&mut bytes)?;
    let says = |text: &[u8]| memchr::memmem::find(&bytes, text).is_some();
    let answers: [&[u8]; 3] = [
        b"\"text\":\"<observation>",
        b"\"text\":\"<summary>",
        b"<observed_from_primary_session>",
    ];
    Ok(says(b"\"entrypoint\":\"sdk-") && answers.iter().any(|text| says(text)))
}

const COMPRESSOR_LOOK_BYTES: u64 = 64 << 10;

/// Older clients begin the transcript of a continued session with a copy of what was before, its
/// times included. Two that begin with the same words at the same moment are one conversation:
/// the longer one tells only what the other does not.
fn mark_continued(found: &mut [Found]) {
    type Begin = (PathBuf, Millis, Option<String>);
    let mut ends: HashMap<Begin, Vec<(Millis, usize)>> = HashMap::new();
    for (at, one) in found.iter().enumerate() {
        if let (Some(began), Some(folder)) = (one.head.at, one.path.parent()) {
            let begin = (folder.to_owned(), began, one.head.message.clone());
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

/// The time of the last line that has one.
fn last_at(path: &Path) -> io::Result<Option<Millis>> {
    const FIELD: &[u8] = b"\"timestamp\":\"";
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    // Most lines are short; few are as long as the most that is looked at.
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
