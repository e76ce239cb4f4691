//! Builds the session-start response: context for the agent, one line for the user.

use std::path::Path;

use super::recall_request::{HookRecallRequest, RecallOutput};
use super::resources::HookResources;
use crate::ipc::pidfile::WorkerFile;
use crate::project_claim::describe_claim;
use claude_mem_core::clock;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::paths::DataDir;
use claude_mem_recall::recall::RecalledMemory;
use claude_mem_recall::{StartSource, StartingSession, quote};
use claude_mem_store::{StoreError, StoreReader};

/// Counting stops here, because a session start must not wait for a longer count.
const MEMORIES_COUNTED_MAX: u32 = 1_000;

/// The result of reading for a session start: the response, and the facts to record about it.
struct StartContext {
    output: RecallOutput,
    brought: Vec<RecalledMemory>,
    is_known_project: bool,
}

/// Builds the output of a session-start hook, and records compactions and shown memories.
pub(super) fn session_context(
    request: &HookRecallRequest<'_>,
    resources: &mut HookResources<'_>,
) -> Result<RecallOutput, StoreError> {
    let source = StartSource::from_name(request.header.source.as_deref().unwrap_or_default());
    if source == StartSource::Compact {
        resources.write_best_effort("the compaction", |inbox| {
            inbox.record_compaction(request.agent.name, request.session(), request.now)
        });
    }
    let dir = resources.dir;
    let (Some(hint), Some(inbox)) = (request.project, resources.database.existing()?) else {
        return Ok(RecallOutput::default());
    };
    let context =
        inbox.read_within(request.read_limit(), |reads| read_context(request, reads, dir, hint, source))?;
    request.record_shown(resources, "session_start", &context.brought);
    let mut output = context.output;
    let is_new = output.text.is_empty() || !context.is_known_project;
    if is_new && source == StartSource::Startup && request.settings.effective().context {
        let welcome = welcome_text(request, resources, hint);
        if output.text.is_empty() {
            output.text = welcome;
        }
    }
    Ok(output)
}

fn read_context(
    request: &HookRecallRequest<'_>,
    reads: &StoreReader<'_>,
    dir: &DataDir,
    hint: &ProjectHint,
    source: StartSource,
) -> Result<StartContext, StoreError> {
    let project = reads.project_by_keys(&hint.keys)?;
    let settings = request.settings.effective();
    let notices = (request.notices)(reads, dir, &settings, request.now, request.client_version)?;
    let starting = StartingSession {
        recipient: &request.recipient(),
        source,
        project,
        name: &hint.name,
        root: Path::new(&hint.root),
        branch: hint.branch.as_deref(),
        settings: &settings,
        budget_tokens: settings.context_tokens,
        notices: &notices,
        zone: &clock::zone(),
    };
    let block = starting.block(reads)?;
    let message = if settings.show_message && source == StartSource::Startup {
        let claimed = reads.unconfirmed_project(&hint.keys)?;
        let mut notices = notices;
        notices.extend(claimed.map(|claimed| format!("claude-mem: {}", describe_claim(&claimed))));
        user_message(reads, dir, hint, project, &notices)?
    } else {
        String::new()
    };
    Ok(StartContext {
        brought: block.brought(),
        output: RecallOutput { text: block.text, message },
        is_known_project: project.is_some(),
    })
}

/// A one-time welcome line in a project that has no memories yet.
fn welcome_text(
    request: &HookRecallRequest<'_>,
    resources: &mut HookResources<'_>,
    hint: &ProjectHint,
) -> String {
    let first = resources.write_best_effort("the welcome", |inbox| {
        inbox.write(|tx| {
            let project = tx.ensure_project(hint, request.now)?;
            tx.mark_project_welcomed(project)
        })
    });
    let tag = quote::TAG;
    if first == Some(true) {
        format!(
            "<{tag}>\nMemory is on for {}: nothing is recorded yet, this session is the first. \
             The claude-mem MCP tools search other projects too.\n</{tag}>\n",
            quote::line(&hint.name, 60)
        )
    } else {
        String::new()
    }
}

/// One line for the user: the number of memories, how to view them, and notices.
fn user_message(
    reads: &StoreReader<'_>,
    dir: &DataDir,
    hint: &ProjectHint,
    project: Option<ProjectId>,
    notices: &[String],
) -> Result<String, StoreError> {
    let known = match project {
        Some(project) => reads.count_observations_up_to(project, MEMORIES_COUNTED_MAX + 1)?,
        None => 0,
    };
    let mut parts = Vec::new();
    if known > 0 {
        let known = match known {
            1 => "1 memory".to_owned(),
            2..=MEMORIES_COUNTED_MAX => format!("{known} memories"),
            _ => format!("more than {MEMORIES_COUNTED_MAX} memories"),
        };
        let name = quote::line(&hint.name, 60);
        let port = WorkerFile::read(&dir.worker_pid())
            .ok()
            .flatten()
            // A killed worker leaves its file behind; another program may use its port by now.
            .filter(WorkerFile::is_alive)
            .and_then(|worker| worker.port);
        // The bare address shows how to get a link with a key.
        let at = port.map(|port| format!(" (http://127.0.0.1:{port})"));
        parts.push(format!(
            "claude-mem: {known} of {name}; see them with `claude-mem open`{}",
            at.unwrap_or_default()
        ));
    }
    parts.extend(notices.iter().map(|notice| quote::line(notice, 300)));
    Ok(parts.join(". "))
}

/// Records a session that ended with `/clear`: the project's next session continues its work.
pub(super) fn note_session_end(request: &HookRecallRequest<'_>, resources: &mut HookResources<'_>) {
    let cleared = request.header.reason.as_deref() == Some("clear");
    if let (true, false, Some(hint)) = (cleared, request.is_unrecorded, request.project) {
        resources.write_best_effort("the cleared session", |inbox| {
            inbox.record_cleared(&hint.keys, request.agent.name, request.session())
        });
    }
}
