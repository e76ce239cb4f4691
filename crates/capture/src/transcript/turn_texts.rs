//! Emits the texts of a turn that are neither its prompt nor its final message.
//!
//! Invariant: every text is redacted and bounded, and nothing of a muted turn is emitted. What may repeat
//! an earlier private turn, such as a recap, is not emitted after one.

use super::agents;
use super::reader::{LastMessageCandidate, TranscriptReader};
use super::record::TranscriptRecord;
use super::redaction::{TEXT_BYTES_MAX, redact_message, redact_text};
use crate::prompt_source::{TaskNotification, TeammateMessage};
use crate::sanitize;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::EventBody;
use claude_mem_core::source::TextSource;

/// Maximum bytes kept of all texts of one turn that are not the user's.
pub(crate) const TURN_TEXTS_BYTES_MAX: u64 = 256 << 10;

/// Maximum bytes kept of all texts of one turn.
const TURN_WORDS_BYTES_MAX: u64 = 2 * TURN_TEXTS_BYTES_MAX;

const _: () = assert!((TEXT_BYTES_MAX as u64) < TURN_TEXTS_BYTES_MAX);

/// Text that the client appends to its recap.
const RECAP_SUFFIX: &str = "(disable recaps";

impl TranscriptReader<'_> {
    /// Words of the user that are no prompt.
    pub(super) fn emit_user_words(
        &mut self,
        source: TextSource,
        words: &str,
        id: Option<String>,
        about: Option<String>,
        at: Millis,
    ) {
        let stripped = claude_mem_redact::private(words);
        self.state.had_private |= stripped.private;
        if stripped.private {
            self.learn_private_words(words);
        }
        if stripped.is_fully_private() {
            return self.mute_rest_of_turn();
        }
        self.emit_text(source, words, id, about, at, TURN_WORDS_BYTES_MAX);
    }

    /// A message of the agent that is not the last of its turn.
    pub(super) fn emit_message(&mut self, message: &LastMessageCandidate) {
        if self.rules.agent.is_some() {
            return;
        }
        let id = message.uuid.clone().and_then(sanitize::sanitize_id);
        let id = id.map(|id| if message.block == 0 { id } else { format!("{id}:{}", message.block) });
        self.emit_text(TextSource::Message, &message.text, id, None, message.at, TURN_TEXTS_BYTES_MAX);
    }

    /// The client's own recap of the session.
    pub(super) fn recap(&mut self, record: &TranscriptRecord<'_>, at: Millis) {
        // The client writes it while the session is idle.
        self.end_turn();
        if self.state.had_private {
            return;
        }
        let Some(content) = record.content() else {
            return;
        };
        let text = content.rsplit_once(RECAP_SUFFIX).map_or(&*content, |(text, _)| text);
        let id = record.uuid().map(std::borrow::Cow::into_owned).and_then(sanitize::sanitize_id);
        self.emit_text(TextSource::Recap, text.trim(), id, None, at, TURN_TEXTS_BYTES_MAX);
    }

    pub(super) fn pull_request(&mut self, record: &TranscriptRecord<'_>, at: Millis) {
        let Some((number, url)) = record.pull_request() else {
            return;
        };
        let text = format!("Pull request #{number}: {url}");
        let id = Some(format!("pull-request:{number}"));
        self.emit_text(TextSource::PullRequest, &text, id, Some(url.into_owned()), at, TURN_TEXTS_BYTES_MAX);
    }

    pub(super) fn teammate_message(&mut self, message: &TeammateMessage, at: Millis) {
        // Hooks report it without an id of the message.
        let (id, about) = (None, message.sender.clone());
        self.emit_text(TextSource::TeammateMessage, &message.text, id, about, at, TURN_TEXTS_BYTES_MAX);
    }

    /// The report of a subagent that worked in the background: the last message of that subagent, which
    /// its own transcript and its own hook report under the same key.
    pub(super) fn subagent_report(&mut self, report: &TaskNotification, at: Millis) {
        // It may be the report of a private turn.
        if self.is_muted() || self.state.had_private {
            return;
        }
        let (Some(agent), Some(result)) = (&report.task_id, &report.result) else {
            return;
        };
        let last_message = Some(redact_message(result));
        if self.sink.is_known(self.event_keys().subagent_stop(Some(agent), last_message.as_deref())) {
            return;
        }
        let mut event = self.build_event(at, EventBody::SubagentStop { last_message });
        event.agent_type = agents::subagent_kind(self.rules.path.as_ref(), agent);
        event.agent_id = Some(agent.clone());
        self.emit(event, None);
    }

    fn emit_text(
        &mut self,
        source: TextSource,
        text: &str,
        id: Option<String>,
        about: Option<String>,
        at: Millis,
        turn_bytes_max: u64,
    ) {
        if self.is_muted() || self.state.text_bytes >= turn_bytes_max {
            return;
        }
        let text = redact_text(text);
        if text.trim().is_empty() {
            return;
        }
        self.state.text_bytes += text.len() as u64;
        let about = about.map(|about| redact_text(&about));
        let event = self.build_event(at, EventBody::Text { source, text, id, about });
        self.emit(event, None);
    }
}
