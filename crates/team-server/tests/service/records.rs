//! Push, pull, names and long polls.

use std::io::Write as _;

use claude_mem_wire::limits::{PUSH_RECORDS_MAX, RECORD_BODY_BYTES_MAX, RECORDS_PER_DAY_MAX};
use claude_mem_wire::messages::{
    MeReply, NamesPage, PushReply, PushRequest, RetractReply, RetractRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{ErrorCode, MemberRole, RecordHash, RecordKind, RefusalReason, WireRecord, routes};

use crate::support::{TestDevice, TestService, json, raw_request, record, removal, uid, version};

/// A cluster, a service and its first administrator.
macro_rules! team {
    ($cluster:ident, $server:ident, $mira:ident) => {
        let Some(build) = rig::postgres::newest_or_skip() else { return };
        let $cluster = build.start();
        let $server = TestService::start(&$cluster);
        let $mira = $server.first_admin();
    };
}

#[test]
fn records_reach_a_colleague_on_every_version() {
    let builds = rig::postgres::builds();
    if builds.is_empty() {
        rig::skip("PostgreSQL is not installed; `cargo xtask test` installs it");
    }
    for build in builds {
        println!("PostgreSQL {}", build.major);
        let cluster = build.start();
        let server = TestService::start(&cluster);
        let mira = server.first_admin();
        let jonas = mira.invite("jonas", MemberRole::Member);
        let space = mira.project("app").id;
        assert_eq!(jonas.project("app").id, space, "the same remote is the same space");

        let batch = [record(1, 1, "one"), record(2, 1, "two"), record(3, 1, "three")];
        let first = mira.push(space, &batch);
        assert_eq!((first.state.head, first.state.live), (3, 3));
        let again = mira.push(space, &batch);
        assert_eq!(again.outcomes, first.outcomes);
        assert_eq!(again.state, first.state, "a repeated push changes nothing");

        let received = jonas.pull_all(space);
        assert_eq!(received.len(), 3);
        let two = &received[&uid(2)];
        assert_eq!(two.record, batch[1]);
        assert_eq!((two.author, two.device), (mira.joined.member.id, mira.joined.device));
        assert!(two.received_at > 1_000);
    }
}

#[test]
fn newer_versions_win_and_removal_is_final() {
    team!(cluster, server, mira);
    let space = mira.project("app").id;
    mira.push(space, &[record(1, 1, "one"), record(2, 1, "two"), record(3, 1, "three")]);

    let edit = mira.push(space, &[record(1, 2, "better")]);
    assert_eq!(edit.outcomes[0].stored, Some(version(2, "better")));
    let late = mira.push(space, &[record(1, 1, "one")]);
    assert_eq!(late.outcomes[0].stored, Some(version(2, "better")), "the answer names what is stored");
    assert_eq!(late.state, edit.state);

    mira.push(space, &[removal(2, 2)]);
    let revived = mira.push(space, &[record(2, 9, "again")]);
    assert_eq!(revived.outcomes[0].stored, Some(removal(2, 2).version()));
    assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.records WHERE body LIKE '%two%'"), "0");

    let all = mira.pull_all(space);
    assert!(all[&uid(2)].record.gone);
    // The first walk: newest first, without tombstones.
    let head = mira.page(space, "after=0").state.head;
    let page = mira.page(space, &format!("before={}&limit=1", head + 1));
    assert_eq!((page.records[0].record.uid, page.more), (uid(1), true));
    let page = mira.page(space, &format!("before={}", page.records[0].seq));
    assert_eq!(page.records.iter().map(|pulled| pulled.record.uid).collect::<Vec<_>>(), [uid(3)]);
    let named = mira.page(space, &format!("uids={},{}", uid(3), uid(77)));
    assert_eq!(named.records.len(), 1);
}

#[test]
fn names_are_paged_by_id() {
    team!(cluster, server, mira);
    let _ = &cluster;
    let space = mira.project("app").id;
    mira.push(space, &[record(3, 1, "c"), record(1, 1, "a"), record(2, 1, "b")]);
    mira.push(space, &[removal(2, 2)]);
    let path = routes::names_path(space);
    let first: NamesPage = mira.get(&format!("{path}?limit=2")).unwrap();
    assert_eq!(
        first.names.iter().map(|name| (name.uid, name.gone)).collect::<Vec<_>>(),
        [(uid(1), false), (uid(2), true)]
    );
    assert!(first.more);
    let rest: NamesPage = mira.get(&format!("{path}?after={}", uid(2))).unwrap();
    assert_eq!((rest.names.len(), rest.names[0].uid, rest.more), (1, uid(3), false));
    assert_eq!(rest.names[0].version(), version(1, "c"));
}

#[test]
fn refused_records_do_not_stop_the_others() {
    team!(cluster, server, mira);
    let jonas = mira.invite("jonas", MemberRole::Member);
    let space = mira.project("app").id;
    mira.push(space, &[record(1, 1, "hers")]);
    jonas.own_space();
    jonas.push(jonas.own_space().id, &[record(50, 1, "his own")]);

    let long = "x".repeat(RECORD_BODY_BYTES_MAX);
    let prompt = WireRecord { kind: RecordKind::PROMPT, ..record(14, 1, "a prompt") };
    let wrong_hash = WireRecord { hash: RecordHash([9; 16]), ..record(12, 1, "x") };
    let newer = WireRecord { v: 7, ..record(15, 1, "new format") };
    mira.push(space, std::slice::from_ref(&newer));
    for (device, sent, want) in [
        (&jonas, record(1, 2, "his edit"), RefusalReason::NotAuthor),
        (&jonas, removal(1, 2), RefusalReason::NotAuthor),
        (&mira, record(11, 1, &long), RefusalReason::TooLarge),
        (&mira, wrong_hash, RefusalReason::HashMismatch),
        (&mira, record(13, 0, "x"), RefusalReason::Malformed),
        (&mira, prompt, RefusalReason::KindNotShared),
        (&mira, record(15, 2, "old format"), RefusalReason::NewerFormat),
        (&mira, record(50, 9, "squatting"), RefusalReason::UidTaken),
    ] {
        let good = record(sent.uid.0.as_u128() + 1_000, 1, "good");
        let reply = device.push(space, &[sent.clone(), good.clone()]);
        assert_eq!(reply.outcomes[0].refused, Some(want), "{sent:?}");
        assert_eq!(reply.outcomes[1].stored, Some(good.version()));
        device.pull_all(space);
    }
    let twice = mira.push(space, &[record(90, 1, "a"), record(90, 2, "b")]);
    assert_eq!(twice.outcomes[1].refused, Some(RefusalReason::Malformed));
    // An administrator removes what others wrote.
    let removed = mira.push(jonas.project("app").id, &[removal(1_001, 2)]);
    assert_eq!(removed.outcomes[0].refused, None);
    assert_eq!(jonas.pull_all(jonas.own_space().id).len(), 1);
    let _ = &cluster;
}

#[test]
fn own_records_move_into_a_project() {
    team!(cluster, server, mira);
    let _ = &cluster;
    let (own, app) = (mira.own_space().id, mira.project("app").id);
    let prompt = WireRecord { kind: RecordKind::PROMPT, ..record(9, 1, "a prompt") };
    mira.push(own, &[record(1, 1, "one"), record(2, 1, "two"), prompt]);
    let moved = mira.push(app, &[record(1, 1, "one")]);
    assert_eq!(moved.outcomes[0].stored, Some(version(1, "one")));
    assert_eq!(mira.pull_all(app).len(), 1);
    assert_eq!(mira.pull_all(own).len(), 2);
    let back = mira.push(own, &[record(1, 2, "one")]);
    assert_eq!(back.outcomes[0].refused, Some(RefusalReason::UidTaken));
}

#[test]
fn quota_of_a_day_is_kept_and_removal_is_free() {
    team!(cluster, server, mira);
    let space = mira.project("app").id;
    mira.push(space, &[record(1, 1, "one")]);
    cluster.psql(&format!("UPDATE claude_mem.usage SET records = {}", RECORDS_PER_DAY_MAX - 1));
    let reply =
        mira.push(space, &[record(2, 1, "two"), record(3, 1, "three"), removal(1, 2), record(2, 1, "two")]);
    let refused: Vec<_> = reply.outcomes.iter().map(|outcome| outcome.refused).collect();
    assert_eq!(refused, [None, Some(RefusalReason::QuotaExceeded), None, Some(RefusalReason::Malformed)]);
    assert_eq!(mira.pull_all(space).len(), 2);
    // Removals that remove nothing would be a flood without an end.
    let reply = mira.push(space, &[removal(1, 3), removal(4, 1), removal(2, 2)]);
    let refused: Vec<_> = reply.outcomes.iter().map(|outcome| outcome.refused).collect();
    let exceeded = Some(RefusalReason::QuotaExceeded);
    assert_eq!(refused, [exceeded, exceeded, None]);
    assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.records"), "2");
}

#[test]
fn oversized_and_compressed_requests_are_bounded() {
    team!(cluster, server, mira);
    let _ = &cluster;
    let space = mira.project("app").id;
    let url = format!("{}{}", mira.base, routes::push_path(space));
    let many: Vec<_> = (0..=PUSH_RECORDS_MAX as u128).map(|n| record(n + 1, 1, "x")).collect();
    let (status, error) = mira.try_push(space, &many).unwrap_err();
    assert_eq!((status, error.error), (413, ErrorCode::TooLarge));

    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let encoding = [("content-encoding", "gzip")];
    let bomb = gzip(&vec![b' '; 200 << 20]);
    assert!(bomb.len() < 1 << 20);
    let (status, _) = raw_request("POST", &url, Some(&mira.token), Some(bomb), &encoding);
    assert_eq!(status, 413);
    let (status, _) = raw_request("POST", &url, Some(&mira.token), Some(vec![b' '; 3 << 20]), &[]);
    assert_eq!(status, 413);
    for broken in [&b"{"[..], b"[]", b"\xff"] {
        let (status, _) = raw_request("POST", &url, Some(&mira.token), Some(broken.to_vec()), &[]);
        assert_eq!(status, 400);
    }
    let batch = json(&PushRequest { records: vec![record(1, 1, "compressed")] });
    let (status, bytes) = raw_request("POST", &url, Some(&mira.token), Some(gzip(&batch)), &encoding);
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));

    let big = "y".repeat(60_000);
    mira.push(space, &(10..20).map(|n| record(n, 1, &big)).collect::<Vec<_>>());
    let url = format!("{}{}?after=0", mira.base, routes::records_path(space));
    let accept = [("accept-encoding", "gzip")];
    let (_, bytes) = raw_request("GET", &url, Some(&mira.token), None, &accept);
    assert!(bytes.starts_with(&[0x1f, 0x8b]), "the answer is compressed");
    assert!(bytes.len() < 100_000);
}

