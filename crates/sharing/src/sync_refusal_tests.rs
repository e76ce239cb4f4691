//! What the server, or something on the way to it, does not let through holds up nothing else.

use crate::sync_tests::{NOW, TestMachine, two_members};
use claude_mem_core::ids::PublicId;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::{MemoryLevel, NewSpace, ShareState, SpaceMode};
use claude_mem_wire::messages::{PushRequest, SpaceRequest};
use claude_mem_wire::{MemberRole, RecordKind, RecordUid, WireRecord};

#[test]
fn removal_is_sent_although_the_quota_is_used_up() {
    let (data, mira, jonas) = two_members();
    let rows: Vec<_> = (0..40).map(|number| mira.decide(&format!("Decision {number}"))).collect();
    // Its id is the last one.
    let secret = mira.decide("Marmots guard the vault");
    assert!(mira.sync().in_step && jonas.sync().in_step);
    for (number, row) in rows.into_iter().enumerate() {
        mira.edit(row, &format!("Edited decision {number}"));
    }
    mira.forget(secret);
    mira.server.push_records_max.set(10);
    data.lock().quota = Some(5);
    assert!(mira.sync().quota_exceeded);
    jonas.sync();
    let edited =
        |machine: &TestMachine| machine.titles().iter().filter(|title| title.starts_with("Edited")).count();
    assert_eq!((jonas.titles().len(), edited(&jonas)), (40, 5), "{:?}", jonas.titles());
    // The next day takes the rest.
    data.lock().quota = None;
    mira.sync();
    jonas.sync();
    assert_eq!(edited(&jonas), 40);
    assert!(mira.sync().in_step);
}

#[test]
fn member_who_became_a_reader_still_receives() {
    let (data, mira, jonas) = two_members();
    jonas.sync();
    jonas.decide("Jonas rounds down");
    data.lock().members[1].role = MemberRole::Reader;
    jonas.server.refuses_pushes.set(true);
    mira.decide("Round invoices up");
    mira.sync();
    let report = jonas.sync();
    assert!(jonas.titles().contains(&"Round invoices up".to_owned()));
    assert!(report.in_step, "nothing is left that a reader could do");
    assert_eq!(mira.titles(), ["Round invoices up"]);
    // A member again: what was decided meanwhile leaves.
    data.lock().members[1].role = MemberRole::Member;
    jonas.server.refuses_pushes.set(false);
    jonas.sync();
    mira.sync();
    assert_eq!(mira.titles(), ["Jonas rounds down", "Round invoices up"]);
}

#[test]
fn one_record_that_is_too_large_on_the_way_holds_up_no_other() {
    let (_data, mira, jonas) = two_members();
    let long = NewObservation::from_text(
        ObservationText {
            narrative: "The vault is deep. ".repeat(400),
            ..ObservationText::new(ObservationType::DECISION, "Describe the vault")
        },
        Origin::User,
        NOW,
    );
    let long = mira.save(&long, MemoryLevel::Project);
    mira.server.push_bytes_max.set(6_000);
    for number in 0..5 {
        mira.decide(&format!("Decision {number}"));
    }
    assert_eq!(mira.sync().refused, 1);
    jonas.sync();
    assert_eq!(jonas.titles().len(), 5);
    let share = mira.store.lock().unwrap().read().share_of_row(long).unwrap().unwrap();
    assert_eq!((share.state, share.why.as_str()), (ShareState::Refused, "too large"));
}

#[test]
fn pushes_that_time_out_are_halved() {
    let (_data, mira, jonas) = two_members();
    for number in 0..40 {
        mira.decide(&format!("Decision {number}"));
    }
    mira.server.push_records_max.set(6);
    mira.server.is_silent_when_too_large.set(true);
    mira.sync();
    jonas.sync();
    assert_eq!(jonas.titles().len(), 40);
}

