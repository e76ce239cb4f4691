//! Memory as a person would read it: a file per session, or one per project.
//!
//! Names and contents depend on what is remembered alone, times are in UTC, and only what
//! changed is written, so that a repository of it has a telling history. What we wrote once and
//! what is remembered no more goes; files that are not ours are left alone.

mod files;
mod page;

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use files::Folder;
use page::Page as Sheet;

use super::ExportError;
use crate::ids::{ProjectId, PublicId};
use crate::limits::PAGE_ROWS_MAX;
use crate::store::{
    ObservationRecord, ProjectRecord, PromptRecord, Reads, SessionRecord, SessionStatus,
    SummaryRecord,
};

pub use files::Done;

/// What one file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    Session,
    Project,
}

/// Writes everything into a folder.
pub fn into_folder(
    reads: &Reads<'_>,
    only: Option<ProjectId>,
    by: By,
    folder: &Path,
) -> Result<Done, ExportError> {
    let mut folder = Folder::open(folder)?;
    each_project(reads, only, &mut |name, project, sheets| {
        match by {
            By::Project => {
                let text: Vec<String> = sheets.iter().map(Sheet::below).collect();
                let text = page::of_project(project, &text);
                folder.put(&format!("{name}.md"), &text)?;
            }
            By::Session => {
                for sheet in sheets {
                    folder.put(&format!("{name}/{}.md", sheet.name), &sheet.text)?;
                }
            }
        }
        Ok(())
    })?;
    folder.finish(only.is_none())
}

/// Writes everything as one text, project after project.
pub fn into_text(
    reads: &Reads<'_>,
    only: Option<ProjectId>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let unwritable = |e| ExportError::Write("the export".to_owned(), e);
    each_project(reads, only, &mut |_, project, sheets| {
        let text: Vec<String> = sheets.iter().map(Sheet::below).collect();
        let text = page::of_project(project, &text);
        out.write_all(text.as_bytes()).map_err(unwritable)
    })?;
    out.flush().map_err(unwritable)
}

/// One project at a time is held in memory.
type EachProject<'a> =
    dyn FnMut(&str, Option<&ProjectRecord>, &[Sheet]) -> Result<(), ExportError> + 'a;

fn each_project(
    reads: &Reads<'_>,
    only: Option<ProjectId>,
    each: &mut EachProject<'_>,
) -> Result<(), ExportError> {
    let mut taken: HashMap<String, u32> = HashMap::new();
    let mut ids: HashMap<PublicId, ProjectId> = HashMap::new();
    for project in reads.projects()? {
        for record in reads.project_records(Some(project.id))? {
            ids.insert(record.uid, project.id);
        }
    }
    // In the order in which they were made: a new one does not rename an old one.
    for record in reads.project_records(only)? {
        let name = files::slug(&record.name);
        let nth = taken.entry(name.clone()).or_default();
        *nth += 1;
        let name = if *nth == 1 {
            name
        } else {
            format!("{name}-{}", page::short(record.uid))
        };
        let Some(id) = ids.get(&record.uid) else {
            continue;
        };
        let sheets = sheets(reads, Some(*id), &record.name)?;
        if !sheets.is_empty() {
            each(&name, Some(&record), &sheets)?;
        }
    }
    if only.is_none() {
        let sheets = sheets_of_nobody(reads)?;
        if !sheets.is_empty() {
            each("_everywhere", None, &sheets)?;
        }
    }
    Ok(())
}

/// What was told in a session, or outside of any.
#[derive(Default)]
pub(super) struct Told {
    pub prompts: Vec<PromptRecord>,
    pub observations: Vec<ObservationRecord>,
    pub summaries: Vec<SummaryRecord>,
}

/// A sheet per session that says something, in the order of time, notes by hand last.
fn sheets(
    reads: &Reads<'_>,
    project: Option<ProjectId>,
    name: &str,
) -> Result<Vec<Sheet>, ExportError> {
    let mut told: HashMap<Option<PublicId>, Told> = HashMap::new();
    all(
        |after| reads.prompt_records(project, after, PAGE_ROWS_MAX),
        |row: PromptRecord| {
            if !row.private {
                told.entry(row.session).or_default().prompts.push(row);
            }
        },
    )?;
    all(
        |after| reads.observation_records(project, after, PAGE_ROWS_MAX),
        |row: ObservationRecord| {
            told.entry(row.session).or_default().observations.push(row);
        },
    )?;
    all(
        |after| reads.summary_records(project, after, PAGE_ROWS_MAX),
        |row: SummaryRecord| {
            told.entry(row.session).or_default().summaries.push(row);
        },
    )?;
    let mut sessions: Vec<SessionRecord> = Vec::new();
    all(
        |after| reads.session_records(None, after, PAGE_ROWS_MAX),
        |row: SessionRecord| {
            if row.status != Some(SessionStatus::Ignored) && told.contains_key(&Some(row.uid)) {
                sessions.push(row);
            }
        },
    )?;
    sessions.sort_by_key(|session| (session.created_at, session.uid));
    let mut sheets = Vec::new();
    for session in &sessions {
        let told = told.remove(&Some(session.uid)).unwrap_or_default();
        sheets.push(page::of_session(session, name, &told));
    }
    if let Some(notes) = told.remove(&None) {
        sheets.push(page::of_notes(name, &notes));
    }
    Ok(sheets)
}

/// What holds in every project.
fn sheets_of_nobody(reads: &Reads<'_>) -> Result<Vec<Sheet>, ExportError> {
    let mut told = Told::default();
    all(
        |after| reads.observation_records(None, after, PAGE_ROWS_MAX),
        |row: ObservationRecord| {
            if row.project.is_none() {
                told.observations.push(row);
            }
        },
    )?;
    let nothing = told.observations.is_empty();
    Ok(if nothing {
        Vec::new()
    } else {
        vec![page::of_notes("every project", &told)]
    })
}

fn all<T>(
    page: impl Fn(i64) -> Result<Vec<(i64, T)>, crate::store::StoreError>,
    mut each: impl FnMut(T),
) -> Result<(), ExportError> {
    let mut after = 0;
    loop {
        let some = page(after)?;
        let Some((last, _)) = some.last() else {
            return Ok(());
        };
        after = *last;
        for (_, row) in some {
            each(row);
        }
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
