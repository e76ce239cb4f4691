//! Finds the tags that clients put around text.

use std::borrow::Cow;

/// Tags of blocks that the client generates, separated by spaces. What such a block encloses is never
/// the user's.
const CLIENT_TAGS: &str = "bash-input bash-stderr bash-stdout command-args command-contents \
    command-message command-name hook_context ide_diagnostics ide_opened_file ide_selection \
    local-command-caveat local-command-stderr local-command-stdout new-diagnostics \
    post-tool-use-hook session-start-hook system-reminder task-notification teammate-message \
    tool_use_error user-memory-input user-prompt-submit-hook";

/// Tags that people type or paste at the beginning of a prompt, separated by spaces: HTML and our own
/// privacy mark.
const TYPED_TAGS: &str = "a abbr article aside audio b blockquote body br button canvas code dd \
    details dialog div dl dt em fieldset figure footer form h1 h2 h3 h4 h5 h6 head header hr html i \
    iframe img input label li link main meta nav ol option p path pre private script section select \
    span strong style svg table tbody td template textarea th thead title tr ul video";

/// The name of the tag that a text begins with.
pub(super) fn leading_tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    let name = &rest[..rest.find(|c: char| !is_tag_char(c)).unwrap_or(rest.len())];
    (!name.is_empty()).then_some(name)
}

const fn is_tag_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')
}

/// Removes every closed block of the client, and all of a text that begins with one that is not closed.
pub(super) fn without_client_blocks(text: &str) -> Cow<'_, str> {
    let mut kept: Option<String> = None;
    let mut from = 0;
    let mut copied = 0;
    // Tags that nothing closes from here on: each is searched for once.
    let mut unclosed: Vec<&str> = Vec::new();
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        from = at + 1;
        let Some(tag) = leading_tag(&text[at..]).filter(|tag| is_listed(CLIENT_TAGS, tag)) else {
            continue;
        };
        let close = if unclosed.contains(&tag) { None } else { find_close(&text[at..], tag) };
        let end = match close {
            Some(end) => at + end,
            // Only the client opens a prompt with its tag; elsewhere it may be quoted.
            None if text[..at].trim().is_empty() => text.len(),
            None => {
                if !unclosed.contains(&tag) {
                    unclosed.push(tag);
                }
                continue;
            }
        };
        kept.get_or_insert_default().push_str(&text[copied..at]);
        (copied, from) = (end, end);
    }
    match kept {
        None => Cow::Borrowed(text),
        Some(mut kept) => {
            kept.push_str(&text[copied..]);
            Cow::Owned(kept)
        }
    }
}

fn is_listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == name)
}

/// If an unknown tag opens the text and is closed: what it encloses, and the rest.
pub(super) fn split_unknown_wrapper(text: &str) -> Option<(&str, &str)> {
    let tag = leading_tag(text)?;
    // Components of user interfaces are written with a capital.
    if is_listed(TYPED_TAGS, tag) || tag.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let end = find_close(text, tag)?;
    let inside = text[..end].split_once('>').map_or("", |(_, inside)| inside);
    let inside = inside.rfind("</").map_or(inside, |close| &inside[..close]);
    Some((inside, &text[end..]))
}

/// The end of the closing tag that matches the tag at the beginning of the text.
fn find_close(text: &str, tag: &str) -> Option<usize> {
    let close = format!("</{tag}>");
    text.find(&close).map(|at| at + close.len())
}

/// The text inside the first block with this tag.
pub(super) fn tag_content<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside)
}

/// Like [`tag_content`] up to the last closing tag: the content is free text and may quote the tag.
pub(super) fn outer_content<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.rsplit_once(&format!("</{tag}>"))?;
    Some(inside)
}

/// The value of an attribute of the tag that a text begins with.
pub(super) fn attribute<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let head = &text[..text.find('>')?];
    let (_, rest) = head.split_once(&format!(" {name}=\""))?;
    Some(&rest[..rest.find('"')?])
}
