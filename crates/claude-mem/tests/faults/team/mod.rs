//! A team of real workers on hosts of their own, in network namespaces, with three replicas of the server and a
//! PostgreSQL. Members save, forget and confide, while workers, replicas and the database are killed, connections
//! are cut, hosts are parted from the network, clocks are a year off and the database goes back to a backup.
//!
//! Afterwards every memory is on every machine exactly once, forgotten text is nowhere, nothing that was held back
//! or private has left its machine, and all digests equal the server's.
//!
//! `CLAUDE_MEM_FAULTS=long` (`cargo xtask faults team`) runs the long form.

mod machine;
mod replica;

use std::time::{Duration, Instant};

use claude_mem_team_server::{ServeOptions, renew_generation};
use rig::certificates::TestCertificates;
use rig::hostile_proxy::{HostileProxy, SeededRandom};
use rig::network::{LinkFault, NetworkHost, TestNetwork};
use rig::postgres::PostgresCluster;

use crate::common::hooks::{files_containing, log};
use crate::short_or_long;
use crate::support::LONG;
use machine::{CANARY, MachineTraits, PRIVATE_CANARY, TeamMachine};
use replica::ReplicaHost;

const YEAR: i64 = 365 * 24 * 3_600 * 1_000;

const REPLICAS: usize = 3;

/// Machines are looked at this often while they heal.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// What was done in a run, for the report.
#[derive(Debug, Default)]
struct FaultCounts {
    workers: usize,
    replicas: usize,
    databases: usize,
    machine_partitions: usize,
    replica_partitions: usize,
    database_partitions: usize,
    restores: usize,
}

/// All hosts of a run.
struct TeamNetwork {
    machines: Vec<TeamMachine>,
    replicas: Vec<ReplicaHost>,
    database: NetworkHost,
    cluster: PostgresCluster,
    random: SeededRandom,
    /// The machine that forgot a memory, and its title.
    forgotten: Vec<(usize, String)>,
    counts: FaultCounts,
    _gateway: NetworkHost,
    _certificates: TestCertificates,
    _folder: tempfile::TempDir,
    _network: TestNetwork,
}

impl TeamNetwork {
    /// Starts the database, the replicas and the machines, or prints why it cannot.
    fn start_or_skip(members: usize) -> Option<Self> {
        let build = rig::postgres::newest_or_skip()?;
        let mut network = TestNetwork::start_or_skip()?;
        let (gateway, database) = (network.add_host(), network.add_host());
        let certificates = TestCertificates::make_or_skip(&[gateway.address()])?;
        let mut cluster = build.start();
        cluster.move_to(&database);
        let folder = tempfile::tempdir().unwrap();
        let address = format!("host={} user=postgres dbname=postgres sslmode=disable", database.address());
        let replicas: Vec<ReplicaHost> = [0, YEAR, -YEAR]
            .into_iter()
            .cycle()
            .take(REPLICAS)
            .map(|skew| ReplicaHost::start(network.add_host(), &address, &certificates, skew, folder.path()))
            .collect();
        let targets: Vec<_> = replicas.iter().map(ReplicaHost::address).collect();
        // The first replica that is ready makes the team; the others find it.
        let links: Vec<String> = replicas.iter().map(ReplicaHost::wait_for_link).collect();
        let mut machines: Vec<TeamMachine> = Vec::new();
        for number in 0..members {
            let handle = format!("m{number}");
            let link = match machines.first() {
                None => links.iter().find(|link| !link.is_empty()).expect("a link").clone(),
                Some(admin) => {
                    let invite = admin.home.mem(&["team", "invite", &handle, "--json"]).ok().json();
                    invite["link"].as_str().unwrap().to_owned()
                }
            };
            // Invites expire by the clock of the replica that is asked: the first has the right one.
            let proxy = HostileProxy::start_at(&gateway, targets[..1].to_vec(), number as u64);
            let traits = MachineTraits { skew: [0, YEAR, -YEAR, 0][number % 4], holds_back: number % 8 == 3 };
            machines.push(TeamMachine::join(
                network.add_host(),
                proxy,
                &certificates,
                &link,
                &handle,
                traits,
            ));
        }
        for machine in &machines {
            machine.proxy.distribute_to(targets.clone());
        }
        Some(Self {
            machines,
            replicas,
            database,
            cluster,
            random: SeededRandom::new(0x7ea5),
            forgotten: Vec::new(),
            counts: FaultCounts::default(),
            _gateway: gateway,
            _certificates: certificates,
            _folder: folder,
            _network: network,
        })
    }

