//! Whole sessions that we wrote ourselves, and the memories that they leave.
//!
//! Each `golden/NAME.session` is a session in a small format: blocks that start with `=== KIND ARGUMENT`.
//! `golden/NAME.snap` holds its observations, its account and its open items.
//!
//! | block | what it is |
//! |---|---|
//! | `user`, `queued`, `plan-prompt` | a typed prompt, one queued during the turn, a plan that the client hands over |
//! | `say`, `agent` | a message during the turn; the final message, which ends the turn |
//! | `reject TOOL` | words typed when a call was rejected |
//! | `ask HEADER` | a question tool: the question, then `- label: description` lines, then `> answer` |
//! | `plan`, `plan rejected` | ExitPlanMode |
//! | `recap`, `compact`, `subagent`, `teammate`, `client` | texts of other voices |
//! | `todos` | TodoWrite: `[x]`, `[ ]` lines |
//! | `task ID`, `task-done ID` | TaskCreate, TaskUpdate |
//! | `edit PATH` and `to`, `write PATH`, `file PATH` | an edit, a new file, a file that exists already |
//! | `bash` and `output` or `failed` | a command with its result |
//! | `read`, `fetch URL` | other tools |
//! | `cut` | the worker takes the turn so far; the turn goes on |

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodePrompt, EpisodeStep, EpisodeText, FinalMessage};
use claude_mem_core::memory::{NewObservation, SessionAccount, SessionMemories};
use claude_mem_core::source::TextSource;
use claude_mem_core::vocabulary::Vocabulary;

use crate::{Carry, EpisodeClaims, consolidate, extract_claims};

const ROOT: &str = "/home/user/shop";

/// Reads a session into the episodes that a worker would make of it.
#[derive(Default)]
struct SessionScript {
    episodes: Vec<Episode>,
    now: Episode,
    prompts: u32,
    clock: i64,
    files: HashMap<String, String>,
    committed: HashMap<String, String>,
}

impl SessionScript {
    fn read(text: &str) -> Vec<Episode> {
        let mut script = Self::default();
        let mut blocks: Vec<(&str, String)> = Vec::new();
        for line in text.lines() {
            match line.strip_prefix("===") {
                Some(head) => blocks.push((head.trim(), String::new())),
                None => {
                    if let Some((_, body)) = blocks.last_mut() {
                        body.push_str(line);
                        body.push('\n');
                    }
                }
            }
        }
        let mut blocks = blocks.into_iter().peekable();
        while let Some((head, body)) = blocks.next() {
            let (word, argument) = head.split_once(' ').unwrap_or((head, ""));
            let body = body.trim_end_matches('\n').to_owned();
            let mut following =
                || blocks.next().map(|(head, body)| (head, body.trim_end_matches('\n').to_owned()));
            match word {
                "edit" => {
                    let (_, new) = following().expect("an edit has two sides");
                    script.edit(argument, &body, &new);
                }
                "bash" => {
                    let (outcome, output) = following().expect("a command has an output");
                    script.bash(&body, &output, outcome == "failed");
                }
                _ => script.block(word, argument, &body),
            }
        }
        if script.now != Episode::default() {
            script.close(false);
        }
        script.episodes
    }

    fn tick(&mut self) -> Millis {
        self.clock += 1_000;
        Millis(self.clock)
    }

