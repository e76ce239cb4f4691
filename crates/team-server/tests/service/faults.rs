//! Replicas and the database are killed while members write through proxies that cut connections. Replicas are
//! processes; the clocks of two of them are a year off.
//!
//! `CLAUDE_MEM_FAULTS=long` (`cargo xtask faults team`) runs the long form.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use claude_mem_wire::messages::{PushReply, PushRequest, RecordsPage};
use claude_mem_wire::{MemberRole, RecordUid, RecordVersion, SpaceId, WireRecord, routes};
use rig::hostile_proxy::{HostileProxy, SeededRandom};
use rig::postgres::PostgresCluster;

use crate::program::ServeProcess;
use crate::support::{TestDevice, json, record, removal, try_request};

/// How much happens in one run.
struct FaultPlan {
    replicas: usize,
    writers: usize,
    batches: u128,
    crashes: u64,
}

impl FaultPlan {
    fn from_env() -> Self {
        if std::env::var("CLAUDE_MEM_FAULTS").is_ok_and(|length| length == "long") {
            Self { replicas: 3, writers: 20, batches: 120, crashes: 150 }
        } else {
            Self { replicas: 3, writers: 6, batches: 12, crashes: 8 }
        }
    }
}

/// Records of one batch.
const BATCH: u128 = 5;

/// After the faults have ended, everything must be in step within this time.
const HEAL_SECONDS_MAX: u64 = 120;

/// Sends a request until some replica answers it. Whatever was lost on the way is sent again.
fn persist<T: serde::de::DeserializeOwned>(
    device: &TestDevice,
    proxies: &[HostileProxy],
    random: &SeededRandom,
    method: &str,
    path: &str,
    body: Option<Vec<u8>>,
) -> T {
    let until = Instant::now() + Duration::from_mins(10);
    loop {
        assert!(Instant::now() < until, "{method} {path} never succeeds");
        let proxy = &proxies[random.below(proxies.len() as u64) as usize];
        let url = format!("{}{path}", proxy.base());
        match try_request(method, &url, Some(&device.token), body.clone()) {
            Some((200, bytes)) => return serde_json::from_slice(&bytes).unwrap(),
            // Asked to come back, or cut on the way, there or back.
            Some((429 | 503, _)) | None => {}
            Some((status, bytes)) => panic!("{status} {}", String::from_utf8_lossy(&bytes)),
        }
    }
}

/// Writes batches, edits and removals, and repeats old requests. Returns what must be stored in the end.
fn write(
    device: &TestDevice,
    space: SpaceId,
    proxies: &[HostileProxy],
    number: usize,
    batches: u128,
) -> BTreeMap<RecordUid, RecordVersion> {
    let random = SeededRandom::new(0xfeed + number as u64);
    let mut expected = BTreeMap::new();
    let mut sent: Vec<Vec<WireRecord>> = Vec::new();
    let path = routes::push_path(space);
    let push = |records: &[WireRecord]| -> PushReply {
        let body = json(&PushRequest { records: records.to_vec() });
        persist(device, proxies, &random, "POST", &path, Some(body))
    };
    for batch in 0..batches {
        let first = (number as u128 + 1) * 1_000_000 + batch * BATCH;
        let mut records: Vec<WireRecord> = (first..first + BATCH).map(|n| record(n, 1, "first")).collect();
        if batch > 0 {
            let earlier = first - BATCH;
            records.push(record(earlier, 2, "edited"));
            records.push(removal(earlier + 1, 2));
        }
        let reply = push(&records);
        for (record, outcome) in records.iter().zip(&reply.outcomes) {
            assert_eq!(outcome.refused, None);
            assert_eq!(outcome.stored, Some(record.version()), "an acknowledged version is the stored one");
            expected.insert(record.uid, record.version());
        }
        sent.push(records);
        if random.below(4) == 0 {
            // A late duplicate: nothing may go back to it.
            let late = &sent[random.below(sent.len() as u64) as usize];
            for (record, outcome) in late.iter().zip(push(late).outcomes) {
                assert_eq!(outcome.stored, Some(expected[&record.uid]));
            }
        }
    }
    expected
}

/// Follows a space by its numbers until told to stop, and returns what it has seen last of each record.
fn follow(
    device: &TestDevice,
    space: SpaceId,
    proxies: &[HostileProxy],
    writing: &AtomicUsize,
) -> BTreeMap<RecordUid, RecordVersion> {
    let random = SeededRandom::new(0xf0110);
    let (mut seen, mut after) = (BTreeMap::new(), 0);
    loop {
        let were_writing = writing.load(Ordering::Acquire);
        let path = format!("{}?after={after}&limit=40", routes::records_path(space));
        let page: RecordsPage = persist(device, proxies, &random, "GET", &path, None);
        for pulled in &page.records {
            assert!(pulled.seq > after);
            after = pulled.seq;
            seen.insert(pulled.record.uid, pulled.record.version());
        }
        if were_writing == 0 && !page.more {
            return seen;
        }
    }
}

