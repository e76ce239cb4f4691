use super::{StoredDecision, compare_decisions};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, PublicId, SessionId};
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::{MemoryLevel, Observation};

/// A stored decision of another session.
fn known(id: i64, title: &str, facts: &[&str]) -> Observation {
    Observation {
        text: ObservationText {
            kind: ObservationType::DECISION,
            title: title.to_owned(),
            subtitle: String::new(),
            narrative: String::new(),
            facts: facts.iter().map(|&fact| fact.to_owned()).collect(),
            concepts: Vec::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
        },
        id: ObservationId(id),
        uid: PublicId::new(),
        session: Some(SessionId(id)),
        project: None,
        level: MemoryLevel::Project,
        prompt_number: 1,
        branch: None,
        agent_type: None,
        origin: Origin::User,
        made_by: "local".into(),
        discovery_tokens: 0,
        read_tokens: 0,
        pinned: false,
        wrong: false,
        replaced_by: None,
        created_at: Millis(id),
        edited: false,
        source_count: 1,
        updated_at: Millis(id),
        member: None,
        held_back: false,
    }
}

/// What a new decision of another session supersedes, and what supersedes it.
fn compared(new: &NewObservation, rows: &[Observation]) -> (Vec<i64>, Option<i64>) {
    let known: Vec<StoredDecision<'_>> = rows.iter().map(StoredDecision::from_row).collect();
    let (older, newer) = compare_decisions(new, SessionId(1_000), &known);
    let older = older.iter().map(|id| id.0).collect();
    (older, newer.map(|id| id.0))
}

fn replaced(new: &NewObservation, rows: &[Observation]) -> Vec<i64> {
    compared(new, rows).0
}

fn decision(title: &str, facts: &[&str], concepts: &[&str]) -> NewObservation {
    NewObservation::from_text(
        ObservationText {
            facts: facts.iter().map(|&fact| fact.to_owned()).collect(),
            concepts: concepts.iter().map(|&concept| concept.to_owned()).collect(),
            ..ObservationText::new(ObservationType::DECISION, title)
        },
        Origin::User,
        Millis(100),
    )
}

#[test]
fn different_value_supersedes() {
    let earlier = [
        known(1, "MAX_RETRIES is 3 because the gateway is slow", &[]),
        known(2, "Timeouts are generous", &["request_timeout = 30s"]),
        known(3, "The pool has POOL_SIZE=8 connections", &[]),
    ];
    for (new, want) in [
        (decision("MAX_RETRIES is 5", &[], &[]), vec![1]),
        (decision("MAX_RETRIES is 3", &[], &[]), vec![]),
        (decision("Shorter waits", &["`request_timeout`: 10s"], &[]), vec![2]),
        (decision("Set POOL_SIZE=16 on large machines", &[], &[]), vec![3]),
        (decision("OTHER_NAME is 5", &[], &[]), vec![]),
    ] {
        assert_eq!(replaced(&new, &earlier), want, "{}", new.text.title);
    }
}

#[test]
fn change_phrase_on_same_subject_supersedes() {
    let earlier = [
        known(1, "Dates are stored as local time in the database", &[]),
        known(2, "Money is stored as integer cents", &[]),
    ];
    for (new, want) in [
        (decision("Dates are stored as UTC instead of local time", &[], &[]), vec![1]),
        (decision("Dates are stored as UTC in the database", &[], &["amendment"]), vec![1]),
        // Without a change phrase the same subject may be a second rule.
        (decision("Dates are stored with milliseconds in the database", &[], &[]), vec![]),
        // A change phrase about another subject.
        (decision("From now on commits are signed", &[], &[]), vec![]),
    ] {
        assert_eq!(replaced(&new, &earlier), want, "{}", new.text.title);
    }
}

#[test]
fn only_most_similar_older_decision_is_superseded() {
    let mut earlier = vec![
        known(1, "Logs go to stderr as plain text", &[]),
        known(2, "Logs go to a file as plain text", &[]),
    ];
    let new = decision("Logs go to a file as JSON instead of plain text", &[], &[]);
    assert_eq!(replaced(&new, &earlier), [2]);
    earlier[1].created_at = Millis(200);
    assert_eq!(replaced(&new, &earlier), [1]);
}

const RULE: &str = "User: “Keep the newer one.” Agent: “Settled: merge_records keys on the lowercased email \
    and the same calendar day and resolves collisions by keeping the record with the latest timestamp.”";
const AMENDMENT: &str = "User: “Keep ours, the CRM side is the source of truth.” Agent: “Amended, superseding \
    keep-latest: the key stays (lowercased email, same calendar day); on collision the most-filled record wins.”";

fn rule() -> Observation {
    let mut rule = known(7, "merge_records keeps the latest record", &[]);
    rule.text.narrative = RULE.to_owned();
    rule
}

fn amendment() -> NewObservation {
    let mut amendment = decision("On a tie ours is kept, not the feed", &[], &["amendment"]);
    amendment.text.narrative = AMENDMENT.to_owned();
    amendment
}

#[test]
fn amendment_matches_by_shared_words() {
    let other = known(3, "Dates are stored as UTC", &[]);
    assert_eq!(replaced(&amendment(), &[rule(), other.clone()]), [7]);
    assert_eq!(replaced(&amendment(), &[other]), [] as [i64; 0]);
    // All texts of one conversation share its words.
    let mut own = rule();
    own.session = Some(SessionId(1_000));
    assert_eq!(replaced(&amendment(), &[own]), [] as [i64; 0]);
    let mut pinned = rule();
    pinned.pinned = true;
    assert_eq!(replaced(&amendment(), &[pinned]), [] as [i64; 0]);
}

/// A row that was stored before the rule it amends.
fn stored(id: i64, new: &NewObservation) -> Observation {
    {
        let base = known(id, &new.text.title, &[]);
        Observation {
            text: ObservationText {
                narrative: new.text.narrative.clone(),
                concepts: new.text.concepts.clone(),
                ..base.text
            },
            created_at: Millis(500),
            ..base
        }
    }
}

#[test]
fn rule_stored_after_its_amendment_is_superseded() {
    let mut late = decision("merge_records keeps the latest record", &[], &[]);
    late.text.narrative = RULE.to_owned();
    let amended = stored(40, &amendment());
    assert_eq!(compared(&late, std::slice::from_ref(&amended)), (vec![], Some(40)));
    let value = Observation { created_at: Millis(500), ..known(41, "MAX_RETRIES is 5", &[]) };
    let late_value = decision("MAX_RETRIES is 3 for now", &[], &[]);
    assert_eq!(compared(&late_value, &[value]).1, Some(41));
    // The amendment already supersedes a more similar rule.
    let mut nearer = rule();
    nearer.replaced_by = Some(ObservationId(40));
    let mut vague = decision("Records have a key and a calendar day", &[], &[]);
    vague.text.narrative = "The lowercased email, the same calendar day, the record and the key are what \
        collisions are about; everything else about contacts, names, phones and syncs is open."
        .to_owned();
    assert_eq!(compared(&vague, &[amended, nearer]).1, None);
}
