use serde_json::json;

use super::*;

#[test]
fn requests_have_the_documented_form() {
    let project: SpaceRequest = serde_json::from_value(
        json!({"of": "project", "keys": ["remote:github.com/acme/app"], "name": "app"}),
    )
    .unwrap();
    assert!(matches!(project, SpaceRequest::Project { .. }));
    assert_eq!(serde_json::to_value(SpaceRequest::Own).unwrap(), json!({"of": "own"}));
    let invite = InviteRequest::Member { role: MemberRole::Bot, handle: None };
    assert_eq!(serde_json::to_value(invite).unwrap(), json!({"for": "member", "role": "bot"}));
    let patch: MemberPatch = serde_json::from_value(json!({"revoked": true})).unwrap();
    assert_eq!(patch, MemberPatch { revoked: true, ..MemberPatch::default() });
}

#[test]
fn unknown_fields_of_newer_versions_are_ignored() {
    let state: SpaceState =
        serde_json::from_value(json!({"head": 3, "live": 2, "digest": "00000000000000ff", "new": [1]}))
            .unwrap();
    assert_eq!(state, SpaceState { head: 3, live: 2, digest: SpaceDigest(255) });
}

#[test]
fn heads_of_a_wait_are_a_map_by_space() {
    let space = SpaceId(uuid::Uuid::from_u128(5));
    let request = WaitRequest { heads: [(space, 9)].into(), seconds: 20 };
    let value = serde_json::to_value(&request).unwrap();
    assert_eq!(value, json!({"heads": {"00000000-0000-0000-0000-000000000005": 9}, "seconds": 20}));
    assert_eq!(serde_json::from_value::<WaitRequest>(value).unwrap(), request);
}
