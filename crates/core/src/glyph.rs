//! Reads text the way a person sees it: invisible characters and terminal sequences are nothing,
//! and an escape is the character it stands for.
//!
//! Redaction and quotation must agree on what a reader can see; this is their only definition.

/// Control characters and all that Unicode says to show nothing for: zero-width and direction
/// marks, variation selectors, fillers, tag characters. What a reader cannot see must not reach
/// the model either.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Maximum length of a terminal sequence; a longer one is text.
const SEQUENCE_BYTES_MAX: usize = 256;
/// Maximum times that one character may be escaped.
const ESCAPES_MAX: usize = 4;

/// The length of the terminal sequence at the start of `bytes`: a colour, a cursor movement, a
/// title or a link. Also as source code and JSON write its first character: `\x1b[`, `\u001b[`.
pub fn terminal_sequence(bytes: &[u8]) -> Option<usize> {
    let escape = match bytes {
        [0x1b, ..] => 1,
        [b'\\', ..] => {
            let slashes = bytes.iter().take(8).take_while(|b| **b == b'\\').count();
            let spelling = [b"x1b".as_slice(), b"u001b", b"033", b"e["];
            let name = spelling.iter().find(|name| {
                let start = bytes.get(slashes..slashes + name.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(name))
            })?;
            slashes + name.len() - usize::from(name.ends_with(b"["))
        }
        _ => return None,
    };
    let near = &bytes[escape..bytes.len().min(escape + SEQUENCE_BYTES_MAX)];
    match near.first()? {
        b'[' => {
            let end = near[1..].iter().position(|b| (0x40..=0x7e).contains(b))?;
            let parameters = near[1..=end].iter().all(|b| (0x20..=0x3f).contains(b));
            parameters.then_some(escape + end + 2)
        }
        b']' => {
            let end = near.iter().position(|b| matches!(b, 0x07 | 0x1b))?;
            let terminator = if near[end] == 0x07 { 1 } else { 2 };
            Some(escape + (end + terminator).min(near.len()))
        }
        b'(' | b')' | b'#' | b'%' if bytes[0] == 0x1b => (near.len() > 1).then_some(escape + 2),
        0x30..=0x7e if bytes[0] == 0x1b => Some(escape + 1),
        _ => None,
    }
}

/// The ASCII character that an escape at the start of `bytes` stands for, and the escape's length:
/// `&lt;`, `&#060;`, `\u003c`, `\x3c`, `%3C`. Escapes of escapes are undone too: `&amp;lt;`,
/// `\\u003c`, `%253C`.
pub fn ascii_escape(bytes: &[u8]) -> Option<(u8, usize)> {
    match bytes.first()? {
        b'&' => entity(bytes),
        b'\\' => backslash(bytes),
        b'%' => percent(bytes),
        _ => None,
    }
}

fn entity(bytes: &[u8]) -> Option<(u8, usize)> {
    const NAMES: [(&[u8], u8); 6] =
        [(b"lt", b'<'), (b"gt", b'>'), (b"sol", b'/'), (b"quot", b'"'), (b"apos", b'\''), (b"equals", b'=')];
    let mut here = 1;
    // `&amp;lt;`, `&amp;amp;lt;`
    for _ in 0..ESCAPES_MAX {
        if !starts_with_ignore_case(&bytes[here..], b"amp;") {
            break;
        }
        here += 4;
    }
    let rest = &bytes[here..];
    if let Some(digits) = rest.strip_prefix(b"#") {
        let hex = matches!(digits.first(), Some(b'x' | b'X'));
        let digits = &digits[usize::from(hex)..];
        let length = digits.iter().take(8).take_while(|b| b.is_ascii_hexdigit()).count();
        if digits.get(length) != Some(&b';') {
            return None;
        }
        let text = std::str::from_utf8(&digits[..length]).ok()?;
        let code = u32::from_str_radix(text, if hex { 16 } else { 10 }).ok()?;
        let code = u8::try_from(code).ok().filter(u8::is_ascii)?;
        return Some((code, here + 1 + usize::from(hex) + length + 1));
    }
    NAMES.iter().find_map(|(name, c)| {
        let named = starts_with_ignore_case(rest, name) && rest.get(name.len()) == Some(&b';');
        named.then_some((*c, here + name.len() + 1))
    })
}

fn backslash(bytes: &[u8]) -> Option<(u8, usize)> {
    let slashes = bytes.iter().take(16).take_while(|b| **b == b'\\').count();
    let rest = &bytes[slashes..];
    let (digits, skipped) = match rest {
        [b'u' | b'U', b'{', digits @ ..] => {
            let length = digits.iter().take(6).take_while(|b| b.is_ascii_hexdigit()).count();
            let closed = digits.get(length) == Some(&b'}');
            return closed.then(|| Some((hex_byte(&digits[..length])?, slashes + length + 3))).flatten();
        }
        [b'u' | b'U', digits @ ..] => (digits.get(..4)?, 1),
        [b'x' | b'X', digits @ ..] => (digits.get(..2)?, 1),
        // `<\/private>`, `\<private\>`
        [sign @ (b'/' | b'<' | b'>'), ..] => return Some((*sign, slashes + 1)),
        _ => return None,
    };
    Some((hex_byte(digits)?, slashes + skipped + digits.len()))
}

fn percent(bytes: &[u8]) -> Option<(u8, usize)> {
    let mut here = 1;
    // `%253C`
    for _ in 0..ESCAPES_MAX {
        if !bytes[here..].starts_with(b"25") {
            break;
        }
        here += 2;
    }
    Some((hex_byte(bytes.get(here..here + 2)?)?, here + 2))
}

/// The printable ASCII character with this number in hexadecimal digits.
fn hex_byte(digits: &[u8]) -> Option<u8> {
    let all = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| all)?, 16).ok()?;
    u8::try_from(code).ok().filter(|b| b.is_ascii_graphic() || *b == b' ')
}

fn starts_with_ignore_case(bytes: &[u8], word: &[u8]) -> bool {
    bytes.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

#[cfg(test)]
#[path = "glyph_tests.rs"]
mod tests;
