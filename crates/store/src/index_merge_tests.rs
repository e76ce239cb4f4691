use super::*;
use crate::{DocId, FtsQuery, NewRowContext, RowFilter};
use claude_mem_core::clock::Millis;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};

fn observation(number: i64) -> NewObservation {
    let words: Vec<String> = (0..200).map(|word| format!("word{}", word * number)).collect();
    NewObservation::from_text(
        ObservationText {
            narrative: words.join(" "),
            ..ObservationText::new(ObservationType::DISCOVERY, format!("Gull number{number}"))
        },
        Origin::Agent,
        Millis(number),
    )
}

/// Each in its own transaction, as in production.
fn add(store: &mut Store, numbers: std::ops::Range<i64>) {
    for number in numbers {
        store.write(|tx| tx.create_observation(&observation(number), &NewRowContext::default())).unwrap();
    }
}

fn found(store: &Store, word: &str) -> Vec<DocId> {
    let reads = store.read();
    let reach = reads.corpus(&RowFilter::default()).unwrap();
    let mut places = Vec::new();
    let word = FtsQuery::Term(word.to_owned());
    reads.for_each_match(&word, &reach.doc_id_ranges(), u32::MAX, |place| places.push(place)).unwrap();
    places
}

#[test]
fn merged_index_finds_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
    add(&mut store, 0..63);
    let words = ["gull", "number42", "word198"];
    let before = words.map(|word| found(&store, word));
    assert_eq!(before[0].len(), 63);
    assert!(store.read().needs_index_merge().unwrap());

    let mut steps = 1;
    while store.merge_index_step().unwrap() {
        steps += 1;
        assert!(steps < 100, "merging must terminate");
        // Rows that are added meanwhile are merged too.
        if steps == 2 {
            add(&mut store, 100..101);
        }
    }
    assert!(store.read().segment_sizes().unwrap().len() <= SEGMENTS_MAX);
    assert!(!store.read().needs_index_merge().unwrap());
    let after = words.map(|word| found(&store, word));
    assert_eq!(after[0].len(), 63 + usize::from(steps > 1));
    assert_eq!(after[1..], before[1..]);
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
}

#[test]
fn merge_is_worthwhile_for_many_segments() {
    for (pieces, is_worth) in [
        (vec![], false),
        (vec![1_000], false),
        (vec![5, 5, 5], false),
        (vec![5, 5, 5, 5], true),
        (vec![1_000, 3, 3, 3, 3], false),
        (vec![1_000, 40, 20, 3, 1], true),
    ] {
        assert_eq!(is_merge_worthwhile(&pieces), is_worth, "{pieces:?}");
    }
}
