//! Joining, roles, devices and the audit log.

use claude_mem_wire::messages::{
    AuditPage, DeviceInfo, InviteReply, InviteRequest, JoinReply, JoinRequest, MeReply, MemberInfo,
    MemberPatch, SpaceRequest,
};
use claude_mem_wire::{ErrorCode, InviteSecret, MemberRole, routes};

use crate::support::{TestDevice, TestService, json, random_token, record, request};

macro_rules! team {
    ($cluster:ident, $server:ident, $mira:ident) => {
        let Some(build) = rig::postgres::newest_or_skip() else { return };
        let $cluster = build.start();
        let $server = TestService::start(&$cluster);
        let $mira = $server.first_admin();
    };
}

fn invite(device: &TestDevice, wanted: &InviteRequest) -> InviteReply {
    device.post(routes::INVITES, wanted).unwrap()
}

fn new_member(handle: Option<&str>) -> InviteRequest {
    InviteRequest::Member { role: MemberRole::Member, handle: handle.map(str::to_owned) }
}

#[test]
fn invite_works_once_and_a_lost_answer_can_be_repeated() {
    team!(cluster, server, mira);
    let secret = invite(&mira, &new_member(None)).secret;
    let body = JoinRequest {
        secret: secret.clone(),
        token: random_token(),
        handle: "jonas".to_owned(),
        name: "Jonas\u{202e} <b>".to_owned(),
        device: "desk".to_owned(),
    };
    let url = format!("{}{}", server.base(), routes::JOIN);
    let first: JoinReply = request("POST", &url, None, Some(json(&body))).unwrap();
    assert_eq!((first.member.handle.as_str(), first.member.name.as_str()), ("jonas", "Jonas b"));
    let again: JoinReply = request("POST", &url, None, Some(json(&body))).unwrap();
    assert_eq!(again, first, "the same device gets the same answer");
    let (status, error) = TestDevice::join(&server.base(), secret, "thief").unwrap_err();
    assert_eq!((status, error.error), (410, ErrorCode::InviteInvalid));
    assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.members"), "2");
    assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.devices"), "2");

    // Secrets and tokens are not stored.
    let dump =
        cluster.psql("SELECT d::text FROM claude_mem.devices d; SELECT i::text FROM claude_mem.invites i");
    assert!(!dump.contains(&body.token.reveal()) && !dump.contains(&body.secret.reveal()));
}

#[test]
fn invites_of_the_past_and_of_the_revoked_are_void() {
    team!(cluster, server, mira);
    let unknown = TestDevice::join(&server.base(), InviteSecret::from_random([3; 16]), "x").unwrap_err();
    assert_eq!(unknown.1.error, ErrorCode::InviteInvalid);
    let old = invite(&mira, &new_member(Some("old"))).secret;
    cluster.psql("UPDATE claude_mem.invites SET expires_at = 5");
    assert_eq!(TestDevice::join(&server.base(), old, "x").unwrap_err().0, 410);

    let vera = mira.invite("vera", MemberRole::Admin);
    let hers = invite(&vera, &new_member(Some("friend"))).secret;
    let machine = invite(&vera, &InviteRequest::Me).secret;
    let path = routes::member_path(vera.joined.member.id);
    let revoked: MemberInfo =
        mira.send("PATCH", &path, &MemberPatch { revoked: true, ..MemberPatch::default() }).unwrap();
    assert!(revoked.left_at.is_some());
    for secret in [hers, machine] {
        assert_eq!(TestDevice::join(&server.base(), secret, "x").unwrap_err().0, 410);
    }
    let (status, error) = vera.get::<MeReply>(routes::ME).unwrap_err();
    assert_eq!((status, error.error), (401, ErrorCode::Revoked));
    // The handle is free again.
    assert_eq!(mira.invite("vera", MemberRole::Member).joined.member.handle, "vera");
}

