use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::version::RecordHash;

/// Few values, so that equal parts are common.
fn version() -> impl Strategy<Value = RecordVersion> {
    (any::<bool>(), 1..4_u32, 0..3_u8).prop_map(|(gone, rev, hash)| RecordVersion {
        gone,
        rev,
        hash: RecordHash([hash; 16]),
    })
}

proptest! {
    #[test]
    fn merge_is_commutative_associative_and_idempotent(a in version(), b in version(), c in version()) {
        prop_assert_eq!(merge_versions(a, b), merge_versions(b, a));
        prop_assert_eq!(
            merge_versions(merge_versions(a, b), c),
            merge_versions(a, merge_versions(b, c))
        );
        prop_assert_eq!(merge_versions(a, a), a);
    }

    #[test]
    fn removal_is_absorbing(a in version(), b in version()) {
        prop_assert_eq!(merge_versions(a, b).gone, a.gone || b.gone);
    }

    /// Whatever order the author's offers arrive in, the greatest version ends up stored.
    #[test]
    fn offers_of_an_author_converge(
        (offers, shuffled) in proptest::collection::vec(version(), 1..6)
            .prop_flat_map(|offers| (Just(offers.clone()), Just(offers).prop_shuffle()))
    ) {
        let newest = offers.iter().copied().max();
        prop_assert_eq!(stored_after(&offers), newest);
        prop_assert_eq!(stored_after(&shuffled), newest);
    }
}

fn member(number: u128) -> MemberId {
    MemberId(Uuid::from_u128(number))
}

fn space(number: u128) -> SpaceId {
    SpaceId(Uuid::from_u128(number))
}

fn writer(number: u128, role: MemberRole) -> WriterIdentity {
    WriterIdentity { member: member(number), role }
}

fn copy(version: RecordVersion) -> StoredCopy {
    StoredCopy { version, v: 1, author: member(1), space: space(1), in_own_space: false }
}

fn stored_after(offers: &[RecordVersion]) -> Option<RecordVersion> {
    let mut stored: Option<StoredCopy> = None;
    for offer in offers {
        let verdict = judge_offer(writer(1, MemberRole::Member), space(1), *offer, 1, stored.as_ref());
        if verdict == OfferVerdict::Take {
            stored = Some(copy(*offer));
        }
    }
    stored.map(|stored| stored.version)
}

#[test]
fn only_the_author_changes_and_an_administrator_removes() {
    let stored = copy(RecordVersion::live(1, "{}"));
    let edit = RecordVersion::live(2, "{}");
    let removal = RecordVersion::tombstone(2);
    let refused = OfferVerdict::Refuse(RefusalReason::NotAuthor);
    for (who, offer, want) in [
        (writer(1, MemberRole::Member), edit, OfferVerdict::Take),
        (writer(1, MemberRole::Bot), removal, OfferVerdict::Take),
        (writer(2, MemberRole::Member), edit, refused),
        (writer(2, MemberRole::Member), removal, refused),
        (writer(2, MemberRole::Admin), edit, refused),
        (writer(2, MemberRole::Admin), removal, OfferVerdict::Take),
    ] {
        assert_eq!(judge_offer(who, space(1), offer, 1, Some(&stored)), want, "{who:?} {offer:?}");
    }
}

#[test]
fn older_offer_keeps_the_stored_version() {
    let stored = copy(RecordVersion::live(3, "{}"));
    let author = writer(1, MemberRole::Member);
    for offer in [RecordVersion::live(3, "{}"), RecordVersion::live(2, "{\"a\":1}")] {
        assert_eq!(judge_offer(author, space(1), offer, 1, Some(&stored)), OfferVerdict::KeepStored);
    }
}

#[test]
fn newer_format_is_never_overwritten_but_may_be_removed() {
    let stored = StoredCopy { v: 2, ..copy(RecordVersion::live(1, "{}")) };
    let author = writer(1, MemberRole::Member);
    let judge = |offer| judge_offer(author, space(1), offer, 1, Some(&stored));
    assert_eq!(judge(RecordVersion::live(2, "{}")), OfferVerdict::Refuse(RefusalReason::NewerFormat));
    assert_eq!(judge(RecordVersion::tombstone(2)), OfferVerdict::Take);
}

#[test]
fn records_move_out_of_the_own_space_only() {
    let own = StoredCopy { in_own_space: true, ..copy(RecordVersion::live(1, "{}")) };
    let team = copy(RecordVersion::live(1, "{}"));
    let author = writer(1, MemberRole::Member);
    let taken = OfferVerdict::Refuse(RefusalReason::UidTaken);
    let same = RecordVersion::live(1, "{}");
    assert_eq!(judge_offer(author, space(2), same, 1, Some(&own)), OfferVerdict::Take);
    assert_eq!(judge_offer(author, space(2), same, 1, Some(&team)), taken);
    assert_eq!(judge_offer(writer(2, MemberRole::Admin), space(2), same, 1, Some(&own)), taken);
    let removed = StoredCopy { version: RecordVersion::tombstone(1), ..own };
    assert_eq!(judge_offer(author, space(2), same, 1, Some(&removed)), taken);
}

#[test]
fn reason_of_a_newer_server_is_understood() {
    let reason: RefusalReason = serde_json::from_str("\"moon_phase\"").unwrap();
    assert_eq!(reason, RefusalReason::Unknown);
}
