//! The tool calls of an episode in as many bytes as there is room for.
//!
//! Room goes to what teaches: edits and failures before commands, commands before reading. What
//! a step does not need falls to the others.

use std::fmt::Write as _;

use serde_json::Value;

use super::{elide, quote};
use crate::episode::Step;
use crate::limits::{PROMPT_STEP_BYTES_MAX, PROMPT_STEP_BYTES_MIN};

/// What stands around a step's own text, at most; attributes are cut to fit.
const FRAME_BYTES_MAX: usize = 280;
/// `<out>`, `</step>` and the line ends.
const TAGS_BYTES: usize = 26;

pub(super) fn render(steps: &[Step], room: usize) -> String {
    let kept = choose(steps, room / FRAME_BYTES_MAX.max(PROMPT_STEP_BYTES_MIN));
    let mut text = String::new();
    if kept.len() < steps.len() {
        let _ = writeln!(text, "[… {} calls left out …]", steps.len() - kept.len());
    }
    let wanted: Vec<Wanted> = kept.iter().map(|i| Wanted::of(*i, &steps[*i])).collect();
    let frames: usize = wanted
        .iter()
        .map(|wanted| wanted.frame.len() + TAGS_BYTES)
        .sum();
    let shares = share(&wanted, room.saturating_sub(frames + text.len()));
    for (wanted, share) in wanted.iter().zip(shares) {
        wanted.write(&mut text, share);
    }
    text
}

/// How much a call is likely to teach.
fn weight(step: &Step) -> usize {
    match step.tool.as_str() {
        _ if step.failed => 6,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => 6,
        "Read" | "NotebookRead" | "Glob" | "Grep" | "LS" | "TodoWrite" => 1,
        _ => 4,
    }
}

/// The calls that are shown, in their order: the weightiest, and of equals the latest.
fn choose(steps: &[Step], count_max: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..steps.len()).collect();
    if order.len() > count_max {
        order.sort_by_key(|i| (weight(&steps[*i]), *i));
        order.drain(..order.len() - count_max);
        order.sort_unstable();
    }
    order
}

/// One call as it would be written if there were room.
struct Wanted {
    frame: String,
    input: String,
    output: String,
    weight: usize,
}

impl Wanted {
    fn of(index: usize, step: &Step) -> Self {
        let mut frame = format!(
            "<step n=\"{}\" tool=\"{}\"",
            index + 1,
            quote::attribute(&step.tool)
        );
        if step.failed {
            frame.push_str(" failed=\"yes\"");
        }
        if let Some(agent) = &step.agent {
            let _ = write!(frame, " agent=\"{}\"", quote::attribute(agent));
        }
        frame.push_str(">\n");
        // An edit's response repeats its input, with the whole file before and after.
        let output = if step.modified_file().is_some() {
            String::new()
        } else {
            plain(&step.output)
        };
        Self {
            frame,
            input: quote::data(&plain(&step.input)),
            output: quote::data(&output),
            weight: weight(step),
        }
    }

    fn len(&self) -> usize {
        (self.input.len() + self.output.len()).min(PROMPT_STEP_BYTES_MAX)
    }

    fn write(&self, text: &mut String, share: usize) {
        let for_output = self
            .output
            .len()
            .min((share / 2).max(share.saturating_sub(self.input.len())));
        let input = elide::middle(&self.input, share - for_output);
        let output = elide::middle(&self.output, for_output);
        let _ = writeln!(text, "{}{input}", self.frame);
        if !output.is_empty() {
            let _ = writeln!(text, "<out>\n{output}\n</out>");
        }
        text.push_str("</step>\n");
    }
}

/// Shares out the room by weight. Those that need less than their share get what they need, and
/// the rest is shared out among the others.
fn share(wanted: &[Wanted], room: usize) -> Vec<usize> {
    let mut shares = vec![0; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|i| wanted[*i].len() / wanted[*i].weight);
    let mut weights: usize = wanted.iter().map(|wanted| wanted.weight).sum();
    let mut left = room;
    for i in order {
        let fair = left * wanted[i].weight / weights.max(1);
        shares[i] = wanted[i].len().min(fair);
        left -= shares[i];
        weights -= wanted[i].weight;
    }
    shares
}

/// A tool's input or output as a person would read it: lines instead of escaped JSON, without
/// what is empty and without whole files.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim_end().to_owned(),
        Value::Object(fields) => {
            let mut text = String::new();
            for (name, value) in fields {
                if matches!(
                    name.as_str(),
                    "originalFile" | "structuredPatch" | "isImage"
                ) {
                    continue;
                }
                let value = match value {
                    Value::Null | Value::Bool(false) => continue,
                    Value::String(value) if value.trim().is_empty() => continue,
                    Value::String(value) => value.trim_end().to_owned(),
                    other => other.to_string(),
                };
                let gap = if value.contains('\n') { '\n' } else { ' ' };
                let _ = writeln!(text, "{name}:{gap}{value}");
            }
            text.truncate(text.trim_end().len());
            text
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
