//! [`RunningServer`]: starts the service, and ends it gracefully.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use claude_mem_core::clock;
use claude_mem_wire::{LinkSecret, TeamLink};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::db::{self, Database};
use crate::error::{ServiceError, StartError};
use crate::http::{self, CertificateFiles, ListenerSettings, TeamService};
use crate::log;
use crate::options::ServeOptions;
use crate::wait::WaitHub;

/// A database that is starting is waited for this long.
const DATABASE_SECONDS_MAX: u64 = 30;

/// Running requests have this long to finish when the service ends.
const SHUTDOWN_SECONDS_MAX: u64 = 10;

/// The result of starting the service.
#[derive(Clone, Debug)]
pub struct ReadyReport {
    pub address: SocketAddr,
    /// The database's version, such as `16.4`.
    pub database_version: String,
    /// Whether tables were made or changed.
    pub migrated: bool,
    pub team: String,
    /// Whether the team was made now.
    pub team_created: bool,
    /// The link of the first administrator, while nobody has joined.
    pub admin_link: Option<String>,
}

/// A running service.
#[derive(Debug)]
pub struct RunningServer {
    report: ReadyReport,
    certificate: Option<Arc<CertificateFiles>>,
    ending: watch::Sender<bool>,
    serving: JoinHandle<()>,
    database: Database,
}

impl RunningServer {
    /// Prepares the database, proves that its rows are isolated, and begins to serve.
    pub async fn start(options: &ServeOptions) -> Result<Self, StartError> {
        let is_private = options.listen.ip().is_loopback();
        if options.certificate.is_none() && !options.behind_proxy && !is_private {
            return Err(StartError::PlainText);
        }
        let certificate = match &options.certificate {
            Some((chain, key)) => Some(Arc::new(CertificateFiles::load(chain.clone(), key.clone())?)),
            None => None,
        };
        let (database, migrated) = prepare_database(options).await?;
        let mut connection = database.connection().await.map_err(unreachable)?;
        let team = db::ensure_team(&mut connection, &options.team, now()).await.map_err(setup_failed)?;
        drop(connection);

        let failed = |error| StartError::Listen(options.listen, error);
        let listener = TcpListener::bind(options.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let admin_link = match team.secret {
            Some(secret) => {
                let link = TeamLink::new(&options.base_url(address), LinkSecret::Invite(secret))?;
                Some(link.to_string())
            }
            None => None,
        };
        let (ending, ended) = watch::channel(false);
        let hub = Arc::new(WaitHub::default());
        tokio::spawn(Arc::clone(&hub).run(database.clone(), ended.clone()));
        let service = Arc::new(TeamService::new(database.clone(), hub, ended.clone(), options.behind_proxy));
        let settings =
            ListenerSettings { certificate: certificate.clone(), connections_max: http::CONNECTIONS_MAX };
        let patience = Duration::from_secs(SHUTDOWN_SECONDS_MAX);
        let router = http::build_router(&service);
        let serving = tokio::spawn(http::serve(listener, router, settings, ended, patience));
        let report = ReadyReport {
            address,
            database_version: migrated.server_version,
            migrated: migrated.applied > 0,
            team: team.team,
            team_created: team.was_created,
            admin_link,
        };
        Ok(Self { report, certificate, ending, serving, database })
    }

    pub const fn report(&self) -> &ReadyReport {
        &self.report
    }

    /// Answers long polls, finishes running requests and closes all connections.
    pub async fn stop(self) {
        // Without receivers the service has ended already.
        let _ = self.ending.send(true);
        // The task ends by its own deadline; a panic in it was reported.
        let _ = self.serving.await;
        self.database.close();
    }

    fn reload_certificate(&self) {
        let Some(certificate) = &self.certificate else { return };
        match certificate.reload() {
            Ok(()) => log::line("read the certificate again"),
            Err(error) => log::line(&format!("the old certificate stays: {error}")),
        }
    }
}

fn now() -> i64 {
    clock::now().millis().0
}

fn unreachable(error: ServiceError) -> StartError {
    StartError::Unreachable(error.to_string())
}

fn setup_failed(error: ServiceError) -> StartError {
    StartError::Setup(error.to_string())
}

async fn prepare_database(options: &ServeOptions) -> Result<(Database, db::MigrationReport), StartError> {
    let database = Database::new(&options.database, options.database_ca.as_deref(), options.pool_size)?;
    let mut connection = wait_for_database(&database).await?;
    let migrated = db::migrate(&mut connection, now()).await?;
    db::prove_isolation(&mut connection).await?;
    Ok((database, migrated))
}

/// A connection, once the database takes one. Wrong passwords and names are reported at once.
async fn wait_for_database(database: &Database) -> Result<deadpool_postgres::Object, StartError> {
    let until = Instant::now() + Duration::from_secs(DATABASE_SECONDS_MAX);
    loop {
        match database.connection().await {
            Ok(connection) => return Ok(connection),
            Err(error) if !error.is_starting_database() || Instant::now() >= until => {
                return Err(unreachable(error));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(300)).await,
        }
    }
}

/// Runs the service until SIGTERM or SIGINT. SIGHUP reads the certificate again.
pub fn serve(options: &ServeOptions, on_ready: impl FnOnce(&ReadyReport)) -> Result<(), StartError> {
    raise_open_files();
    runtime()?.block_on(async {
        let mut signals = ServiceSignals::install()?;
        let server = RunningServer::start(options).await?;
        on_ready(server.report());
        while signals.next_is_reload().await {
            server.reload_certificate();
        }
        log::line("ending");
        server.stop().await;
        Ok(())
    })
}

/// Makes a link for a further administrator, and the team if there is none of this name.
pub fn make_admin_link(options: &ServeOptions) -> Result<String, StartError> {
    runtime()?.block_on(async {
        let (database, _) = prepare_database(options).await?;
        let mut connection = database.connection().await.map_err(unreachable)?;
        let made = db::new_admin_invite(&mut connection, &options.team, now()).await.map_err(setup_failed)?;
        let secret = made.secret.ok_or_else(|| StartError::Setup("no invite was made".to_owned()))?;
        Ok(TeamLink::new(&options.base_url(options.listen), LinkSecret::Invite(secret))?.to_string())
    })
}

/// Gives every team a new generation, after a restore. Returns the number of teams.
pub fn renew_generation(options: &ServeOptions) -> Result<u64, StartError> {
    runtime()?.block_on(async {
        let (database, _) = prepare_database(options).await?;
        let mut connection = database.connection().await.map_err(unreachable)?;
        db::new_generation(&mut connection, now()).await.map_err(setup_failed)
    })
}

/// Each waiting member is an open file, and service managers start programs with a soft limit of 1,024. Where the
/// limit cannot be raised, connections beyond it wait.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        log::line(&format!("cannot raise the limit of open files: {error}"));
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// The signals of a service manager.
struct ServiceSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl ServiceSignals {
    fn install() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal: true for SIGHUP, false for those that end the service.
    async fn next_is_reload(&mut self) -> bool {
        tokio::select! {
            _ = self.hangup.recv() => true,
            _ = self.terminate.recv() => false,
            _ = self.interrupt.recv() => false,
        }
    }
}
