//! Renders the texts of a turn other than its prompt and final message, within a byte limit: messages, rejections,
//! and the person's answers to questions of the agent.
//!
//! Bytes go to the sources that count most in the table of sources, and to the latest text among equals.

use std::fmt::Write as _;

use super::quote;
use crate::truncate_middle;
use claude_mem_core::episode::{AnsweredQuestion, Episode, EpisodeStep, EpisodeText};
use claude_mem_core::limits::{PROMPT_BYTES_MAX, PROMPT_TEXT_BYTES_MAX};
use claude_mem_core::source::TextSource;

/// Maximum bytes of a message to a model that all texts of a turn may take.
const PROMPT_WORDS_BYTES_MAX: usize = 8 << 10;

/// Maximum bytes of a message to a model that one text of a turn may take.
const PROMPT_WORD_BYTES_MAX: usize = 2 << 10;

const _: () = assert!(3 * PROMPT_TEXT_BYTES_MAX + PROMPT_WORDS_BYTES_MAX < PROMPT_BYTES_MAX);
const _: () = assert!(PROMPT_WORD_BYTES_MAX < PROMPT_WORDS_BYTES_MAX);

/// Renders the texts in order, in at most `PROMPT_WORDS_BYTES_MAX` bytes.
pub(super) fn render_texts(episode: &Episode) -> String {
    let answers = episode.steps.iter().flat_map(answer_texts);
    let mut texts: Vec<EpisodeText> = episode.texts.iter().cloned().chain(answers).collect();
    texts.sort_by_key(|text| text.at);
    let rendered: Vec<String> = texts.iter().map(|text| render_text(episode, text)).collect();
    let mut order: Vec<usize> = (0..rendered.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(texts[*at].source.traits().weight), std::cmp::Reverse(*at)));
    let mut room = PROMPT_WORDS_BYTES_MAX;
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        if let Some(left) = room.checked_sub(rendered[at].len()) {
            room = left;
            kept.push(at);
        }
    }
    kept.sort_unstable();
    kept.iter().map(|at| rendered[*at].as_str()).collect()
}

/// The person's answers to the questions of one call, as texts of the person.
fn answer_texts(step: &EpisodeStep) -> Vec<EpisodeText> {
    let text = |answered: AnsweredQuestion<'_>| {
        let described = answered.options.iter().find(|(label, _)| *label == answered.answer);
        let description = described.map(|(_, description)| *description).filter(|text| !text.is_empty());
        let description = description.map(|text| format!(" ({text})")).unwrap_or_default();
        EpisodeText {
            source: TextSource::Answer,
            text: format!("{}\n{}{description}", answered.question, answered.answer),
            at: step.at,
            id: None,
            about: Some(answered.header.to_owned()),
        }
    };
    step.answered_questions().into_iter().map(text).collect()
}

/// One text with its source, its voice and the number of calls before it.
fn render_text(episode: &Episode, text: &EpisodeText) -> String {
    if text.text.trim().is_empty() || text.source.traits().weight == 0 {
        return String::new();
    }
    let mut out = String::from("<words");
    quote::write_source(&mut out, text.source);
    let before = episode.steps.iter().filter(|step| step.at <= text.at).count();
    if !episode.steps.is_empty() {
        let _ = write!(out, " after_step=\"{before}\"");
    }
    quote::write_attribute(&mut out, "about", text.about.as_deref().unwrap_or_default());
    let quoted = quote::escape_tags(text.text.trim());
    let content = truncate_middle::shorten(&quoted, PROMPT_WORD_BYTES_MAX);
    let _ = writeln!(out, ">\n{content}\n</words>");
    out
}
