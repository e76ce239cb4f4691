//! Renders the Markdown pages.

use std::fmt::Write as _;

use super::files::{FILE_MARKER, slug};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::PublicId;
use claude_mem_recall::quote;
use claude_mem_store::{
    AccountRecord, MemberRow, ObservationRecord, ProjectRecord, PromptRecord, SessionRecord, SummaryRecord,
};

/// The rows of one session, or of no session.
#[derive(Default)]
pub(super) struct SessionContents {
    pub prompts: Vec<PromptRecord>,
    pub observations: Vec<ObservationRecord>,
    pub summaries: Vec<SummaryRecord>,
    pub account: Option<AccountRecord>,
}

/// What one other member shared of a project.
#[derive(Default)]
pub(super) struct MemberContents {
    pub observations: Vec<ObservationRecord>,
    pub accounts: Vec<AccountRecord>,
}

const TITLE_CHARS_MAX: usize = 160;

/// The page of one session, or of notes without a session.
pub(super) struct MarkdownPage {
    pub name: String,
    pub text: String,
}

impl MarkdownPage {
    /// The page as a section of a longer text: without the marker, headings one level deeper.
    pub(super) fn as_section(&self) -> String {
        let (_, body) = self.text.split_once("-->\n\n").unwrap_or(("", &self.text));
        let mut quoted = false;
        let deeper = body.lines().map(|line| {
            quoted ^= line.starts_with("```");
            let is_heading = line.starts_with('#') && !quoted;
            if is_heading { format!("#{line}\n") } else { format!("{line}\n") }
        });
        deeper.collect()
    }
}

pub(super) fn project_page(project: Option<&ProjectRecord>, sections: &[String]) -> String {
    let mut text = String::new();
    let uid = project.map_or_else(|| "everywhere".to_owned(), |project| project.uid.to_string());
    let title = project.map_or("What holds in every project", |project| project.name.as_str());
    let _ = writeln!(text, "{FILE_MARKER} project {uid} -->\n\n# {}\n", heading(title));
    text.push_str(&sections.join("\n"));
    text
}

pub(super) fn session_page(
    session: &SessionRecord,
    project: &str,
    contents: &SessionContents,
) -> MarkdownPage {
    let mut text = String::new();
    let title = session.user_prompt.as_deref().map(heading).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| "A session".to_owned());
    let _ = writeln!(text, "{FILE_MARKER} session {} -->\n\n# {title}\n", session.uid);
    let _ = writeln!(text, "- project: {}", escape(&one_line(project)));
    let _ = writeln!(text, "- when: {}", minute(session.created_at));
    if let Some(branch) = &session.branch {
        let _ = writeln!(text, "- branch: {}", code(branch));
    }
    let _ = writeln!(
        text,
        "- session: {} {}",
        escape(&session.client),
        escape(&one_line(&session.client_session))
    );
    if let Some(row) = &contents.account {
        account(&mut text, "The session", row);
    }
    turns(&mut text, contents);
    MarkdownPage { name: format!("{}-{}", day(session.created_at), short_id(session.uid)), text }
}

pub(super) fn notes_page(project: &str, contents: &SessionContents) -> MarkdownPage {
    let mut text = String::new();
    let _ = writeln!(text, "{FILE_MARKER} notes -->\n\n# Notes for {}", heading(project));
    let mut notes: Vec<&ObservationRecord> = contents.observations.iter().collect();
    notes.sort_by_key(|note| (note.created_at, note.uid));
    for note in notes {
        observation(&mut text, note);
    }
    MarkdownPage { name: "notes".to_owned(), text }
}

/// The page of what another member shared. It names the member, and nothing of it stands among the user's own rows.
pub(super) fn member_page(member: &MemberRow, project: &str, contents: &MemberContents) -> MarkdownPage {
    let mut text = String::new();
    let (name, handle) = (heading(member.label()), heading(&member.handle));
    let _ = writeln!(text, "{FILE_MARKER} member {} -->\n\n# {name} on {}\n", member.uid, heading(project));
    let _ = writeln!(
        text,
        "- shared by: {name} ({handle}), a member of the team; recorded by others, not verified here"
    );
    let mut accounts: Vec<&AccountRecord> = contents.accounts.iter().collect();
    accounts.sort_by_key(|row| (row.created_at, row.uid));
    for row in accounts {
        account(&mut text, &format!("Session of {}", minute(row.created_at)), row);
    }
    let mut observations: Vec<&ObservationRecord> = contents.observations.iter().collect();
    observations.sort_by_key(|row| (row.created_at, row.uid));
    for row in observations {
        observation(&mut text, row);
    }
    MarkdownPage { name: format!("team-{}-{}", slug(&member.handle), short_id(member.uid)), text }
}

/// Renders the turns in order, each with its prompt, observations and summary.
fn turns(text: &mut String, contents: &SessionContents) {
    let numbers = contents.prompts.iter().map(|row| row.prompt_number);
    let numbers = numbers
        .chain(contents.observations.iter().map(|row| row.prompt_number))
        .chain(contents.summaries.iter().map(|row| row.prompt_number));
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let mut prompts: Vec<&PromptRecord> =
            contents.prompts.iter().filter(|row| row.prompt_number == number).collect();
        prompts.sort_by_key(|row| (row.created_at, row.uid));
        for row in prompts {
            prompt(text, row);
        }
        let mut observations: Vec<&ObservationRecord> =
            contents.observations.iter().filter(|row| row.prompt_number == number).collect();
        observations.sort_by_key(|row| (row.created_at, row.uid));
        for row in observations {
            observation(text, row);
        }
        let mut summaries: Vec<&SummaryRecord> =
            contents.summaries.iter().filter(|row| row.prompt_number == number).collect();
        summaries.sort_by_key(|row| (row.created_at, row.uid));
        for row in summaries {
            summary(text, row);
        }
    }
}

