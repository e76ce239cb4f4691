//! Todos and tasks: what the work consists of, what is finished and what is still open.

use std::collections::BTreeMap;

use serde_json::Value;

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::Episode;
use claude_mem_core::source::TextSource;

use crate::carry::Carry;
use crate::claim::{Claim, ClaimKind};
use crate::outputs::field;
use crate::text::{clip, content_words, one_line};

/// Maximum tasks that a session carries between episodes.
const TASKS_MAX: usize = 40;
const TASK_CHARS_MAX: usize = 200;

/// Reads the todo and task tools of an episode: open tasks at its end, and tasks finished in it.
pub(crate) fn task_claims(episode: &Episode, carry: &mut Carry, group: u32) -> Vec<Claim> {
    let mut finished: Vec<(String, Millis)> = Vec::new();
    for step in episode.steps.iter().filter(|step| !step.failed) {
        match step.tool.as_str() {
            "TodoWrite" => todo_list(&step.input, step.at, &mut carry.tasks, &mut finished),
            "TaskCreate" => {
                let id = step.output.pointer("/task/id").map(id_text).unwrap_or_default();
                if let Some(subject) = field(&step.input, &["subject"])
                    && !id.is_empty()
                {
                    insert(&mut carry.tasks, id, subject);
                }
            }
            "TaskUpdate" => {
                let id = step.input.get("taskId").map(id_text).unwrap_or_default();
                let status = field(&step.input, &["status"]).unwrap_or_default();
                if matches!(status, "completed" | "deleted")
                    && let Some(subject) = carry.tasks.remove(&id)
                    && status == "completed"
                {
                    finished.push((subject, step.at));
                }
            }
            _ => {}
        }
    }
    let mut claims: Vec<Claim> = Vec::new();
    for (subject, at) in finished {
        claims.push(Claim::new(ClaimKind::Finished, TextSource::Task, subject, at));
    }
    if episode.finished {
        let open = carry.tasks.values().filter(|subject| content_words(subject).len() >= 2);
        claims.extend(open.map(|subject| {
            Claim::new(ClaimKind::Open, TextSource::Task, subject.clone(), episode.ended_at())
        }));
    }
    for claim in &mut claims {
        claim.group = group;
        claim.worth = 0.5;
    }
    claims
}

fn todo_list(
    input: &Value,
    at: Millis,
    open: &mut BTreeMap<String, String>,
    finished: &mut Vec<(String, Millis)>,
) {
    for todo in input.get("todos").and_then(Value::as_array).into_iter().flatten() {
        let Some(content) = field(todo, &["content"]).map(one_line) else {
            continue;
        };
        if field(todo, &["status"]) == Some("completed") {
            if open.remove(&content).is_some() {
                finished.push((content, at));
            }
        } else {
            insert(open, content.clone(), &content);
        }
    }
}

fn insert(tasks: &mut BTreeMap<String, String>, id: String, subject: &str) {
    if tasks.len() < TASKS_MAX {
        tasks.insert(id, clip(&one_line(subject), TASK_CHARS_MAX));
    }
}

fn id_text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}
