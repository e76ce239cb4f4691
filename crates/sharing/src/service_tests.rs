//! The schedules of the simulator against the real service on PostgreSQL, over HTTP.
//!
//! `CLAUDE_MEM_TEAM_SERVICE_RUNS` sets the number of runs.

use claude_mem_team_server::{RunningServer, ServeOptions};
use claude_mem_wire::messages::{InviteRequest, JoinRequest};
use claude_mem_wire::{
    DeviceToken, InviteSecret, LinkSecret, MemberId, MemberRole, ServerGeneration, TeamLink,
};
use rig::postgres::{PostgresBuild, PostgresCluster};
use tokio::runtime::Runtime;

use crate::simulator_tests::{SimulatedServer, run_schedule, variable};
use crate::team_file::TeamFile;
use crate::team_http_client::{TeamHttpClient, join_team};

/// Runs of the short form, which is part of the ordinary tests.
const RUNS: u64 = 2;

/// The service on a cluster of its own, with the four machines joined.
struct ServiceTeam {
    machines: Vec<TeamFile>,
    has_snapshot: bool,
    server: Option<RunningServer>,
    runtime: Runtime,
    cluster: PostgresCluster,
}

impl ServiceTeam {
    fn start(build: &PostgresBuild) -> Self {
        let cluster = build.start();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.unwrap();
        let server = runtime.block_on(RunningServer::start(&ServeOptions::new(cluster.address()))).unwrap();
        let link = TeamLink::parse(server.report().admin_link.as_ref().unwrap()).unwrap();
        let LinkSecret::Invite(secret) = link.secret.clone() else { panic!("the link is an invite") };
        let mira = join(&link, secret, "mira", 1);
        let admin = TeamHttpClient::connect(&mira).unwrap();
        let member = |handle: &str| InviteRequest::Member {
            role: MemberRole::Member,
            handle: Some(handle.to_owned()),
        };
        let mut machines = vec![mira];
        for (request, handle) in
            [(InviteRequest::Me, "mira"), (member("jonas"), "jonas"), (member("lena"), "lena")]
        {
            let secret = admin.invite(&request).unwrap().secret;
            machines.push(join(&link, secret, handle, machines.len() as u8 + 1));
        }
        Self { machines, has_snapshot: false, server: Some(server), runtime, cluster }
    }
}

fn join(link: &TeamLink, secret: InviteSecret, handle: &str, number: u8) -> TeamFile {
    let request = JoinRequest {
        secret,
        token: DeviceToken::from_random([number; 32]),
        handle: handle.to_owned(),
        name: handle.to_owned(),
        device: format!("machine {number}"),
    };
    let joined = join_team(link, None, &request).unwrap();
    TeamFile {
        base: link.base().to_owned(),
        token: request.token,
        team: joined.team.name,
        handle: joined.member.handle,
        member: Some(joined.member.id),
        device: Some(joined.device),
        certificates: None,
        is_from_environment: false,
    }
}

impl Drop for ServiceTeam {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
    }
}

impl SimulatedServer for ServiceTeam {
    type Connection = TeamHttpClient;

    fn connect(&self, machine: usize) -> TeamHttpClient {
        TeamHttpClient::connect(&self.machines[machine]).unwrap()
    }

    fn member(&self, machine: usize) -> MemberId {
        self.machines[machine].member.unwrap()
    }

    fn take_snapshot(&mut self) {
        self.has_snapshot = true;
        self.cluster.psql(
            "DROP SCHEMA IF EXISTS earlier CASCADE; CREATE SCHEMA earlier;
             CREATE TABLE earlier.records AS TABLE claude_mem.records;
             CREATE TABLE earlier.spaces AS TABLE claude_mem.spaces;",
        );
    }

    fn restore_snapshot(&mut self, told: Option<ServerGeneration>) {
        if !self.has_snapshot {
            return;
        }
        let told =
            told.map(|generation| format!("UPDATE claude_mem.teams SET generation = '{}';", generation.0));
        self.cluster.psql(&format!(
            "BEGIN; LOCK TABLE claude_mem.spaces, claude_mem.records;
             DELETE FROM claude_mem.records;
             INSERT INTO claude_mem.records SELECT * FROM earlier.records;
             UPDATE claude_mem.spaces AS now SET head = earlier.head, live = earlier.live, digest = earlier.digest
             FROM earlier.spaces AS earlier WHERE (now.team, now.id) = (earlier.team, earlier.id);
             {} COMMIT;",
            told.unwrap_or_default()
        ));
    }
}

#[test]
fn real_service_passes_the_schedules_of_random_faults() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let runs = variable("CLAUDE_MEM_TEAM_SERVICE_RUNS").unwrap_or(RUNS);
    let first = variable("CLAUDE_MEM_TEAM_SEED").unwrap_or(1);
    for seed in first..first + runs {
        let outcome = std::panic::catch_unwind(|| run_schedule(ServiceTeam::start(&build), seed));
        assert!(outcome.is_ok(), "the schedule of seed {seed} failed: set CLAUDE_MEM_TEAM_SEED={seed}");
    }
    // One row of the table of `cargo xtask faults team`.
    println!("| schedules against the service | {} | {runs} runs | all in step |", build.major);
}
