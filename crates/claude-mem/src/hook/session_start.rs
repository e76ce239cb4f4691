//! What the agent and the person are told when a session starts.

use std::path::Path;

use super::event::ProjectHint;
use super::recall::{Question, Told, open, record};
use crate::context::{Starting, quote};
use crate::findings;
use crate::ids::ProjectId;
use crate::serve::pidfile::WorkerFile;
use crate::store::{Reads, StoreError};

/// Counting further takes time that nobody has at the start.
const COUNTED_MAX: u32 = 1_000;

pub(super) fn told(question: &Question<'_>) -> Result<Told, StoreError> {
    let source = question.head.source.as_deref().unwrap_or("startup");
    if source == "compact" {
        note_compaction(question);
    }
    let (Some(hint), Some(store)) = (question.project, open(question)?) else {
        return Ok(Told::default());
    };
    let reads = store.read();
    let project = reads.project_by_keys(&hint.keys)?;
    let settings = question.settings.all();
    let notices = findings::at_start(
        &reads,
        question.dir,
        &settings,
        question.now,
        question.client,
    )?;
    let starting = Starting {
        listener: &question.listener(),
        source,
        project,
        name: &hint.name,
        root: Path::new(&hint.root),
        branch: hint.branch.as_deref(),
        settings: &settings,
        budget_tokens: settings.context_tokens,
        notices: &notices,
        zone: &crate::clock::zone(),
    };
    let block = starting.block(&reads)?;
    record(question, "session_start", &block.brought());
    let mut told = Told {
        text: block.text,
        message: String::new(),
    };
    let is_new = told.text.is_empty() || project.is_none();
    if settings.context && is_new && source == "startup" {
        let welcome = welcome(question, hint);
        if told.text.is_empty() {
            told.text = welcome;
        }
    }
    if settings.show_message && source == "startup" {
        told.message = message(question, &reads, hint, project, &notices)?;
    }
    Ok(told)
}

/// One friendly line in a project that memory does not know yet, once.
fn welcome(question: &Question<'_>, hint: &ProjectHint) -> String {
    let first = question.note("a welcome", |inbox| {
        inbox.write(|tx| {
            let project = tx.ensure_project(hint, question.now)?;
            tx.welcome_project(project)
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

/// One line for the person: what there is, where to see it, what needs them.
fn message(
    question: &Question<'_>,
    reads: &Reads<'_>,
    hint: &ProjectHint,
    project: Option<ProjectId>,
    notices: &[String],
) -> Result<String, StoreError> {
    let known = match project {
        Some(project) => reads.observations_up_to(project, COUNTED_MAX + 1)?,
        None => 0,
    };
    let mut parts = Vec::new();
    if known > 0 {
        let known = match known {
            1 => "1 memory".to_owned(),
            2..=COUNTED_MAX => format!("{known} memories"),
            _ => format!("more than {COUNTED_MAX} memories"),
        };
        let name = quote::line(&hint.name, 60);
        let port = WorkerFile::read(&question.dir.worker_pid())
            .ok()
            .flatten()
            // A killed one leaves its file, and its port to whoever comes next.
            .filter(WorkerFile::is_alive)
            .and_then(|worker| worker.port);
        // The bare address asks for a link, and says how to get one.
        let at = port.map(|port| format!(" (http://127.0.0.1:{port})"));
        parts.push(format!(
            "claude-mem: {known} of {name}; see them with `claude-mem open`{}",
            at.unwrap_or_default()
        ));
    }
    parts.extend(notices.iter().map(|notice| quote::line(notice, 300)));
    Ok(parts.join(". "))
}

/// A session that is cleared goes on in the next one of its project.
pub(super) fn note_end(question: &Question<'_>) {
    let cleared = question.head.reason.as_deref() == Some("clear");
    if let (true, false, Some(hint)) = (cleared, question.silent, question.project) {
        let session = question.head.session.as_deref().unwrap_or_default();
        question.note("a clear", |inbox| {
            inbox.note_cleared(&hint.keys, question.agent.name, session)
        });
    }
}

fn note_compaction(question: &Question<'_>) {
    let session = question.head.session.as_deref().unwrap_or_default();
    question.note("a compaction", |inbox| {
        inbox.note_compaction(question.agent.name, session, question.now)
    });
}
