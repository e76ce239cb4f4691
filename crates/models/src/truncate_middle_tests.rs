use proptest::prelude::*;

use super::*;

#[test]
fn beginning_and_end_are_kept() {
    let text = format!("start{}end", "x".repeat(1_000));
    let short = shorten(&text, 100);
    assert!(short.starts_with("start") && short.ends_with("end"), "{short}");
    assert!(short.contains("bytes left out"));
    assert_eq!(shorten("short", 5), "short");
    assert_eq!(shorten("longer", 5), "longe");
}

proptest! {
    #[test]
    fn result_never_exceeds_the_limit(text in ".{0,300}", bytes_max in 0usize..200) {
        prop_assert!(shorten(&text, bytes_max).len() <= bytes_max);
    }
}
