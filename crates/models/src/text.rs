//! Cleans the text between two tags for storage.
//!
//! The result has no markup and no control characters, respects the limit, and is never cut inside
//! a character.

/// Unwraps CDATA sections, decodes entities and trims whitespace.
pub(super) fn clean_text(raw: &str) -> String {
    const OPEN: &str = "<![CDATA[";
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, section)) = rest.split_once(OPEN) {
        unescape_into(&mut out, before);
        if let Some((inside, after)) = section.split_once("]]>") {
            out.push_str(inside);
            rest = after;
        } else {
            // Neither this section nor any later one is closed: drop only the markers.
            unescape_into(&mut out, &section.replace(OPEN, ""));
            rest = "";
        }
    }
    unescape_into(&mut out, rest);
    strip_hidden_chars(&out)
}

/// Like `clean_text`, on one line.
pub(super) fn clean_line(raw: &str) -> String {
    clean_text(raw).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Truncates to `chars_max` characters, with an ellipsis.
pub(super) fn truncate_chars(mut text: String, chars_max: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(chars_max) {
        let keep = text[..at].char_indices().next_back().map_or(0, |(i, _)| i);
        text.truncate(keep);
        text.truncate(text.trim_end().len());
        text.push('…');
    }
    text
}

/// Decodes XML's entities, `&nbsp;` and numeric ones; any other `&` is kept.
pub(super) fn unescape_into(out: &mut String, raw: &str) {
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let known = after.bytes().take(10).position(|b| b == b';');
        if let Some((c, end)) = known.and_then(|end| Some((decode_entity(after.get(..end)?)?, end))) {
            out.push(c);
            rest = &after[end + 1..];
        } else {
            out.push('&');
            rest = after;
        }
    }
    out.push_str(rest);
}

fn decode_entity(name: &str) -> Option<char> {
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

/// Removes control characters, which could reach a terminal or hide text, and direction marks, which
/// make a reader see other text than is stored.
fn strip_hidden_chars(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.trim().chars().filter(|c| !hidden(*c)).collect::<String>().trim().to_owned()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
