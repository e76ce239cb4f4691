use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::version::RecordHash;

fn record() -> impl Strategy<Value = (RecordUid, RecordVersion)> {
    (any::<u128>(), 1..9_u32, any::<[u8; 16]>(), any::<bool>()).prop_map(|(uid, rev, hash, gone)| {
        let uid = RecordUid(Uuid::from_u128(uid));
        (uid, RecordVersion { gone, rev, hash: RecordHash(hash) })
    })
}

proptest! {
    #[test]
    fn order_of_records_does_not_matter(
        (records, shuffled) in proptest::collection::vec(record(), 0..20)
            .prop_flat_map(|records| (Just(records.clone()), Just(records).prop_shuffle()))
    ) {
        prop_assert_eq!(SpaceDigest::from_iter(records), SpaceDigest::from_iter(shuffled));
    }

    #[test]
    fn changes_lead_to_the_digest_of_the_result(
        kept in proptest::collection::vec(record(), 0..8),
        (uid, before) in record(),
        (_, after) in record(),
    ) {
        let with = |version| kept.iter().copied().chain([(uid, version)]).collect::<SpaceDigest>();
        let changed = with(before).after_change(uid, Some(before), Some(after));
        prop_assert_eq!(changed, with(after));
        let removed = changed.after_change(uid, Some(after), None);
        prop_assert_eq!(removed, SpaceDigest::from_iter(kept.clone()));
    }
}

#[test]
fn tombstones_do_not_count_and_versions_do() {
    let uid = RecordUid(Uuid::from_u128(7));
    let empty = SpaceDigest::default();
    assert_eq!(empty.after_change(uid, None, Some(RecordVersion::tombstone(3))), empty);
    let one = empty.after_change(uid, None, Some(RecordVersion::live(1, "{}")));
    let two = empty.after_change(uid, None, Some(RecordVersion::live(2, "{}")));
    assert_ne!(one, empty);
    assert_ne!(one, two);
}

/// The algorithm is part of the protocol: another value here means that no old client is ever in step.
#[test]
fn algorithm_is_fixed() {
    let uid = RecordUid(Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001));
    let digest = SpaceDigest::from_iter([(uid, RecordVersion::live(1, "{\"title\":\"a\"}"))]);
    assert_eq!(serde_json::to_string(&digest).unwrap(), "\"3a232b3761f3cfe3\"");
    assert_eq!(SpaceDigest::from_bits_signed(digest.to_bits_signed()), digest);
}
