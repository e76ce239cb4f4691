use super::*;
use crate::clock::Millis;
use crate::memory::{NewObservation, ObservationType, Origin};
use crate::store::{Expr, Place, Stored, WordScope};

fn observation(number: i64) -> NewObservation {
    let words: Vec<String> = (0..200)
        .map(|word| format!("word{}", word * number))
        .collect();
    NewObservation {
        kind: ObservationType::DISCOVERY,
        title: format!("Gull number{number}"),
        subtitle: String::new(),
        narrative: words.join(" "),
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        origin: Origin::Agent,
        created_at: Millis(number),
        discovery_tokens: 0,
    }
}

/// Each in a transaction of its own, as they come.
fn add(store: &mut Store, numbers: std::ops::Range<i64>) {
    for number in numbers {
        store
            .write(|tx| tx.create_observation(&observation(number), &Stored::default()))
            .unwrap();
    }
}

fn found(store: &Store, word: &str) -> Vec<Place> {
    let reads = store.read();
    let reach = reads.reach(&WordScope::default()).unwrap();
    let mut places = Vec::new();
    let word = Expr::Term(word.to_owned());
    reads
        .places_with(&word, &reach.spans(), u32::MAX, |place| places.push(place))
        .unwrap();
    places
}

#[test]
fn an_index_in_one_piece_finds_what_it_found_before_and_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
    add(&mut store, 0..63);
    let words = ["gull", "number42", "word198"];
    let before = words.map(|word| found(&store, word));
    assert_eq!(before[0].len(), 63);
    assert!(store.read().is_index_worth_a_merge().unwrap());

    let mut steps = 1;
    while store.merge_index().unwrap() {
        steps += 1;
        assert!(steps < 100, "it comes to an end");
        // What comes meanwhile is taken in.
        if steps == 2 {
            add(&mut store, 100..101);
        }
    }
    assert!(store.read().index_pieces().unwrap().len() <= PIECES_MAX);
    assert!(!store.read().is_index_worth_a_merge().unwrap());
    let after = words.map(|word| found(&store, word));
    assert_eq!(after[0].len(), 63 + usize::from(steps > 1));
    assert_eq!(after[1..], before[1..]);
    assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn all_is_written_anew_for_many_pieces_and_not_for_a_few_small_ones() {
    for (pieces, is_worth) in [
        (vec![], false),
        (vec![1_000], false),
        (vec![5, 5, 5], false),
        (vec![5, 5, 5, 5], true),
        (vec![1_000, 3, 3, 3, 3], false),
        (vec![1_000, 40, 20, 3, 1], true),
    ] {
        assert_eq!(is_worth_a_merge(&pieces), is_worth, "{pieces:?}");
    }
}
