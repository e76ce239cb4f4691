//! Writes memories as Markdown, one file per session or one per project.
//!
//! Invariant: file names and contents depend only on the stored rows, times are in UTC, and only changed
//! files are written, so that the folder works well in a Git repository. Files of an earlier export
//! whose rows are gone are removed; files of others are never touched.

mod files;
mod page;

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use files::ExportFolder;
use page::{MarkdownPage, MemberContents, SessionContents};

use super::{ExportError, ExportScope};
use claude_mem_core::ids::{ProjectId, PublicId};
use claude_mem_core::limits::PAGE_ROWS_MAX;
use claude_mem_store::{
    AccountRecord, MemberRow, ObservationRecord, ProjectRecord, PromptRecord, SessionRecord, SessionStatus,
    StoreReader, SummaryRecord, TeamRecord,
};

pub use files::MarkdownExportReport;

/// The scope of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkdownGrouping {
    Session,
    Project,
}

/// Writes everything into a folder.
pub fn write_folder(
    reads: &StoreReader<'_>,
    scope: ExportScope,
    by: MarkdownGrouping,
    folder: &Path,
) -> Result<MarkdownExportReport, ExportError> {
    let mut folder = ExportFolder::open(folder)?;
    for_each_project(reads, scope, &mut |name, project, pages| {
        match by {
            MarkdownGrouping::Project => {
                let sections: Vec<String> = pages.iter().map(MarkdownPage::as_section).collect();
                let text = page::project_page(project, &sections);
                folder.write_file(&format!("{name}.md"), &text)?;
            }
            MarkdownGrouping::Session => {
                for page in pages {
                    folder.write_file(&format!("{name}/{}.md", page.name), &page.text)?;
                }
            }
        }
        Ok(())
    })?;
    folder.finish(scope.project.is_none())
}

/// Writes everything as one text, project after project.
pub fn write_text(
    reads: &StoreReader<'_>,
    scope: ExportScope,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let unwritable = |e| ExportError::Write("the export".to_owned(), e);
    for_each_project(reads, scope, &mut |_, project, pages| {
        let sections: Vec<String> = pages.iter().map(MarkdownPage::as_section).collect();
        let text = page::project_page(project, &sections);
        out.write_all(text.as_bytes()).map_err(unwritable)
    })?;
    out.flush().map_err(unwritable)
}

/// Called once per project, so that only one project is in memory at a time.
type ProjectVisitor<'a> =
    dyn FnMut(&str, Option<&ProjectRecord>, &[MarkdownPage]) -> Result<(), ExportError> + 'a;

fn for_each_project(
    reads: &StoreReader<'_>,
    scope: ExportScope,
    each: &mut ProjectVisitor<'_>,
) -> Result<(), ExportError> {
    let only = scope.project;
    let mut taken: HashMap<String, u32> = HashMap::new();
    let mut ids: HashMap<PublicId, ProjectId> = HashMap::new();
    for project in reads.projects()? {
        for record in reads.project_records(Some(project.id))? {
            ids.insert(record.uid, project.id);
        }
    }
    // In creation order, so that a new project never renames the file of an older one.
    for record in reads.project_records(only)? {
        let name = files::slug(&record.name);
        let nth = taken.entry(name.clone()).or_default();
        *nth += 1;
        let name = if *nth == 1 { name } else { format!("{name}-{}", page::short_id(record.uid)) };
        let Some(id) = ids.get(&record.uid) else {
            continue;
        };
        let mut pages = session_pages(reads, Some(*id), &record.name)?;
        if scope.with_team {
            pages.extend(member_pages(reads, *id, &record.name)?);
        }
        if !pages.is_empty() {
            each(&name, Some(&record), &pages)?;
        }
    }
    if only.is_none() {
        let pages = global_pages(reads)?;
        if !pages.is_empty() {
            each("_everywhere", None, &pages)?;
        }
    }
    Ok(())
}

/// One page per session with rows, in chronological order, then one page of manual notes.
fn session_pages(
    reads: &StoreReader<'_>,
    project: Option<ProjectId>,
    name: &str,
) -> Result<Vec<MarkdownPage>, ExportError> {
    let mut contents: HashMap<Option<PublicId>, SessionContents> = HashMap::new();
    for_each_row(
        |after| reads.prompt_records(project, after, PAGE_ROWS_MAX),
        |row: PromptRecord| {
            if !row.private {
                contents.entry(row.session).or_default().prompts.push(row);
            }
        },
    )?;
    for_each_row(
        |after| reads.observation_records(project, after, PAGE_ROWS_MAX),
        |row: ObservationRecord| {
            contents.entry(row.session).or_default().observations.push(row);
        },
    )?;
    for_each_row(
        |after| reads.summary_records(project, after, PAGE_ROWS_MAX),
        |row: SummaryRecord| {
            contents.entry(row.session).or_default().summaries.push(row);
        },
    )?;
    for_each_row(
        |after| reads.account_records(project, after, PAGE_ROWS_MAX),
        |row: AccountRecord| {
            let session = Some(row.session);
            contents.entry(session).or_default().account = Some(row);
        },
    )?;
    let mut sessions: Vec<SessionRecord> = Vec::new();
    for_each_row(
        |after| reads.session_records(None, after, PAGE_ROWS_MAX),
        |row: SessionRecord| {
            if row.status != Some(SessionStatus::Ignored) && contents.contains_key(&Some(row.uid)) {
                sessions.push(row);
            }
        },
    )?;
    sessions.sort_by_key(|session| (session.created_at, session.uid));
    let mut pages = Vec::new();
    for session in &sessions {
        let rows = contents.remove(&Some(session.uid)).unwrap_or_default();
        pages.push(page::session_page(session, name, &rows));
    }
    if let Some(notes) = contents.remove(&None) {
        pages.push(page::notes_page(name, &notes));
    }
    Ok(pages)
}

/// One page per other member with rows of the project, by handle.
fn member_pages(
    reads: &StoreReader<'_>,
    project: ProjectId,
    name: &str,
) -> Result<Vec<MarkdownPage>, ExportError> {
    let mut contents: HashMap<PublicId, MemberContents> = HashMap::new();
    for_each_row(
        |after| reads.team_observation_records(Some(project), after, PAGE_ROWS_MAX),
        |row: TeamRecord<ObservationRecord>| {
            contents.entry(row.member).or_default().observations.push(row.record);
        },
    )?;
    for_each_row(
        |after| reads.team_account_records(Some(project), after, PAGE_ROWS_MAX),
        |row: TeamRecord<AccountRecord>| contents.entry(row.member).or_default().accounts.push(row.record),
    )?;
    let mut members = reads.members()?;
    members.sort_by(|one, other| (&one.handle, one.uid).cmp(&(&other.handle, other.uid)));
    let page = |member: &MemberRow| Some(page::member_page(member, name, &contents.remove(&member.uid)?));
    Ok(members.iter().filter_map(page).collect())
}

/// The page of observations that apply to every project.
fn global_pages(reads: &StoreReader<'_>) -> Result<Vec<MarkdownPage>, ExportError> {
    let mut contents = SessionContents::default();
    for_each_row(
        |after| reads.observation_records(None, after, PAGE_ROWS_MAX),
        |row: ObservationRecord| {
            if row.project.is_none() {
                contents.observations.push(row);
            }
        },
    )?;
    let nothing = contents.observations.is_empty();
    Ok(if nothing { Vec::new() } else { vec![page::notes_page("every project", &contents)] })
}

fn for_each_row<T>(
    page: impl Fn(i64) -> Result<Vec<(i64, T)>, claude_mem_store::StoreError>,
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
