//! What stands in a file.

use std::fmt::Write as _;

use super::Told;
use crate::clock::Millis;
use crate::context::quote;
use crate::ids::PublicId;
use crate::store::{ObservationRecord, ProjectRecord, PromptRecord, SessionRecord, SummaryRecord};

/// Every file of ours begins with it.
pub(super) const MARK: &str = "<!-- claude-mem";
const TITLE_CHARS_MAX: usize = 160;

/// One session, or what was noted outside of any.
pub(super) struct Page {
    pub name: String,
    pub text: String,
}

impl Page {
    /// As a part of a longer text: without the mark, headings one deeper.
    pub(super) fn below(&self) -> String {
        let (_, body) = self.text.split_once("-->\n\n").unwrap_or(("", &self.text));
        let mut quoted = false;
        let deeper = body.lines().map(|line| {
            quoted ^= line.starts_with("```");
            let is_heading = line.starts_with('#') && !quoted;
            if is_heading {
                format!("#{line}\n")
            } else {
                format!("{line}\n")
            }
        });
        deeper.collect()
    }
}

pub(super) fn of_project(project: Option<&ProjectRecord>, sheets: &[String]) -> String {
    let mut text = String::new();
    let uid = project.map_or_else(
        || "everywhere".to_owned(),
        |project| project.uid.to_string(),
    );
    let title = project.map_or("What holds in every project", |project| {
        project.name.as_str()
    });
    let _ = writeln!(text, "{MARK} project {uid} -->\n\n# {}\n", line(title));
    text.push_str(&sheets.join("\n"));
    text
}

pub(super) fn of_session(session: &SessionRecord, project: &str, told: &Told) -> Page {
    let mut text = String::new();
    let title = session
        .user_prompt
        .as_deref()
        .map(line)
        .filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| "A session".to_owned());
    let _ = writeln!(text, "{MARK} session {} -->\n\n# {title}\n", session.uid);
    let _ = writeln!(text, "- project: {}", line(project));
    let _ = writeln!(text, "- when: {}", minute(session.created_at));
    if let Some(branch) = &session.branch {
        let _ = writeln!(text, "- branch: `{}`", line(branch));
    }
    let _ = writeln!(
        text,
        "- session: {} {}",
        session.client,
        line(&session.client_session)
    );
    turns(&mut text, told);
    Page {
        name: format!("{}-{}", day(session.created_at), short(session.uid)),
        text,
    }
}

pub(super) fn of_notes(project: &str, told: &Told) -> Page {
    let mut text = String::new();
    let _ = writeln!(text, "{MARK} notes -->\n\n# Notes for {}", line(project));
    let mut notes: Vec<&ObservationRecord> = told.observations.iter().collect();
    notes.sort_by_key(|note| (note.created_at, note.uid));
    for note in notes {
        observation(&mut text, note);
    }
    Page {
        name: "notes".to_owned(),
        text,
    }
}

/// Prompt after prompt, each with what was learnt in its turn and its account.
fn turns(text: &mut String, told: &Told) {
    let numbers = told.prompts.iter().map(|row| row.prompt_number);
    let numbers = numbers
        .chain(told.observations.iter().map(|row| row.prompt_number))
        .chain(told.summaries.iter().map(|row| row.prompt_number));
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let mut prompts: Vec<&PromptRecord> = told
            .prompts
            .iter()
            .filter(|row| row.prompt_number == number)
            .collect();
        prompts.sort_by_key(|row| (row.created_at, row.uid));
        for row in prompts {
            prompt(text, row);
        }
        let mut observations: Vec<&ObservationRecord> = told
            .observations
            .iter()
            .filter(|row| row.prompt_number == number)
            .collect();
        observations.sort_by_key(|row| (row.created_at, row.uid));
        for row in observations {
            observation(text, row);
        }
        let mut summaries: Vec<&SummaryRecord> = told
            .summaries
            .iter()
            .filter(|row| row.prompt_number == number)
            .collect();
        summaries.sort_by_key(|row| (row.created_at, row.uid));
        for row in summaries {
            summary(text, row);
        }
    }
}

fn prompt(text: &mut String, row: &PromptRecord) {
    let _ = writeln!(
        text,
        "\n## {} · {}\n",
        minute(row.created_at),
        heading(&row.text)
    );
    for said in row.text.trim().lines() {
        let _ = writeln!(text, "{}", format!("> {said}").trim_end());
    }
}

fn observation(text: &mut String, row: &ObservationRecord) {
    let _ = writeln!(text, "\n### {}: {}\n", row.kind, heading(&row.title));
    for part in [&row.subtitle, &row.narrative] {
        paragraph(text, part);
    }
    for fact in &row.facts {
        let _ = writeln!(text, "- {}", line_of_any_length(fact));
    }
    if !row.facts.is_empty() {
        text.push('\n');
    }
    let files = |list: &[String]| {
        let names: Vec<_> = list
            .iter()
            .map(|file| format!("`{}`", line(file)))
            .collect();
        names.join(", ")
    };
    let mut told = vec![minute(row.created_at)];
    if !row.files_modified.is_empty() {
        told.push(format!("changed {}", files(&row.files_modified)));
    }
    if !row.files_read.is_empty() {
        told.push(format!("read {}", files(&row.files_read)));
    }
    if !row.concepts.is_empty() {
        told.push(row.concepts.join(", "));
    }
    let marks = [
        (row.pinned, "pinned"),
        (row.wrong, "wrong"),
        (row.replaced_by.is_some(), "replaced"),
    ];
    told.extend(
        marks
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, mark)| (*mark).to_owned()),
    );
    let _ = writeln!(text, "_{}_", told.join(" · "));
}

fn summary(text: &mut String, row: &SummaryRecord) {
    let _ = writeln!(text, "\n### What was done · {}\n", minute(row.created_at));
    for (name, part) in [
        ("Asked", &row.request),
        ("Looked into", &row.investigated),
        ("Learnt", &row.learned),
        ("Done", &row.completed),
        ("Next", &row.next_steps),
        ("Notes", &row.notes),
    ] {
        if !part.trim().is_empty() {
            paragraph(text, &format!("**{name}:** {}", part.trim()));
        }
    }
    if !row.files_edited.is_empty() {
        let files: Vec<_> = row
            .files_edited
            .iter()
            .map(|file| format!("`{}`", line(file)))
            .collect();
        let _ = writeln!(text, "_changed {}_", files.join(", "));
    }
}

/// Stored text is text: it makes no headings of ours.
fn paragraph(text: &mut String, part: &str) {
    let part = part.trim();
    if part.is_empty() {
        return;
    }
    for told in part.lines() {
        let escape = if told.trim_start().starts_with('#') {
            "\\"
        } else {
            ""
        };
        let _ = writeln!(text, "{escape}{}", told.trim_end());
    }
    text.push('\n');
}

fn heading(text: &str) -> String {
    let title = line(text);
    title.trim_start_matches('#').trim_start().to_owned()
}

fn line(text: &str) -> String {
    quote::line(text, TITLE_CHARS_MAX)
}

fn line_of_any_length(text: &str) -> String {
    quote::line(text, usize::MAX / 8)
}

/// Enough of a public id to tell two files of one day apart. Its end: its beginning is a time.
pub(super) fn short(uid: PublicId) -> String {
    let uid = uid.0.simple().to_string();
    uid[uid.len() - 8..].to_owned()
}

fn day(at: Millis) -> String {
    utc(at, "%Y-%m-%d")
}

fn minute(at: Millis) -> String {
    utc(at, "%Y-%m-%d %H:%M")
}

fn utc(at: Millis, format: &str) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime(format).to_string()
}
