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
    use super::typed_part;

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
