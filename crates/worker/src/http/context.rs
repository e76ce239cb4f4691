//! Routes for the context of a session that starts.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup::{self, ProjectSelector};
use super::problem::Problem;
use super::rows::handle;
use claude_mem_core::agents::{self, CodingAgent};
use claude_mem_core::config::Settings;
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_recall::recall::RecalledMemory;
use claude_mem_recall::recall_request::{RecallTarget, brought_item};
use claude_mem_recall::{StartContextText, StartSource};
use claude_mem_setup::notices;
use claude_mem_store::{RowKind, StoreReader};

/// Project and budget of a preview.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ContextPreviewParams {
    /// Project id or name; the most recently active project if omitted.
    project: Option<String>,
    /// Token budget instead of the configured one.
    tokens: Option<u32>,
}

/// The context that the next session would receive.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Preview")]
pub(super) struct ContextPreviewView {
    text: String,
    tokens: u32,
    budget: u32,
    /// Every memory in the text: the account of the last session, preferences, rules and the index.
    items: Vec<PreviewItemView>,
    /// Candidates of the index that did not fit.
    left_out: usize,
    /// The best of them, best first.
    omitted: Vec<PreviewItemView>,
    /// All memories of the project.
    known: u64,
    settings: ContextSettingsView,
}

/// A memory chosen for the context.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Chosen")]
struct PreviewItemView {
    handle: String,
    title: String,
    r#type: String,
    tokens: u32,
    reason: String,
    value: f64,
    pinned: bool,
}

impl PreviewItemView {
    fn new(reads: &StoreReader<'_>, item: RecalledMemory) -> Result<Self, Problem> {
        let row = match item.kind {
            RowKind::Observation => reads.observations_by_id(&[ObservationId(item.row_id)])?.pop(),
            RowKind::Summary | RowKind::Account | RowKind::Prompt | RowKind::Message => None,
        };
        let r#type = match &row {
            Some(row) => row.text.kind.as_str().to_owned(),
            None => item.kind.as_str().to_owned(),
        };
        Ok(Self {
            handle: handle(item.kind, item.row_id),
            title: item.title,
            r#type,
            tokens: item.tokens,
            reason: item.reason,
            value: item.score,
            pinned: row.is_some_and(|row| row.pinned),
        })
    }
}

/// The settings in force.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches of the settings")]
#[schemars(rename = "InForce")]
struct ContextSettingsView {
    context: bool,
    context_tokens: u32,
    context_summary: bool,
    context_index: bool,
    context_preferences: bool,
    context_economics: bool,
}

/// Handles `GET /api/context/preview`.
pub(super) fn preview(
    api: &ApiState,
    _: &PathParams,
    which: ContextPreviewParams,
) -> Result<ContextPreviewView, Problem> {
    let settings = api.settings().settings;
    let (least, most) = budget_bounds();
    let budget = which.tokens.unwrap_or(settings.context_tokens).clamp(least, most);
    let counts = api.project_counts()?;
    api.view(|reads| {
        let project = lookup::resolve_project(reads, which.project.as_deref())?;
        let new = RecallTarget::default();
        let block = session_block(api, reads, &settings, project, (&new, StartSource::Startup), budget)?;
        let mut items = Vec::new();
        for brought in block.brought() {
            items.push(PreviewItemView::new(reads, brought)?);
        }
        let mut omitted = Vec::new();
        for item in &block.chosen.omitted {
            omitted.push(PreviewItemView::new(reads, brought_item(item))?);
        }
        let known = match project {
            Some(id) => Some(id),
            None => reads.projects()?.first().map(|project| project.id),
        };
        let known = known.and_then(|id| counts.get(&id)).map_or(0, |counts| counts.observations);
        Ok(ContextPreviewView {
            items,
            omitted,
            known,
            text: block.text,
            tokens: block.tokens,
            budget,
            left_out: block.chosen.left_out,
            settings: ContextSettingsView {
                context: settings.context,
                context_tokens: settings.context_tokens,
                context_summary: settings.context_summary,
                context_index: settings.context_index,
                context_preferences: settings.context_preferences,
                context_economics: settings.context_economics,
            },
        })
    })
}