#[test]
fn pages_are_cut_by_bytes() {
    team!(cluster, server, mira);
    let _ = &cluster;
    let space = mira.project("app").id;
    let big = "z".repeat(65_000);
    for start in (0..90_u128).step_by(15) {
        mira.push(space, &(start..start + 15).map(|n| record(n + 1, 1, &big)).collect::<Vec<_>>());
    }
    let page = mira.page(space, "after=0");
    assert!(page.more && page.records.len() < 90, "{}", page.records.len());
    let rest = mira.page(space, &format!("after={}", page.records.last().unwrap().seq));
    assert_eq!(page.records.len() + rest.records.len(), 90);
    assert!(!rest.more);
}

#[test]
fn long_poll_is_woken_through_another_replica() {
    team!(cluster, server, mira);
    let other = TestService::start(&cluster);
    assert!(other.admin_link().is_none(), "an administrator exists");
    let space = mira.project("app").id;
    let polling = mira.through(&other);
    let waiting = std::thread::spawn(move || {
        // Comes back as soon as a page is there, or empty after its time; then it asks again.
        let request = WaitRequest { heads: [(space, 0)].into(), seconds: 25 };
        loop {
            let reply: WaitReply = polling.post(routes::WAIT, &request).unwrap();
            if let Some(state) = reply.changed.get(&space) {
                return *state;
            }
        }
    });
    let pushed = mira.push(space, &[record(1, 1, "one")]);
    assert_eq!(waiting.join().unwrap(), pushed.state);
    // A head that was given again after a restore differs as well.
    let request = WaitRequest { heads: [(space, 99)].into(), seconds: 25 };
    let reply: WaitReply = mira.post(routes::WAIT, &request).unwrap();
    assert_eq!(reply.changed[&space].head, 1);
    // Spaces that cannot be seen are left out.
    let foreign = claude_mem_wire::SpaceId(uuid::Uuid::from_u128(4));
    let request = WaitRequest { heads: [(foreign, 0)].into(), seconds: 0 };
    let reply: WaitReply = mira.post(routes::WAIT, &request).unwrap();
    assert!(reply.changed.is_empty());
}