    fn below(&self, limit: usize) -> usize {
        self.random.below(limit as u64) as usize
    }

    /// One thing happens somewhere.
    fn step(&mut self, step: usize) {
        self.replicas.iter_mut().for_each(ReplicaHost::keep_running);
        let at = self.below(self.machines.len());
        match self.below(16) {
            0..=6 => self.machines[at].save(step),
            7 => self.machines[at].confide(step),
            8 => {
                let title = self.machines[at].forget();
                self.forgotten.extend(title.map(|title| (at, title)));
            }
            9 => {
                self.machines[at].kill_worker();
                self.counts.workers += 1;
            }
            10 => {
                let which = self.below(REPLICAS);
                self.replicas[which].kill();
                self.counts.replicas += 1;
            }
            11 => {
                self.cluster.kill();
                self.cluster.start();
                self.counts.databases += 1;
            }
            12..=13 => {
                let fault = self.random_fault();
                self.counts.machine_partitions += toggle(&mut self.machines[at].host, fault);
            }
            14 => {
                let (which, fault) = (self.below(REPLICAS), self.random_fault());
                self.counts.replica_partitions += toggle(&mut self.replicas[which].host, fault);
            }
            _ => {
                let fault = self.random_fault();
                self.counts.database_partitions += toggle(&mut self.database, fault);
            }
        }
    }

    fn random_fault(&self) -> LinkFault {
        LinkFault::ALL[self.below(LinkFault::ALL.len())]
    }

    /// Everything crashes, and the database comes back as it was at the backup. The clients are told.
    fn restore(&mut self) {
        self.replicas.iter_mut().for_each(ReplicaHost::kill);
        self.cluster.restore();
        assert_eq!(renew_generation(&ServeOptions::new(self.cluster.address())).expect("a generation"), 1);
        self.counts.restores += 1;
    }

    fn heal(&mut self) {
        self.database.heal();
        for replica in &mut self.replicas {
            replica.host.heal();
            replica.keep_running();
        }
        for machine in &mut self.machines {
            machine.host.heal();
            machine.proxy.become_friendly();
        }
    }

    /// Waits until all machines equal the server. Returns the seconds that it took.
    fn wait_until_in_step(&mut self) -> f64 {
        let begun = Instant::now();
        let mut expected: Vec<String> =
            self.machines.iter().flat_map(|machine| machine.saved.keys().cloned()).collect();
        expected.sort();
        for number in 0..self.machines.len() {
            loop {
                let server = self.server_digest();
                let machine = &self.machines[number];
                if machine.titles() == expected && machine.digest() == server {
                    break;
                }
                assert!(begun.elapsed() < 3 * LONG, "m{number}: {}", self.difference(number, &expected));
                self.replicas.iter_mut().for_each(ReplicaHost::keep_running);
                std::thread::sleep(LOOK_INTERVAL);
            }
        }
        begun.elapsed().as_secs_f64()
    }

    /// Number and digest of the live records at the server.
    fn server_digest(&self) -> String {
        self.cluster.psql("SELECT live, digest FROM claude_mem.spaces WHERE owner IS NULL")
    }

    fn records_with(&self, word: &str) -> String {
        self.cluster.psql(&format!("SELECT count(*) FROM claude_mem.records WHERE body LIKE '%{word}%'"))
    }

