use proptest::prelude::*;

use super::*;

#[test]
fn the_beginning_and_the_end_stay() {
    let text = format!("start{}end", "x".repeat(1_000));
    let short = middle(&text, 100);
    assert!(
        short.starts_with("start") && short.ends_with("end"),
        "{short}"
    );
    assert!(short.contains("bytes left out"));
    assert_eq!(middle("short", 5), "short");
    assert_eq!(middle("longer", 5), "longe");
}

proptest! {
    #[test]
    fn no_text_comes_out_longer_than_allowed(text in ".{0,300}", bytes_max in 0usize..200) {
        prop_assert!(middle(&text, bytes_max).len() <= bytes_max);
    }
}
