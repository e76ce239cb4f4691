//! Parses block tags in any spelling.
//!
//! Users type tags by hand, paste them through editors that escape `<`, and use keyboards with
//! full-width letters; terminals colour them. Whatever a reader would recognise as a [`BlockTag`] is
//! parsed as one; `claude_mem_core::glyph` says what a reader sees.

use claude_mem_core::glyph;

/// The tags we interpret; everything else is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagName {
    /// Content the user does not want stored.
    Private,
    /// Memory's own context, as this program and the legacy program print it.
    Memory,
    /// Hook output, as Gemini wraps it.
    HookContext,
    /// Hook output, as old versions of Claude Code wrap it.
    SessionStartHook,
    /// The client's reminders to its agent.
    SystemReminder,
}

impl TagName {
    pub(super) const COUNT: usize = 5;

    fn parse(name: &[u8]) -> Option<Self> {
        match name {
            b"private" => Some(Self::Private),
            b"claude-mem-context" => Some(Self::Memory),
            b"hook-context" => Some(Self::HookContext),
            b"session-start-hook" => Some(Self::SessionStartHook),
            b"system-reminder" => Some(Self::SystemReminder),
            _ => None,
        }
    }
}

const NAME_BYTES_MAX: usize = 24;
/// Maximum length of attributes; beyond it the tag is taken to end after its name.
const ATTRIBUTES_BYTES_MAX: usize = 1024;

/// One tag at `text[start..end]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockTag {
    pub name: TagName,
    pub closing: bool,
    /// `PKey<Private>` may be a type: capitalised and directly after a name. Such a tag counts only
    /// if something closes it.
    pub maybe_type: bool,
    pub start: usize,
    pub end: usize,
}

/// Bytes that may start a tag: `<` and the first bytes of its other spellings.
const OPENS: [bool; 256] = {
    let mut table = [false; 256];
    table[b'<' as usize] = true;
    table[b'&' as usize] = true;
    table[b'\\' as usize] = true;
    table[b'%' as usize] = true;
    table[0xEF] = true;
    table
};

/// All tags in `text`, in order.
pub(super) fn find_tags(text: &str) -> impl Iterator<Item = BlockTag> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.as_bytes().get(from..)?;
            let offset = rest.iter().position(|&b| OPENS[usize::from(b)])?;
            let start = from + offset;
            from = start + 1;
            if !may_begin(&rest[offset..]) {
                continue;
            }
            if let Some(tag) = tag_at(text, start) {
                from = tag.end;
                return Some(tag);
            }
        }
    })
}

/// Quick rejection by the first two bytes.
fn may_begin(bytes: &[u8]) -> bool {
    match *bytes {
        [b'<', next, ..] => {
            matches!(next | 0x20, b'p' | b'c' | b'h' | b's')
                || matches!(next, b'/' | b'&' | b'\\' | b'%' | b' ')
                || next.is_ascii_control()
                || !next.is_ascii()
        }
        [b'&', next, ..] => matches!(next | 0x20, b'l' | b'a') || next == b'#',
        [b'\\', next, ..] => matches!(next | 0x20, b'u' | b'x' | b'|') || next == b'<',
        [b'%', next, ..] => matches!(next, b'3' | b'2'),
        [0xEF, next, ..] => matches!(next, 0xBC | 0xB9),
        _ => false,
    }
}

/// The tag that starts at `start`, if any.
fn tag_at(text: &str, start: usize) -> Option<BlockTag> {
    let (b'<', next) = glyph(text, start)? else {
        return None;
    };
    let mut here = skip_blanks(text, next);
    let slash = glyph(text, here).filter(|(c, _)| *c == b'/');
    let closing = slash.is_some();
    if let Some((_, next)) = slash {
        here = skip_blanks(text, next);
    }
    let (name, after) = name_at(text, here)?;
    let end = if closing { closer_end(text, after)? } else { opener_end(text, after)? };
    let maybe_type = is_like_a_type_parameter(text, start, end);
    Some(BlockTag { name, closing, maybe_type, start, end })
}

