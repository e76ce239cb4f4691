//! Sends one POST request and classifies what can go wrong with it.
//!
//! TLS uses ring and Mozilla's root certificates, which are embedded in the executable and parsed
//! only for an https connection. On a network that intercepts TLS, `SSL_CERT_FILE` names other roots.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use ureq::http::{HeaderName, HeaderValue};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Timeout};

use super::endpoint::ModelEndpoint;
use super::error::ModelError;
use super::fault::HttpFault;
use super::language_model::ModelRequest;
use claude_mem_core::limits::MODEL_BODY_BYTES_MAX;

/// Maximum seconds that connecting to a provider may take.
const MODEL_CONNECT_SECONDS_MAX: u64 = 10;

/// Proxy and root certificates of this machine.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    pub proxy: Option<ureq::Proxy>,
    /// The proxy variable whose value is invalid. Requests fail instead of bypassing the proxy.
    pub invalid_proxy: Option<&'static str>,
    /// PEM certificates to trust instead of the built-in ones, as in `SSL_CERT_FILE`.
    pub roots: Option<PathBuf>,
}

/// The proxy from `HTTPS_PROXY` and similar variables.
pub fn proxy_from_environment() -> Option<ureq::Proxy> {
    ureq::Proxy::try_from_env()
}

/// The proxy variables, in order of precedence.
const PROXY_VARIABLES: [&str; 6] =
    ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/// The name of the first proxy variable that is set, if its value is invalid.
pub fn invalid_proxy_variable(env: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let given = PROXY_VARIABLES.iter().find_map(|name| {
        let value = env(name).filter(|value| !value.trim().is_empty())?;
        Some((*name, value))
    });
    given.filter(|(_, value)| ureq::Proxy::new(value).is_err()).map(|(name, _)| name)
}

/// An HTTP client for one endpoint.
#[derive(Debug)]
pub(super) struct HttpClient {
    agent: Agent,
}

impl HttpClient {
    /// Fails if a proxy or certificate file is configured and unusable.
    pub(super) fn new(endpoint: &ModelEndpoint, network: &NetworkConfig) -> Result<Self, ModelError> {
        // Requests to this machine bypass the proxy.
        let proxy = network.proxy.clone().filter(|_| !endpoint.is_loopback());
        if let Some(name) = network.invalid_proxy.filter(|_| !endpoint.is_loopback()) {
            let why = format!("{name} is not a valid proxy URL; fix or unset it");
            return Err(ModelError::misconfigured(why));
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would send the key and the episode to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(Duration::from_secs(MODEL_CONNECT_SECONDS_MAX)))
            .max_idle_connections(1)
            .user_agent(concat!("claude-mem/", env!("CARGO_PKG_VERSION")))
            .proxy(proxy);
        if let Some(file) = network.roots.as_ref().filter(|_| endpoint.is_https()) {
            config = config.tls_config(TlsConfig::builder().root_certs(load_roots(file)?).build());
        }
        Ok(Self { agent: config.build().new_agent() })
    }

    /// Posts JSON and returns the JSON of a successful response.
    pub(super) fn post(
        &self,
        url: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: &Value,
        ask: &ModelRequest<'_>,
        deadline: Duration,
    ) -> Result<Value, ModelError> {
        let mut request = self.agent.post(url).config().timeout_global(Some(deadline)).build();
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let mut response = request.send_json(body).map_err(|e| classify_error(&e))?;
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|v: &HeaderValue| v.to_str().ok());
        let retry_after = header("retry-after").map(str::to_owned);
        let is_json = header("content-type").is_none_or(|kind| {
            let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            kind == "application/json" || kind.ends_with("+json")
        });
        let bytes = response.body_mut().with_config().limit(MODEL_BODY_BYTES_MAX).read_to_vec();
        if status == 200 {
            if !is_json {
                return Err(ModelError::garbled("the response is not JSON"));
            }
            let bytes = bytes.map_err(|e| classify_error(&e))?;
            return serde_json::from_slice(&bytes)
                .map_err(|_| ModelError::garbled("the response is not JSON"));
        }
        // An unreadable error body does not change the meaning of the status.
        let body = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let retry_after = retry_after.as_deref();
        let body = &body.unwrap_or(Value::Null);
        Err(HttpFault { status, retry_after, body, now: ask.now }.classify())
    }
}

fn load_roots(file: &PathBuf) -> Result<RootCerts, ModelError> {
    let wrong = |why: &str| ModelError::misconfigured(format!("{} {why}", file.display()));
    let pem = std::fs::read(file).map_err(|e| wrong(&format!("cannot be read: {e}")))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let certificates: Vec<_> = parse_pem(&pem).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(wrong("contains no certificate"));
    }
    Ok(RootCerts::Specific(Arc::new(certificates)))
}

/// A header value that is marked as sensitive and never printed.
pub(super) fn secret_header(value: &str) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| ModelError::Auth { why: "the key contains invalid characters".into() })?;
    value.set_sensitive(true);
    Ok(value)
}

fn classify_error(error: &ureq::Error) -> ModelError {
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            ModelError::unreachable("connecting timed out")
        }
        ureq::Error::Timeout(_) => ModelError::TimedOut,
        ureq::Error::HostNotFound => ModelError::unreachable("no such host"),
        ureq::Error::ConnectionFailed | ureq::Error::ConnectProxyFailed(_) => {
            ModelError::unreachable("connection failed")
        }
        ureq::Error::Io(e) => classify_io_error(e.kind()),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
            ModelError::unreachable(format!("TLS: {error}"))
        }
        ureq::Error::BodyExceedsLimit(_) => ModelError::garbled("the response exceeds the size limit"),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
            ModelError::misconfigured("the address or the proxy is not a URL")
        }
        _ => ModelError::garbled("the response is not HTTP"),
    }
}

fn classify_io_error(kind: ErrorKind) -> ModelError {
    match kind {
        ErrorKind::ConnectionRefused => ModelError::unreachable("connection refused"),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            ModelError::unreachable("network unreachable")
        }
        ErrorKind::NotFound | ErrorKind::AddrNotAvailable => ModelError::unreachable("no such host"),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => ModelError::TimedOut,
        _ => ModelError::garbled("the connection was interrupted"),
    }
}
