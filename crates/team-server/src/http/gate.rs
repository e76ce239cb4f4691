//! [`gate`]: what every request passes, before and after its handler.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use claude_mem_wire::ErrorCode;
use claude_mem_wire::limits::{PROTOCOL_MAX, PROTOCOL_MIN};
use claude_mem_wire::routes::{HELLO, JOIN, PROTOCOL_HEADER};

use super::body::{accepts_gzip, compress};
use super::reply::error_response;
use super::service::{TeamService, presented_token};

/// The address of the client's connection, as the listener saw it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerAddress(pub(super) SocketAddr);

/// The address that limits count by.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientAddress(pub(super) IpAddr);

/// Checks the protocol version, finds the client's address, counts failed logins, compresses the answer.
pub(super) async fn gate(
    State(service): State<Arc<TeamService>>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let needs_version = path.starts_with("/v1/") && path != HELLO;
    let needs_token = needs_version && path != JOIN;
    if needs_version && !speaks_protocol(request.headers()) {
        let why = format!("this server speaks protocols {PROTOCOL_MIN} to {PROTOCOL_MAX}");
        return error_response(ErrorCode::Protocol, why, None);
    }
    let peer = request.extensions().get::<PeerAddress>().map_or(IpAddr::from([0; 4]), |peer| peer.0.ip());
    let address = if service.behind_proxy { forwarded_for(request.headers()).unwrap_or(peer) } else { peer };
    request.extensions_mut().insert(ClientAddress(address));
    let compresses = accepts_gzip(request.headers());
    let token = presented_token(request.headers()).filter(|_| needs_token);
    if let Some(token) = &token
        && let Err(error) = service.check_stranger(token, address, Instant::now())
    {
        return error.into_response();
    }
    let response = next.run(request).await;
    match (response.status(), token) {
        (StatusCode::UNAUTHORIZED, token) => {
            if let Err(error) = service.count_stranger(token, address, Instant::now()) {
                return error.into_response();
            }
        }
        (StatusCode::OK, Some(token)) => service.remember(token),
        _ => {}
    }
    if compresses { compress(response).await } else { response }
}

fn speaks_protocol(headers: &HeaderMap) -> bool {
    let version = headers.get(PROTOCOL_HEADER).and_then(|value| value.to_str().ok());
    version
        .and_then(|version| version.parse().ok())
        .is_some_and(|version: u16| (PROTOCOL_MIN..=PROTOCOL_MAX).contains(&version))
}

/// The last address in the header: the one that our own proxy added. Earlier ones are the client's claim.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?;
    last.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use claude_mem_wire::DeviceToken;
    use claude_mem_wire::routes::ME;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use tokio::sync::watch;

    use super::*;
    use crate::db::Database;
    use crate::http::build_router;
    use crate::wait::WaitHub;

    /// Guesses are refused without a look into the database, which is away here; devices that are known are not.
    #[tokio::test]
    async fn guesses_do_not_reach_the_database() {
        let database = Database::new("host=/nonexistent user=x", None, 1).unwrap();
        let (_ending, ended) = watch::channel(false);
        let service = Arc::new(TeamService::new(database, Arc::new(WaitHub::default()), ended, true));
        let router = TowerToHyperService::new(build_router(&service));
        let token = DeviceToken::from_random([7; 32]);
        let status = async |from: &str| {
            let request = axum::http::Request::get(ME)
                .header(PROTOCOL_HEADER, "1")
                .header("authorization", format!("Bearer {}", token.reveal()))
                .header("x-forwarded-for", from);
            router.call(request.body(axum::body::Body::empty()).unwrap()).await.unwrap().status().as_u16()
        };
        let address = IpAddr::from([192, 0, 2, 7]);
        // In an hour: meanwhile nothing is filled up.
        let later = Instant::now() + Duration::from_hours(1);
        while service.count_stranger(None, address, later).is_ok() {}
        assert_eq!((status("192.0.2.7").await, status("192.0.2.8").await), (429, 503));
        service.remember(token.hash());
        assert_eq!(status("192.0.2.7").await, 503);
    }

    #[test]
    fn address_is_the_one_that_the_proxy_added() {
        let mut headers = HeaderMap::new();
        assert_eq!(forwarded_for(&headers), None);
        headers.append("x-forwarded-for", "10.0.0.1".parse().unwrap());
        headers.append("x-forwarded-for", "10.0.0.2, 192.0.2.7".parse().unwrap());
        assert_eq!(forwarded_for(&headers), Some(IpAddr::from([192, 0, 2, 7])));
    }

    #[test]
    fn other_protocols_are_told_apart() {
        for (given, want) in [("1", true), ("2", false), ("0", false), ("x", false)] {
            let mut headers = HeaderMap::new();
            headers.insert(PROTOCOL_HEADER, given.parse().unwrap());
            assert_eq!(speaks_protocol(&headers), want, "{given}");
        }
    }
}
