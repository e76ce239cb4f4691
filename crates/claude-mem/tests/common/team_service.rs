//! The real team service on a PostgreSQL cluster, in this process.

use claude_mem_team_server::{RunningServer, ServeOptions};
use rig::postgres::PostgresCluster;
use tokio::runtime::Runtime;

/// A service with its database.
pub(crate) struct RealTeamService {
    pub(crate) cluster: PostgresCluster,
    running: Option<(Runtime, RunningServer)>,
    admin_link: String,
}

impl RealTeamService {
    /// Starts both, or prints `skipped: REASON`.
    pub(crate) fn start_or_skip() -> Option<Self> {
        let cluster = rig::postgres::newest_or_skip()?.start();
        let (runtime, server) = start(&ServeOptions::new(cluster.address()));
        let report = server.report();
        let admin_link = report.admin_link.clone().expect("a new team");
        Some(Self { cluster, running: Some((runtime, server)), admin_link })
    }

    /// The link of the first administrator.
    pub(crate) fn admin_link(&self) -> &str {
        &self.admin_link
    }

    /// Ends without any notice: running requests are dropped where they are, sockets close.
    pub(crate) fn crash(&mut self) {
        if let Some((runtime, server)) = self.running.take() {
            runtime.shutdown_background();
            drop(server);
        }
    }
}

fn start(options: &ServeOptions) -> (Runtime, RunningServer) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let server = runtime.block_on(RunningServer::start(options)).unwrap_or_else(|error| panic!("{error}"));
    (runtime, server)
}

impl Drop for RealTeamService {
    fn drop(&mut self) {
        self.crash();
    }
}
