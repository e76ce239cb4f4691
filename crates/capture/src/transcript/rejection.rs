//! Finds the words that the user typed when a tool call or a plan was rejected.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::record::{ContentBlock, RecordContent};
use crate::payload;
use claude_mem_redact::HeadTailLimit;

/// Maximum bytes that describe the rejected call.
const ABOUT_BYTES_MAX: usize = 400;

/// Texts of a refusal. Older clients do not record the user's decision; they only tell the model.
const REFUSALS: [&str; 3] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "requested permissions to use",
];

/// Text that the client inserts before the user's words.
const WORDS_PREFIXES: [&str; 2] = ["the user said:", "reason for the rejection:"];

/// Text that the client inserts after the user's words.
const WORDS_SUFFIXES: [&str; 2] = ["\n\nNote: The user's next message may contain", "\n\n[Image"];

/// Texts of the client in the place of the user's words.
const CLIENT_WORDS: [&str; 2] = ["The user wants to clarify these questions", "[Request interrupted by user"];

/// Whether the result is a refusal.
pub(super) fn is_refusal(block: &ContentBlock<'_>) -> bool {
    let told = block.content.map_or("", RawValue::get);
    block.is_error() && REFUSALS.iter().any(|phrase| told.contains(phrase))
}

/// The words that the user typed at the refusal.
pub(super) fn rejection_words(block: &ContentBlock<'_>) -> Option<String> {
    let content = RecordContent::parse(block.content?)?;
    let told = content.text();
    let told = REFUSALS[..2].iter().find_map(|phrase| told.split_once(phrase))?.1;
    let words = WORDS_PREFIXES.iter().find_map(|prefix| told.split_once(prefix))?.1;
    let end = WORDS_SUFFIXES.iter().filter_map(|suffix| words.find(suffix)).min();
    let words = words[..end.unwrap_or(words.len())].trim();
    let by_client = words.is_empty() || CLIENT_WORDS.iter().any(|known| words.starts_with(known));
    (!by_client).then(|| words.to_owned())
}

/// Describes a rejected call in a few redacted words: the tool, and its command, file, question or
/// the first line of its plan.
pub(super) fn describe_call(tool: &str, input: Option<&RawValue>) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct CallInput<'a> {
        #[serde(borrow)]
        command: Option<&'a RawValue>,
        #[serde(borrow)]
        file_path: Option<&'a RawValue>,
        #[serde(borrow)]
        notebook_path: Option<&'a RawValue>,
        #[serde(borrow)]
        plan: Option<&'a RawValue>,
        #[serde(borrow)]
        url: Option<&'a RawValue>,
        #[serde(borrow)]
        questions: Option<&'a RawValue>,
        #[serde(borrow)]
        description: Option<&'a RawValue>,
        #[serde(borrow)]
        pattern: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct AskedQuestion {
        question: String,
    }
    let parsed: CallInput<'_> =
        input.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let question = || {
        let questions: Vec<AskedQuestion> = serde_json::from_str(parsed.questions?.get()).ok()?;
        questions.into_iter().next().map(|asked| asked.question)
    };
    let named = [
        parsed.command,
        parsed.file_path,
        parsed.notebook_path,
        parsed.plan,
        parsed.url,
        parsed.description,
        parsed.pattern,
    ];
    let named =
        named.into_iter().flatten().find_map(payload::decode_string).map(std::borrow::Cow::into_owned);
    let Some(detail) = named.or_else(question) else {
        return tool.to_owned();
    };
    let line = detail.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = claude_mem_redact::text(line, HeadTailLimit::from_total(ABOUT_BYTES_MAX)).text;
    format!("{tool}: {line}")
}
