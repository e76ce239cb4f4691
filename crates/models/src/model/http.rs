//! Sends one POST request and classifies what can go wrong with it.
//!
//! TLS uses ring and Mozilla's root certificates, which are embedded in the executable and parsed
//! only for an https connection. On a network that intercepts TLS, a setting names other roots.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
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
use claude_mem_core::config::{SecretString, Settings};
use claude_mem_core::limits::MODEL_BODY_BYTES_MAX;

/// Maximum seconds that connecting to a provider may take.
const MODEL_CONNECT_SECONDS_MAX: u64 = 10;

/// Proxy and root certificates, from the settings.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    pub(super) proxy: Option<ureq::Proxy>,
    /// The configured proxy is not a URL. Requests fail instead of bypassing it.
    pub(super) invalid_proxy: bool,
    /// PEM certificates to trust instead of the built-in ones.
    pub roots: Option<PathBuf>,
}

impl NetworkConfig {
    /// The proxy and certificates that the settings name. A relative path starts at `root`, the data
    /// directory.
    pub fn from_settings(settings: &Settings, root: &Path) -> Self {
        let given = Some(settings.proxy.expose().trim()).filter(|url| !url.is_empty());
        let proxy = given.map(ureq::Proxy::new);
        let roots = Some(settings.root_certificates.trim()).filter(|path| !path.is_empty());
        Self {
            invalid_proxy: matches!(proxy, Some(Err(_))),
            proxy: proxy.and_then(Result::ok),
            roots: roots.map(|path| root.join(path)),
        }
    }
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
        if network.invalid_proxy && !endpoint.is_loopback() {
            return Err(ModelError::misconfigured("the setting proxy is not a URL"));
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would send the key and the episode to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
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
        // Shorter than the whole deadline, so that a call which never reached the server ends with an
        // error that says so: it costs nothing.
        let connect = (deadline * 2 / 5).min(Duration::from_secs(MODEL_CONNECT_SECONDS_MAX));
        let mut request = self
            .agent
            .post(url)
            .config()
            .timeout_global(Some(deadline))
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .build();
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

/// Fails without a key, except on this machine: local servers often need none.
pub(super) fn require_key(key: &SecretString, endpoint: &ModelEndpoint) -> Result<(), ModelError> {
    if key.is_empty() && !endpoint.is_loopback() {
        return Err(ModelError::Auth { why: "no key is set".into() });
    }
    Ok(())
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
        ureq::Error::Io(e) => classify_io_error(e),
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

fn classify_io_error(error: &std::io::Error) -> ModelError {
    match error.kind() {
        ErrorKind::ConnectionRefused => ModelError::unreachable("connection refused"),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            ModelError::unreachable("network unreachable")
        }
        ErrorKind::NotFound | ErrorKind::AddrNotAvailable => ModelError::unreachable("no such host"),
        ErrorKind::PermissionDenied => ModelError::unreachable("connection not permitted"),
        _ if is_lookup_failure(error) => ModelError::unreachable("no such host"),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => ModelError::TimedOut,
        _ => ModelError::garbled("the connection was interrupted"),
    }
}

/// Whether the resolver failed: the standard library gives its errors no kind, only a text of its own.
fn is_lookup_failure(error: &std::io::Error) -> bool {
    error.raw_os_error().is_none() && error.to_string().starts_with("failed to lookup address")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FailureCost;

    #[test]
    fn failed_lookup_costs_nothing() {
        let lookup = "failed to lookup address information: Name or service not known";
        let error = ureq::Error::Io(std::io::Error::other(lookup));
        assert_eq!(classify_error(&error), ModelError::unreachable("no such host"));
        assert_eq!(classify_error(&error).cost(), FailureCost::Nothing);
        let broken = ureq::Error::Io(ErrorKind::ConnectionReset.into());
        assert_eq!(classify_error(&broken).cost(), FailureCost::Unknown);
    }
}