#[test]
fn damaged_space_holds_up_no_other() {
    let (data, mira, jonas) = two_members();
    mira.decide("Round invoices up");
    mira.sync();
    let uid = *data.lock().records.keys().next().unwrap();
    data.lock().records.get_mut(&uid).unwrap().1.record.hash = claude_mem_wire::RecordHash([1; 16]);
    // Jonas's own machines have a space, too.
    let own = data.lock().space(jonas.server.inner.member, &SpaceRequest::Own).id;
    let share_own = |machine: &TestMachine| {
        let new = NewSpace {
            uid: PublicId(own.0),
            own: true,
            project: None,
            mode: SpaceMode::Auto,
            history: true,
            generation: String::new(),
        };
        machine.store.lock().unwrap().write(|tx| tx.put_space(&new)).unwrap();
    };
    let desk = TestMachine::unshared(&data, jonas.server.inner.member);
    share_own(&jonas);
    share_own(&desk);
    desk.decide("The desk decides");
    desk.sync();
    assert!(matches!(jonas.round(), Err(crate::SharingError::InvalidAnswer(_))));
    assert!(jonas.titles().contains(&"The desk decides".to_owned()), "{:?}", jonas.titles());
}

/// A server went back to a backup that lacks a record. A member who knows the record's id takes it.
#[test]
fn member_who_takes_the_id_of_a_lost_record_gains_nothing() {
    for is_removal in [false, true] {
        let (data, mira, jonas) = two_members();
        let before = data.lock().clone();
        let row = mira.decide("Round invoices up");
        assert!(mira.sync().in_step && jonas.sync().in_step);
        let uid = RecordUid(mira.store.lock().unwrap().read().public_id_of(row).unwrap().0);
        *data.lock() = before;
        assert!(!data.lock().records.contains_key(&uid), "the record is lost");
        let lena = data.lock().add_member("lena", MemberRole::Member);
        let json = r#"{"type":"decision","title":"Round invoices down","origin":"user","created_at":1}"#;
        let body = claude_mem_wire::RecordBody::from_json(json.to_owned()).unwrap();
        let record = if is_removal {
            WireRecord::tombstone(uid, RecordKind::OBSERVATION, 9, NOW.0, 1)
        } else {
            WireRecord::live(uid, RecordKind::OBSERVATION, 9, NOW.0, 1, body)
        };
        let request = PushRequest { records: vec![record] };
        data.lock().push(lena, NOW.0, mira.space, &request);
        for _ in 0..4 {
            mira.sync();
            jonas.sync();
        }
        let own = mira.rows().into_iter().find(|row| row.member.is_none()).unwrap();
        assert_eq!(own.text.title, "Round invoices up");
        let told = jonas.rows().into_iter().filter(|row| row.text.title == "Round invoices up");
        assert!(told.clone().all(|row| row.member.is_some()) && told.count() == 1, "{:?}", jonas.titles());
        assert!(mira.sync().in_step && jonas.sync().in_step, "removal: {is_removal}");
    }
}

/// A colleague's program is newer than this one, and later this one is updated.
#[test]
fn records_of_a_newer_program_wait_for_the_update() {
    let (data, mira, jonas) = two_members();
    let row = jonas.decide("Round invoices up");
    jonas.decide("Round tips up");
    jonas.sync();
    let uid = RecordUid(jonas.store.lock().unwrap().read().public_id_of(row).unwrap().0);
    let old = data.lock().records[&uid].1.record.clone();
    data.lock().records.get_mut(&uid).unwrap().1.record.v += 1;
    let report = mira.sync();
    assert_eq!((report.received, report.aside, report.in_step), (1, 1, true));
    assert_eq!(mira.titles(), ["Round tips up"]);
    // The update understands the format.
    data.lock().records.get_mut(&uid).unwrap().1.record = old;
    assert_eq!(mira.sync().received, 0, "nothing is fetched again while the program is the same");
    assert_eq!(mira.first_sync().received, 1);
    assert_eq!(mira.titles(), ["Round invoices up", "Round tips up"]);
    assert!(mira.sync().in_step);
}
