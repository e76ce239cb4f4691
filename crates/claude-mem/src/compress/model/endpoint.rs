//! Where a model is asked, and whether what we say may travel there.

use ureq::http::Uri;

use super::ModelError;

/// A base address: https anywhere, http only to this machine. Memories and keys do not travel in
/// the clear unless the owner of both says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    base: String,
    host: String,
    https: bool,
}

impl Endpoint {
    pub fn new(url: &str, plain_http_allowed: bool) -> Result<Self, ModelError> {
        let wrong = |why: &str| ModelError::misconfigured(format!("the address {why}"));
        let uri: Uri = url.trim().parse().map_err(|_| wrong("is not a URL"))?;
        let authority = uri.authority().ok_or_else(|| wrong("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong(
                "holds a user name or password; put the key into its own setting",
            ));
        }
        if uri.query().is_some() {
            return Err(wrong("has a query part"));
        }
        let host = authority
            .host()
            .trim_matches(['[', ']'])
            .to_ascii_lowercase();
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_loopback(&host) || plain_http_allowed => false,
            Some("http") => return Err(wrong("is plain http to another machine; use https")),
            _ => return Err(wrong("is neither https nor http")),
        };
        let path = uri.path().trim_end_matches('/');
        let scheme = if https { "https" } else { "http" };
        Ok(Self {
            base: format!("{scheme}://{authority}{path}"),
            host,
            https,
        })
    }

    /// The address of one operation. A base that names it, or its beginning, already is accepted:
    /// `…/v1` and `/v1/messages` make `…/v1/messages`.
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

    /// As the address says, else the scheme's own.
    pub fn port(&self) -> u16 {
        let uri: Option<Uri> = self.base.parse().ok();
        let usual = if self.https { 443 } else { 80 };
        uri.and_then(|uri| uri.port_u16()).unwrap_or(usual)
    }

    pub(super) const fn is_https(&self) -> bool {
        self.https
    }

    /// Whether it is on this machine.
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
