//! The part of a prompt that the person typed: without pasted consoles, logs, diffs, code and stack traces.

use crate::gates::is_pasted;

/// A line longer than this is pasted.
const TYPED_LINE_CHARS_MAX: usize = 900;

/// The typed lines of a prompt. Whatever stands in a fence, or looks like the output of a program, is a
/// quotation and is left out.
pub(crate) fn typed_part(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut quoted = vec![false; lines.len()];
    let mut fenced = false;
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            quoted[at] = true;
            continue;
        }
        let long = line.chars().count() > TYPED_LINE_CHARS_MAX;
        let indented = line.starts_with("    ") || line.starts_with('\t');
        quoted[at] = fenced || long || (!trimmed.is_empty() && (is_pasted(trimmed) || indented));
    }
    bridge_quotations(&lines, &mut quoted);
    let kept = lines.iter().zip(&quoted).filter(|(_, quoted)| !**quoted).map(|(line, _)| *line);
    kept.collect::<Vec<_>>().join("\n")
}

/// Characters of a line that a text was wrapped at.
const WRAPPED_LINE_CHARS: std::ops::RangeInclusive<usize> = 50..=110;

/// The text without paragraphs whose sentences are broken over lines of about the same length: they come from a manual
/// or a terminal. Who types lets the line run on.
pub(crate) fn without_wrapped(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines.split(|line| line.trim().is_empty()).filter(|paragraph| !is_wrapped(paragraph));
    kept.map(|paragraph| paragraph.join("\n")).collect::<Vec<_>>().join("\n\n")
}

fn is_wrapped(paragraph: &[&str]) -> bool {
    paragraph.windows(2).any(|pair| {
        let breaks = WRAPPED_LINE_CHARS.contains(&pair[0].trim().chars().count())
            && !pair[0].trim_end().ends_with(['.', '!', '?', ':', ';', ',']);
        breaks && pair[1].trim_start().starts_with(char::is_lowercase)
    })
}

/// One or two lines between quoted lines belong to the quotation.
fn bridge_quotations(lines: &[&str], quoted: &mut [bool]) {
    let mut last: Option<usize> = None;
    for at in 0..lines.len() {
        if !quoted[at] {
            continue;
        }
        if let Some(before) = last
            && at - before <= 3
            && lines[before + 1..at].iter().all(|line| line.split_whitespace().count() < 12)
        {
            quoted[before + 1..at].fill(true);
        }
        last = Some(at);
    }
}

#[cfg(test)]
mod tests {
    use super::{typed_part, without_wrapped};

    #[test]
    fn paragraph_with_broken_sentences_is_pasted() {
        let manual = "The courier client retries every request three times and always waits\n\
            for the answer of the depot before it gives up.";
        let typed = "why does the depot answer twice?\nalways keep the first answer";
        assert_eq!(without_wrapped(&format!("{typed}\n\n{manual}")), typed);
        assert_eq!(without_wrapped(typed), typed);
    }

    #[test]
    fn pasted_output_is_left_out() {
        let prompt = "The build fails, see below.\n```\nerror: no such file\n```\n\
            2026-01-02 10:11:12 INFO started worker\n  at run (main.js:3:4)\n$ npm test\n\
            Please never delete the cache directory.";
        assert_eq!(
            typed_part(prompt),
            "The build fails, see below.\nPlease never delete the cache directory."
        );
    }
}
