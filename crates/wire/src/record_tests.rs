use uuid::Uuid;

use super::*;

fn record(body: &str) -> WireRecord {
    let body = RecordBody::from_json(body.to_owned()).unwrap();
    WireRecord::live(RecordUid(Uuid::from_u128(1)), RecordKind::OBSERVATION, 1, 1_000, 1, body)
}

#[test]
fn body_keeps_its_bytes() {
    let body = r#"{"title":"a b","n": 1.50,"title":"\u0041"}"#;
    let sent = PulledRecord {
        seq: 4,
        author: MemberId(Uuid::nil()),
        device: DeviceId(Uuid::nil()),
        received_at: 2,
        record: record(body),
    };
    let text = serde_json::to_string(&sent).unwrap();
    let received: PulledRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(received.record.body.as_ref().unwrap().as_str(), body);
    assert_eq!(received, sent);
    assert_eq!(received.record.check(), Ok(()));
}

#[test]
fn broken_records_are_named() {
    let good = record("{}");
    let long = format!("{{\"t\":\"{}\"}}", "x".repeat(RECORD_BODY_BYTES_MAX));
    let mut gone = WireRecord::tombstone(good.uid, good.kind, 2, 1_000, 1);
    assert_eq!(gone.check(), Ok(()));
    gone.hash = good.hash;
    for (broken, want) in [
        (WireRecord { rev: 0, ..good.clone() }, RefusalReason::Malformed),
        (WireRecord { rev: u32::MAX, ..good.clone() }, RefusalReason::Malformed),
        (WireRecord { v: u16::MAX, ..good.clone() }, RefusalReason::Malformed),
        (WireRecord { body: None, ..good.clone() }, RefusalReason::Malformed),
        (WireRecord { gone: true, ..good.clone() }, RefusalReason::Malformed),
        (WireRecord { hash: RecordHash([1; 16]), ..good.clone() }, RefusalReason::HashMismatch),
        (gone, RefusalReason::HashMismatch),
        (record(&long), RefusalReason::TooLarge),
    ] {
        assert_eq!(broken.check(), Err(want), "{broken:?}");
    }
}

#[test]
fn body_that_is_not_json_is_refused() {
    assert!(RecordBody::from_json("{\"a\":".to_owned()).is_err());
}
