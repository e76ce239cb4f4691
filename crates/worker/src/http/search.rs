//! Search and the timeline around a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::list_params::{parse_agent, parse_kinds, parse_since, parse_types, parse_until};
use super::lookup;
use super::paging::page;
use super::problem::Problem;
use super::rows::RowView;
use super::view_builder::ViewBuilder;
use claude_mem_search::timeline::{TimelineRequest, timeline as around};
use claude_mem_search::{MatchQuality, ProjectScope, SearchRequest, SearchResponse, request};
use claude_mem_store::RowId;

/// Default and largest number of rows on each side of the anchor of a timeline.
const TIMELINE_ROWS: usize = 5;
const TIMELINE_ROWS_MAX: usize = 100;

/// Runs a search on one of the worker's pooled engines.
pub(super) fn run_search(api: &ApiState, question: &SearchRequest) -> Result<SearchResponse, Problem> {
    Ok(api.worker.engines.with_engine(|engine| engine.search(question))?)
}

/// Query, filters and page of a search.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "independent parameters of a request")]
pub(super) struct SearchParams {
    /// Words, phrases, operators and filters. If empty, the newest rows are returned.
    query: String,
    /// Project id or name. Other projects are searched if it has no match.
    project: Option<String>,
    all_projects: bool,
    /// observation, summary, prompt, message or account, separated by commas.
    kind: Option<String>,
    r#type: Option<String>,
    concept: Option<String>,
    file: Option<String>,
    /// Only rows of sessions of this agent: `claude-code`, `codex`, …
    agent: Option<String>,
    since: Option<String>,
    until: Option<String>,
    /// Include rows marked as wrong.
    wrong: bool,
    limit: Option<u32>,
    offset: u32,
    /// Include the parts of each score.
    explain: bool,
    /// The last word is incomplete: match it as a prefix.
    typing: bool,
}

/// One page of search results.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Answers")]
pub(super) struct SearchPageView {
    query: String,
    scope: SearchScopeView,
    items: Vec<SearchHitView>,
    offset: u32,
    limit: u32,
    has_more: bool,
}

