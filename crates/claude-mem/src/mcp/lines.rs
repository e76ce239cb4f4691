//! Formats rows as one line each for a model to choose from: id, day, type, title, tokens to read.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use claude_mem_core::ids::ProjectId;
use claude_mem_recall::quote;
use claude_mem_recall::render::{TITLE_CHARS_MAX, day, mark};
use claude_mem_search::request::AnswerScope;
use claude_mem_search::{MatchQuality, ResponseScope, SearchItem, SearchResponse};

/// Files shown per row.
const FILES_MAX: usize = 2;
const FILES_CHARS_MAX: usize = 80;
const NAME_CHARS_MAX: usize = 60;
const NOTE_CHARS_MAX: usize = 300;

/// Formats rows for a reader in project `own`; rows of other projects are labelled.
#[derive(Debug)]
pub(super) struct RowFormatter<'a> {
    pub(super) zone: &'a TimeZone,
    pub(super) own: Option<ProjectId>,
}

impl RowFormatter<'_> {
    /// The text of a search reply.
    pub(super) fn response_text(&self, found: &SearchResponse, offset: u32) -> String {
        let mut text = scope_note(&found.scope, found.results.is_empty());
        for item in &found.results {
            text.push_str(&self.line(item));
        }
        if found.has_more {
            let next = offset + found.results.len() as u32;
            text.push_str(&format!("More with offset {next}.\n"));
        }
        text
    }

    /// One row as a line of text.
    pub(super) fn line(&self, item: &SearchItem) -> String {
        let kind = item.observation_type.as_ref().map_or("", |kind| kind.as_str());
        let mut line = format!(
            "{} {} {} {} (~{})",
            item.id,
            day(item.created_at, self.zone),
            mark(item.kind, kind, item.origin),
            quote::line(&item.title, TITLE_CHARS_MAX),
            item.read_tokens
        );
        let files: Vec<&str> = item.files.iter().take(FILES_MAX).map(String::as_str).collect();
        if !files.is_empty() {
            let files = quote::line(&files.join(", "), FILES_CHARS_MAX);
            line.push_str(&format!(" [{files}]"));
        }
        line.push_str(&self.owner_suffix(item.project_id, item.project.as_deref(), item.user_level));
        if let Some(who) = &item.who {
            line.push_str(&format!(" (recorded by {})", quote::line(who, NAME_CHARS_MAX)));
        }
        if item.wrong {
            line.push_str(" (marked as wrong)");
        }
        if item.near {
            line.push_str(" (near)");
        }
        if let Some(newer) = item.replaced_by {
            line.push_str(&format!(" replaced by {newer}"));
        }
        line.push('\n');
        line
    }

    /// The same rows as JSON.
    pub(super) fn rows_json<'i>(&self, items: impl IntoIterator<Item = &'i SearchItem>) -> Value {
        items.into_iter().map(|item| self.row_json(item)).collect()
    }

    fn row_json(&self, item: &SearchItem) -> Value {
        let kind = item.observation_type.as_ref();
        let mut row = json!({
            "id": item.id.to_string(),
            "kind": item.kind.as_str(),
            "origin": item.origin.as_str(),
            "day": day(item.created_at, self.zone),
            "title": quote::line(&item.title, TITLE_CHARS_MAX),
            "tokens": item.read_tokens,
        });
        let files: Vec<String> =
            item.files.iter().take(FILES_MAX).map(|file| quote::line(file, FILES_CHARS_MAX)).collect();
        let name = item.project.as_deref();
        for (key, value) in [
            ("type", kind.map(|kind| json!(quote::line(kind.as_str(), NAME_CHARS_MAX)))),
            ("files", (!files.is_empty()).then(|| json!(files))),
            ("project", name.map(|name| json!(quote::line(name, NAME_CHARS_MAX)))),
            ("replaced_by", item.replaced_by.map(|newer| json!(newer.to_string()))),
            ("who", item.who.as_deref().map(|who| json!(quote::line(who, NAME_CHARS_MAX)))),
            ("wrong", item.wrong.then_some(json!(true))),
            ("near", item.near.then_some(json!(true))),
        ] {
            if let Some(value) = value {
                row[key] = value;
            }
        }
        row
    }

    /// A label for rows of other projects and user-level rows, else empty.
    pub(super) fn owner_suffix(
        &self,
        project: Option<ProjectId>,
        name: Option<&str>,
        user_level: bool,
    ) -> String {
        if user_level {
            return " (in every project)".to_owned();
        }
        if project == self.own {
            return String::new();
        }
        let name = quote::line(name.unwrap_or("unnamed"), NAME_CHARS_MAX);
        format!(" (project {name})")
    }
}

/// The note above the rows: filters not applied, and how well the results match.
pub(super) fn scope_note(scope: &ResponseScope, nothing: bool) -> String {
    let mut text = String::new();
    for note in &scope.notes {
        let note = quote::line(note, NOTE_CHARS_MAX);
        text.push_str(&format!("Note: {note}.\n"));
    }
    text.push_str(match (scope.from, scope.quality) {
        _ if nothing => "No memory matches.\n",
        (_, MatchQuality::Near) => "No memory matches; the nearest in meaning, which may not fit:\n",
        (AnswerScope::OtherProjects, MatchQuality::Broader) => {
            "No match in this project and no full match elsewhere; \
             partial matches from other projects:\n"
        }
        (AnswerScope::OtherProjects, _) => "No match in this project; from other projects:\n",
        (_, MatchQuality::Broader) => "No full match; partial matches:\n",
        _ => "",
    });
    text
}
