use super::*;
use crate::ids::ProjectId;
use crate::search::testing::furnished;
use crate::store::RowKind;

#[test]
fn lists_are_merged_in_order_and_weights_add_up() {
    let at = |sequence| Place::new(ProjectId(1), sequence, RowKind::Observation);
    let one = either(&[], &[at(2), at(5)], 1.0);
    let two = either(&one, &[at(1), at(5), at(9)], 0.5);
    assert_eq!(
        two,
        [(at(1), 0.5), (at(2), 1.0), (at(5), 1.5), (at(9), 0.5)]
    );
}

/// A word whose count was guessed.
fn guessed(word: &str, count: u64) -> Term {
    Term {
        word: word.to_owned(),
        stem: word.to_owned(),
        weight: 1.0,
        count,
        places: None,
    }
}

#[test]
fn of_a_word_that_stands_everywhere_the_newest_are_found_whatever_was_guessed() {
    let dir = tempfile::tempdir().unwrap();
    let titles: Vec<String> = (1..=100)
        .map(|number| match number {
            ..=70 => format!("gull {number}"),
            _ => format!("tern {number}"),
        })
        .collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let (store, project, _) = furnished(dir.path(), &titles);
    let reads = store.read();
    // Far too few, and far too many: it stands in none of the newest.
    for (count, kinds) in [
        (1, vec![]),
        (1, vec![RowKind::Observation]),
        (9_999, vec![]),
    ] {
        let scope = WordScope {
            project: Some(project),
            kinds,
            ..WordScope::default()
        };
        let reach = reads.reach(&scope).unwrap();
        let mut lookup = Lookup {
            reads: &reads,
            scope: &scope,
            spans: reach.spans(),
            postings_max: 10,
            most: 5,
            found: Vec::new(),
        };
        let gull = guessed("gull", count);
        lookup.any_of(&[&gull], &reach, false).unwrap();
        let at = |sequence| Place::new(project, sequence, RowKind::Observation);
        let found: Vec<Place> = lookup.found.iter().map(|(place, _)| *place).collect();
        let newest: Vec<Place> = (7..=70).map(at).collect();
        assert_eq!(found, newest, "guessed {count}");
    }
}

#[test]
fn a_list_that_was_cut_is_not_taken_for_all_of_it_where_only_some_kinds_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let (store, project, _) = furnished(
        dir.path(),
        &["gull one", "gull two", "gull three", "gull four"],
    );
    let reads = store.read();
    let scope = WordScope {
        project: Some(project),
        kinds: vec![RowKind::Prompt],
        ..WordScope::default()
    };
    let lookup = Lookup {
        reads: &reads,
        scope: &scope,
        spans: reads.reach(&scope).unwrap().spans(),
        postings_max: 2,
        most: 5,
        found: Vec::new(),
    };
    let (places, is_cut) = lookup.places(&Expr::Term("gull".into()), 3).unwrap();
    assert!(places.is_empty() && is_cut);
    let (_, is_cut) = lookup.places(&Expr::Term("gull".into()), 5).unwrap();
    assert!(!is_cut, "that is all of it");
}
