use super::*;
use crate::testing::store_with_titles;
use claude_mem_core::ids::ProjectId;
use claude_mem_store::RowKind;

#[test]
fn merged_postings_add_up_weights() {
    let at = |sequence| DocId::new(ProjectId(1), sequence, RowKind::Observation);
    let one = merge_postings(&[], &[at(2), at(5)], 1.0);
    let two = merge_postings(&one, &[at(1), at(5), at(9)], 0.5);
    assert_eq!(two, [(at(1), 0.5), (at(2), 1.0), (at(5), 1.5), (at(9), 0.5)]);
}

/// A term with an estimated document frequency.
fn guessed(word: &str, count: u64) -> QueryTerm {
    QueryTerm { word: word.to_owned(), stem: word.to_owned(), weight: 1.0, doc_freq: count, postings: None }
}

#[test]
fn newest_postings_are_found_despite_a_wrong_estimate() {
    let dir = tempfile::tempdir().unwrap();
    let titles: Vec<String> = (1..=100)
        .map(|number| match number {
            ..=70 => format!("gull {number}"),
            _ => format!("tern {number}"),
        })
        .collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let (store, project, _) = store_with_titles(dir.path(), &titles);
    let reads = store.read();
    // Estimates far too low and far too high; the term is in none of the newest documents.
    for (count, kinds) in [(1, vec![]), (1, vec![RowKind::Observation]), (9_999, vec![])] {
        let scope = RowFilter { project: Some(project), kinds, ..RowFilter::default() };
        let reach = reads.corpus(&scope).unwrap();
        let mut lookup = PostingsLookup {
            reads: &reads,
            scope: &scope,
            ranges: reach.doc_id_ranges(),
            postings_max: 10,
            candidates_max: 5,
            scored: Vec::new(),
        };
        let gull = guessed("gull", count);
        lookup.match_any(&[&gull], &reach, false).unwrap();
        let at = |sequence| DocId::new(project, sequence, RowKind::Observation);
        let found: Vec<DocId> = lookup.scored.iter().map(|(place, _)| *place).collect();
        let newest: Vec<DocId> = (7..=70).map(at).collect();
        assert_eq!(found, newest, "estimated {count}");
    }
}

#[test]
fn truncated_postings_are_detected_when_kinds_are_filtered() {
    let dir = tempfile::tempdir().unwrap();
    let (store, project, _) =
        store_with_titles(dir.path(), &["gull one", "gull two", "gull three", "gull four"]);
    let reads = store.read();
    let scope = RowFilter { project: Some(project), kinds: vec![RowKind::Prompt], ..RowFilter::default() };
    let lookup = PostingsLookup {
        reads: &reads,
        scope: &scope,
        ranges: reads.corpus(&scope).unwrap().doc_id_ranges(),
        postings_max: 2,
        candidates_max: 5,
        scored: Vec::new(),
    };
    let (places, is_cut) = lookup.postings(&FtsQuery::Term("gull".into()), 3).unwrap();
    assert!(places.is_empty() && is_cut);
    let (_, is_cut) = lookup.postings(&FtsQuery::Term("gull".into()), 5).unwrap();
    assert!(!is_cut, "the list is complete");
}
