//! Renders the tool calls of an episode within a byte limit.
//!
//! Bytes go to the most informative calls: edits and failures before commands, commands before reads.
//! Bytes that a call does not need go to the others.

use std::fmt::Write as _;

use serde_json::Value;

use super::quote;
use crate::truncate_middle;
use claude_mem_core::episode::{EpisodeStep, ToolKind, touched_file};
use claude_mem_core::limits::{PROMPT_STEP_BYTES_MAX, PROMPT_STEP_BYTES_MIN};

/// Bytes of the markup around a step, at most; attributes are truncated to fit.
const FRAME_BYTES_MAX: usize = 280;
/// `<out>`, `</step>` and the line ends.
const TAGS_BYTES: usize = 26;

/// Renders the calls in at most `room` bytes.
pub(super) fn render_steps(steps: &[EpisodeStep], room: usize) -> String {
    let kept = select_steps(steps, room / FRAME_BYTES_MAX.max(PROMPT_STEP_BYTES_MIN));
    let mut text = String::new();
    if kept.len() < steps.len() {
        let _ = writeln!(text, "[… {} calls left out …]", steps.len() - kept.len());
    }
    let wanted: Vec<StepText> = kept.iter().map(|i| StepText::from_step(*i, &steps[*i])).collect();
    let frames: usize = wanted.iter().map(|wanted| wanted.frame.len() + TAGS_BYTES).sum();
    let shares = allocate_bytes(&wanted, room.saturating_sub(frames + text.len()));
    for (wanted, share) in wanted.iter().zip(shares) {
        wanted.write(&mut text, share);
    }
    text
}

/// How informative a call is likely to be.
fn weight(step: &EpisodeStep) -> usize {
    match ToolKind::from_name(&step.tool) {
        _ if step.failed => 6,
        ToolKind::Edit => 6,
        ToolKind::Read | ToolKind::Browse => 1,
        ToolKind::Other if step.tool == "TodoWrite" => 1,
        ToolKind::Other => 4,
    }
}

/// Selects at most `count_max` calls, in order: the highest weights, and the latest among equals.
fn select_steps(steps: &[EpisodeStep], count_max: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..steps.len()).collect();
    if order.len() > count_max {
        order.sort_by_key(|i| (weight(&steps[*i]), *i));
        order.drain(..order.len() - count_max);
        order.sort_unstable();
    }
    order
}

/// The full text of one call, before shortening.
struct StepText {
    frame: String,
    input: String,
    output: String,
    weight: usize,
}

impl StepText {
    fn from_step(index: usize, step: &EpisodeStep) -> Self {
        let mut frame =
            format!("<step n=\"{}\" tool=\"{}\"", index + 1, quote::sanitize_attribute(&step.tool));
        if step.failed {
            frame.push_str(" failed=\"yes\"");
        }
        if let Some(agent) = &step.agent {
            let _ = write!(frame, " agent=\"{}\"", quote::sanitize_attribute(agent));
        }
        let file = touched_file(&step.tool, &step.input).map_or("", |touched| path_end(touched.path));
        quote::write_attribute(&mut frame, "file", file);
        frame.push_str(">\n");
        // The output of an edit repeats its input, with the whole file before and after. Answers of the person stand
        // among the words of the turn, with their voice.
        let is_repeated = step.modified_file().is_some() || !step.answered_questions().is_empty();
        let output = if is_repeated { String::new() } else { to_plain_text(&step.output) };
        Self {
            frame,
            input: quote::escape_tags(&to_plain_text(&without_repeats(&step.input, !file.is_empty()))),
            output: quote::escape_tags(&output),
            weight: weight(step),
        }
    }

    fn len(&self) -> usize {
        (self.input.len() + self.output.len()).min(PROMPT_STEP_BYTES_MAX)
    }

    fn write(&self, text: &mut String, share: usize) {
        let for_output = self.output.len().min((share / 2).max(share.saturating_sub(self.input.len())));
        let input = truncate_middle::shorten(&self.input, share - for_output);
        let output = truncate_middle::shorten(&self.output, for_output);
        let _ = writeln!(text, "{}{input}", self.frame);
        if !output.is_empty() {
            let _ = writeln!(text, "<out>\n{output}\n</out>");
        }
        text.push_str("</step>\n");
    }
}

/// Bytes of the replaced text of an edit: the new text says more.
const OLD_TEXT_BYTES_MAX: usize = 240;

/// The last characters of a path, as many as an attribute holds.
fn path_end(path: &str) -> &str {
    let start = path.len().saturating_sub(ATTRIBUTE_BYTES);
    &path[path.ceil_char_boundary(start)..]
}

/// The length of an attribute.
const ATTRIBUTE_BYTES: usize = 96;

/// The input without its path, which the frame names, and with the replaced text of an edit shortened.
fn without_repeats(input: &Value, names_file: bool) -> Value {
    let Some(fields) = input.as_object() else {
        return input.clone();
    };
    let mut kept = fields.clone();
    if names_file {
        kept.retain(|name, _| !matches!(name.as_str(), "file_path" | "notebook_path"));
    }
    if let Some(Value::String(old)) = kept.get_mut("old_string") {
        *old = truncate_middle::shorten(old, OLD_TEXT_BYTES_MAX).into_owned();
    }
    Value::Object(kept)
}

/// Allocates the bytes by weight. A call that needs less than its share gets what it needs; the rest
/// goes to the others.
fn allocate_bytes(wanted: &[StepText], room: usize) -> Vec<usize> {
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

/// A tool's input or output as readable lines instead of escaped JSON, without empty fields and whole
/// files.
fn to_plain_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim_end().to_owned(),
        Value::Object(fields) => {
            let mut text = String::new();
            for (name, value) in fields {
                if matches!(name.as_str(), "originalFile" | "structuredPatch" | "isImage") {
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
