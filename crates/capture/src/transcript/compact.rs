//! Extracts the summary of a compacted conversation from the client's wrapper text.
//!
//! A hook receives the model's own answer, the transcript contains the client's wrapped version.
//! [`strip_compact_wrapper`] reduces both to the summary itself, so that they yield the same event key.

const CONTINUATION_PREFIX: &str = "This session is being continued from a previous conversation";
const CONTINUATION_SUFFIXES: [&str; 4] = [
    "\n\nIf you need specific details from before compaction",
    "\nContinue the conversation from where it left off",
    "\nPlease continue the conversation from where we left it off",
    "\n\nRecent messages are preserved verbatim",
];

/// Returns the summary without its wrapper.
pub fn strip_compact_wrapper(text: &str) -> &str {
    if let Some((_, rest)) = text.split_once("<summary>") {
        return rest.split("</summary>").next().unwrap_or(rest).trim();
    }
    if !text.trim_start().starts_with(CONTINUATION_PREFIX) {
        return text.trim();
    }
    let summary = match text.split_once("\nSummary:\n") {
        Some((_, summary)) => summary,
        None => text.split_once('\n').map_or(text, |(_, rest)| rest),
    };
    let end = CONTINUATION_SUFFIXES.iter().filter_map(|ending| summary.find(ending)).min();
    summary[..end.unwrap_or(summary.len())].trim()
}

#[cfg(test)]
mod tests {
    use super::strip_compact_wrapper;

    #[test]
    fn hook_and_transcript_give_the_same_summary() {
        let hook = "<analysis>thinking</analysis>\n\n<summary>\n1. We did it.\n2. It works.\n</summary>";
        let transcript = "This session is being continued from a previous conversation that ran out of \
            context. The summary below covers the earlier portion of the conversation.\n\n\
            <system-reminder>\nx\n</system-reminder>\nSummary:\n1. We did it.\n2. It works.\n\n\
            If you need specific details from before compaction, read the full transcript.\n\
            Continue the conversation from where it left off without asking.";
        let old = "This session is being continued from a previous conversation that ran out of \
            context. The conversation is summarized below:\nAnalysis:\nthinking\n\n\
            Summary:\n1. We did it.\n2. It works.\n\
            Please continue the conversation from where we left it off without asking.";
        for text in [hook, transcript, old, "1. We did it.\n2. It works.\n"] {
            assert_eq!(strip_compact_wrapper(text), "1. We did it.\n2. It works.", "{text:?}");
        }
    }
}
