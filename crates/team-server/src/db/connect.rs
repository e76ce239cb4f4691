//! [`Database`]: the pool of connections, with TLS where the address asks for it.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{ServiceError, StartError};

/// Connections of one replica.
pub(crate) const POOL_SIZE: usize = 16;

/// How long a request waits for a connection before the client is asked to come back.
const POOL_WAIT_SECONDS: u64 = 5;

/// A connection on which the database acknowledges nothing for this long is given up: its machine, or the network
/// to it, is gone without a word, and the kernel alone would wait for a quarter of an hour.
const SILENT_SECONDS_MAX: u64 = 6;

/// An idle connection is probed at this interval.
const KEEPALIVE_SECONDS: u64 = 3;

/// How often a transaction that lost against another one is repeated.
const CONFLICT_RETRIES: usize = 4;

/// The database of a team server.
#[derive(Clone)]
pub(crate) struct Database {
    pool: Pool,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The pool's own output could contain the password.
        f.debug_struct("Database").field("pool", &self.pool.status()).finish()
    }
}

impl Database {
    /// Prepares the pool; connects when it is first used.
    pub(crate) fn new(address: &str, authority: Option<&Path>, pool_size: usize) -> Result<Self, StartError> {
        let mut config: tokio_postgres::Config =
            address.parse().map_err(|_| StartError::BadAddress("see `--help` for its form".to_owned()))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(POOL_WAIT_SECONDS));
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(SILENT_SECONDS_MAX));
            config.keepalives_idle(Duration::from_secs(KEEPALIVE_SECONDS));
            config.keepalives_interval(Duration::from_secs(KEEPALIVE_SECONDS));
        }
        if config.get_application_name().is_none() {
            config.application_name("claude-mem team");
        }
        if config.get_user().is_none() {
            return Err(StartError::BadAddress("it names no user".to_owned()));
        }
        // Connections elsewhere are encrypted unless the address disables it; `prefer` would fall back to plain text.
        let is_elsewhere = config.get_hosts().iter().any(|host| match host {
            Host::Tcp(name) => !is_this_machine(name),
            Host::Unix(_) => false,
        });
        if is_elsewhere && config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(SslMode::Require);
        }
        let tls = MakeRustlsConnect::new(client_tls(authority)?);
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let patience = Some(Duration::from_secs(POOL_WAIT_SECONDS));
        let pool = Pool::builder(Manager::from_config(config, tls, recycling))
            .max_size(pool_size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(patience)
            .create_timeout(patience)
            .recycle_timeout(patience)
            .build()
            .map_err(|error| StartError::BadAddress(error.to_string()))?;
        Ok(Self { pool })
    }

    /// A connection, or an error after a few seconds.
    pub(crate) async fn connection(&self) -> Result<Object, ServiceError> {
        Ok(self.pool.get().await?)
    }

    /// Runs a transaction again while it loses against others. It must be repeatable: its connection is
    /// dropped with whatever it had begun.
    pub(crate) async fn repeat<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, ServiceError>
    where
        F: Future<Output = Result<T, ServiceError>>,
    {
        for _ in 0..CONFLICT_RETRIES {
            match attempt().await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome,
            }
        }
        attempt().await
    }

    /// Closes all connections.
    pub(crate) fn close(&self) {
        self.pool.close();
    }
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Certificates are always checked: by the public authorities, or by the given one alone.
fn client_tls(authority: Option<&Path>) -> Result<rustls::ClientConfig, StartError> {
    let mut roots = rustls::RootCertStore::empty();
    if let Some(file) = authority {
        let bad = |why: &dyn std::fmt::Display| StartError::Tls(format!("{}: {why}", file.display()));
        for certificate in CertificateDer::pem_file_iter(file).map_err(|e| bad(&e))? {
            roots.add(certificate.map_err(|e| bad(&e))?).map_err(|e| bad(&e))?;
        }
        if roots.is_empty() {
            return Err(bad(&"no certificate in it"));
        }
    } else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StartError::Tls(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
