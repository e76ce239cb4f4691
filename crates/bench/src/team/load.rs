//! How much the server and a joining machine take: pushes, pages, concurrent writers, a first join.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use claude_mem_sharing::{RecordsQuery, TeamServer as _};
use claude_mem_wire::SpaceId;

use super::machine::BenchMachine;
use super::service::{BenchDevice, patiently, records};
use super::team_bench::{TeamBench, TeamFigure, timed};
use crate::spawn::{quantile, sorted};

/// Records that one member may push a day, with room for the other measurements.
const PER_LOADER: u128 = 18_000;

const WRITERS: usize = 8;
const ROUNDS: usize = 40;
const PUSH_OF_WRITER: u128 = 20;

/// Pushes of a thousand and of one, and pages.
pub(super) fn pushes(bench: &TeamBench) -> anyhow::Result<Vec<TeamFigure>> {
    let (admin, space) = (&bench.admin, bench.admin.project("pushes")?.id);
    let mut plain = Vec::new();
    let mut whole = Vec::new();
    for round in 0..5 {
        let thousand = records(1 + round * 1_000, 1_000, bench.now)?;
        plain.push(plain_insert(bench, &thousand)?);
        whole.push(timed(|| admin.push(space, &thousand))?.1);
    }
    let again = timed(|| admin.push(space, &records(1, 1_000, bench.now)?))?.1;
    let (plain, whole) = (sorted(plain.into_iter()), sorted(whole.into_iter()));
    let vera = admin.new_member(&bench.replicas[0], "vera")?;
    let mut one = Vec::new();
    let mut hello = Vec::new();
    for number in 100_000..100_150 {
        let single = records(number, 1, bench.now)?;
        one.push(timed(|| vera.push(space, &single))?.1);
        hello.push(timed(|| Ok(vera.server.hello()?))?.1);
    }
    let pages = (0..40).map(|_| {
        timed(|| Ok(patiently(|| admin.server.records(space, &RecordsQuery::After(0)))?))
            .map(|(_, took)| took)
    });
    let pages = sorted(pages.collect::<anyhow::Result<Vec<_>>>()?.into_iter());
    let (one, hello) = (sorted(one.into_iter()), sorted(hello.into_iter()));
    Ok(vec![
        TeamFigure::new(
            "push of 1,000 records of 1.1 kB, in two batches",
            format!("p50 {:.0} ms, max {:.0} ms", quantile(&whole, 0.5) / 1e3, quantile(&whole, 1.0) / 1e3),
            format!(
                "{:.1} × the same rows by psql into a plain table",
                quantile(&whole, 0.5) / quantile(&plain, 0.5)
            ),
            "< 1 s",
        ),
        TeamFigure::new(
            "the same push again, which changes nothing",
            format!("{:.0} ms", again.as_secs_f64() * 1e3),
            format!("{:.2} × the first", again.as_secs_f64() * 1e6 / quantile(&whole, 0.5)),
            "",
        ),
        TeamFigure::new(
            "push of one record",
            format!("p50 {:.1} ms, p95 {:.1} ms", quantile(&one, 0.5) / 1e3, quantile(&one, 0.95) / 1e3),
            format!("{:.1} × a request without the database", quantile(&one, 0.5) / quantile(&hello, 0.5)),
            "p95 < 50 ms",
        ),
        TeamFigure::new(
            "page of 500 records",
            format!("p50 {:.1} ms, p95 {:.1} ms", quantile(&pages, 0.5) / 1e3, quantile(&pages, 0.95) / 1e3),
            "",
            "30 ms",
        ),
    ])
}

/// Time to store the same bodies with psql, in one transaction, in a table without policies.
fn plain_insert(bench: &TeamBench, records: &[claude_mem_wire::WireRecord]) -> anyhow::Result<Duration> {
    let mut sql = "CREATE TABLE IF NOT EXISTS plain (uid uuid PRIMARY KEY, body text); BEGIN;\n".to_owned();
    for record in records {
        let body = record.body.as_ref().map_or("", |body| body.as_str()).replace('\'', "''");
        writeln!(sql, "INSERT INTO plain VALUES ('{}', '{body}') ON CONFLICT DO NOTHING;", record.uid)?;
    }
    sql.push_str("COMMIT;");
    Ok(timed(|| Ok(bench.cluster.psql(&sql)))?.1)
}

