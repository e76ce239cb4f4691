//! From the characters between two tags to text that can be stored.
//!
//! Out: no markup of ours, no control characters, no more than the limit; never a cut inside
//! a character.

/// The text between two tags: sections opened up, entities read, blanks trimmed.
pub(super) fn plain(raw: &str) -> String {
    const OPEN: &str = "<![CDATA[";
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, section)) = rest.split_once(OPEN) {
        unescape_into(&mut out, before);
        if let Some((inside, after)) = section.split_once("]]>") {
            out.push_str(inside);
            rest = after;
        } else {
            // Nothing closes it, nor any later one: the marks alone are dropped.
            unescape_into(&mut out, &section.replace(OPEN, ""));
            rest = "";
        }
    }
    unescape_into(&mut out, rest);
    printable(&out)
}

/// Like `plain`, on one line.
pub(super) fn line(raw: &str) -> String {
    plain(raw).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts at a limit of characters and says so with an ellipsis.
pub(super) fn cut(mut text: String, chars_max: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(chars_max) {
        let keep = text[..at].char_indices().next_back().map_or(0, |(i, _)| i);
        text.truncate(keep);
        text.truncate(text.trim_end().len());
        text.push('…');
    }
    text
}

/// The words of one sentence of a longer text, for a title nobody wrote.
pub(super) fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    let ends = |(i, c): (usize, char)| {
        let after = line[i + c.len_utf8()..].chars().next();
        match c {
            '.' | '!' | '?' => after.is_none_or(char::is_whitespace).then_some(i + 1),
            '。' | '！' | '？' => Some(i + c.len_utf8()),
            _ => None,
        }
    };
    line.char_indices()
        .find_map(ends)
        .map_or(line, |end| &line[..end])
}

/// Reads the entities that XML and habit know; any other `&` is a character.
pub(super) fn unescape_into(out: &mut String, raw: &str) {
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let known = after.bytes().take(10).position(|b| b == b';');
        if let Some((c, end)) = known.and_then(|end| Some((entity(after.get(..end)?)?, end))) {
            out.push(c);
            rest = &after[end + 1..];
        } else {
            out.push('&');
            rest = after;
        }
    }
    out.push_str(rest);
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

/// Control characters would reach a terminal or hide text from a reader, and marks that turn the
/// writing direction show a reader another text than the one that is stored.
fn printable(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.trim()
        .chars()
        .filter(|c| !hidden(*c))
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
