//! One POST, and everything that can be wrong with what comes back.
//!
//! Certificates: ring does the arithmetic, Mozilla's list of roots is inside the executable and
//! is looked at only when an https connection is made. A machine whose network re-signs traffic
//! names its own roots in a file.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use ureq::http::{HeaderName, HeaderValue};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Timeout};

use super::fault::Fault;
use super::{Ask, Endpoint, ModelError};
use crate::limits::{MODEL_BODY_BYTES_MAX, MODEL_CONNECT_SECONDS_MAX};

/// How this machine reaches the world.
#[derive(Clone, Debug, Default)]
pub struct Network {
    pub proxy: Option<ureq::Proxy>,
    /// The variable that is to name a proxy and does not: nobody may go around it.
    pub proxy_refused: Option<&'static str>,
    /// PEM certificates to trust instead of the built-in ones, as in `SSL_CERT_FILE`.
    pub roots: Option<PathBuf>,
}

/// The proxy that `HTTPS_PROXY` and its kin name. For the edge that reads the environment.
pub fn proxy_from_environment() -> Option<ureq::Proxy> {
    ureq::Proxy::try_from_env()
}

/// The variables that name one, in the order in which they are asked.
const PROXIES: [&str; 6] = [
    "ALL_PROXY",
    "all_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
];

/// The first of them that is set, if it does not read.
pub fn refused_proxy(env: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let given = PROXIES.iter().find_map(|name| {
        let value = env(name).filter(|value| !value.trim().is_empty())?;
        Some((*name, value))
    });
    given
        .filter(|(_, value)| ureq::Proxy::new(value).is_err())
        .map(|(name, _)| name)
}

/// A connection to one endpoint.
#[derive(Debug)]
pub(super) struct Http {
    agent: Agent,
}

impl Http {
    pub(super) fn new(endpoint: &Endpoint, network: &Network) -> Result<Self, ModelError> {
        // What stays on this machine asks no proxy.
        let proxy = network.proxy.clone().filter(|_| !endpoint.is_loopback());
        if let Some(name) = network.proxy_refused.filter(|_| !endpoint.is_loopback()) {
            let why = format!("{name} does not name a proxy; mend it or unset it");
            return Err(ModelError::misconfigured(why));
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the key and the episode to wherever it points.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(Duration::from_secs(MODEL_CONNECT_SECONDS_MAX)))
            .max_idle_connections(1)
            .user_agent(concat!("claude-mem/", env!("CARGO_PKG_VERSION")))
            .proxy(proxy);
        if let Some(file) = network.roots.as_ref().filter(|_| endpoint.is_https()) {
            config = config.tls_config(TlsConfig::builder().root_certs(roots(file)?).build());
        }
        Ok(Self {
            agent: config.build().new_agent(),
        })
    }

    /// Posts JSON and returns the JSON of a successful answer.
    pub(super) fn post(
        &self,
        url: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: &Value,
        ask: &Ask<'_>,
        deadline: Duration,
    ) -> Result<Value, ModelError> {
        let mut request = self
            .agent
            .post(url)
            .config()
            .timeout_global(Some(deadline))
            .build();
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let mut response = request.send_json(body).map_err(|e| decide(&e))?;
        let status = response.status().as_u16();
        let header = |name| {
            response
                .headers()
                .get(name)
                .and_then(|v: &HeaderValue| v.to_str().ok())
        };
        let retry_after = header("retry-after").map(str::to_owned);
        let is_json = header("content-type").is_none_or(|kind| {
            let kind = kind
                .split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase();
            kind == "application/json" || kind.ends_with("+json")
        });
        let bytes = response
            .body_mut()
            .with_config()
            .limit(MODEL_BODY_BYTES_MAX)
            .read_to_vec();
        if status == 200 {
            if !is_json {
                return Err(ModelError::garbled("the answer is not JSON"));
            }
            let bytes = bytes.map_err(|e| decide(&e))?;
            return serde_json::from_slice(&bytes)
                .map_err(|_| ModelError::garbled("the answer is not JSON"));
        }
        // What cannot be read of an error does not change what its status means.
        let body = bytes
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let retry_after = retry_after.as_deref();
        let body = &body.unwrap_or(Value::Null);
        Err(Fault {
            status,
            retry_after,
            body,
            now: ask.now,
        }
        .decide())
    }
}

fn roots(file: &PathBuf) -> Result<RootCerts, ModelError> {
    let wrong = |why: &str| ModelError::misconfigured(format!("{} {why}", file.display()));
    let pem = std::fs::read(file).map_err(|e| wrong(&format!("cannot be read: {e}")))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let certificates: Vec<_> = parse_pem(&pem).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(wrong("holds no certificate"));
    }
    Ok(RootCerts::Specific(Arc::new(certificates)))
}

/// A header with a secret in it, which nothing prints.
pub(super) fn secret(value: &str) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| ModelError::Auth {
        why: "the key holds characters no key has".into(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn decide(error: &ureq::Error) -> ModelError {
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            ModelError::unreachable("no connection in time")
        }
        ureq::Error::Timeout(_) => ModelError::TimedOut,
        ureq::Error::HostNotFound => ModelError::unreachable("no such host"),
        ureq::Error::ConnectionFailed | ureq::Error::ConnectProxyFailed(_) => {
            ModelError::unreachable("no connection")
        }
        ureq::Error::Io(e) => decide_io(e.kind()),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
            ModelError::unreachable(format!("TLS: {error}"))
        }
        ureq::Error::BodyExceedsLimit(_) => ModelError::garbled("the answer does not end"),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
            ModelError::misconfigured("the address or the proxy is not a URL")
        }
        _ => ModelError::garbled("the answer is not HTTP"),
    }
}

fn decide_io(kind: ErrorKind) -> ModelError {
    match kind {
        ErrorKind::ConnectionRefused => ModelError::unreachable("nobody listens there"),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            ModelError::unreachable("no way to the network")
        }
        ErrorKind::NotFound | ErrorKind::AddrNotAvailable => {
            ModelError::unreachable("no such host")
        }
        ErrorKind::TimedOut | ErrorKind::WouldBlock => ModelError::TimedOut,
        _ => ModelError::garbled("the connection broke off"),
    }
}