/// A year in milliseconds.
const YEAR: i64 = 365 * 24 * 3_600 * 1_000;

/// Starts a replica; all but the first have clocks that are wrong by a year.
fn start_replica(cluster: &PostgresCluster, number: usize) -> ServeProcess {
    let now = claude_mem_core::clock::now().millis().0;
    let wrong = [None, Some(now + YEAR), Some(now - YEAR)];
    ServeProcess::replica(cluster, wrong[number % wrong.len()])
}

/// Kills replicas and the database in turn, until the writers are done or the plan is fulfilled.
fn crash(
    cluster: &mut PostgresCluster,
    services: &[Mutex<ServeProcess>],
    proxies: &[HostileProxy],
    plan: &FaultPlan,
    writing: &AtomicUsize,
) -> (u64, u64) {
    let random = SeededRandom::new(0xc4a54);
    let (mut replicas, mut databases) = (0, 0);
    while replicas + databases < plan.crashes && writing.load(Ordering::Acquire) > 0 {
        if random.below(3) == 0 {
            cluster.kill();
            cluster.start();
            databases += 1;
        } else {
            let which = random.below(services.len() as u64) as usize;
            let mut place = services[which].lock().unwrap();
            place.kill();
            *place = start_replica(cluster, which);
            proxies[which].point_to(place.address());
            replicas += 1;
        }
    }
    (replicas, databases)
}

#[test]
fn nothing_is_lost_or_doubled_when_replicas_and_database_crash() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let plan = FaultPlan::from_env();
    let mut cluster = build.start();
    let services: Vec<Mutex<ServeProcess>> =
        (0..plan.replicas).map(|number| Mutex::new(start_replica(&cluster, number))).collect();
    let mira = {
        let first = services[0].lock().unwrap();
        TestDevice::join_by_link(&format!("http://{}", first.address()), first.admin_link(), "mira")
    };
    let writers: Vec<TestDevice> =
        (0..plan.writers).map(|n| mira.invite(&format!("w{n}"), MemberRole::Member)).collect();
    let space = mira.project("app").id;
    let proxies: Vec<HostileProxy> = (0_u64..)
        .zip(&services)
        .map(|(seed, service)| HostileProxy::start(service.lock().unwrap().address(), seed))
        .collect();

    let writing = AtomicUsize::new(plan.writers);
    let (expected, seen, crashes) = std::thread::scope(|scope| {
        let (proxies, writing, plan) = (&proxies, &writing, &plan);
        let threads: Vec<_> = writers
            .iter()
            .enumerate()
            .map(|(number, device)| {
                scope.spawn(move || {
                    let written = write(device, space, proxies, number, plan.batches);
                    writing.fetch_sub(1, Ordering::Release);
                    written
                })
            })
            .collect();
        let follower = scope.spawn(|| follow(&mira, space, proxies, writing));
        let crashes = crash(&mut cluster, &services, proxies, plan, writing);
        let expected: BTreeMap<RecordUid, RecordVersion> =
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        (expected, follower.join().unwrap(), crashes)
    });
    assert!(crashes.0 + crashes.1 > 0, "something has crashed");
    proxies.iter().for_each(HostileProxy::become_friendly);

    assert_eq!(seen, expected, "a reader that follows the numbers has seen the end of everything");
    let until = Instant::now() + Duration::from_secs(HEAL_SECONDS_MAX);
    for service in &services {
        let place = service.lock().unwrap();
        let device = mira.at(&format!("http://{}", place.address()));
        while device.get::<claude_mem_wire::messages::MeReply>(routes::ME).is_err() {
            assert!(Instant::now() < until, "a replica does not heal");
        }
        let stored = device.pull_pages(space, 500);
        let stored: BTreeMap<_, _> =
            stored.iter().map(|(uid, pulled)| (*uid, pulled.record.version())).collect();
        assert_eq!(stored, expected);
    }
    assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.records"), expected.len().to_string());
    let removed = "SELECT count(*) FROM claude_mem.records WHERE gone AND body IS NOT NULL";
    assert_eq!(cluster.psql(removed), "0");
    // One row of the table of `cargo xtask faults team`.
    println!(
        "| writers through cut connections | {} | {} writers, {} replicas; kill -9 of {} replicas, {} databases; \
         {} records | 0 lost, 0 doubled |",
        build.major,
        plan.writers,
        plan.replicas,
        crashes.0,
        crashes.1,
        expected.len()
    );
}
