//! Bytes as lower-case hex digits.

/// Two digits per byte.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let pairs = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    pairs.map(|half| char::from(DIGITS[usize::from(half)])).collect()
}

/// Exactly `N` bytes; `None` for any other length or digit.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

const fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_and_other_text_is_refused() {
        let bytes = [0, 1, 0x7f, 0xff];
        assert_eq!(encode(&bytes), "00017fff");
        assert_eq!(decode("00017fff"), Some(bytes));
        for wrong in ["", "00017ff", "00017FFF", "00017ffg", "00017fff00", "é0017ff"] {
            assert_eq!(decode::<4>(wrong), None, "{wrong}");
        }
    }
}
