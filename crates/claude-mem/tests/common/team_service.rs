//! The real team service on a PostgreSQL cluster, in this process.

use std::net::SocketAddr;

use claude_mem_team_server::{RunningServer, ServeOptions};
use rig::postgres::PostgresCluster;
use tokio::runtime::Runtime;

/// A service with its database. It can crash and come back, at another address.
pub(crate) struct RealTeamService {
    pub(crate) cluster: PostgresCluster,
    running: Option<(Runtime, RunningServer)>,
    address: SocketAddr,
    admin_link: String,
}

impl RealTeamService {
    /// Starts both, or prints `skipped: REASON`.
    pub(crate) fn start_or_skip() -> Option<Self> {
        let cluster = rig::postgres::newest_or_skip()?.start();
        let (runtime, server) = start(&ServeOptions::new(cluster.address()));
        let report = server.report();
        let (address, admin_link) = (report.address, report.admin_link.clone().expect("a new team"));
        Some(Self { cluster, running: Some((runtime, server)), address, admin_link })
    }

    /// The link of the first administrator.
    pub(crate) fn admin_link(&self) -> &str {
        &self.admin_link
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells all clients that the database was restored.
    pub(crate) fn renew_generation(&self) {
        let renewed = claude_mem_team_server::renew_generation(&ServeOptions::new(self.cluster.address()));
        assert_eq!(renewed.expect("a new generation"), 1);
    }

    /// Ends without any notice: running requests are dropped where they are, sockets close.
    pub(crate) fn crash(&mut self) {
        if let Some((runtime, server)) = self.running.take() {
            runtime.shutdown_background();
            drop(server);
        }
    }

    /// Starts again. The address is new: the old listener may end a moment later.
    pub(crate) fn restart(&mut self) -> SocketAddr {
        self.crash();
        let (runtime, server) = start(&ServeOptions::new(self.cluster.address()));
        self.address = server.report().address;
        self.running = Some((runtime, server));
        self.address
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