#[test]
fn invites_end_with_the_right_to_invite() {
    team!(cluster, server, mira);
    let _ = &cluster;
    let vera = mira.invite("vera", MemberRole::Admin);
    let desk = TestDevice::join(&server.base(), invite(&vera, &InviteRequest::Me).secret, "x").unwrap();
    let (friend, machine) =
        (invite(&desk, &new_member(None)).secret, invite(&desk, &InviteRequest::Me).secret);
    let admin = InviteRequest::Member { role: MemberRole::Admin, handle: None };
    let (another, own) = (invite(&vera, &admin).secret, invite(&vera, &InviteRequest::Me).secret);

    // A lost machine: whoever found it may have invited before it was removed.
    let _: DeviceInfo = vera.delete(&routes::device_path(desk.joined.device)).unwrap();
    for secret in [friend, machine] {
        assert_eq!(TestDevice::join(&server.base(), secret, "thief").unwrap_err().0, 410);
    }
    // Somebody who is no administrator any more does not come back as one.
    let path = routes::member_path(vera.joined.member.id);
    let patch = MemberPatch { role: Some(MemberRole::Member), ..MemberPatch::default() };
    mira.send::<MemberInfo>("PATCH", &path, &patch).unwrap();
    assert_eq!(TestDevice::join(&server.base(), another, "again").unwrap_err().0, 410);
    let laptop = TestDevice::join(&server.base(), own, "x").unwrap();
    assert_eq!(laptop.joined.member.role, MemberRole::Member, "an own machine has the role of today");
}

#[test]
fn new_projects_of_a_day_are_bounded() {
    team!(cluster, server, mira);
    let _ = &server;
    let jonas = mira.invite("jonas", MemberRole::Member);
    let known = jonas.project("app").id;
    let used = claude_mem_wire::limits::SPACE_KEYS_PER_DAY_MAX - 1;
    cluster.psql(&format!("UPDATE claude_mem.usage SET space_keys = {used}"));
    jonas.project("last");
    let keys = vec!["remote:github.com/acme/flood".to_owned()];
    let flood = SpaceRequest::Project { keys, name: "flood".to_owned() };
    let refused: Result<claude_mem_wire::messages::SpaceInfo, _> = jonas.post(routes::SPACES, &flood);
    assert_eq!(refused.unwrap_err().0, 403);
    assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.spaces"), "2", "nothing of it stays");
    assert_eq!(jonas.project("app").id, known, "known projects are found");
    assert_eq!(mira.project("hers").name, "hers");
}

#[test]
fn handles_are_unique_and_plain() {
    team!(cluster, server, mira);
    let _ = &cluster;
    let secret = invite(&mira, &new_member(None)).secret;
    let taken = TestDevice::join(&server.base(), secret.clone(), "mira").unwrap_err();
    assert_eq!(taken.1.error, ErrorCode::HandleTaken);
    let odd = TestDevice::join(&server.base(), secret.clone(), "Mira Vogt").unwrap_err();
    assert_eq!(odd.1.error, ErrorCode::BadRequest);
    assert!(TestDevice::join(&server.base(), secret, "jonas").is_ok(), "failures do not use up the invite");
}

#[test]
fn second_machine_is_the_same_member() {
    team!(cluster, server, mira);
    let _ = &cluster;
    let jonas = mira.invite("jonas", MemberRole::Member);
    let secret = invite(&jonas, &InviteRequest::Me).secret;
    let desk = TestDevice::join(&server.base(), secret, "somebody-else").unwrap();
    assert_eq!(desk.joined.member, jonas.joined.member);
    let own = jonas.own_space().id;
    assert_eq!(desk.own_space().id, own);
    jonas.push(own, &[record(1, 1, "note")]);
    assert_eq!(desk.pull_all(own).len(), 1);
    let edited = desk.push(own, &[record(1, 2, "from the desk")]);
    assert_eq!(edited.outcomes[0].refused, None, "both machines are the author");

    let gone: DeviceInfo = desk.delete(&routes::device_path(desk.joined.device)).unwrap();
    assert!(gone.revoked_at.is_some());
    assert_eq!(desk.get::<MeReply>(routes::ME).unwrap_err().1.error, ErrorCode::Revoked);
    assert!(jonas.get::<MeReply>(routes::ME).is_ok());
}

