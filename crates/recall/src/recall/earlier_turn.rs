//! Recall of an earlier turn of which no memory was made.
//!
//! The distiller may have found no decision where a prompt needs one. Prompts and final messages are stored, so
//! the earlier prompt is quoted with the agent's answer.

use std::borrow::Cow;

use super::near_rows::EarlierPrompt;
use super::prompt_question::is_prose;
use super::{RecallQuery, RecalledMemory, RecalledText, render_memories};
use crate::{quote, render};
use claude_mem_core::ids::SessionId;
use claude_mem_core::memory::Origin;
use claude_mem_core::source::TextSource;
use claude_mem_core::tokens;
use claude_mem_search::subject::content_words;
use claude_mem_store::{
    FinalMessageRow, PageRequest, PromptRow, RowFilter, RowId, RowKind, StoreError, StoreReader,
};

/// Maximum characters quoted of the user's prompt; the rest of the budget is for the answer.
const PROMPT_CHARS: usize = 500;
/// Maximum turns and memories of one session that are read.
const SESSION_ROWS: u32 = 200;

/// Renders the first of these prompts that was answered and of which no memory was shown, replaced or marked
/// wrong.
pub(super) fn recall_earlier_turn(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    earlier_prompts: Vec<EarlierPrompt>,
) -> Result<RecalledText, StoreError> {
    for earlier in earlier_prompts {
        let prompt = reads.prompt(earlier.id)?;
        let known = RowId::new(RowKind::Prompt, prompt.id.0);
        if prompt.private
            || !is_by_user(&prompt)
            || !is_statement(ask.prompt, &prompt.text)
            || ask.shown.contains(&known)
            || is_superseded(reads, ask, &prompt)?
        {
            continue;
        }
        if let Some(answer) = answer_to(reads, &prompt)? {
            return Ok(render_turn(ask, &prompt, &answer, &earlier));
        }
    }
    Ok(RecalledText::default())
}

/// Percentage of shared words from which two prompts are the same request.
const SAME_REQUEST_PERCENT: usize = 85;

/// Whether an earlier prompt states something: a question, the same request again or a message of the
/// client is not knowledge.
fn is_statement(asked: &str, earlier: &str) -> bool {
    let earlier = earlier.trim();
    if earlier.starts_with('<') || earlier.ends_with('?') {
        return false;
    }
    let (now, before) = (content_words(std::iter::once(asked)), content_words(std::iter::once(earlier)));
    let shared = now.intersection(&before).count() * 100;
    let is_same = |all: usize| shared >= all.max(1) * SAME_REQUEST_PERCENT;
    !(is_same(now.len()) && is_same(before.len()))
}

/// Whether the user typed it; clients submit plans and reports as prompts, too.
fn is_by_user(prompt: &PromptRow) -> bool {
    TextSource::of_stored_prompt(prompt.origin).is_user()
}

fn of_session(session: SessionId) -> (RowFilter, PageRequest) {
    let filter = RowFilter { session: Some(session), ..RowFilter::default() };
    (filter, PageRequest::first(SESSION_ROWS))
}

/// Whether a memory of the turn was shown already, replaced, or marked wrong.
fn is_superseded(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    prompt: &PromptRow,
) -> Result<bool, StoreError> {
    let (filter, page) = of_session(prompt.session);
    let made = reads.observations(&filter, page)?.items;
    Ok(made.iter().any(|row| {
        let heard = ask.shown.contains(&RowId::new(RowKind::Observation, row.id.0));
        row.prompt_number == prompt.number && (row.wrong || row.replaced_by.is_some() || heard)
    }))
}

fn answer_to(reads: &StoreReader<'_>, prompt: &PromptRow) -> Result<Option<FinalMessageRow>, StoreError> {
    let (filter, page) = of_session(prompt.session);
    let answers = reads.final_messages(&filter, page)?.items;
    Ok(answers.into_iter().find(|answer| {
        let to_it = answer.prompt_number == prompt.number && answer.agent_type.is_none();
        to_it && !answer.text.trim().is_empty()
    }))
}

/// Lines of a prompt from which what somebody wrote in it is quoted without what was pasted.
const PASTED_LINES_MIN: usize = 4;

/// What the user wrote: a pasted log says nothing once the turn is over.
fn written_part(prompt: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = prompt.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let written: Vec<&str> = lines.iter().copied().filter(|line| is_prose(line)).collect();
    let is_pasted = lines.len() - written.len() >= PASTED_LINES_MIN;
    if is_pasted && !written.is_empty() { Cow::Owned(written.join("\n")) } else { Cow::Borrowed(prompt) }
}

fn render_turn(
    ask: &RecallQuery<'_>,
    prompt: &PromptRow,
    answer: &FinalMessageRow,
    earlier: &EarlierPrompt,
) -> RecalledText {
    let quoted =
        |text: &str, chars: usize| render_memories::quote_by_origin(Origin::Tool, &quote::line(text, chars));
    let asked = format!(
        "- {} {} turn (the user said): {}\n",
        RowId::new(RowKind::Prompt, prompt.id.0),
        render::day(prompt.created_at, ask.zone),
        quoted(&written_part(&prompt.text), PROMPT_CHARS)
    );
    let frame = tokens::estimate(&render_memories::wrap_block(&asked));
    let Some(left) = ask.budget_tokens.checked_sub(frame) else {
        return RecalledText::default();
    };
    let room = (left.saturating_sub(12) * 3) as usize;
    let answered = match room {
        0..60 => String::new(),
        room => format!("  The agent answered: {}\n", quoted(&answer.text, room)),
    };
    let body = asked + &answered;
    RecalledText {
        items: vec![RecalledMemory {
            kind: RowKind::Prompt,
            row_id: prompt.id.0,
            title: quote::line(&prompt.text, 200),
            score: earlier.score,
            tokens: tokens::estimate(&body),
            reason: earlier.matched.join(", "),
        }],
        text: render_memories::wrap_block(&body),
    }
}

#[cfg(test)]
mod tests {
    use super::written_part;

    #[test]
    fn pasted_lines_are_not_quoted() {
        let log = "[Proxy] GET /api/orders -> http://127.0.0.1:3001/api/orders\n".repeat(6);
        let prompt = format!("The remediation ends with this and I do not see why:\n{log}");
        assert_eq!(written_part(&prompt), "The remediation ends with this and I do not see why:");
        assert_eq!(written_part("Rename it\nplease"), "Rename it\nplease");
        assert_eq!(written_part(&log), log);
    }
}