/// Several writers at several replicas, in one space and in ten.
pub(super) fn concurrent_pushes(bench: &TeamBench) -> anyhow::Result<Vec<TeamFigure>> {
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let replica = &bench.replicas[number % bench.replicas.len()];
        writers.push(bench.admin.new_member(replica, &format!("writer{number}"))?);
    }
    let mut figures = Vec::new();
    for (count, target) in [(1_u128, "≥ 140/s"), (10, "≥ 300/s")] {
        let spaces = (0..count).map(|n| Ok(bench.admin.project(&format!("load-{count}-{n}"))?.id));
        let spaces = spaces.collect::<anyhow::Result<Vec<SpaceId>>>()?;
        let ((), took) = timed(|| write_at_once(bench, &writers, &spaces, count))?;
        let pushes = (WRITERS * ROUNDS) as f64 / took.as_secs_f64();
        figures.push(TeamFigure::new(
            format!("{WRITERS} writers at once, {PUSH_OF_WRITER} records a push, {count} space(s)"),
            format!("{pushes:.0} pushes/s"),
            "",
            target,
        ));
    }
    Ok(figures)
}

fn write_at_once(
    bench: &TeamBench,
    writers: &[BenchDevice],
    spaces: &[SpaceId],
    series: u128,
) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let write = |number: usize, device: &BenchDevice| -> anyhow::Result<()> {
            for round in 0..ROUNDS {
                let place = (number * ROUNDS + round) as u128 * PUSH_OF_WRITER;
                let some = records(series * 10_000_000 + place, PUSH_OF_WRITER, bench.now)?;
                device.push(spaces[(number + round) % spaces.len()], &some)?;
            }
            Ok(())
        };
        let threads: Vec<_> = writers
            .iter()
            .enumerate()
            .map(|(number, device)| scope.spawn(move || write(number, device)))
            .collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(outcome) => outcome,
            Err(_) => anyhow::bail!("a writer panicked"),
        })
    })
}

/// A new machine with a real worker joins a project with many records.
pub(super) fn first_join(bench: &TeamBench, count: u128) -> anyhow::Result<Vec<TeamFigure>> {
    let space = bench.admin.project("big")?.id;
    let mut loaded = 0;
    let mut newest = String::new();
    while loaded < count {
        let some = PER_LOADER.min(count - loaded);
        newest = format!("loader{loaded}");
        let loader = bench.admin.new_member(&bench.replicas[0], &newest)?;
        loader.push(space, &records(1_000_000_000 + loaded, some, bench.now)?)?;
        loaded += some;
    }
    let bytes = bench
        .cluster
        .psql("SELECT pg_total_relation_size('claude_mem.records') / count(*) FROM claude_mem.records");
    let reader = bench.admin.new_member(&bench.replicas[1], "reader")?;
    let ((), paged) = timed(|| read_all(&reader, space))?;
    let machine = BenchMachine::join_only(&bench.exe, "big", &bench.admin, &bench.replicas[0], "newcomer")?;
    let begun = Instant::now();
    let mut share = machine.begin(&["team", "share", "--yes"])?;
    machine.wait_for_records(500)?;
    let first = begun.elapsed();
    let found = machine.mem(&["search", &format!("who:{newest}"), "invoices", "--json"])?;
    anyhow::ensure!(found.contains("whole cents"), "the first page cannot be searched: {found}");
    machine.wait_for_records(i64::try_from(count)?)?;
    let all = begun.elapsed();
    anyhow::ensure!(share.wait()?.success(), "`team share` failed");
    Ok(vec![
        TeamFigure::new(
            "first join: 500 records can be searched after `team share`",
            format!("{:.1} s", first.as_secs_f64()),
            "",
            "≤ 2 s",
        ),
        TeamFigure::new(
            format!("first join: all {count} records are stored and indexed by words"),
            format!("{:.0} s", all.as_secs_f64()),
            format!("{:.1} × reading the pages alone", all.as_secs_f64() / paged.as_secs_f64()),
            "< 60 s",
        ),
        TeamFigure::new("database per record, with indexes", format!("{bytes} bytes"), "", ""),
    ])
}

/// Reads all pages of a space, newest first, and keeps nothing.
fn read_all(device: &BenchDevice, space: SpaceId) -> anyhow::Result<()> {
    let mut before = i64::MAX >> 12;
    loop {
        let page = patiently(|| device.server.records(space, &RecordsQuery::Before(before)))?;
        match page.records.last() {
            Some(last) if page.more => before = last.seq,
            _ => return Ok(()),
        }
    }
}
