//! Reads tool calls and their results.

use serde_json::Value;
use serde_json::value::RawValue;

use super::reader::{PendingToolCall, TranscriptReader};
use super::record::{ContentBlock, TranscriptRecord};
use super::rejection;
use crate::sanitize;
use crate::truncate::ToolCallTruncator;
use claude_mem_core::agents;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::EventBody;
use claude_mem_core::limits::{TOOL_INPUT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use claude_mem_core::source::TextSource;

/// Maximum tool calls of one turn that wait for their results. Further calls are skipped.
const TRANSCRIPT_CALLS_MAX: usize = 256;

impl TranscriptReader<'_> {
    pub(super) fn tool_call(&mut self, block: &ContentBlock<'_>) {
        let (Some(id), Some(tool)) = (block.id(), block.name()) else {
            return;
        };
        if self.is_muted() || self.pending_calls.len() >= TRANSCRIPT_CALLS_MAX {
            return;
        }
        let Some(tool) = sanitize::sanitize_id(tool.into_owned()) else {
            return;
        };
        let is_skipped = agents::is_our_tool(&tool) || self.rules.settings.skips_tool(&tool);
        // Words at the rejection of a skipped call are read all the same.
        if is_skipped && self.rules.agent.is_some() {
            return;
        }
        let input = block.input.filter(|_| !is_skipped).map(RawValue::to_owned);
        self.pending_calls.insert(id.into_owned(), PendingToolCall { tool, input, is_skipped });
    }

    pub(super) fn tool_results(
        &mut self,
        record: &TranscriptRecord<'_>,
        blocks: &[ContentBlock<'_>],
        at: Millis,
    ) {
        let results = blocks.iter().filter(|block| block.kind() == "tool_result");
        let alone = results.clone().count() == 1;
        for block in results {
            let Some(id) = block.tool_use_id() else {
                continue;
            };
            let Some(call) = self.pending_calls.remove(&*id) else {
                continue;
            };
            if self.is_muted() {
                continue;
            }
            if record.was_denied() || rejection::is_refusal(block) {
                self.rejected_call(record, block, &id, &call, at);
            } else if !call.is_skipped {
                let structured = record.tool_use_result.filter(|_| alone);
                self.tool_result(record, block, &id, call, structured, at);
            }
        }
    }

    /// The words that the user typed at a rejected call. A call that was rejected without words leaves
    /// nothing; a plan that was, is handed over in a fresh context.
    fn rejected_call(
        &mut self,
        record: &TranscriptRecord<'_>,
        block: &ContentBlock<'_>,
        id: &str,
        call: &PendingToolCall,
        at: Millis,
    ) {
        if self.rules.agent.is_some() {
            return;
        }
        let Some(words) = rejection::rejection_words(block) else {
            return;
        };
        let input = call.input.as_deref();
        let (settings, cwd) = (self.rules.settings, record.cwd());
        let is_ignored = settings.touches_ignored_path(&[input], cwd.as_deref(), self.rules.home);
        let about = rejection::describe_call(&call.tool, input.filter(|_| !is_ignored));
        let id = sanitize::sanitize_id(id.to_owned());
        self.emit_user_words(TextSource::Rejection, &words, id, Some(about), at);
    }

    fn tool_result(
        &mut self,
        record: &TranscriptRecord<'_>,
        block: &ContentBlock<'_>,
        id: &str,
        call: PendingToolCall,
        structured: Option<&RawValue>,
        at: Millis,
    ) {
        // Hooks of some clients do not receive the tool use id, so the key must not contain it.
        let id = match block.result_digest() {
            Some(digest) => {
                let input = call.input.as_deref().map_or("null", RawValue::get);
                Some(agents::derived_call_id(&call.tool, input, &digest))
            }
            None if record.is_from_client_v1() => None,
            None => sanitize::sanitize_id(id.to_owned()),
        };
        let keyed = self.event_keys();
        if let Some(id) = &id
            && self.sink.is_known(keyed.tool_result(id))
        {
            return;
        }
        let failed = block.is_error();
        let input = call.input.as_deref();
        let output = match structured.filter(|_| !failed) {
            Some(raw) => Some(raw),
            None => block.content,
        };
        let (settings, cwd) = (self.rules.settings, record.cwd());
        if settings.touches_ignored_path(&[input, output], cwd.as_deref(), self.rules.home) {
            return;
        }
        let mut truncator = ToolCallTruncator::default();
        let input = input.map(|raw| truncator.input(raw, TOOL_INPUT_BYTES_MAX));
        let output = output.map(|raw| truncator.output(raw, TOOL_OUTPUT_BYTES_MAX));
        let cut = [&input, &output].into_iter().flatten().any(|kept| kept.cut);
        let mut event = self.build_event(
            at,
            EventBody::ToolUse {
                tool: call.tool,
                tool_use_id: id,
                input: input.map_or(Value::Null, |kept| kept.value),
                output: output.map_or(Value::Null, |kept| kept.value),
                failed,
                duration_ms: None,
            },
        );
        event.cut = cut;
        self.emit(event, None);
    }
}
