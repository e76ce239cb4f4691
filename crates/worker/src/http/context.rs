//! Routes for the context of a session that starts, and for memories that match a prompt.

use std::collections::HashSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup::{self, ProjectSelector};
use super::problem::Problem;
use super::rows::{RowView, handle};
use super::view_builder::ViewBuilder;
use claude_mem_core::agents::{self, CodingAgent};
use claude_mem_core::config::Settings;
use claude_mem_core::ids::ProjectId;
use claude_mem_recall::StartContextText;
use claude_mem_recall::recall;
use claude_mem_recall::recall_request::{RecallOccasion, RecallRequest, RecallTarget};
use claude_mem_setup::notices;
use claude_mem_store::StoreReader;

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
    items: Vec<PreviewItemView>,
    left_out: usize,
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
    api.view(|reads| {
        let project = lookup::resolve_project(reads, which.project.as_deref())?;
        let new = RecallTarget::default();
        let block = session_block(api, reads, &settings, project, (&new, "startup"), budget)?;
        let items = block.chosen.items.iter().map(|item| PreviewItemView {
            handle: handle(item.row.kind, item.row.row_id),
            title: item.row.title.clone(),
            r#type: item.row.observation_type.clone(),
            tokens: item.tokens,
            reason: item.reasons.join(", "),
            value: item.value,
        });
        Ok(ContextPreviewView {
            items: items.collect(),
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
    (listener, source): (&RecallTarget, &str),
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
        listener,
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
    const fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Resume => "resume",
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
    let listener = RecallTarget {
        client: client.name.to_owned(),
        session: starting.session_id.unwrap_or_default(),
        agent_id: String::new(),
    };
    let source = starting.source.unwrap_or_default().name();
    let block = api.view(|reads| {
        let session_id = listener.own_session(reads)?;
        let own = session_id.map(|id| reads.session(id)).transpose()?;
        let named = lookup::resolve_project(reads, named.as_deref())?;
        let project = named.or_else(|| own.as_ref()?.project);
        let who = (&listener, source);
        session_block(api, reads, &settings, project, who, settings.context_tokens)
    })?;
    let brought = block.brought();
    if !listener.session.is_empty() && !brought.is_empty() {
        let entries = listener.told("session_start", &brought, api.now());
        api.change(|store| store.write(|tx| entries.iter().try_for_each(|entry| tx.record_feedback(entry))))?;
    }
    Ok(InjectResponse { context: block.text })
}

/// A prompt to find memories for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "About")]
pub(super) struct SemanticRequest {
    query: String,
    project: Option<ProjectSelector>,
    /// Maximum rows in `items`; the text is limited by the setting recall_prompt_tokens.
    limit: Option<u32>,
}

/// What the prompt hook would tell an agent that has been told nothing yet.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Brought")]
pub(super) struct SemanticResponse {
    /// Text for the agent, marked as quoted data.
    context: String,
    count: usize,
    items: Vec<RowView>,
}

/// Handles `POST /api/context/semantic`.
pub(super) fn semantic(
    api: &ApiState,
    _: &PathParams,
    about: SemanticRequest,
) -> Result<SemanticResponse, Problem> {
    let named = about.project.as_ref().map(ProjectSelector::text);
    let project = api.view(|reads| lookup::resolve_project(reads, named.as_deref()))?;
    let settings = api.settings().settings;
    let Some(project) = project.filter(|_| settings.recall_prompt) else {
        return Ok(SemanticResponse { context: String::new(), count: 0, items: Vec::new() });
    };
    let Some(text) = RecallRequest::text_of(RecallOccasion::Prompt, &about.query) else {
        return Ok(SemanticResponse { context: String::new(), count: 0, items: Vec::new() });
    };
    let ask = recall::RecallQuery {
        project,
        own: None,
        prompt: &text,
        shown: &HashSet::new(),
        budget_tokens: settings.recall_prompt_tokens,
        zone: &api.zone,
        bar: recall::EvidenceThreshold::Prompt,
    };
    let recalled = api.worker.engines.with_engine(|engine| {
        engine.view(|reads, mut vectors| recall::prompt(&reads, &ask, vectors.as_mut()))
    })?;
    let limit = about.limit.unwrap_or(u32::MAX).max(1) as usize;
    let found = &recalled.items[..recalled.items.len().min(limit)];
    api.view(|reads| {
        let mut views = ViewBuilder::new(reads);
        let mut items = Vec::with_capacity(found.len());
        for item in found {
            items.extend(views.row(item.kind, item.row_id)?);
        }
        Ok(SemanticResponse { context: recalled.text.clone(), count: items.len(), items })
    })
}
