use super::*;

#[test]
fn parts_are_title_passages_and_facts_in_order() {
    let long = "word ".repeat(200);
    let texts = ["A title".into(), String::new(), long, "A fact".into()];
    let got = parts(&texts);
    assert_eq!(got.len(), 1 + 3 + 1);
    assert_eq!((got[0].as_str(), got[4].as_str()), ("A title", "A fact"));
}

#[test]
fn parts_are_bounded_and_an_empty_row_has_none() {
    assert_eq!(parts(&["only this".into()]), ["only this"]);
    assert_eq!(parts(&["  ".into()]), Vec::<String>::new());
    let endless = "word ".repeat(100_000);
    assert_eq!(parts(&[endless]).len(), VECTOR_PARTS_MAX);
}

#[test]
fn whole_is_the_mean_weighted_by_words() {
    let texts = ["one two three".into(), "four".into()];
    let got = with_whole(&texts, vec![vec![1.0, 0.0], vec![0.0, 1.0]]);
    assert_eq!(got[1..], [vec![1.0, 0.0], vec![0.0, 1.0]]);
    assert!((got[0][0] - 3.0 * got[0][1]).abs() < 1e-6, "{:?}", got[0]);
    assert!((got[0][0].powi(2) + got[0][1].powi(2) - 1.0).abs() < 1e-6);
}

#[test]
fn single_part_is_the_whole() {
    assert_eq!(with_whole(&["alone".into()], vec![vec![0.6, 0.8]]), [vec![0.6, 0.8]]);
    assert!(with_whole(&[], Vec::new()).is_empty());
}
