//! [`ServeOptions`]: how the service runs.

use std::net::SocketAddr;
use std::path::PathBuf;

/// How the service runs.
#[derive(Clone)]
pub struct ServeOptions {
    /// `postgres://user:password@host/database`, or the key-value form.
    pub database: String,
    /// Certificate authority of the database; `None` means the public ones.
    pub database_ca: Option<PathBuf>,
    pub listen: SocketAddr,
    /// Certificate chain and key, both PEM.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// A proxy in front of the service terminates TLS and adds `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// The address by which members reach the service, for the administrator's link.
    pub public_url: Option<String>,
    /// The team that is made if it does not exist.
    pub team: String,
    /// Connections to the database.
    pub pool_size: usize,
}

impl std::fmt::Debug for ServeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The database address may contain a password.
        f.debug_struct("ServeOptions").field("listen", &self.listen).finish_non_exhaustive()
    }
}

impl ServeOptions {
    /// Options for a database, with everything else at its default: loopback, any free port.
    pub fn new(database: impl Into<String>) -> Self {
        Self {
            database: database.into(),
            database_ca: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            certificate: None,
            behind_proxy: false,
            public_url: None,
            team: "team".to_owned(),
            pool_size: crate::db::POOL_SIZE,
        }
    }

    /// The address for links: the given one, or where the service listens.
    pub(crate) fn base_url(&self, listening: SocketAddr) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        let host = match listening.ip() {
            ip if ip.is_unspecified() => "localhost".to_owned(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
            std::net::IpAddr::V4(ip) => ip.to_string(),
        };
        self.public_url.clone().unwrap_or_else(|| format!("{scheme}://{host}:{}", listening.port()))
    }
}
