//! Several members with real workers save and forget, while workers, the service and PostgreSQL are killed, each
//! member's network fails or is parted, two clocks are a year off, and the database goes back to a backup.
//!
//! Afterwards every memory is on every machine exactly once, forgotten text is nowhere, and all digests equal the
//! server's.

use std::collections::BTreeMap;
use std::time::Instant;

use claude_mem_core::clock;
use claude_mem_store::{MemoryLevel, PageRequest, RowFilter};
use rig::Sandbox;
use rig::hostile_proxy::{HostileProxy, SeededRandom};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::configure;
use crate::common::hooks::{files_containing, sandbox_with_real_clock};
use crate::common::team_service::RealTeamService;
use crate::common::turns::{eventually, pid, store};
use crate::short_or_long;
use crate::support::LONG;

const YEAR: i64 = 365 * 24 * 3_600 * 1_000;

/// One member's machine, with a network of its own.
struct TeamMachine {
    home: Sandbox,
    proxy: HostileProxy,
    is_parted: bool,
    /// Ids of own memories that are still there, by title.
    saved: BTreeMap<String, String>,
}

impl TeamMachine {
    /// A machine with a checkout of the project, joined and sharing. `skew` sets its clock.
    fn join(service: &RealTeamService, link: &str, handle: &str, skew: i64) -> Self {
        let proxy = HostileProxy::start(service.address(), skew.unsigned_abs());
        proxy.become_friendly();
        let mut home = sandbox_with_real_clock();
        if skew != 0 {
            home.set_env("CLAUDE_MEM_NOW", (clock::now().millis().0 + skew).to_string());
        }
        home.git_remote("git@github.com:acme/shop.git");
        configure(&home, &serde_json::json!({ "provider": "local", "vectors": false }));
        let (_, secret) = link.split_once("/#").unwrap();
        home.mem(&["save", "The project is known"]).ok();
        home.mem(&["team", "join", &format!("{}/#{secret}", proxy.base()), "--handle", handle]).ok();
        home.mem(&["team", "share", "--yes"]).ok();
        home.mem(&["worker", "start"]).ok();
        Self { home, proxy, is_parted: false, saved: BTreeMap::new() }
    }

    fn save(&mut self, title: String, more: &[&str]) {
        let id = self.home.mem(&[&["save", &title, "--json"], more].concat()).ok().json();
        if more.is_empty() {
            let id = id["id"].as_str().map_or_else(|| id["id"].to_string(), str::to_owned);
            self.saved.insert(title, id);
        }
    }

    fn kill_worker(&self) {
        let old = pid(&self.home).expect("a worker runs");
        let process = Pid::from_raw(i32::try_from(old).unwrap()).unwrap();
        kill_process(process, Signal::KILL).unwrap();
        // While the kernel takes the old one away, a start finds it running.
        eventually("another worker runs", || {
            self.home.mem(&["worker", "start"]).ok();
            pid(&self.home).is_some_and(|new| new != old)
        });
    }

    /// Titles of the project's memories, sorted: one that was stored twice is there twice.
    fn titles(&self) -> Vec<String> {
        let store = store(&self.home);
        let rows = store.read().observations(&RowFilter::default(), PageRequest::first(5_000)).unwrap().items;
        let shared = rows.into_iter().filter(|row| row.level == MemoryLevel::Project);
        let mut titles: Vec<String> =
            shared.map(|row| row.title).filter(|title| title.starts_with("Note")).collect();
        titles.sort();
        titles
    }

    /// Number and digest of the live records, as this machine knows them.
    fn digest(&self) -> String {
        let spaces = store(&self.home).read().spaces().unwrap();
        spaces.first().map_or_else(String::new, |space| format!("{}|{}", space.live, space.digest))
    }
}

/// The service crashes and comes back at another address, where all networks lead from then on.
fn restart(service: &mut RealTeamService, machines: &[TeamMachine]) {
    let address = service.restart();
    for machine in machines {
        machine.proxy.point_to(address);
    }
}

/// What was done in a run, for the report.
#[derive(Debug, Default)]
struct FaultCounts {
    workers: usize,
    services: usize,
    databases: usize,
    partitions: usize,
    restores: usize,
}

