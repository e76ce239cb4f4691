//! Whole sessions of our own writing, and the memories they leave, read by eye.
//!
//! Each `golden/NAME.session` is a transcript in a small format of its own (`=== user`, `=== edit
//! PATH` … `=== to`, `=== bash` … `=== output`, `=== agent`); `golden/NAME.snap` is what comes out.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{EpisodePrompt, EpisodeStep, FinalMessage};

const ROOT: &str = "/home/user/shop";

/// Reads a transcript into the episodes that a worker would make of it.
#[derive(Default)]
struct Script {
    episodes: Vec<Episode>,
    now: Episode,
    prompts: u32,
    clock: i64,
    files: HashMap<String, String>,
    committed: HashMap<String, String>,
}

impl Script {
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
        script.episodes
    }

    fn tick(&mut self) -> Millis {
        self.clock += 1_000;
        Millis(self.clock)
    }

    fn block(&mut self, word: &str, argument: &str, body: &str) {
        let path = format!("{ROOT}/{argument}");
        match word {
            "user" => {
                self.prompts += 1;
                let at = self.tick();
                self.now.prompt = Some(EpisodePrompt {
                    number: self.prompts,
                    text: body.into(),
                    at,
                    ..EpisodePrompt::default()
                });
            }
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
            "compact" => self.now.compact_summary = Some(body.into()),
            "file" => {
                self.files.insert(argument.into(), body.into());
                self.committed.insert(argument.into(), body.into());
            }
            "read" => self.step("Read", json!({ "file_path": path }), json!({}), false),
            "grep" => self.step("Grep", json!({ "pattern": argument }), json!({}), false),
            "fetch" => self.step("WebFetch", json!({ "url": argument }), json!({ "result": body }), false),
            "task" => self.step("Task", json!({ "description": argument }), json!({}), false),
            "write" => {
                let output =
                    json!({"type": "create", "filePath": path, "originalFile": null, "structuredPatch": []});
                self.files.insert(argument.into(), body.into());
                self.step("Write", json!({ "file_path": path, "content": body }), output, false);
            }
            other => panic!("unknown block {other:?}"),
        }
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

/// The memories of a session as a person would read them.
fn shown(episodes: &[Episode]) -> String {
    let (mut carry, vocabulary, mut out) = (Carry::default(), Vocabulary::default(), String::new());
    for (number, episode) in episodes.iter().enumerate() {
        // The worker keeps the carry as JSON between episodes.
        let stored = serde_json::to_string(&carry).unwrap();
        carry = serde_json::from_str(&stored).unwrap();
        let distilled = distil(episode, &mut carry, &vocabulary);
        writeln!(out, "—— turn {} ——", number + 1).unwrap();
        if distilled.observations.is_empty() && distilled.summary.is_none() {
            writeln!(out, "(nothing)").unwrap();
        }
        distilled.observations.iter().for_each(|made| show_observation(&mut out, made));
        if let Some(summary) = &distilled.summary {
            writeln!(out, "summary").unwrap();
            for (name, text) in [
                ("request", &summary.request),
                ("investigated", &summary.investigated),
                ("learned", &summary.learned),
                ("completed", &summary.completed),
                ("next", &summary.next_steps),
                ("notes", &summary.notes),
                ("read", &summary.files_read.join(" ")),
                ("edited", &summary.files_edited.join(" ")),
            ] {
                if !text.is_empty() {
                    writeln!(out, "  {name}: {text}").unwrap();
                }
            }
        }
    }
    out
}

fn show_observation(out: &mut String, made: &NewObservation) {
    writeln!(out, "{} ({}) {}", made.kind, made.origin.as_str(), made.title).unwrap();
    if !made.subtitle.is_empty() {
        writeln!(out, "  re {}", made.subtitle).unwrap();
    }
    if !made.narrative.is_empty() {
        writeln!(out, "  {}", made.narrative.replace('\n', "\n  ")).unwrap();
    }
    for fact in &made.facts {
        writeln!(out, "  · {fact}").unwrap();
    }
    writeln!(out, "  [{}] {}", made.concepts.join(" "), made.files_modified.join(" ")).unwrap();
}

#[test]
fn every_session_leaves_what_a_careful_colleague_would_write_down() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/golden");
    let mut sessions: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "session"))
        .collect();
    sessions.sort();
    assert!(sessions.len() >= 25);
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for path in sessions {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let episodes = Script::read(&std::fs::read_to_string(&path).unwrap());
            insta::assert_snapshot!(name, shown(&episodes));
        }
    });
}