    /// What was forgotten is in no record and in no file of another machine.
    fn check_forgotten(&self) {
        let begun = Instant::now();
        for (author, title) in &self.forgotten {
            let word = title.split(' ').next_back().unwrap();
            assert_eq!(self.records_with(word), "0", "the server has {title}");
            for (at, machine) in self.machines.iter().enumerate().filter(|(at, _)| at != author) {
                loop {
                    // A backup that was made before is not promised to forget.
                    let mut files = files_containing(&machine.home, word);
                    files.retain(|file| !file.contains("/backups/"));
                    if files.is_empty() {
                        break;
                    }
                    // Erased pages leave the write-ahead log at the next checkpoint without readers.
                    assert!(begun.elapsed() < 2 * LONG, "m{at} has {title} in {files:?}");
                    std::thread::sleep(LOOK_INTERVAL);
                }
            }
        }
    }

    /// What was held back is on its own machine alone, and what was private nowhere.
    fn check_canaries(&self) {
        assert_eq!(self.records_with(CANARY), "0");
        let holders = self.machines.iter().filter(|machine| machine.traits.holds_back);
        let held: usize = holders.map(|machine| files_containing(&machine.home, "Held canary").len()).sum();
        assert!(held > 0, "something was held back");
        for machine in &self.machines {
            let files = files_containing(&machine.home, "Held canary");
            assert!(files.is_empty() || machine.traits.holds_back, "{files:?}");
            assert_eq!(files_containing(&machine.home, PRIVATE_CANARY), Vec::<String>::new());
        }
    }

    /// How a machine differs from what it should be.
    fn difference(&self, number: usize, expected: &[String]) -> String {
        let machine = &self.machines[number];
        let titles = machine.titles();
        let lacks: Vec<&String> = expected.iter().filter(|title| !titles.contains(title)).collect();
        let has: Vec<&String> = titles.iter().filter(|title| !expected.contains(title)).collect();
        let replicas: Vec<String> = self.replicas.iter().map(ReplicaHost::output).collect();
        format!(
            "lacks {lacks:?}, has {has:?}, {} rows for {}, digest {} for {}\n{}{}\n{}",
            titles.len(),
            expected.len(),
            machine.digest(),
            self.server_digest(),
            machine.home.mem(&["team", "status"]),
            log(&machine.home),
            replicas.join("\n")
        )
    }
}

/// Parts a host, or connects it again. Returns the number of partitions that began.
fn toggle(host: &mut NetworkHost, fault: LinkFault) -> usize {
    if host.is_parted() {
        host.heal();
        return 0;
    }
    host.part(fault);
    1
}

#[test]
fn team_of_real_workers_heals_after_kills_partitions_and_a_restored_backup() {
    let begun = Instant::now();
    let Some(mut team) = TeamNetwork::start_or_skip(short_or_long(4, 20)) else { return };
    let steps = short_or_long(120, 1_500);
    for machine in &team.machines {
        machine.proxy.become_hostile();
    }
    for step in 0..steps {
        if step == steps / 3 {
            team.cluster.back_up();
        }
        if step == 2 * steps / 3 {
            team.restore();
        }
        team.step(step);
    }
    team.heal();
    let healed = team.wait_until_in_step();
    team.check_forgotten();
    team.check_canaries();
    let saved: usize = team.machines.iter().map(|machine| machine.saved.len()).sum();
    let (counts, members) = (&team.counts, team.machines.len());
    // One row of the table of `cargo xtask faults team`.
    println!(
        "| real workers | {} | {members} members, {REPLICAS} replicas, {steps} steps in {} s; kill -9 of {} workers, \
         {} replicas, {} databases; {} members, {} replicas and {} times the database parted; {} restored backup; \
         {saved} memories, {} forgotten | 0 lost, 0 doubled, digests equal after {healed:.1} s |",
        team.cluster.major(),
        begun.elapsed().as_secs(),
        counts.workers,
        counts.replicas,
        counts.databases,
        counts.machine_partitions,
        counts.replica_partitions,
        counts.database_partitions,
        counts.restores,
        team.forgotten.len(),
    );
    for machine in &team.machines {
        machine.home.mem(&["worker", "stop"]).ok();
    }
}
