//! Halves of characters in JSON.
//!
//! JavaScript cuts texts between the two halves of a character beyond the first plane and writes
//! what is left as an escape. That is no text; the rest of the message still is.

use std::borrow::Cow;

const ESCAPE_BYTES: usize = 6;

/// The same JSON with a replacement character for every half that stands alone.
pub fn paired(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let has_halves = |start: &[u8]| memchr::memmem::find(bytes, start).is_some();
    if !has_halves(b"\\ud") && !has_halves(b"\\uD") {
        return Cow::Borrowed(json);
    }
    let (mut out, mut kept, mut at) = (String::with_capacity(json.len()), 0, 0);
    while let Some(step) = memchr::memchr(b'\\', &bytes[at..]) {
        at += step;
        match (half(bytes, at), half(bytes, at + ESCAPE_BYTES)) {
            (Some(Half::First), Some(Half::Second)) => at += 2 * ESCAPE_BYTES,
            (Some(_), _) => {
                out.push_str(&json[kept..at]);
                out.push_str("\\ufffd");
                at += ESCAPE_BYTES;
                kept = at;
            }
            // Whatever is escaped, a backslash for one, is not looked at again.
            (None, _) => at = (at + 2).min(bytes.len()),
        }
    }
    out.push_str(&json[kept..]);
    Cow::Owned(out)
}

#[derive(Clone, Copy)]
enum Half {
    First,
    Second,
}

/// Which half is escaped here, if any.
fn half(bytes: &[u8], at: usize) -> Option<Half> {
    let hex = bytes.get(at..at + ESCAPE_BYTES)?.strip_prefix(b"\\u")?;
    let hex = std::str::from_utf8(hex).ok()?;
    match u16::from_str_radix(hex, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::First),
        0xDC00..=0xDFFF => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::paired;

    #[test]
    fn a_half_alone_is_replaced_and_everything_else_stays() {
        for (json, want) in [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\uDE00 b""#, r#""\ufffd b""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83dé""#, r#""\\\ufffdé""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""\ud83d\"#, r#""\ufffd\"#),
        ] {
            assert_eq!(paired(json), want, "{json}");
        }
    }

    proptest::proptest! {
        /// What any program could read before is read as the same.
        #[test]
        fn a_sound_text_is_read_as_it_was(text in "\\PC*") {
            let json = serde_json::to_string(&text).unwrap();
            let ascii: String = json.encode_utf16().map(|unit| match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
                _ => format!("\\u{unit:04x}"),
            }).collect();
            let read: String = serde_json::from_str(&paired(&ascii)).unwrap();
            proptest::prop_assert_eq!(read, text);
        }
    }
}
