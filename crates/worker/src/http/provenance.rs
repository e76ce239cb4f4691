//! The sources of one observation, and its uses.

use schemars::JsonSchema;
use serde::Serialize;

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup;
use super::observations::HTTP_BATCH_MAX;
use super::problem::Problem;
use super::route::NoParams;
use super::rows::{RowView, SessionRef, handle};
use super::search::run_search;
use super::view_builder::ViewBuilder;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ObservationId;
use claude_mem_core::source::TextSource;
use claude_mem_recall::provenance;
use claude_mem_recall::siblings::find_siblings;
use claude_mem_search::{ProjectScope, SearchRequest};
use claude_mem_store::{
    FeedbackSignal, MemoryLevel, ObservationVersion, PageRequest, RowId, RowKind, StoreReader,
};

/// Near observations that are listed.
const NEAR_MAX: u32 = 5;
/// Rows with the same statement that are listed.
const SIBLINGS_MAX: usize = 50;
/// Sources that are quoted, and characters of each.
const SOURCES_MAX: usize = 8;
const SOURCE_CHARS_MAX: usize = 1_200;

/// The history of one observation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProvenanceView {
    /// The texts that it was made from, oldest first.
    sources: Vec<SourceView>,
    usage: UsageCounts,
    /// Its text before each edit, newest first.
    versions: Vec<VersionView>,
    replaces: Vec<TitledRow>,
    replaced_by: Option<TitledRow>,
    /// Observations with a similar meaning.
    near: Vec<TitledRow>,
}

/// A quoted text with its place.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SourceView {
    /// prompt, commit, plan, reply, …
    source: String,
    text: String,
    session: Option<SessionRef>,
    turn: u32,
    at: Millis,
}

/// How often it was shown and used.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UsageCounts {
    shown: usize,
    fetched: usize,
    cited: usize,
    last_used_at: Option<Millis>,
}

/// The text before one edit.
#[derive(Debug, Serialize, JsonSchema)]
struct VersionView {
    /// The time of the edit.
    at: Millis,
    #[serde(flatten)]
    version: ObservationVersion,
}

/// A row by its title.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TitledRow {
    handle: String,
    title: String,
    r#type: String,
    created_at: Millis,
}

/// The title of an observation; `None` if it is gone.
pub(super) fn titled(reads: &StoreReader<'_>, id: ObservationId) -> Result<Option<TitledRow>, Problem> {
    let found = reads.observations_by_id(&[id])?;
    Ok(found.into_iter().next().map(|row| TitledRow {
        handle: handle(RowKind::Observation, row.id.0),
        title: row.text.title,
        r#type: row.text.kind.as_str().to_owned(),
        created_at: row.created_at,
    }))
}

