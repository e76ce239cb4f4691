//! The client's summary of a compacted conversation, without what it wraps it in.
//!
//! A hook is told the model's own answer, the transcript what the client made of it. Both are
//! reduced to the summary itself, so that the two witnesses agree on it.

const BEGINNING: &str = "This session is being continued from a previous conversation";
const ENDINGS: [&str; 4] = [
    "\n\nIf you need specific details from before compaction",
    "\nContinue the conversation from where it left off",
    "\nPlease continue the conversation from where we left it off",
    "\n\nRecent messages are preserved verbatim",
];

/// The summary itself.
pub fn inner(text: &str) -> &str {
    if let Some((_, rest)) = text.split_once("<summary>") {
        return rest.split("</summary>").next().unwrap_or(rest).trim();
    }
    if !text.trim_start().starts_with(BEGINNING) {
        return text.trim();
    }
    let summary = match text.split_once("\nSummary:\n") {
        Some((_, summary)) => summary,
        None => text.split_once('\n').map_or(text, |(_, rest)| rest),
    };
    let end = ENDINGS
        .iter()
        .filter_map(|ending| summary.find(ending))
        .min();
    summary[..end.unwrap_or(summary.len())].trim()
}

#[cfg(test)]
mod tests {
    use super::inner;

    #[test]
    fn both_witnesses_tell_the_same_summary() {
        let hook =
            "<analysis>thinking</analysis>\n\n<summary>\n1. We did it.\n2. It works.\n</summary>";
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
            assert_eq!(inner(text), "1. We did it.\n2. It works.", "{text:?}");
        }
    }
}
