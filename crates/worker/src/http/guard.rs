//! The guard: the one access check that every request passes.
//!
//! Any web page that the owner visits can send requests to this server too: it can reach us under
//! another host name (DNS rebinding), post a form, or load us as an image. So [`check`] requires
//! that a request names this host, does not come from another site, and carries a token that no
//! other site can know. [`RouteAccess`] says what a route requires.
//!
//! Invariant: the decision depends on the request head and the known tokens alone.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

use super::problem::Problem;
use crate::access_tokens::AccessTokens;

/// The header in which programs and pages send their token.
pub(super) const TOKEN: HeaderName = HeaderName::from_static("x-claude-mem-token");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The access requirements of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteAccess {
    /// Like `Open`, but a browser may navigate here from any site. The page contains nothing until
    /// it has a token, and for a browser the file that `claude-mem open` opens is another site.
    Page,
    /// No token: only our host name and no other site's page. The content is not secret.
    Open,
    /// The install token or a page token.
    Token,
}

/// Why the guard rejected a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardRejection {
    ForeignHost,
    ForeignOrigin,
    CrossSite,
    NoToken,
    NotJson,
}

impl From<GuardRejection> for Problem {
    fn from(refused: GuardRejection) -> Self {
        let (status, error, hint) = match refused {
            GuardRejection::ForeignHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "the Host header does not name this server",
                "Use http://127.0.0.1 with the port that `claude-mem status` shows.",
            ),
            GuardRejection::ForeignOrigin => (
                StatusCode::FORBIDDEN,
                "other sites may not use this API",
                "Call it from a program, or open the viewer with `claude-mem open`.",
            ),
            GuardRejection::CrossSite => (
                StatusCode::FORBIDDEN,
                "cross-site requests are rejected",
                "Open the viewer with `claude-mem open`.",
            ),
            GuardRejection::NoToken => (
                StatusCode::UNAUTHORIZED,
                "a valid token is required",
                "Open the viewer with `claude-mem open`; programs send the content of the file \
                 `token` in the data directory as X-Claude-Mem-Token.",
            ),
            GuardRejection::NotJson => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the body must be JSON",
                "Send Content-Type: application/json.",
            ),
        };
        Self::new(status, error, hint)
    }
}

/// Accepts a request, or returns the reason against it.
pub(super) fn check(
    head: &Parts,
    access: RouteAccess,
    port: u16,
    keys: &AccessTokens,
) -> Result<(), Problem> {
    let host = own_host(head, port).ok_or(GuardRejection::ForeignHost)?;
    if !is_own_origin(&head.headers, host) {
        return Err(GuardRejection::ForeignOrigin.into());
    }
    let is_visit = access == RouteAccess::Page && is_navigation(head);
    if !is_same_site(&head.headers) && !is_visit {
        return Err(GuardRejection::CrossSite.into());
    }
    if access == RouteAccess::Token {
        let header = single_header(&head.headers, &TOKEN).ok().flatten();
        let token = header.ok_or(GuardRejection::NoToken)?;
        if !keys.is_known(token)? {
            return Err(GuardRejection::NoToken.into());
        }
    }
    if !has_json_if_required(&head.method, &head.headers) {
        return Err(GuardRejection::NotJson.into());
    }
    Ok(())
}

/// The value of the Host header, if it names this server.
fn own_host(head: &Parts, port: u16) -> Option<&str> {
    let is_ours = |name: &str| {
        let (host, at) = name.rsplit_once(':').unwrap_or((name, "80"));
        matches!(host, "127.0.0.1" | "localhost") && at == port.to_string()
    };
    let named = single_header(&head.headers, &header::HOST).ok()??;
    // An absolute request target overrides the header, so it has to agree with it.
    let target = head.uri.authority().map(axum::http::uri::Authority::as_str);
    (is_ours(named) && target.is_none_or(|target| target == named)).then_some(named)
}

/// Browsers send the origin of the requesting page; programs send none.
fn is_own_origin(headers: &HeaderMap, host: &str) -> bool {
    match single_header(headers, &header::ORIGIN) {
        Ok(None) => true,
        Ok(Some(origin)) => origin.strip_prefix("http://") == Some(host),
        Err(BadHeader) => false,
    }
}

/// `none` means that the user typed the address or opened it from outside the browser.
fn is_same_site(headers: &HeaderMap) -> bool {
    match single_header(headers, &FETCH_SITE) {
        Ok(site) => matches!(site, None | Some("none" | "same-origin")),
        Err(BadHeader) => false,
    }
}

/// A top-level navigation: no other page embeds, loads or reads the response.
fn is_navigation(head: &Parts) -> bool {
    let says = |name, what| matches!(single_header(&head.headers, &name), Ok(Some(said)) if said == what);
    head.method == Method::GET
        && single_header(&head.headers, &FETCH_SITE).is_ok()
        && says(FETCH_MODE, "navigate")
        && says(FETCH_DEST, "document")
}

/// Requires JSON for every method that changes state, because a plain form cannot send JSON. A
/// DELETE without a body has no content type, and no form can send one.
fn has_json_if_required(method: &Method, headers: &HeaderMap) -> bool {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return true;
    }
    match single_header(headers, &header::CONTENT_TYPE) {
        Ok(Some(kind)) => {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/json")
        }
        Ok(None) => *method == Method::DELETE,
        Err(BadHeader) => false,
    }
}

/// A header that occurs twice or is not visible ASCII.
struct BadHeader;

/// The only value of a header, `None` if it is absent.
fn single_header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, BadHeader> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(BadHeader);
    }
    first.map(|value| value.to_str().map_err(|_| BadHeader)).transpose()
}
