//! The memories that a prompt, an error or a file brings to a session.

use std::collections::HashSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup::{self, ProjectSelector};
use super::problem::Problem;
use super::rows::RowView;
use super::view_builder::ViewBuilder;
use claude_mem_core::config::Settings;
use claude_mem_core::ids::ProjectId;
use claude_mem_recall::file;
use claude_mem_recall::recall::{self, RecalledText};
use claude_mem_recall::recall_request::{RecallOccasion, RecallRequest};

/// The trigger of a recall: a prompt, a file or a failed command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RecallNeed {
    #[default]
    Prompt,
    /// The output of a command that failed.
    Failure,
    /// The path of a file that is opened, relative to the project.
    File,
}

/// A prompt, an error or a file to find memories for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "About")]
pub(super) struct SemanticRequest {
    query: String,
    #[serde(default)]
    need: RecallNeed,
    project: Option<ProjectSelector>,
    /// Maximum rows in `items`; the text is limited by the setting recall_prompt_tokens.
    limit: Option<u32>,
}

/// The text that the hook injects into a session that has received nothing yet.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RecalledMemory")]
pub(super) struct SemanticResponse {
    /// Text for the agent, marked as quoted data.
    context: String,
    count: usize,
    items: Vec<RowView>,
    /// The reasons of the items, in the same order.
    reasons: Vec<String>,
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
    let recalled = match project {
        Some(project) => recall_as_hook(api, &settings, project, about.need, &about.query)?,
        None => RecalledText::default(),
    };
    let limit = about.limit.unwrap_or(u32::MAX).max(1) as usize;
    let found = &recalled.items[..recalled.items.len().min(limit)];
    api.view(|reads| {
        let mut views = ViewBuilder::new(reads);
        let mut items = Vec::with_capacity(found.len());
        for item in found {
            items.extend(views.row(item.kind, item.row_id)?);
        }
        let reasons = found.iter().map(|item| item.reason.clone()).collect();
        Ok(SemanticResponse { context: recalled.text.clone(), count: items.len(), items, reasons })
    })
}

/// Exactly what the hook of a new session injects, with the same redaction, limits and settings.
fn recall_as_hook(
    api: &ApiState,
    settings: &Settings,
    project: ProjectId,
    need: RecallNeed,
    typed: &str,
) -> Result<RecalledText, Problem> {
    let (is_on, budget_tokens) = match need {
        RecallNeed::Prompt => (settings.recall_prompt, settings.recall_prompt_tokens),
        RecallNeed::Failure => (settings.recall_failure, settings.recall_failure_tokens),
        RecallNeed::File => (settings.recall_file, settings.recall_file_tokens),
    };
    if !is_on {
        return Ok(RecalledText::default());
    }
    if need == RecallNeed::File {
        return api.view(|reads| {
            let root = reads.project(project)?.root;
            let path = Path::new(typed.trim());
            let is_large = |meta: std::fs::Metadata| meta.len() >= file::FILE_BYTES_MIN;
            if !std::fs::metadata(Path::new(&root).join(path)).is_ok_and(is_large) {
                return Ok(RecalledText::default());
            }
            let relative = path.strip_prefix(&root).unwrap_or(path).to_string_lossy();
            let ask = file::FileRecallRequest {
                project,
                own: None,
                path: &relative,
                shown: &HashSet::new(),
                budget_tokens,
                zone: &api.zone,
            };
            Ok(file::recall_file(reads, &ask)?)
        });
    }
    let (occasion, threshold) = match need {
        RecallNeed::Failure => (RecallOccasion::Failure, recall::EvidenceThreshold::Failure),
        _ => (RecallOccasion::Prompt, recall::EvidenceThreshold::Prompt),
    };
    let Some(text) = RecallRequest::redacted_text_of(occasion, typed) else {
        return Ok(RecalledText::default());
    };
    let ask = recall::RecallQuery {
        project,
        own: None,
        prompt: &text,
        shown: &HashSet::new(),
        budget_tokens,
        zone: &api.zone,
        threshold,
    };
    let found = api.worker.engines.with_engine(|engine| {
        engine.view(|reads, mut vectors| recall::recall_for_prompt(&reads, &ask, vectors.as_mut()))
    })?;
    Ok(found)
}