fn name_at(text: &str, start: usize) -> Option<(TagName, usize)> {
    let mut name = [0; NAME_BYTES_MAX];
    let (mut length, mut here) = (0, start);
    while let Some((letter, next)) = glyph(text, here) {
        if !(letter.is_ascii_alphanumeric() || letter == b'-') {
            break;
        }
        *name.get_mut(length)? = letter;
        length += 1;
        here = next;
    }
    Some((TagName::parse(&name[..length])?, here))
}

/// A closing tag has only blanks after its name. Anything else does not close, so private text
/// stays private.
fn closer_end(text: &str, after_name: usize) -> Option<usize> {
    match glyph(text, skip_blanks(text, after_name)) {
        Some((b'>', end)) => Some(end),
        _ => None,
    }
}

/// An opening tag may have attributes and may lack its `>`. A "self-closing" one still opens: the
/// user wanted something hidden.
fn opener_end(text: &str, after_name: usize) -> Option<usize> {
    match glyph(text, after_name) {
        None => return Some(after_name),
        Some((b'>', end)) => return Some(end),
        Some((b' ', _)) => {}
        Some((b'/', next)) => {
            return match glyph(text, skip_blanks(text, next)) {
                Some((b'>', end)) => Some(end),
                _ => None,
            };
        }
        Some(_) => return None,
    }
    let limit = after_name + ATTRIBUTES_BYTES_MAX;
    let mut here = after_name;
    let mut quote = None;
    let mut after_equals = false;
    while let Some((c, next)) = glyph(text, here).filter(|_| here < limit) {
        match (quote, c) {
            (None, b'>') => return Some(next),
            (None, b'<') => break,
            (None, b'"' | b'\'') if after_equals => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            _ => {}
        }
        after_equals = c == b'=' || (after_equals && c == b' ');
        here = next;
    }
    Some(after_name)
}

fn is_like_a_type_parameter(text: &str, start: usize, end: usize) -> bool {
    let before = text.as_bytes()[..start].last();
    &text[start..end] == "<Private>"
        && before.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':'))
}

fn skip_blanks(text: &str, mut at: usize) -> usize {
    while let Some((b' ', next)) = glyph(text, at) {
        at = next;
    }
    at
}

/// One character as a reader sees it: lower-cased, whitespace as space, `_` as `-`, escapes
/// decoded, invisible characters and terminal sequences skipped. Characters without meaning in a tag
/// are `0`.
fn glyph(text: &str, mut at: usize) -> Option<(u8, usize)> {
    loop {
        let rest = &text.as_bytes()[at..];
        let first = *rest.first()?;
        if matches!(first, 0x1b | b'\\')
            && let Some(length) = glyph::terminal_sequence(rest)
        {
            at += length;
            continue;
        }
        if let Some((c, length)) = glyph::ascii_escape(rest) {
            return Some((fold(c), at + length));
        }
        if first.is_ascii() {
            if first.is_ascii_control() && !first.is_ascii_whitespace() && first != 0x0b {
                at += 1;
                continue;
            }
            return Some((fold(first), at + 1));
        }
        let c = text.get(at..)?.chars().next()?;
        let next = at + c.len_utf8();
        match c {
            // Full-width forms are in ASCII order.
            '\u{FF01}'..='\u{FF5E}' => return Some((fold((c as u32 - 0xFEE0) as u8), next)),
            '\u{FE64}' => return Some((b'<', next)),
            '\u{FE65}' => return Some((b'>', next)),
            c if c.is_whitespace() => return Some((b' ', next)),
            c if glyph::is_invisible(c) => at = next,
            _ => return Some((0, next)),
        }
    }
}

const fn fold(byte: u8) -> u8 {
    match byte {
        b'_' => b'-',
        b'\t' | b'\n' | b'\x0B' | b'\x0C' | b'\r' => b' ',
        other => other.to_ascii_lowercase(),
    }
}
