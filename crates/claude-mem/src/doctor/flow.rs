//! Events on their way: whether any come, and whether any are stuck.

use std::fs::DirEntry;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Cure, Finding, Patient};
use crate::clock::Millis;
use crate::limits::{LETTER_STUCK_SECONDS, SILENCE_SECONDS};
use crate::pause;
use crate::store::{Store, StoreError};

/// Whether hooks fire: the client's own records tell when it was used, ours when we heard of it.
pub(super) fn firing(patient: &Patient<'_>) -> Vec<Finding> {
    let heard = Store::open_read_only(&patient.data.db());
    let heard = match heard.and_then(|store| store.read().last_heard()) {
        Ok(heard) => heard,
        Err(StoreError::Missing) => None,
        Err(error) => return vec![Finding::could_not_look("events", &error)],
    };
    let heard = heard.max(newest(&patient.data.spool(), "json").map(millis));
    let installed = modified(&patient.data.installed()).map(millis);
    let used = last_used(patient).map(millis);
    let silent_since = heard.max(installed);
    let grace = i64::try_from(SILENCE_SECONDS).unwrap_or(i64::MAX);
    let is_paused = pause::in_force(&patient.data.paused(), patient.now).is_some();
    let is_silent = match (used, silent_since) {
        (Some(used), Some(since)) => used > since.plus_seconds(grace),
        _ => false,
    };
    if is_silent && !is_paused {
        return vec![Finding::problem(
            "events",
            "Claude Code was used since, but no hook was heard of",
            "end and start Claude Code: it reads hooks when it starts; then `claude-mem repair`",
        )];
    }
    match heard {
        Some(heard) => {
            let minutes = (patient.now - heard).max(0) / 60_000;
            vec![Finding::ok(
                "events",
                format!("the last one came {} ago", in_words(minutes)),
            )]
        }
        None => vec![Finding::ok(
            "events",
            "none yet; they come with the next session",
        )],
    }
}

fn in_words(minutes: i64) -> String {
    match minutes {
        ..60 => format!("{minutes} min"),
        60..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

/// When the client last wrote down what a session did.
fn last_used(patient: &Patient<'_>) -> Option<SystemTime> {
    let projects = patient.places.settings.parent()?.join("projects");
    let folders = std::fs::read_dir(projects).ok()?.flatten();
    folders
        .filter_map(|folder| newest(&folder.path(), "jsonl"))
        .max()
}

fn newest(dir: &Path, extension: &str) -> Option<SystemTime> {
    let is_one = |entry: &DirEntry| entry.path().extension().is_some_and(|e| e == extension);
    let entries = std::fs::read_dir(dir).ok()?.flatten().filter(is_one);
    entries.filter_map(|entry| modified(&entry.path())).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

fn millis(time: SystemTime) -> Millis {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

pub(super) fn spool(patient: &Patient<'_>) -> Vec<Finding> {
    let entries = match std::fs::read_dir(patient.data.spool()) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(e) => return vec![Finding::could_not_look("spool", &e)],
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
            let age = modified(&entry.path()).map_or(0, |at| patient.now - millis(at));
            let limit = Duration::from_secs(LETTER_STUCK_SECONDS).as_millis();
            stuck += u64::from(u128::try_from(age).unwrap_or(0) > limit);
        }
    }
    let mut found = Vec::new();
    if stuck > 0 {
        found.push(
            Finding::problem(
                "spool",
                format!(
                    "{} waited long and not in the database",
                    counted(stuck, "has", "have")
                ),
                "claude-mem worker run --until-drained",
            )
            .cured_by(Cure::Spool),
        );
    }
    if bad > 0 {
        found.push(Finding::problem(
            "spool",
            format!(
                "{} set aside",
                counted(
                    bad,
                    "was refused or unreadable, and is",
                    "were refused or unreadable, and are"
                )
            ),
            format!(
                "{}/hook-*.log says why; rm {}/*.bad, when you have looked at them",
                patient.data.logs().display(),
                patient.data.spool().display()
            ),
        ));
    }
    if found.is_empty() {
        found.push(Finding::ok(
            "spool",
            format!("{}, none for long", counted(waiting, "waits", "wait")),
        ));
    }
    found
}

fn counted(events: u64, of_one: &str, of_many: &str) -> String {
    match events {
        1 => format!("1 event {of_one}"),
        _ => format!("{events} events {of_many}"),
    }
}

pub(super) fn dead(patient: &Patient<'_>) -> Vec<Finding> {
    let counts = Store::open_read_only(&patient.data.db());
    match counts.and_then(|store| store.read().queue_counts()) {
        Ok(counts) if counts.dead > 0 => vec![Finding::problem(
            "queue",
            counted(
                counts.dead,
                "could not be worked on",
                "could not be worked on",
            ),
            "claude-mem queue list --state dead, then `claude-mem queue retry --all`",
        )],
        Ok(counts) => vec![Finding::ok("queue", format!("{} waiting", counts.waiting))],
        Err(StoreError::Missing) => Vec::new(),
        Err(error) => vec![Finding::could_not_look("queue", &error)],
    }
}

pub(super) fn paused(patient: &Patient<'_>) -> Vec<Finding> {
    match pause::in_force(&patient.data.paused(), patient.now) {
        Some(_) => vec![Finding::note(
            "paused",
            "nothing is kept: it is paused",
            "claude-mem resume",
        )],
        None => Vec::new(),
    }
}