    fn block(&mut self, word: &str, argument: &str, body: &str) {
        let path = format!("{ROOT}/{argument}");
        match word {
            "user" => self.prompt(body, TextSource::Prompt),
            "plan-prompt" => {
                self.prompt(&format!("Implement the following plan:\n\n{body}"), TextSource::Plan);
            }
            "queued" => self.text(TextSource::QueuedPrompt, body, None),
            "say" => self.text(TextSource::Message, body, None),
            "reject" => self.text(TextSource::Rejection, body, Some(argument)),
            "recap" => self.text(TextSource::Recap, body, None),
            "compact" => self.text(TextSource::CompactSummary, body, None),
            "subagent" => self.text(TextSource::SubagentReport, body, None),
            "teammate" => self.text(TextSource::TeammateMessage, body, None),
            "client" => self.text(TextSource::ClientText, body, None),
            "agent" => {
                let at = self.tick();
                self.now.final_message = Some(FinalMessage { text: body.into(), at });
                self.close(true);
            }
            "cut" => {
                let prompt = self.now.prompt.clone();
                self.close(false);
                self.now.prompt = prompt;
            }
            "file" => {
                self.files.insert(argument.into(), body.into());
                self.committed.insert(argument.into(), body.into());
            }
            "ask" => self.ask(argument, body),
            "plan" => {
                let rejected = argument == "rejected";
                self.step("ExitPlanMode", json!({ "plan": body }), json!({}), rejected);
            }
            "todos" => {
                let todos: Vec<Value> = body.lines().map(todo).collect();
                self.step("TodoWrite", json!({ "todos": todos }), json!({}), false);
            }
            "task" => {
                let output = json!({ "task": { "id": argument } });
                self.step("TaskCreate", json!({ "subject": body }), output, false);
            }
            "task-done" => {
                let input = json!({ "taskId": argument, "status": "completed" });
                self.step("TaskUpdate", input, json!({}), false);
            }
            "read" => self.step("Read", json!({ "file_path": path }), json!({}), false),
            "fetch" => self.step("WebFetch", json!({ "url": argument }), json!({ "result": body }), false),
            "write" => {
                let output =
                    json!({"type": "create", "filePath": path, "originalFile": null, "structuredPatch": []});
                self.files.insert(argument.into(), body.into());
                self.step("Write", json!({ "file_path": path, "content": body }), output, false);
            }
            other => panic!("unknown block {other:?}"),
        }
    }

    fn prompt(&mut self, body: &str, source: TextSource) {
        self.prompts += 1;
        let at = self.tick();
        self.now.prompt = Some(EpisodePrompt { number: self.prompts, text: body.into(), at, source });
    }

    fn text(&mut self, source: TextSource, body: &str, about: Option<&str>) {
        let at = self.tick();
        let id = Some(format!("text-{}", self.clock));
        let about = about.map(str::to_owned);
        self.now.texts.push(EpisodeText { source, text: body.into(), at, id, about });
    }

    fn ask(&mut self, header: &str, body: &str) {
        let mut lines = body.lines();
        let question = lines.next().expect("a question");
        let (mut options, mut answer) = (Vec::new(), String::new());
        for line in lines {
            if let Some(option) = line.strip_prefix("- ") {
                let (label, description) = option.split_once(": ").unwrap_or((option, ""));
                options.push(json!({ "label": label, "description": description }));
            } else if let Some(said) = line.strip_prefix("> ") {
                said.clone_into(&mut answer);
            }
        }
        let asked = json!({ "question": question, "header": header, "options": options });
        let input = json!({ "questions": [asked] });
        let output = json!({ "questions": [asked], "answers": { question: answer } });
        self.step("AskUserQuestion", input, output, false);
    }

    fn edit(&mut self, path: &str, old: &str, new: &str) {
        let original = self.files.get(path).cloned();
        let input = json!({"file_path": format!("{ROOT}/{path}"), "old_string": old, "new_string": new});
        let output = json!({"originalFile": original, "oldString": old, "newString": new});
        if let Some(file) = self.files.get_mut(path) {
            assert!(file.contains(old), "{path} does not hold {old:?}");
            *file = file.replacen(old, new, 1);
        }
        self.step("Edit", input, output, false);
    }

    fn bash(&mut self, command: &str, output: &str, failed: bool) {
        let result = if failed {
            Value::String(output.into())
        } else {
            json!({"stdout": output, "stderr": "", "interrupted": false})
        };
        if let Some(path) = command.strip_prefix("git checkout -- ") {
            let committed = self.committed[path].clone();
            self.files.insert(path.into(), committed);
        }
        self.step("Bash", json!({ "command": command }), result, failed);
    }

    fn step(&mut self, tool: &str, input: Value, output: Value, failed: bool) {
        let at = self.tick();
        self.now.steps.push(EpisodeStep { tool: tool.into(), input, output, failed, at, agent: None });
    }

    fn close(&mut self, finished: bool) {
        let mut episode = std::mem::take(&mut self.now);
        episode.project = "shop".into();
        episode.root = ROOT.into();
        episode.finished = finished;
        self.episodes.push(episode);
    }
}

