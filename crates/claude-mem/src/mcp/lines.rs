//! Rows as lines that a model can choose by: id, day, type, title, what reading it costs.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::context::quote;
use crate::context::render::{TITLE_CHARS_MAX, day, mark};
use crate::ids::ProjectId;
use crate::search::ask::From;
use crate::search::{Fit, Found, Item, Scope};

/// Of the files that a row speaks of.
const FILES: usize = 2;
const FILES_CHARS_MAX: usize = 80;
const NAME_CHARS_MAX: usize = 60;
const NOTE_CHARS_MAX: usize = 300;

/// Where the reader stands: what is from elsewhere says so.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    pub(super) zone: &'a TimeZone,
    pub(super) own: Option<ProjectId>,
}

impl Lines<'_> {
    /// The whole answer to a search.
    pub(super) fn found(&self, found: &Found, offset: u32) -> String {
        let mut text = scope(&found.scope, found.results.is_empty());
        for item in &found.results {
            text.push_str(&self.line(item));
        }
        if found.has_more {
            let next = offset + found.results.len() as u32;
            text.push_str(&format!("More with offset {next}.\n"));
        }
        text
    }

    pub(super) fn line(&self, item: &Item) -> String {
        let kind = item.observation_type.as_ref();
        let kind = kind.map_or("", |kind| kind.as_str());
        let mut line = format!(
            "{} {} {} {} (~{})",
            item.id,
            day(item.created_at, self.zone),
            mark(item.kind, kind, item.origin),
            quote::line(&item.title, TITLE_CHARS_MAX),
            item.read_tokens
        );
        let files: Vec<&str> = item.files.iter().take(FILES).map(String::as_str).collect();
        if !files.is_empty() {
            let files = quote::line(&files.join(", "), FILES_CHARS_MAX);
            line.push_str(&format!(" [{files}]"));
        }
        line.push_str(&self.owner(item.project_id, item.project.as_deref(), item.user_level));
        if item.wrong {
            line.push_str(" (marked as wrong)");
        }
        if let Some(newer) = item.replaced_by {
            line.push_str(&format!(" replaced by {newer}"));
        }
        line.push('\n');
        line
    }

    /// The same rows as a structure.
    pub(super) fn rows<'i>(&self, items: impl IntoIterator<Item = &'i Item>) -> Value {
        items.into_iter().map(|item| self.row(item)).collect()
    }

    fn row(&self, item: &Item) -> Value {
        let kind = item.observation_type.as_ref();
        let mut row = json!({
            "id": item.id.to_string(),
            "kind": item.kind.as_str(),
            "origin": item.origin.as_str(),
            "day": day(item.created_at, self.zone),
            "title": quote::line(&item.title, TITLE_CHARS_MAX),
            "tokens": item.read_tokens,
        });
        let files = item.files.iter().take(FILES);
        let files: Vec<String> = files
            .map(|file| quote::line(file, FILES_CHARS_MAX))
            .collect();
        let name = item.project.as_deref();
        for (key, value) in [
            (
                "type",
                kind.map(|kind| json!(quote::line(kind.as_str(), NAME_CHARS_MAX))),
            ),
            ("files", (!files.is_empty()).then(|| json!(files))),
            (
                "project",
                name.map(|name| json!(quote::line(name, NAME_CHARS_MAX))),
            ),
            (
                "replaced_by",
                item.replaced_by.map(|newer| json!(newer.to_string())),
            ),
            ("wrong", item.wrong.then_some(json!(true))),
        ] {
            if let Some(value) = value {
                row[key] = value;
            }
        }
        row
    }

    /// Whose it is, where it is not this project's own.
    pub(super) fn owner(
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
        let name = quote::line(name.unwrap_or("of no name"), NAME_CHARS_MAX);
        format!(" (project {name})")
    }
}

/// What stands above the rows: what was not understood, and how they fit what was asked.
pub(super) fn scope(scope: &Scope, nothing: bool) -> String {
    let mut text = String::new();
    for note in &scope.notes {
        let note = quote::line(note, NOTE_CHARS_MAX);
        text.push_str(&format!("Note: {note}.\n"));
    }
    text.push_str(match (scope.from, scope.fit) {
        _ if nothing => "Nothing is remembered that fits.\n",
        (_, Fit::Recent) => "Nothing matches; the latest memories instead:\n",
        (From::OtherProjects, Fit::Broader) => {
            "Nothing in this project, and nothing elsewhere matches all of it; \
             these of other projects match a part:\n"
        }
        (From::OtherProjects, _) => "Nothing in this project; from other projects:\n",
        (_, Fit::Broader) => "Nothing matches all of it; these match a part:\n",
        _ => "",
    });
    text
}
