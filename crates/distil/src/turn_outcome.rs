//! What a turn left behind, for the account of its session: the request in the user's words, the agent's report,
//! what was committed and what was not, and work that was filed for later.

use serde::{Deserialize, Serialize};

use claude_mem_core::clock::Millis;

/// The outcome of a turn. Outcomes of one session are joined in order; the last one is how the session ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnOutcome {
    /// The sentences of the prompt that ask for something, or the slash command with its argument.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub asked: String,
    /// What the agent's last message says was done, item by item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub report: Vec<String>,
    /// A commit went through, or may have: subagents commit unseen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub committed: bool,
    /// A command changed a machine or a service.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub operated: bool,
    /// Files with a net change since the last commit that went through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<String>,
    /// The last commit, if a hook refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedCommit>,
    /// Notes of remaining work that were written, and those that were taken away again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filed: Vec<FiledWork>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfiled: Vec<String>,
    /// The agent did not come to the end of its turn: it was interrupted, or still at work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
    /// The last plan that was written, while nothing was done since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PendingPlan>,
    /// Numbers of pull requests that are merged, and subjects of commits, both as git or the agent says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub landed: Vec<String>,
    /// What the user says is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stated_done: Vec<String>,
    /// The slash command that the agent's last message names as the next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextCommand>,
}

/// A plan that was presented.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PendingPlan {
    pub title: String,
    pub at: Millis,
}

/// A slash command that is to come next, with what the agent says about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NextCommand {
    pub command: String,
    pub about: String,
    pub at: Millis,
}

/// A commit that a hook refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RefusedCommit {
    pub title: String,
    /// Why: the counts of the tests, or the line that says it.
    pub error: String,
    pub at: Millis,
}

/// A new file in a folder of todos or of parked bugs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FiledWork {
    pub path: String,
    pub title: String,
    pub at: Millis,
}

impl TurnOutcome {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the outcome of what came next.
    pub(crate) fn join(&mut self, next: &Self) {
        if self.asked.is_empty() {
            self.asked.clone_from(&next.asked);
        }
        self.report.extend(
            next.report.iter().filter(|line| !self.report.contains(line)).cloned().collect::<Vec<_>>(),
        );
        if next.committed {
            self.committed = true;
            self.uncommitted.clear();
            self.refused = None;
        }
        self.operated |= next.operated;
        for file in &next.uncommitted {
            if !self.uncommitted.contains(file) {
                self.uncommitted.push(file.clone());
            }
        }
        if next.refused.is_some() {
            self.refused.clone_from(&next.refused);
        }
        self.filed.retain(|filed| !next.unfiled.contains(&filed.path));
        self.filed.extend(next.filed.iter().cloned());
        self.unfiled.extend(next.unfiled.iter().cloned());
        self.unanswered &= next.unanswered;
        if next.committed || !next.uncommitted.is_empty() {
            self.plan = None;
        }
        if next.plan.is_some() {
            self.plan.clone_from(&next.plan);
        }
        for (list, more) in [
            (&mut self.merged, &next.merged),
            (&mut self.landed, &next.landed),
            (&mut self.stated_done, &next.stated_done),
        ] {
            let new: Vec<String> = more.iter().filter(|line| !list.contains(line)).cloned().collect();
            list.extend(new);
        }
        if !next.unanswered {
            self.next.clone_from(&next.next);
        }
    }
}

/// Folders whose files are remaining work.
const WORK_FOLDERS: &[&str] =
    &["todo", "todos", "pending", "backlog", "parked", "debug", "followups", "follow-ups"];
/// Folders and words of paths of work that is over.
const OVER: &[&str] = &["done", "completed", "closed", "resolved", "archive", "archived"];

/// Whether a file is a note of remaining work: Markdown in a folder of todos or parked bugs.
pub(crate) fn is_work_note(path: &str) -> bool {
    let lower = path.to_lowercase();
    let folders: Vec<&str> = lower.split('/').collect();
    let Some((name, folders)) = folders.split_last() else {
        return false;
    };
    is_prose_file(name)
        && folders.iter().any(|folder| WORK_FOLDERS.contains(folder))
        && !folders.iter().any(|folder| OVER.contains(folder))
}

/// Whether a file outside the project is a plan that the client keeps: Markdown in a folder of plans.
pub(crate) fn is_plan_file(path: &str) -> bool {
    let lower = path.to_lowercase();
    let mut folders = lower.rsplit('/');
    let name = folders.next().unwrap_or_default();
    lower.starts_with(['/', '~']) && is_prose_file(name) && folders.next() == Some("plans")
}

/// Whether a file is text for people, which tests and builds do not read.
pub(crate) fn is_prose_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "md" | "mdx" | "txt" | "rst" | "adoc")
        || matches!(name.as_str(), "license" | "changelog" | "readme")
}

/// Folders of what tools write from the sources.
const OUTPUT_FOLDERS: &[&str] = &[
    "dist",
    "node_modules",
    "coverage",
    "__pycache__",
    ".next",
    ".turbo",
    ".cache",
    ".parcel-cache",
    ".svelte-kit",
];

/// Whether a file is written by a build, so that its edits tell nothing of a change.
pub(crate) fn is_build_output(path: &str) -> bool {
    let mut folders = path.split('/');
    folders.next_back();
    folders.any(|folder| OUTPUT_FOLDERS.contains(&folder))
}

/// The title of a note: its `title:` field, else its first heading, without a label such as "Debug:".
pub(crate) fn note_title<'t>(lines: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut heading = None;
    for line in lines.take(40) {
        let line = line.trim();
        if let Some(title) = line.strip_prefix("title:") {
            return Some(title.trim().trim_matches(['"', '\'']).to_owned());
        }
        if heading.is_none() {
            heading = line.strip_prefix("# ").map(|title| title.trim().to_owned());
        }
    }
    let heading = heading?;
    let labels = ["Debug: ", "Todo: ", "TODO: ", "Bug: ", "Issue: "];
    let bare = labels.iter().find_map(|label| heading.strip_prefix(label));
    Some(bare.unwrap_or(&heading).to_owned())
}

#[cfg(test)]
#[path = "turn_outcome_tests.rs"]
mod tests;
