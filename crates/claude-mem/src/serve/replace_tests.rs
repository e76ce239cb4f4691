use super::{Known, replaced, subject, values};
use crate::clock::Millis;
use crate::ids::ObservationId;
use crate::memory::{NewObservation, ObservationType, Origin};

fn known(id: i64, title: &str, facts: &[&str]) -> Known {
    let facts: Vec<String> = facts.iter().map(|&fact| fact.to_owned()).collect();
    Known {
        id: ObservationId(id),
        at: Millis(id),
        subject: subject(title),
        values: values(title, &facts),
    }
}

fn decision(title: &str, facts: &[&str], concepts: &[&str]) -> NewObservation {
    NewObservation {
        kind: ObservationType::DECISION,
        title: title.to_owned(),
        subtitle: String::new(),
        narrative: String::new(),
        facts: facts.iter().map(|&fact| fact.to_owned()).collect(),
        concepts: concepts.iter().map(|&concept| concept.to_owned()).collect(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        origin: Origin::User,
        created_at: Millis(100),
        discovery_tokens: 0,
    }
}

fn ids(found: &[ObservationId]) -> Vec<i64> {
    found.iter().map(|id| id.0).collect()
}

#[test]
fn a_name_with_another_value_takes_its_place() {
    let earlier = [
        known(1, "MAX_RETRIES is 3 because the gateway is slow", &[]),
        known(2, "Timeouts are generous", &["request_timeout = 30s"]),
        known(3, "The pool has POOL_SIZE=8 connections", &[]),
    ];
    for (new, want) in [
        (decision("MAX_RETRIES is 5", &[], &[]), vec![1]),
        (decision("MAX_RETRIES is 3", &[], &[]), vec![]),
        (
            decision("Shorter waits", &["`request_timeout`: 10s"], &[]),
            vec![2],
        ),
        (
            decision("Set POOL_SIZE=16 on large machines", &[], &[]),
            vec![3],
        ),
        (decision("OTHER_NAME is 5", &[], &[]), vec![]),
    ] {
        assert_eq!(ids(&replaced(&new, &earlier)), want, "{}", new.title);
    }
}

#[test]
fn words_of_change_about_the_same_subject_take_its_place() {
    let earlier = [
        known(1, "Dates are stored as local time in the database", &[]),
        known(2, "Money is stored as integer cents", &[]),
    ];
    for (new, want) in [
        (
            decision("Dates are stored as UTC instead of local time", &[], &[]),
            vec![1],
        ),
        (
            decision(
                "Dates are stored as UTC in the database",
                &[],
                &["amendment"],
            ),
            vec![1],
        ),
        // The same subject without a word of change may well be a second rule.
        (
            decision(
                "Dates are stored with milliseconds in the database",
                &[],
                &[],
            ),
            vec![],
        ),
        // A word of change about something else.
        (decision("From now on commits are signed", &[], &[]), vec![]),
    ] {
        assert_eq!(ids(&replaced(&new, &earlier)), want, "{}", new.title);
    }
}

#[test]
fn only_the_nearest_is_replaced_and_never_a_newer_one() {
    let mut earlier = vec![
        known(1, "Logs go to stderr as plain text", &[]),
        known(2, "Logs go to a file as plain text", &[]),
    ];
    let new = decision("Logs go to a file as JSON instead of plain text", &[], &[]);
    assert_eq!(ids(&replaced(&new, &earlier)), [2]);
    earlier[1].at = Millis(200);
    assert_eq!(ids(&replaced(&new, &earlier)), [1]);
}
