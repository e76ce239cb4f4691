//! Checks of the event flow: whether hooks fire, and whether events are stuck or dead.

use std::fs::DirEntry;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{AutoFix, DoctorContext, DoctorFinding};
use claude_mem_capture::spool;
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::clock::{Micros, Millis};
use claude_mem_core::pause;
use claude_mem_store::{Store, StoreError};

/// Seconds that the client may be in use without a hook event before `doctor` reports a problem. It
/// allows for a pause in the conversation.
pub(super) const SILENCE_SECONDS: u64 = 600;

/// Seconds after which an event in the spool counts as stuck.
const LETTER_STUCK_SECONDS: u64 = 600;

/// Whether hooks fire: compares the client's newest transcript with our newest event.
pub(super) fn hooks_firing(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let heard = match (last_event(context, None), last_event(context, Some(CLAUDE_CODE.name))) {
        (Ok(any), Ok(own)) => (any, own),
        (Err(error), _) | (_, Err(error)) => return vec![DoctorFinding::unknown("events", &error)],
    };
    let (heard, own) = heard;
    let installed = mtime(&context.data.installed()).map(to_millis);
    let used = client_last_used(context).map(to_millis);
    let silent_since = own.max(installed);
    let grace = i64::try_from(SILENCE_SECONDS).unwrap_or(i64::MAX);
    let is_paused = pause::active_pause(&context.data.paused(), context.now).is_some();
    let is_silent = match (used, silent_since) {
        (Some(used), Some(since)) => used > since.plus_seconds(grace),
        _ => false,
    };
    if is_silent && !is_paused {
        return vec![DoctorFinding::problem(
            "events",
            "Claude Code was used since, but no hook ran",
            "restart Claude Code, which reads hooks at startup; then `claude-mem repair`",
        )];
    }
    match heard {
        Some(heard) => {
            let minutes = (context.now - heard).max(0) / 60_000;
            vec![DoctorFinding::ok("events", format!("the last one arrived {} ago", format_age(minutes)))]
        }
        None => vec![DoctorFinding::ok("events", "none yet; the next session sends some")],
    }
}

/// When the last event arrived, of all agents or of one: in the database, or in the spool on its way there.
pub(super) fn last_event(
    context: &DoctorContext<'_>,
    client: Option<&str>,
) -> Result<Option<Millis>, StoreError> {
    let store = Store::open_read_only(&context.data.db());
    let stored = match store.and_then(|store| store.read().last_hook_activity(client)) {
        Err(StoreError::Missing) => None,
        stored => stored?,
    };
    let spool = context.data.spool();
    let spooled =
        spool::newest_event(context.data, client).map_err(|e| StoreError::io(spool.display(), e))?;
    Ok(stored.max(spooled.map(Micros::millis)))
}

fn format_age(minutes: i64) -> String {
    match minutes {
        ..60 => format!("{minutes} min"),
        60..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

/// When the client last wrote to a transcript.
fn client_last_used(context: &DoctorContext<'_>) -> Option<SystemTime> {
    let projects = context.client_paths.settings.parent()?.join("projects");
    let folders = std::fs::read_dir(projects).ok()?.flatten();
    folders.filter_map(|folder| newest_mtime(&folder.path(), "jsonl")).max()
}

pub(super) fn newest_mtime(dir: &Path, extension: &str) -> Option<SystemTime> {
    let is_one = |entry: &DirEntry| entry.path().extension().is_some_and(|e| e == extension);
    let entries = std::fs::read_dir(dir).ok()?.flatten().filter(is_one);
    entries.filter_map(|entry| mtime(&entry.path())).max()
}

pub(super) fn mtime(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

pub(super) fn to_millis(time: SystemTime) -> Millis {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Whether events are stuck in the spool or set aside.
pub(super) fn spool(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let entries = match std::fs::read_dir(context.data.spool()) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(e) => return vec![DoctorFinding::unknown("spool", &e)],
        Ok(entries) => entries,
    };
    let (mut waiting, mut stuck, mut bad) = (0, 0, 0);
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".bad") {
            bad += 1;
        } else if name.ends_with(".json") && !name.starts_with('.') {
            waiting += 1;
            let age = mtime(&entry.path()).map_or(0, |at| context.now - to_millis(at));
            let limit = Duration::from_secs(LETTER_STUCK_SECONDS).as_millis();
            stuck += u64::from(u128::try_from(age).unwrap_or(0) > limit);
        }
    }
    let mut found = Vec::new();
    if stuck > 0 {
        found.push(
            DoctorFinding::problem(
                "spool",
                format!("{} waited too long outside the database", count_events(stuck, "has", "have")),
                "claude-mem worker run --until-drained",
            )
            .with_auto_fix(AutoFix::Spool),
        );
    }
    if bad > 0 {
        found.push(DoctorFinding::problem(
            "spool",
            format!(
                "{} set aside",
                count_events(bad, "was rejected or unreadable and is", "were rejected or unreadable and are")
            ),
            format!(
                "{}/hook-*.log has the reason; rm {}/*.bad, once you have looked at them",
                context.data.logs().display(),
                context.data.spool().display()
            ),
        ));
    }
    if found.is_empty() {
        found.push(DoctorFinding::ok(
            "spool",
            format!("{}, none stuck", count_events(waiting, "waits", "wait")),
        ));
    }
    found
}

fn count_events(events: u64, of_one: &str, of_many: &str) -> String {
    match events {
        1 => format!("1 event {of_one}"),
        _ => format!("{events} events {of_many}"),
    }
}

/// Whether events could not be processed.
pub(super) fn dead_events(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let counts = Store::open_read_only(&context.data.db());
    match counts.and_then(|store| store.read().queue_counts()) {
        Ok(counts) if counts.dead > 0 => vec![DoctorFinding::problem(
            "queue",
            count_events(counts.dead, "could not be processed", "could not be processed"),
            "claude-mem queue list --state dead, then `claude-mem queue retry --all`",
        )],
        Ok(counts) => vec![DoctorFinding::ok("queue", format!("{} waiting", counts.waiting))],
        Err(StoreError::Missing) => Vec::new(),
        Err(error) => vec![DoctorFinding::unknown("queue", &error)],
    }
}

/// Whether capture is paused.
pub(super) fn paused(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    match pause::active_pause(&context.data.paused(), context.now) {
        Some(_) => vec![DoctorFinding::note("paused", "capture is paused", "claude-mem resume")],
        None => Vec::new(),
    }
}
