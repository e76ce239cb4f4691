//! Validates the base URL of a provider.

use ureq::http::Uri;

use super::error::ModelError;

/// A base URL: https to any host, plain http only to this machine. Memories and keys are not sent
/// unencrypted over a network unless the caller allows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelEndpoint {
    base: String,
    host: String,
    https: bool,
}

impl ModelEndpoint {
    /// Parses and checks a URL.
    pub fn new(url: &str, plain_http_allowed: bool) -> Result<Self, ModelError> {
        let wrong = |why: &str| ModelError::misconfigured(format!("the address {why}"));
        let uri: Uri = url.trim().parse().map_err(|_| wrong("is not a URL"))?;
        let authority = uri.authority().ok_or_else(|| wrong("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("contains a user name or password; put the key into its own setting"));
        }
        if uri.query().is_some() {
            return Err(wrong("has a query string"));
        }
        let host = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_loopback(&host) || plain_http_allowed => false,
            Some("http") => return Err(wrong("is plain http to another machine; use https")),
            _ => return Err(wrong("is neither https nor http")),
        };
        let path = uri.path().trim_end_matches('/');
        let scheme = if https { "https" } else { "http" };
        Ok(Self { base: format!("{scheme}://{authority}{path}"), host, https })
    }

    /// The URL of an operation. The base may already end with a prefix of `path`: `…/v1` and
    /// `/v1/messages` make `…/v1/messages`.
    pub(super) fn join(&self, path: &str) -> String {
        let overlap = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()])
            .rev()
            .find(|at| *at > 0 && self.base.ends_with(&path[..*at]));
        format!("{}{}", self.base, &path[overlap.unwrap_or(0)..])
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port of the URL, else the scheme's default.
    pub fn port(&self) -> u16 {
        let uri: Option<Uri> = self.base.parse().ok();
        let usual = if self.https { 443 } else { 80 };
        uri.and_then(|uri| uri.port_u16()).unwrap_or(usual)
    }

    pub(super) const fn is_https(&self) -> bool {
        self.https
    }

    /// Whether the host is this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

fn is_loopback(host: &str) -> bool {
    let address: Result<std::net::IpAddr, _> = host.parse();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