/// The range of the `context_tokens` setting.
fn budget_bounds() -> (u32, u32) {
    let small = |number| u32::try_from(number).unwrap_or(u32::MAX);
    match claude_mem_core::config::key("context_tokens").map(|key| key.kind) {
        Some(claude_mem_core::config::SettingKind::Number { min, max, .. }) => (small(min), small(max)),
        _ => (0, u32::MAX),
    }
}

/// Exactly the context that a session of this project receives from its hook; empty if there is no
/// project.
fn session_block(
    api: &ApiState,
    reads: &StoreReader<'_>,
    settings: &Settings,
    project: Option<ProjectId>,
    (recipient, source): (&RecallTarget, StartSource),
    budget_tokens: u32,
) -> Result<StartContextText, Problem> {
    let project = match project {
        Some(id) => Some(reads.project(id)?),
        None => reads.projects()?.into_iter().next(),
    };
    let Some(project) = project else {
        return Ok(StartContextText::default());
    };
    let root = Path::new(&project.root);
    let branch = if root.is_dir() { claude_mem_core::project::identify(root).branch } else { None };
    let starting = claude_mem_recall::StartingSession {
        recipient,
        source,
        project: Some(project.id),
        name: &project.name,
        root,
        branch: branch.as_deref(),
        settings,
        budget_tokens,
        notices: &notices::session_start_notices(reads, api.dir(), settings, api.now(), None)?,
        zone: &api.zone,
    };
    Ok(starting.block(reads)?)
}

/// A session that starts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Starting")]
pub(super) struct InjectRequest {
    project: Option<ProjectSelector>,
    /// The client's session id. If given, the injected memories are recorded in the ledger.
    session_id: Option<String>,
    source: Option<InjectSource>,
    /// The client of the session; Claude Code if omitted.
    client: Option<String>,
}

/// Why a session starts.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Source")]
enum InjectSource {
    #[default]
    Startup,
    Clear,
    Compact,
    Resume,
}

impl InjectSource {
    const fn start_source(self) -> StartSource {
        match self {
            Self::Startup => StartSource::Startup,
            Self::Clear => StartSource::Clear,
            Self::Compact => StartSource::Compact,
            Self::Resume => StartSource::Resume,
        }
    }
}

/// The context for a session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Told")]
pub(super) struct InjectResponse {
    /// Empty if there is nothing to inject.
    context: String,
}

/// Handles `POST /api/context/inject`.
pub(super) fn inject(
    api: &ApiState,
    _: &PathParams,
    starting: InjectRequest,
) -> Result<InjectResponse, Problem> {
    let settings = api.settings().settings;
    let named = starting.project.as_ref().map(ProjectSelector::text);
    let client = match &starting.client {
        None => &agents::CLAUDE_CODE,
        Some(name) => CodingAgent::by_name(name).ok_or_else(|| {
            let hint = "Omit client for Claude Code.";
            Problem::unprocessable("unknown client", hint)
        })?,
    };
    let recipient = RecallTarget {
        client: client.name.to_owned(),
        session: starting.session_id.unwrap_or_default(),
        agent_id: String::new(),
    };
    let source = starting.source.unwrap_or_default().start_source();
    let block = api.view(|reads| {
        let session_id = recipient.own_session(reads)?;
        let own = session_id.map(|id| reads.session(id)).transpose()?;
        let named = lookup::resolve_project(reads, named.as_deref())?;
        let project = named.or_else(|| own.as_ref()?.project);
        let who = (&recipient, source);
        session_block(api, reads, &settings, project, who, settings.context_tokens)
    })?;
    let brought = block.brought();
    if !recipient.session.is_empty() && !brought.is_empty() {
        let entries = recipient.shown_entries("session_start", &brought, api.now());
        api.change(|store| store.write(|tx| entries.iter().try_for_each(|entry| tx.record_feedback(entry))))?;
    }
    Ok(InjectResponse { context: block.text })
}
