//! Reads the tool calls of an episode, whatever client made them, as [`StepAct`]s: a file was changed, a command
//! was run, a file was read.
//!
//! Calls of our own tools are skipped, so that a search does not become a memory of itself.

use serde_json::Value;

use super::commands::CommandRun;
use super::outputs::{self, field};
use super::patch::{self, PatchedFile};
use super::shell::SimpleCommand;
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodeStep};

#[derive(Clone, Debug)]
pub(super) enum StepAct {
    Changed(PatchedFile),
    Ran { run: CommandRun, output: String },
    Read(String),
}

#[derive(Clone, Debug)]
pub(super) struct TimedAct {
    pub act: StepAct,
    pub at: Millis,
}

pub(super) fn read(episode: &Episode) -> Vec<TimedAct> {
    let mut done = Vec::new();
    for step in &episode.steps {
        let acts = if is_ours(&step.tool) { Vec::new() } else { of_step(step, episode) };
        done.extend(acts.into_iter().map(|act| TimedAct { act, at: step.at }));
    }
    done
}

pub(super) fn is_ours(tool: &str) -> bool {
    tool.contains("claude-mem") || tool.contains("claude_mem")
}

fn of_step(step: &EpisodeStep, episode: &Episode) -> Vec<StepAct> {
    let input = &step.input;
    let path = || {
        let names = ["file_path", "notebook_path", "filePath", "path", "absolute_path"];
        field(input, &names).map(|path| episode.relative_path(path).to_owned())
    };
    match step.tool.to_lowercase().as_str() {
        "bash" | "shell" | "run_shell_command" | "local_shell" | "exec_command" | "powershell" => {
            shell(step, episode)
        }
        "edit" | "multiedit" | "write" | "notebookedit" | "replace" | "write_file" | "str_replace_editor" => {
            let changed = path().filter(|_| !step.failed);
            changed
                .map(|path| StepAct::Changed(patch::of_edit(&path, input, &step.output)))
                .into_iter()
                .collect()
        }
        "apply_patch" => match field(input, &["input", "patch", "command", "patchText"]) {
            Some(text) if !step.failed => patched(text, episode),
            _ => Vec::new(),
        },
        "read" | "notebookread" | "read_file" | "view" => path().map(StepAct::Read).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn patched(text: &str, episode: &Episode) -> Vec<StepAct> {
    let changes = patch::of_text(text).into_iter().map(|mut change| {
        change.path = episode.relative_path(&change.path).to_owned();
        StepAct::Changed(change)
    });
    changes.collect()
}

fn shell(step: &EpisodeStep, episode: &Episode) -> Vec<StepAct> {
    let Some(line) = command_line(&step.input) else {
        return Vec::new();
    };
    let interrupted = step.output.get("interrupted").and_then(Value::as_bool).unwrap_or(false);
    let output = outputs::text(&step.output);
    let run = CommandRun::read(&line, &output, step.failed, interrupted);
    let mut acts = Vec::new();
    if !step.failed {
        for simple in &run.simples {
            acts.extend(written(simple, episode));
        }
    }
    acts.push(StepAct::Ran { run, output });
    acts
}

/// The command, whether it is one text or a list of words.
fn command_line(input: &Value) -> Option<String> {
    if let Some(line) = field(input, &["command", "cmd", "script"]) {
        return Some(line.to_owned());
    }
    let words = input.get("command").and_then(Value::as_array)?;
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [.., "-lc" | "-c", line] => Some((*line).to_owned()),
        _ => Some(words.join(" ")),
    }
}

/// The files that a command writes: a heredoc, a patch, `sed -i`.
fn written(simple: &SimpleCommand, episode: &Episode) -> Vec<StepAct> {
    let heredoc = simple.heredoc.as_deref();
    match simple.program() {
        "apply_patch" => patched(heredoc.unwrap_or(simple.argument(1)), episode),
        "cat" | "tee" => {
            let target = simple.written.as_deref().or_else(|| {
                let to = simple.bare().iter().skip(1).find(|word| !word.starts_with('-'));
                to.map(String::as_str).filter(|_| simple.program() == "tee")
            });
            match (target, heredoc) {
                (Some(path), Some(text)) if is_project_file(path) => {
                    vec![StepAct::Changed(PatchedFile::written(episode.relative_path(path), text))]
                }
                _ => Vec::new(),
            }
        }
        "sed" | "perl" => in_place(simple, episode),
        _ => Vec::new(),
    }
}

/// Whether a command's argument names one file of the project: no temporary or device file, and no variable or
/// pattern, which the shell replaces by other names.
fn is_project_file(path: &str) -> bool {
    !path.starts_with("/tmp/") && !path.starts_with("/dev/") && !path.contains(['$', '*', '?', '[', '{'])
}

/// `sed -i 's/a/b/' file` as a replaced line.
fn in_place(simple: &SimpleCommand, episode: &Episode) -> Vec<StepAct> {
    let words = simple.bare();
    let edits = words.iter().any(|word| word.starts_with("-i") || word == "-pi" || word.starts_with("-pi"));
    if !edits {
        return Vec::new();
    }
    let script = words.iter().find_map(|word| substitution(word));
    let files = words.iter().skip(1).filter(|word| !word.starts_with('-') && substitution(word).is_none());
    let Some((old, new)) = script else {
        return Vec::new();
    };
    let of_file =
        |path: &String| StepAct::Changed(PatchedFile::replaced(episode.relative_path(path), old, new, None));
    files.filter(|path| is_project_file(path)).take(16).map(of_file).collect()
}

/// `s/old/new/g` → its two sides.
fn substitution(word: &str) -> Option<(&str, &str)> {
    let rest = word.strip_prefix('s')?;
    let mark = rest.chars().next().filter(|c| "/|#,:@".contains(*c))?;
    let mut sides = rest[mark.len_utf8()..].split(mark);
    Some((sides.next()?, sides.next()?))
}

#[cfg(test)]
#[path = "acts_tests.rs"]
mod tests;