#[test]
fn team_of_real_workers_heals_after_kills_partitions_and_a_restored_backup() {
    let Some(mut service) = RealTeamService::start_or_skip() else { return };
    let random = SeededRandom::new(0x7ea5);
    let mut machines = vec![TeamMachine::join(&service, service.admin_link(), "m0", 0)];
    for number in 1..short_or_long(3, 8) {
        let handle = format!("m{number}");
        let invite = machines[0].home.mem(&["team", "invite", &handle, "--json"]).ok().json();
        let skew = [YEAR, -YEAR, 0][(number - 1) % 3];
        machines.push(TeamMachine::join(&service, invite["link"].as_str().unwrap(), &handle, skew));
    }
    let (steps, mut forgotten, mut counts) = (short_or_long(24, 600), Vec::new(), FaultCounts::default());
    for machine in &machines {
        machine.proxy.become_hostile();
    }
    let (back_up_at, restore_at) = (steps / 3, 2 * steps / 3);
    for step in 0..steps {
        let at = random.below(machines.len() as u64) as usize;
        if step == back_up_at {
            service.cluster.back_up();
        }
        if step == restore_at {
            service.crash();
            service.cluster.restore();
            service.renew_generation();
            restart(&mut service, &machines);
            counts.restores += 1;
        }
        match random.below(12) {
            0..=5 => machines[at].save(format!("Note {step} of m{at} quagga{step}fish"), &[]),
            6 => machines[at].save(format!("Note {step} canary of m{at}"), &["--global"]),
            7 => {
                if let Some((title, id)) = machines[at].saved.pop_first() {
                    machines[at].home.mem(&["forget", &id]).ok();
                    forgotten.push((at, title));
                }
            }
            8 => {
                machines[at].kill_worker();
                counts.workers += 1;
            }
            9 => {
                restart(&mut service, &machines);
                counts.services += 1;
            }
            10 => {
                service.cluster.kill();
                service.cluster.start();
                counts.databases += 1;
            }
            _ => {
                let machine = &mut machines[at];
                machine.is_parted = !machine.is_parted;
                machine.proxy.part(machine.is_parted);
                counts.partitions += usize::from(machine.is_parted);
            }
        }
    }
    for machine in &machines {
        machine.proxy.part(false);
        machine.proxy.become_friendly();
    }
    let healed = check_healed(&service, &machines, &forgotten);
    let saved: usize = machines.iter().map(|machine| machine.saved.len()).sum();
    println!("{saved} memories of {} members, {} forgotten; {counts:?}", machines.len(), forgotten.len());
    println!("0 lost, 0 doubled, digests equal {healed:.1} s after healing");
    for machine in &machines {
        machine.home.mem(&["worker", "stop"]).ok();
    }
}

/// Waits until all machines equal the server. Returns the seconds that it took.
fn check_healed(service: &RealTeamService, machines: &[TeamMachine], forgotten: &[(usize, String)]) -> f64 {
    let begun = Instant::now();
    let mut expected: Vec<String> =
        machines.iter().flat_map(|machine| machine.saved.keys().cloned()).collect();
    expected.sort();
    let server = || service.cluster.psql("SELECT live, digest FROM claude_mem.spaces WHERE owner IS NULL");
    for (number, machine) in machines.iter().enumerate() {
        while machine.titles() != expected || machine.digest() != server() {
            let elapsed = begun.elapsed();
            assert!(elapsed < 3 * LONG, "m{number}: {}", difference(machine, &expected, &server()));
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(
        service.cluster.psql("SELECT count(*) FROM claude_mem.records WHERE body LIKE '%canary%'"),
        "0"
    );
    for (author, title) in forgotten {
        let word = title.split(' ').next_back().unwrap();
        let query = format!("SELECT count(*) FROM claude_mem.records WHERE body LIKE '%{word}%'");
        assert_eq!(service.cluster.psql(&query), "0", "the server has {title}");
        for (at, machine) in machines.iter().enumerate().filter(|(at, _)| at != author) {
            // Erased pages leave the write-ahead log at the next checkpoint without readers.
            while !files_containing(&machine.home, word).is_empty() {
                assert!(begun.elapsed() < 4 * LONG, "m{at} has {title} in a file");
            }
        }
    }
    seconds
}

/// How a machine differs from what it should be.
fn difference(machine: &TeamMachine, expected: &[String], server: &str) -> String {
    let titles = machine.titles();
    let lacks: Vec<&String> = expected.iter().filter(|title| !titles.contains(title)).collect();
    let has: Vec<&String> = titles.iter().filter(|title| !expected.contains(title)).collect();
    format!(
        "lacks {lacks:?}, has {has:?}, {} rows for {}, digest {} for {server}\n{}{}",
        titles.len(),
        expected.len(),
        machine.digest(),
        machine.home.mem(&["team", "status"]),
        crate::common::hooks::log(&machine.home)
    )
}