/// The account of a whole session.
fn account(text: &mut String, title: &str, row: &AccountRecord) {
    let _ = writeln!(text, "\n## {title}\n");
    paragraph(text, &row.text.purpose);
    for (name, lines) in [
        ("Done", &row.text.done),
        ("Learned", &row.text.learned),
        ("Decided", &row.text.decided),
        ("Checked", &row.text.checked),
        ("Open", &row.text.open),
    ] {
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(text, "**{name}:**\n");
        for line in lines {
            let _ = writeln!(text, "- {}", escape(&one_line_unbounded(line)));
        }
        text.push('\n');
    }
    if !row.text.files_edited.is_empty() {
        let files: Vec<_> = row.text.files_edited.iter().map(|file| code(file)).collect();
        let _ = writeln!(text, "_changed {}_", files.join(", "));
    }
}

fn prompt(text: &mut String, row: &PromptRecord) {
    let _ = writeln!(text, "\n## {} · {}\n", minute(row.created_at), heading(&row.text));
    for said in row.text.trim().lines() {
        let _ = writeln!(text, "{}", format!("> {}", escape(said)).trim_end());
    }
}

fn observation(text: &mut String, row: &ObservationRecord) {
    let _ = writeln!(text, "\n### {}: {}\n", row.text.kind, heading(&row.text.title));
    for part in [&row.text.subtitle, &row.text.narrative] {
        paragraph(text, part);
    }
    for fact in &row.text.facts {
        let _ = writeln!(text, "- {}", escape(&one_line_unbounded(fact)));
    }
    if !row.text.facts.is_empty() {
        text.push('\n');
    }
    let files = |list: &[String]| {
        let names: Vec<_> = list.iter().map(|file| code(file)).collect();
        names.join(", ")
    };
    let mut details = vec![minute(row.created_at)];
    if !row.text.files_modified.is_empty() {
        details.push(format!("changed {}", files(&row.text.files_modified)));
    }
    if !row.text.files_read.is_empty() {
        details.push(format!("read {}", files(&row.text.files_read)));
    }
    if !row.text.concepts.is_empty() {
        details.push(escape(&row.text.concepts.join(", ")));
    }
    let marks = [(row.pinned, "pinned"), (row.wrong, "wrong"), (row.replaced_by.is_some(), "replaced")];
    if row.sessions.len() > 1 {
        details.push(format!("said in {} sessions", row.sessions.len()));
    }
    details.extend(marks.iter().filter(|(is, _)| *is).map(|(_, mark)| (*mark).to_owned()));
    let _ = writeln!(text, "_{}_", details.join(" · "));
}

fn summary(text: &mut String, row: &SummaryRecord) {
    let _ = writeln!(text, "\n### What was done · {}\n", minute(row.created_at));
    for (name, part) in [
        ("Asked", &row.text.request),
        ("Looked into", &row.text.investigated),
        ("Learnt", &row.text.learned),
        ("Done", &row.text.completed),
        ("Next", &row.text.next_steps),
        ("Notes", &row.text.notes),
    ] {
        if !part.trim().is_empty() {
            paragraph(text, &format!("**{name}:** {}", part.trim()));
        }
    }
    if !row.text.files_edited.is_empty() {
        let files: Vec<_> = row.text.files_edited.iter().map(|file| code(file)).collect();
        let _ = writeln!(text, "_changed {}_", files.join(", "));
    }
}

/// Makes a line of stored text inert: no HTML, no links, nothing invisible. Stored text may come from
/// anywhere, and a Markdown viewer would run or follow it.
fn escape(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => out.push(c),
            c if quote::is_invisible(c) => {}
            '\u{2028}' | '\u{2029}' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '[' | ']' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    // A bare address of a script is linked by some viewers.
    out.replace("javascript:", "javascript&#58;")
}

/// Writes a paragraph and escapes it, so that stored text creates neither headings nor markup.
fn paragraph(text: &mut String, part: &str) {
    let part = part.trim();
    if part.is_empty() {
        return;
    }
    for text_line in part.lines() {
        let mark = if text_line.trim_start().starts_with('#') { "\\" } else { "" };
        let _ = writeln!(text, "{mark}{}", escape(text_line.trim_end()));
    }
    text.push('\n');
}

fn heading(text: &str) -> String {
    let title = one_line(text);
    escape(title.trim_start_matches('#').trim_start())
}

/// A short text as code. A backtick would end it.
fn code(text: &str) -> String {
    format!("`{}`", one_line(text).replace('`', "'"))
}

fn one_line(text: &str) -> String {
    quote::line(text, TITLE_CHARS_MAX)
}

fn one_line_unbounded(text: &str) -> String {
    quote::line(text, usize::MAX / 8)
}

/// The last 8 digits of a public id, to tell two files of one day apart; its first digits are a time.
pub(super) fn short_id(uid: PublicId) -> String {
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