#[test]
fn roles_allow_what_they_say() {
    team!(cluster, server, mira);
    let _ = (&cluster, &server);
    let space = mira.project("app").id;
    mira.push(space, &[record(1, 1, "one")]);
    let reader = mira.invite("rea", MemberRole::Reader);
    let bot = mira.invite("ci", MemberRole::Bot);
    let member = mira.invite("jonas", MemberRole::Member);

    assert_eq!(reader.pull_all(space).len(), 1);
    assert_eq!(reader.try_push(space, &[record(2, 1, "x")]).unwrap_err().0, 403);
    assert_eq!(bot.push(space, &[record(3, 1, "found in CI")]).outcomes[0].refused, None);
    for device in [&reader, &bot] {
        assert_eq!(device.project("app").id, space, "an existing space is found");
        let keys = vec!["remote:github.com/acme/new".to_owned()];
        let fresh = SpaceRequest::Project { keys, name: "new".to_owned() };
        let made: Result<claude_mem_wire::messages::SpaceInfo, _> = device.post(routes::SPACES, &fresh);
        assert_eq!(made.unwrap_err().0, 404);
        let own: Result<claude_mem_wire::messages::SpaceInfo, _> =
            device.post(routes::SPACES, &SpaceRequest::Own);
        assert_eq!(own.unwrap_err().0, 403);
    }
    for device in [&reader, &bot, &member] {
        assert_eq!(device.post::<InviteReply>(routes::INVITES, &new_member(None)).unwrap_err().0, 403);
        assert_eq!(device.get::<AuditPage>(routes::AUDIT).unwrap_err().0, 403);
        let path = routes::member_path(device.joined.member.id);
        let promotion = MemberPatch { role: Some(MemberRole::Admin), ..MemberPatch::default() };
        assert_eq!(device.send::<MemberInfo>("PATCH", &path, &promotion).unwrap_err().0, 403);
        let renamed = MemberPatch { name: Some("New Name".to_owned()), ..MemberPatch::default() };
        assert_eq!(device.send::<MemberInfo>("PATCH", &path, &renamed).unwrap().name, "New Name");
        let other = routes::member_path(mira.joined.member.id);
        assert_eq!(device.send::<MemberInfo>("PATCH", &other, &renamed).unwrap_err().0, 403);
        let devices = routes::device_path(mira.joined.device);
        assert_eq!(device.delete::<DeviceInfo>(&devices).unwrap_err().0, 404, "it cannot even be seen");
    }
    let me: MeReply = member.get(routes::ME).unwrap();
    assert_eq!(me.devices.len(), 1, "a member sees own devices only");
    assert_eq!(me.members.len(), 4);
    assert!(mira.get::<MeReply>(routes::ME).unwrap().devices.len() >= 4);
}

#[test]
fn team_keeps_an_administrator_and_a_log() {
    team!(cluster, server, mira);
    let _ = (&cluster, &server);
    let own = routes::member_path(mira.joined.member.id);
    for patch in [
        MemberPatch { role: Some(MemberRole::Member), ..MemberPatch::default() },
        MemberPatch { revoked: true, ..MemberPatch::default() },
    ] {
        let (status, error) = mira.send::<MemberInfo>("PATCH", &own, &patch).unwrap_err();
        assert_eq!((status, error.error), (409, ErrorCode::LastAdmin));
    }
    let jonas = mira.invite("jonas", MemberRole::Member);
    let path = routes::member_path(jonas.joined.member.id);
    let promotion = MemberPatch { role: Some(MemberRole::Admin), ..MemberPatch::default() };
    assert_eq!(mira.send::<MemberInfo>("PATCH", &path, &promotion).unwrap().role, MemberRole::Admin);
    let resign = MemberPatch { role: Some(MemberRole::Member), ..MemberPatch::default() };
    assert_eq!(mira.send::<MemberInfo>("PATCH", &own, &resign).unwrap().role, MemberRole::Member);

    let page: AuditPage = jonas.get(&format!("{}?limit=2", routes::AUDIT)).unwrap();
    assert!(page.more);
    let before = page.entries.last().unwrap().id;
    let rest: AuditPage = jonas.get(&format!("{}?before={before}", routes::AUDIT)).unwrap();
    let actions: Vec<_> =
        page.entries.iter().chain(&rest.entries).map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions, ["role", "role", "join", "invite", "join", "invite", "team"]);
}
