//! Figures of the service, printed by `cargo xtask bench team`. Nothing is asserted about time.

use std::time::{Duration, Instant};

use claude_mem_wire::messages::{WaitReply, WaitRequest};
use claude_mem_wire::{MemberRole, SpaceId, WireRecord, routes};
use rig::postgres::PostgresCluster;

use crate::support::{TestDevice, TestService, record};

/// Text of an observation of the usual length, about 1 kB of JSON.
fn body(number: u128) -> String {
    format!("decision {number}: round invoices up to whole cents. ").repeat(20)
}

fn records(first: u128, count: u128) -> Vec<WireRecord> {
    (first..first + count).map(|number| record(number, 1, &body(number))).collect()
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let result = act();
    (result, began.elapsed())
}

fn quantile(times: &mut [Duration], share: f64) -> f64 {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e3
}

fn push_all(device: &TestDevice, space: SpaceId, all: &[WireRecord]) {
    for batch in all.chunks(500) {
        let reply = device.push(space, batch);
        assert!(reply.outcomes.iter().all(|outcome| outcome.refused.is_none()));
    }
}

#[test]
#[ignore = "measures instead of testing; `cargo xtask bench team` runs it"]
fn figures_of_the_service() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let services = [TestService::start(&cluster), TestService::start(&cluster)];
    let mira = services[0].first_admin();
    let jonas = mira.invite("jonas", MemberRole::Member).through(&services[1]);
    let space = mira.project("app").id;
    println!(
        "PostgreSQL {} on this machine, {} cores",
        build.major,
        std::thread::available_parallelism().unwrap()
    );

    let thousand = records(1, 1_000);
    let ((), took) = timed(|| push_all(&mira, space, &thousand));
    println!("push of 1,000 records: {:.0} ms", took.as_secs_f64() * 1e3);
    let ((), took) = timed(|| push_all(&mira, space, &thousand));
    println!("the same again: {:.0} ms", took.as_secs_f64() * 1e3);

    // As many as a device may send at once.
    let vera = mira.invite("vera", MemberRole::Member);
    let mut one: Vec<Duration> =
        (10_000..10_150).map(|number| timed(|| vera.push(space, &records(number, 1))).1).collect();
    println!(
        "push of one record: p50 {:.1} ms, p95 {:.1} ms",
        quantile(&mut one, 0.5),
        quantile(&mut one, 0.95)
    );
    let mut pages: Vec<Duration> =
        (0..40).map(|_| timed(|| assert_eq!(mira.page(space, "after=0").records.len(), 500)).1).collect();
    println!(
        "page of 500 records: p50 {:.1} ms, p95 {:.1} ms",
        quantile(&mut pages, 0.5),
        quantile(&mut pages, 0.95)
    );

    // A colleague waits at the other replica: until the record is there, with its page.
    let mut arrivals: Vec<Duration> = (20_000..20_040)
        .map(|number| {
            let head = jonas.page(space, "before=999999999&limit=1").state.head;
            let waiting = std::thread::spawn({
                let jonas = jonas.clone();
                move || {
                    let request = WaitRequest { heads: [(space, head)].into(), seconds: 25 };
                    let reply: WaitReply = jonas.post(routes::WAIT, &request).unwrap();
                    assert!(reply.changed.contains_key(&space));
                    assert_eq!(jonas.page(space, &format!("after={head}")).records.len(), 1);
                    Instant::now()
                }
            });
            let began = Instant::now();
            mira.push(space, &records(number, 1));
            waiting.join().unwrap().saturating_duration_since(began)
        })
        .collect();
    println!(
        "a colleague at another replica has it after: p50 {:.0} ms, p95 {:.0} ms",
        quantile(&mut arrivals, 0.5),
        quantile(&mut arrivals, 0.95)
    );
    concurrent_pushes(&mira, &services);
    first_join(&mira, &jonas, &cluster);
}

fn concurrent_pushes(mira: &TestDevice, services: &[TestService]) {
    let writers: Vec<TestDevice> =
        (0..8).map(|n| mira.invite(&format!("w{n}"), MemberRole::Member).through(&services[n % 2])).collect();
    for spaces in [1, 10] {
        let spaces: Vec<SpaceId> = (0..spaces).map(|n| mira.project(&format!("p{spaces}-{n}")).id).collect();
        let rounds = 40;
        let ((), took) = timed(|| {
            std::thread::scope(|scope| {
                for (number, device) in writers.iter().enumerate() {
                    let spaces = &spaces;
                    scope.spawn(move || {
                        for round in 0..rounds {
                            let place = spaces[(number + round) % spaces.len()];
                            let first =
                                (spaces.len() * 10_000_000 + number * 1_000_000 + round * 20 + 100_000)
                                    as u128;
                            device.push(place, &records(first, 20));
                        }
                    });
                }
            });
        });
        let pushes = (writers.len() * rounds) as f64 / took.as_secs_f64();
        println!("8 writers, {} spaces: {pushes:.0} pushes of 20 records a second", spaces.len());
    }
}

fn first_join(mira: &TestDevice, jonas: &TestDevice, cluster: &PostgresCluster) {
    let big = mira.project("big").id;
    let loaders: Vec<TestDevice> =
        (0..6).map(|n| mira.invite(&format!("l{n}"), MemberRole::Member)).collect();
    let total = loaders.len() as u128 * 17_000;
    for (number, device) in (0_u128..).zip(&loaders) {
        push_all(device, big, &records(500_000_000 + number * 1_000_000, 17_000));
    }
    let head = mira.page(big, "before=1&limit=1").state.head;
    let (first, first_took) = timed(|| jonas.page(big, &format!("before={}", head + 1)));
    let (pulled, took) = timed(|| {
        let (mut page, mut count) = (first, 0_u128);
        loop {
            count += page.records.len() as u128;
            if !page.more {
                return count;
            }
            page = jonas.page(big, &format!("before={}", page.records.last().unwrap().seq));
        }
    });
    assert_eq!(pulled, total);
    println!(
        "first page of a join: {:.0} ms; all {total} records: {:.1} s",
        first_took.as_secs_f64() * 1e3,
        took.as_secs_f64()
    );
    let bytes = cluster
        .psql("SELECT pg_total_relation_size('claude_mem.records') / count(*) FROM claude_mem.records");
    println!("{bytes} bytes of database per record, bodies of {} bytes", body(500_000_000).len());
}