/// Where and how the results were found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Scope")]
struct SearchScopeView {
    project: Option<String>,
    how: SearchFitView,
    /// Whether vectors were used, or words alone.
    vectors: bool,
    /// Rows that search by meaning does not cover yet.
    unindexed: u64,
    /// Parts of the query that could not be interpreted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// How closely the results match the query.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "How")]
enum SearchFitView {
    Asked,
    OtherProjects,
    /// Other projects, and none has all terms.
    OtherProjectsBroader,
    Broader,
    /// Nothing matches; these rows are only near in meaning.
    Near,
    /// Nothing matches and nothing is near.
    Nothing,
}

/// One search result.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Answer")]
struct SearchHitView {
    #[serde(flatten)]
    row: RowView,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<ScoreView>,
}

/// The weighted parts of a score.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Why")]
struct ScoreView {
    words: f64,
    vectors: f64,
    coverage: f64,
    /// Exact matches of identifiers and paths.
    names: f64,
    neighbours: f64,
    recency: f64,
    /// Created at the time that the query names.
    time: f64,
    /// Adjustment for rows that supersede or repeat others.
    judged: f64,
    /// Cosine similarity to the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    cosine: Option<f64>,
    /// The matched words as spelled in the row.
    matched: Vec<String>,
}

/// Handles `GET /api/search`.
pub(super) fn search(api: &ApiState, _: &PathParams, asked: SearchParams) -> Result<SearchPageView, Problem> {
    let text = match parse_agent(asked.agent.as_deref())? {
        // First: the last word of the query may be incomplete.
        Some(agent) => format!("agent:{agent} {}", asked.query),
        None => asked.query.clone(),
    };
    let mut question = SearchRequest::new(text, api.now());
    question.zone = api.zone.clone();
    question.kinds = parse_kinds(asked.kind.as_deref())?;
    question.types = parse_types(asked.r#type.as_deref());
    question.concepts = asked.concept.into_iter().collect();
    question.files = asked.file.into_iter().collect();
    question.since = parse_since(api, asked.since.as_deref())?;
    question.until = parse_until(api, asked.until.as_deref())?;
    question.include_wrong = asked.wrong;
    question.page = page(asked.offset, asked.limit);
    question.is_incomplete = asked.typing;
    let project = api.view(|reads| lookup::resolve_project(reads, asked.project.as_deref()))?;
    question.project_scope = match project {
        Some(id) if !asked.all_projects => ProjectScope::ProjectFirst(id),
        _ => ProjectScope::All,
    };
    let found = run_search(api, &question)?;
    let how = search_fit(&found);
    let has_vectors = api.settings().settings.vectors;
    api.view(|reads| {
        let mut views = ViewBuilder::new(reads);
        let mut items = Vec::with_capacity(found.results.len());
        for item in found.results {
            let Some(row) = views.row(item.id.kind, item.id.row_id)? else {
                continue;
            };
            let why = ScoreView {
                words: item.why.words,
                vectors: item.why.vectors,
                coverage: item.why.coverage,
                names: item.why.names,
                neighbours: item.why.neighbours,
                recency: item.why.recency,
                time: item.why.time,
                judged: item.why.rerank_delta,
                cosine: item.why.cosine,
                matched: item.why.matched,
            };
            let why = asked.explain.then_some(why);
            items.push(SearchHitView { row, score: item.score, why });
        }
        Ok(SearchPageView {
            query: asked.query,
            scope: SearchScopeView {
                project: found.scope.project,
                how,
                vectors: found.scope.vectors,
                // Without vectors nothing is indexed, now or later.
                unindexed: if has_vectors { reads.unindexed_count()? } else { 0 },
                notes: found.scope.notes,
            },
            items,
            offset: question.page.offset,
            limit: question.page.limit,
            has_more: found.has_more,
        })
    })
}

fn search_fit(found: &SearchResponse) -> SearchFitView {
    match (found.scope.quality, found.scope.from) {
        (MatchQuality::Near, _) => SearchFitView::Near,
        (MatchQuality::Nothing, _) => SearchFitView::Nothing,
        (MatchQuality::Broader, request::AnswerScope::OtherProjects) => SearchFitView::OtherProjectsBroader,
        (MatchQuality::Broader, _) => SearchFitView::Broader,
        (_, request::AnswerScope::OtherProjects) => SearchFitView::OtherProjects,
        _ => SearchFitView::Asked,
    }
}

/// The anchor of a timeline, and the rows on each side.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TimelineParams {
    /// `#12`, `S3`, `P7`, `M9` or `A4`; in a URL write `%23` for `#`, or omit it.
    anchor: String,
    before: Option<usize>,
    after: Option<usize>,
}

/// The rows around an anchor.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Timeline")]
pub(super) struct TimelineView {
    anchor: String,
    /// Oldest first.
    items: Vec<RowView>,
}

/// Handles `GET /api/timeline`.
pub(super) fn timeline(
    api: &ApiState,
    _: &PathParams,
    asked: TimelineParams,
) -> Result<TimelineView, Problem> {
    let anchor: RowId = asked
        .anchor
        .parse()
        .map_err(|e| Problem::bad_request(format!("{e}"), "Search results show the ids."))?;
    let anchor = api.view(|reads| lookup::current_row(reads, anchor))?;
    let asked = TimelineRequest {
        anchor,
        before: asked.before.unwrap_or(TIMELINE_ROWS).min(TIMELINE_ROWS_MAX),
        after: asked.after.unwrap_or(TIMELINE_ROWS).min(TIMELINE_ROWS_MAX),
        kinds: Vec::new(),
        types: Vec::new(),
        since: None,
        until: None,
        all_projects: false,
        // The viewer marks them.
        include_wrong: true,
    };
    api.view(|reads| {
        let found = around(reads, &asked)?.ok_or_else(|| Problem::not_found(anchor))?;
        let mut views = ViewBuilder::new(reads);
        let mut items = Vec::with_capacity(found.len());
        for item in found {
            items.extend(views.row(item.id.kind, item.id.row_id)?);
        }
        Ok(TimelineView { anchor: anchor.to_string(), items })
    })
}
