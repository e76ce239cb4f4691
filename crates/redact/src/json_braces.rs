//! Finds the braces of the object around a position. Quotes are not considered: the text may be cut or escaped.

/// The opening brace of the object around `at`, not before `from`.
pub(super) fn opening_brace(bytes: &[u8], from: usize, at: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for i in (from..at).rev() {
        match bytes[i] {
            b'}' => depth += 1,
            b'{' if depth == 0 => return Some(i),
            b'{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The closing brace of the object that opens at `open`, before `until`.
pub(super) fn closing_brace(bytes: &[u8], open: usize, until: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for (i, b) in bytes[..until].iter().enumerate().skip(open) {
        match b {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return Some(i),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_the_object_around_a_position() {
        let text = b"{a:{b:{},c}}";
        let cases = [(4, Some(3), Some(10)), (9, Some(3), Some(10)), (2, Some(0), Some(11)), (0, None, None)];
        for (at, open, close) in cases {
            assert_eq!(opening_brace(text, 0, at), open, "{at}");
            let end = open.and_then(|open| closing_brace(text, open, text.len()));
            assert_eq!(end, close, "{at}");
        }
        assert_eq!(opening_brace(text, 1, 2), None, "not before the start");
        assert_eq!(closing_brace(text, 0, 11), None, "cut off");
    }
}