/// Readers that page by number while several devices write into one space through two replicas miss nothing.
#[test]
fn numbers_are_given_in_commit_order() {
    const WRITERS: u128 = 4;
    const BATCHES: u128 = 15;
    team!(cluster, server, mira);
    let other = TestService::start(&cluster);
    let space = mira.project("app").id;
    let writers: Vec<TestDevice> = (0..WRITERS)
        .map(|n| mira.invite(&format!("w{n}"), MemberRole::Member))
        .map(
            |device| {
                if device.joined.member.handle.as_str() < "w2" { device } else { device.through(&other) }
            },
        )
        .collect();
    let threads: Vec<_> = (0_u128..)
        .zip(writers)
        .map(|(writer, device)| {
            std::thread::spawn(move || {
                for batch in 0..BATCHES {
                    let first = (writer * 1_000 + batch * 3) + 1;
                    let records: Vec<_> = (first..first + 3).map(|n| record(n, 1, "x")).collect();
                    let reply: PushReply = device.push(space, &records);
                    assert!(reply.outcomes.iter().all(|outcome| outcome.refused.is_none()));
                }
            })
        })
        .collect();
    let (mut seen, mut after) = (0, 0);
    let total = (WRITERS * BATCHES * 3) as usize;
    while seen < total {
        let page = mira.page(space, &format!("after={after}&limit=7"));
        for pulled in page.records {
            assert_eq!(pulled.seq, after + 1, "no number was skipped");
            after = pulled.seq;
            seen += 1;
        }
        if threads.iter().all(std::thread::JoinHandle::is_finished) && !page.more && seen < total {
            assert!(
                mira.page(space, &format!("after={after}")).records.len() + seen >= total,
                "rows were missed"
            );
        }
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(mira.pull_pages(space, 50).len(), total);
}

#[test]
fn retraction_removes_the_text_for_everybody() {
    team!(cluster, server, mira);
    let jonas = mira.invite("jonas", MemberRole::Member);
    let (app, web) = (mira.project("app").id, mira.project("web").id);
    jonas.push(app, &[record(1, 1, "mistake"), record(2, 1, "mistake")]);
    jonas.push(web, &[record(3, 1, "mistake")]);
    jonas.push(jonas.own_space().id, &[record(4, 1, "private note")]);
    mira.push(app, &[record(5, 1, "hers")]);
    let retract = |device: &TestDevice, member, space| -> Result<RetractReply, _> {
        device.post(routes::RETRACT, &RetractRequest { member, space, since: 0 })
    };
    let (status, _) = retract(&jonas, mira.joined.member.id, None).unwrap_err();
    assert_eq!(status, 403);
    assert_eq!(retract(&jonas, jonas.joined.member.id, Some(web)).unwrap().retracted, 1);
    assert_eq!(retract(&mira, jonas.joined.member.id, None).unwrap().retracted, 2);
    assert_eq!(retract(&mira, jonas.joined.member.id, None).unwrap().retracted, 0);
    assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.records WHERE body LIKE '%mistake%'"), "0");
    let all = mira.pull_all(app);
    assert!(all[&uid(1)].record.gone && !all[&uid(5)].record.gone);
    assert_eq!(jonas.pull_all(jonas.own_space().id).len(), 1, "nobody else reaches the own space");
    let me: MeReply = mira.get(routes::ME).unwrap();
    assert!(me.spaces.iter().all(|space| space.owner.is_none()));
    let late = jonas.push(app, &[record(1, 5, "mistake")]);
    assert!(late.outcomes[0].stored.unwrap().gone);
}
