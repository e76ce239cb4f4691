//! The one gate of every request.
//!
//! A web page that the owner visits can send requests here too: it may name this host by another
//! name (rebinding), post a form, or load us as an image. So a request must name us by our own
//! name, must not come from another page, and must show a token that no other page can have.
//!
//! Invariant: pure. The request's head goes in, consent or the reason against it comes out.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

use super::keys::Keys;
use super::problem::Problem;

/// What programs and pages show.
pub(super) const TOKEN: HeaderName = HeaderName::from_static("x-claude-mem-token");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// What a route asks of those who call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// As `Open`, and a person may come from anywhere: the page holds nothing before it has a
    /// token, and the file that `claude-mem open` gives to a browser is another site to it.
    Page,
    /// Nothing but to be on this machine and not another site's page: what is served is no
    /// secret.
    Open,
    /// The install's token or a page's.
    Token,
}

/// Why a request was turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    ForeignHost,
    ForeignOrigin,
    CrossSite,
    NoToken,
    NotJson,
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let (status, error, hint) = match refused {
            Refused::ForeignHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "the Host header does not name this server",
                "Use http://127.0.0.1 with the port that `claude-mem status` tells.",
            ),
            Refused::ForeignOrigin => (
                StatusCode::FORBIDDEN,
                "other sites may not use this API",
                "Call it from a program, or open the viewer with `claude-mem open`.",
            ),
            Refused::CrossSite => (
                StatusCode::FORBIDDEN,
                "requests from other sites are not answered",
                "Open the viewer with `claude-mem open`.",
            ),
            Refused::NoToken => (
                StatusCode::UNAUTHORIZED,
                "a token is needed",
                "Open the viewer with `claude-mem open`; programs send the content of the file \
                 `token` in the data directory as X-Claude-Mem-Token.",
            ),
            Refused::NotJson => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "changes are made with JSON",
                "Send Content-Type: application/json.",
            ),
        };
        Self::new(status, error, hint)
    }
}

/// Lets a request in, or says why not.
pub(super) fn check(head: &Parts, access: Access, port: u16, keys: &Keys) -> Result<(), Problem> {
    let host = host(head, port).ok_or(Refused::ForeignHost)?;
    if !is_own_origin(&head.headers, host) {
        return Err(Refused::ForeignOrigin.into());
    }
    let is_visit = access == Access::Page && is_visit(head);
    if !is_same_site(&head.headers) && !is_visit {
        return Err(Refused::CrossSite.into());
    }
    if access == Access::Token {
        let token = only(&head.headers, &TOKEN).ok().flatten();
        let token = token.ok_or(Refused::NoToken)?;
        if !keys.is_known(token)? {
            return Err(Refused::NoToken.into());
        }
    }
    if !is_json_if_it_must_be(&head.method, &head.headers) {
        return Err(Refused::NotJson.into());
    }
    Ok(())
}

/// The name that the request calls us by, if it is one of ours.
fn host(head: &Parts, port: u16) -> Option<&str> {
    let is_ours = |name: &str| {
        let (host, at) = name.rsplit_once(':').unwrap_or((name, "80"));
        matches!(host, "127.0.0.1" | "localhost") && at == port.to_string()
    };
    let named = only(&head.headers, &header::HOST).ok()??;
    // A target with a host of its own means that host, whatever the header says.
    let target = head.uri.authority().map(axum::http::uri::Authority::as_str);
    (is_ours(named) && target.is_none_or(|target| target == named)).then_some(named)
}

/// Browsers say which page a request comes from; programs say nothing.
fn is_own_origin(headers: &HeaderMap, host: &str) -> bool {
    match only(headers, &header::ORIGIN) {
        Ok(None) => true,
        Ok(Some(origin)) => origin.strip_prefix("http://") == Some(host),
        Err(Odd) => false,
    }
}

/// `none`: the person typed the address or followed a link of `claude-mem open`.
fn is_same_site(headers: &HeaderMap) -> bool {
    match only(headers, &FETCH_SITE) {
        Ok(site) => matches!(site, None | Some("none" | "same-origin")),
        Err(Odd) => false,
    }
}

/// A person goes to the page in a tab of its own; no other page shows, loads or reads it.
fn is_visit(head: &Parts) -> bool {
    let says = |name, what| matches!(only(&head.headers, &name), Ok(Some(said)) if said == what);
    head.method == Method::GET
        && only(&head.headers, &FETCH_SITE).is_ok()
        && says(FETCH_MODE, "navigate")
        && says(FETCH_DEST, "document")
}

/// What a plain form can send is not JSON. A DELETE that carries nothing says nothing of its
/// type, and no form can send one.
fn is_json_if_it_must_be(method: &Method, headers: &HeaderMap) -> bool {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return true;
    }
    match only(headers, &header::CONTENT_TYPE) {
        Ok(Some(kind)) => {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/json")
        }
        Ok(None) => *method == Method::DELETE,
        Err(Odd) => false,
    }
}

/// A header that occurs twice, or is no text.
struct Odd;

fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Odd> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Odd);
    }
    first
        .map(|value| value.to_str().map_err(|_| Odd))
        .transpose()
}
