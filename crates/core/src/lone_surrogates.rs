//! Lone surrogates in JSON.
//!
//! JavaScript clients may cut a string in the middle of a surrogate pair and escape the remaining
//! half. Such an escape is not valid Unicode, but the rest of the message is usable.

use std::borrow::Cow;

const ESCAPE_BYTES: usize = 6;

/// Replaces the escape of every lone surrogate by U+FFFD.
pub fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let has_halves = |start: &[u8]| memchr::memmem::find(bytes, start).is_some();
    if !has_halves(b"\\ud") && !has_halves(b"\\uD") {
        return Cow::Borrowed(json);
    }
    let (mut out, mut kept, mut at) = (String::with_capacity(json.len()), 0, 0);
    while let Some(step) = memchr::memchr(b'\\', &bytes[at..]) {
        at += step;
        match (surrogate_at(bytes, at), surrogate_at(bytes, at + ESCAPE_BYTES)) {
            (Some(SurrogateHalf::High), Some(SurrogateHalf::Low)) => at += 2 * ESCAPE_BYTES,
            (Some(_), _) => {
                out.push_str(&json[kept..at]);
                out.push_str("\\ufffd");
                at += ESCAPE_BYTES;
                kept = at;
            }
            // Skip any other escape, such as an escaped backslash, as a whole.
            (None, _) => at = (at + 2).min(bytes.len()),
        }
    }
    out.push_str(&json[kept..]);
    Cow::Owned(out)
}

#[derive(Clone, Copy)]
enum SurrogateHalf {
    High,
    Low,
}

/// The surrogate that is escaped at this position, if any.
fn surrogate_at(bytes: &[u8], at: usize) -> Option<SurrogateHalf> {
    let hex = bytes.get(at..at + ESCAPE_BYTES)?.strip_prefix(b"\\u")?;
    let hex = std::str::from_utf8(hex).ok()?;
    match u16::from_str_radix(hex, 16).ok()? {
        0xD800..=0xDBFF => Some(SurrogateHalf::High),
        0xDC00..=0xDFFF => Some(SurrogateHalf::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::replace_lone_surrogates;

    #[test]
    fn lone_surrogates_are_replaced() {
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
            assert_eq!(replace_lone_surrogates(json), want, "{json}");
        }
    }

    proptest::proptest! {
        /// Valid JSON keeps its meaning.
        #[test]
        fn valid_json_keeps_its_meaning(text in "\\PC*") {
            let json = serde_json::to_string(&text).unwrap();
            let ascii: String = json.encode_utf16().map(|unit| match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
                _ => format!("\\u{unit:04x}"),
            }).collect();
            let read: String = serde_json::from_str(&replace_lone_surrogates(&ascii)).unwrap();
            proptest::prop_assert_eq!(read, text);
        }
    }
}