fn todo(line: &str) -> Value {
    let (status, content) = match line.strip_prefix("[x] ") {
        Some(content) => ("completed", content),
        None => ("pending", line.trim_start_matches("[ ] ")),
    };
    json!({ "content": content, "status": status, "activeForm": content })
}

/// The claims of each episode. The worker stores claims and carry as JSON between episodes.
fn claims(episodes: &[Episode]) -> Vec<EpisodeClaims> {
    let mut carry = Carry::default();
    let mut all = Vec::new();
    for episode in episodes {
        let stored = serde_json::to_string(&carry).unwrap();
        carry = serde_json::from_str(&stored).unwrap();
        let (extracted, _) = extract_claims(episode, &mut carry, &Vocabulary::default());
        let stored = serde_json::to_string(&extracted).unwrap();
        all.push(serde_json::from_str(&stored).unwrap());
    }
    all
}

/// The memories of a session as a person would read them.
fn show_memories(memories: &SessionMemories) -> String {
    let mut out = String::new();
    for made in &memories.observations {
        show_observation(&mut out, &made.observation);
    }
    if memories.observations.is_empty() {
        writeln!(out, "(no observations)").unwrap();
    }
    match &memories.account {
        Some(account) => show_account(&mut out, account),
        None => writeln!(out, "(no account)").unwrap(),
    }
    for item in &memories.open_items {
        writeln!(out, "{}: {}", if item.closed { "closed" } else { "open" }, item.text).unwrap();
    }
    out
}

fn show_observation(out: &mut String, made: &NewObservation) {
    writeln!(out, "{} ({}) {}", made.text.kind, made.origin.as_str(), made.text.title).unwrap();
    if !made.text.subtitle.is_empty() {
        writeln!(out, "  ({})", made.text.subtitle).unwrap();
    }
    if !made.text.narrative.is_empty() {
        writeln!(out, "  {}", made.text.narrative.replace('\n', "\n  ")).unwrap();
    }
    for fact in &made.text.facts {
        writeln!(out, "  · {fact}").unwrap();
    }
    writeln!(out, "  [{}] {}", made.text.concepts.join(" "), made.text.files_modified.join(" ")).unwrap();
}

fn show_account(out: &mut String, account: &SessionAccount) {
    writeln!(out, "account: {}", account.text.purpose).unwrap();
    for (name, lines) in [
        ("done", &account.text.done),
        ("learned", &account.text.learned),
        ("decided", &account.text.decided),
        ("checked", &account.text.checked),
        ("open", &account.text.open),
        ("edited", &account.text.files_edited),
    ] {
        for line in lines {
            writeln!(out, "  {name}: {line}").unwrap();
        }
    }
}

fn sessions() -> Vec<(String, Vec<Episode>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/golden");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "session"))
        .collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, SessionScript::read(&std::fs::read_to_string(path).unwrap()))
    };
    paths.iter().map(read).collect()
}

#[test]
fn sessions_leave_the_memories_of_their_snapshots() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/golden");
    let all = sessions();
    assert!(all.len() >= 30, "{}", all.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, episodes) in all {
            insta::assert_snapshot!(name, show_memories(&consolidate(&claims(&episodes))));
        }
    });
}

#[test]
fn every_source_has_a_session() {
    let mut seen = std::collections::HashSet::new();
    for (_, episodes) in sessions() {
        for episode in &episodes {
            seen.extend(episode.prompt.iter().map(|prompt| prompt.source));
            seen.extend(episode.texts.iter().map(|text| text.source));
            seen.extend(episode.final_message.iter().map(|_| TextSource::FinalMessage));
            for claim in claims(std::slice::from_ref(episode)).into_iter().flat_map(|found| found.claims) {
                seen.insert(claim.source);
            }
            let tool = |name: &str| episode.steps.iter().any(|step| step.tool == name);
            seen.extend(tool("WebFetch").then_some(TextSource::WebPage));
            seen.extend(tool("Bash").then_some(TextSource::ToolOutput));
            let pasted = |text: &str| crate::typed::typed_part(text).len() < text.len();
            seen.extend(
                episode.prompt.iter().filter(|prompt| pasted(&prompt.text)).map(|_| TextSource::Paste),
            );
        }
    }
    for row in &claude_mem_core::source::SOURCE_TABLE {
        assert!(seen.contains(&row.source), "no session has a text of {:?}", row.source);
    }
}