/// Handles `GET /api/observations/{id}/provenance`.
pub(super) fn provenance(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<ProvenanceView, Problem> {
    let asked = RowId::new(RowKind::Observation, params.id()?);
    let row = api.view(|reads| lookup::current_row(reads, asked))?;
    let id = ObservationId(row.row_id);
    let mut near = near_rows(api, id)?;
    api.view(move |reads| {
        let own = reads.observation(id)?;
        let mut views = ViewBuilder::new(reads);
        let mut sources = Vec::new();
        for quoted in provenance::quoted_sources(reads, id)?.into_iter().take(SOURCES_MAX) {
            sources.push(SourceView {
                source: source_name(quoted.source).to_owned(),
                text: quoted.text.chars().take(SOURCE_CHARS_MAX).collect(),
                session: views.session(Some(quoted.session))?,
                turn: quoted.turn,
                at: quoted.at,
            });
        }
        let mut replaces = Vec::new();
        for older in reads.observations_replaced_by(id)? {
            replaces.extend(titled(reads, older)?);
        }
        let versions = reads.observation_versions(id)?.into_iter();
        let replaced_by = own.replaced_by.map(|newer| titled(reads, newer)).transpose()?.flatten();
        // Named already.
        near.retain(|row| !replaces.iter().chain(&replaced_by).any(|named| named.handle == row.handle));
        Ok(ProvenanceView {
            sources,
            usage: usage_counts(reads, row)?,
            versions: versions.map(|(at, version)| VersionView { at, version }).collect(),
            replaces,
            replaced_by,
            near,
        })
    })
}

fn usage_counts(reads: &StoreReader<'_>, row: RowId) -> Result<UsageCounts, Problem> {
    let mut found = UsageCounts::default();
    for entry in reads.feedback_for_row(row)? {
        match entry.signal {
            FeedbackSignal::Injected => found.shown += 1,
            FeedbackSignal::Fetched => found.fetched += 1,
            FeedbackSignal::Cited => found.cited += 1,
            FeedbackSignal::Useless | FeedbackSignal::Wrong | FeedbackSignal::Useful => continue,
        }
        if entry.signal != FeedbackSignal::Injected {
            found.last_used_at = Some(entry.at);
        }
    }
    Ok(found)
}

/// Observations of the same project that a search for its title finds.
fn near_rows(api: &ApiState, id: ObservationId) -> Result<Vec<TitledRow>, Problem> {
    let own = api.view(|reads| Ok(reads.observation(id)?))?;
    let words: Vec<&str> = own.text.title.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut question = SearchRequest::new(words.join(" "), api.now());
    question.zone = api.zone.clone();
    question.kinds = vec![RowKind::Observation];
    question.page = PageRequest::first(NEAR_MAX + 1);
    question.project_scope = match own.project.filter(|_| own.level != MemoryLevel::User) {
        Some(project) => ProjectScope::ProjectFirst(project),
        None => ProjectScope::All,
    };
    let found = run_search(api, &question)?;
    api.view(|reads| {
        let mut near = Vec::new();
        for hit in found.results {
            if hit.id.row_id != id.0 && near.len() < NEAR_MAX as usize {
                near.extend(titled(reads, ObservationId(hit.id.row_id))?);
            }
        }
        Ok(near)
    })
}

/// The name of a source, as the viewer shows it.
const fn source_name(source: TextSource) -> &'static str {
    match source {
        TextSource::Prompt | TextSource::QueuedPrompt => "prompt",
        TextSource::Rejection => "rejection",
        TextSource::Answer => "answer",
        TextSource::Commit => "commit",
        TextSource::PullRequest => "pull request",
        TextSource::Plan => "plan",
        TextSource::FinalMessage | TextSource::Message => "reply",
        TextSource::MemoryFile => "memory file",
        TextSource::Task => "task",
        TextSource::CompactSummary | TextSource::Recap => "recap",
        TextSource::SubagentReport => "subagent report",
        TextSource::TeammateMessage => "teammate message",
        TextSource::Paste => "pasted text",
        TextSource::ToolOutput => "tool output",
        TextSource::WebPage => "web page",
        TextSource::ClientText => "client text",
    }
}

/// Rows that repeat a sentence of other rows, in whichever session.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SiblingList {
    items: Vec<RowView>,
}

/// The rows whose siblings are listed.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SiblingParams {
    /// `#12`, `S3`, `P7`, `M9` or `A4`, several separated by commas.
    row: String,
}

/// Handles `GET /api/siblings`.
pub(super) fn siblings(api: &ApiState, _: &PathParams, asked: SiblingParams) -> Result<SiblingList, Problem> {
    let hint = "Search results show the ids.";
    let asked: Vec<RowId> = asked
        .row
        .split(',')
        .map(|handle| handle.trim().parse().map_err(|e| Problem::bad_request(format!("{e}"), hint)))
        .collect::<Result<_, Problem>>()?;
    if asked.len() > HTTP_BATCH_MAX {
        return Err(Problem::bad_request(
            "too many rows",
            format!("Send at most {HTTP_BATCH_MAX} at a time."),
        ));
    }
    api.view(|reads| {
        let rows = asked.into_iter().map(|row| lookup::current_row(reads, row));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let mut views = ViewBuilder::new(reads);
        let mut items = Vec::new();
        for found in find_siblings(reads, &rows)?.into_iter().take(SIBLINGS_MAX) {
            items.extend(views.row(found.kind, found.row_id)?);
        }
        Ok(SiblingList { items })
    })
}
