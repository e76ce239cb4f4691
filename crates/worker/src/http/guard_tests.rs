//! The guard lets only the owner in: every combination of headers against the guard itself, and
//! every route of the table over a real socket.

use axum::http::Request;
use axum::http::request::Parts;

use super::contract_tests::TRIES;
use super::guard::{RouteAccess, check};
use super::route::{Route, RouteAction, RouteMethod};
use super::testing::{TestResponse, TestServer, request};
use crate::access_tokens::AccessTokens;
use crate::http::routes::routes;

const PORT: u16 = 37_701;

/// A header value, and whether the guard accepts it.
type HeaderCase = (Option<&'static str>, bool);

const HOSTS: [HeaderCase; 14] = [
    (Some("127.0.0.1:37701"), true),
    (Some("localhost:37701"), true),
    (None, false),
    (Some(""), false),
    (Some("127.0.0.1"), false),
    (Some("127.0.0.1:37702"), false),
    (Some("evil.example:37701"), false),
    (Some("evil.example"), false),
    (Some("localhost.evil.example:37701"), false),
    (Some("127.0.0.1.evil.example:37701"), false),
    (Some("[::1]:37701"), false),
    (Some("0.0.0.0:37701"), false),
    (Some("user@127.0.0.1:37701"), false),
    (Some("127.0.0.1:037701"), false),
];

const ORIGINS: [HeaderCase; 9] = [
    (None, true),
    (Some("http://127.0.0.1:37701"), true),
    (Some("http://localhost:37701"), true),
    (Some("null"), false),
    (Some(""), false),
    (Some("http://evil.example"), false),
    (Some("https://127.0.0.1:37701"), false),
    (Some("http://127.0.0.1:37702"), false),
    (Some("http://127.0.0.1:37701.evil.example"), false),
];

const SITES: [HeaderCase; 6] = [
    (None, true),
    (Some("none"), true),
    (Some("same-origin"), true),
    (Some("same-site"), false),
    (Some("cross-site"), false),
    (Some("NONE"), false),
];

const TYPES: [HeaderCase; 6] = [
    (Some("application/json"), true),
    (Some("Application/JSON; charset=utf-8"), true),
    (None, false),
    (Some("text/plain"), false),
    (Some("application/x-www-form-urlencoded"), false),
    (Some("text/plain, application/json"), false),
];

/// A request head with these headers, where given.
fn head(method: &str, uri: &str, said: [Option<&str>; 5]) -> Parts {
    const NAMES: [&str; 5] = ["host", "origin", "sec-fetch-site", "content-type", "x-claude-mem-token"];
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in NAMES.into_iter().zip(said) {
        if let Some(value) = value {
            request = request.header(name, value);
        }
    }
    request.body(()).unwrap().into_parts().0
}

#[test]
fn guard_accepts_only_allowed_combinations() {
    let dir = tempfile::tempdir().unwrap();
    let keys = AccessTokens::new(dir.path().join("token"), dir.path().join("page-tokens"));
    let right = crate::access_tokens::read_or_create_token(&dir.path().join("token")).unwrap();
    let wrong = "0".repeat(64);
    let tokens = [(Some(right.as_str()), true), (Some(&wrong), false), (Some(""), false), (None, false)];
    let mut let_in = 0;
    for access in [RouteAccess::Open, RouteAccess::Page, RouteAccess::Token] {
        for method in ["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"] {
            for (host, host_fits) in HOSTS {
                for (origin, origin_fits) in ORIGINS {
                    for (site, site_fits) in SITES {
                        for (kind, kind_fits) in TYPES {
                            for (token, token_fits) in tokens {
                                let said = [host, origin, site, kind, token];
                                let head = head(method, "/api/feed", said);
                                let got_in = check(&head, access, PORT, &keys).is_ok();
                                // `localhost` and `127.0.0.1` are two origins.
                                let own = is_own(host, origin);
                                let kind_fits = kind_fits
                                    || ["GET", "HEAD", "OPTIONS"].contains(&method)
                                    || (method == "DELETE" && kind.is_none());
                                let may = host_fits
                                    && (origin_fits && own)
                                    && site_fits
                                    && kind_fits
                                    && (token_fits || access != RouteAccess::Token);
                                assert_eq!(
                                    got_in, may,
                                    "{access:?} {method} {host:?} {origin:?} {site:?} {kind:?} {token:?}"
                                );
                                let_in += u32::from(got_in);
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(let_in > 100, "{let_in}");
}

/// `localhost` and `127.0.0.1` are two origins.
fn is_own(host: Option<&str>, origin: Option<&str>) -> bool {
    origin.is_none_or(|origin| origin.strip_prefix("http://") == host)
}

#[test]
fn every_route_accepts_only_allowed_combinations() {
    let dir = tempfile::tempdir().unwrap();
    let keys = AccessTokens::new(dir.path().join("token"), dir.path().join("page-tokens"));
    let right = crate::access_tokens::read_or_create_token(&dir.path().join("token")).unwrap();
    let wrong = "0".repeat(64);
    let tokens = [(Some(right.as_str()), true), (Some(&wrong), false), (None, false)];
    for route in routes() {
        let (mut let_in, mut turned_away) = (0, 0);
        for (host, host_fits) in HOSTS {
            for (origin, origin_fits) in ORIGINS {
                for (site, site_fits) in SITES {
                    for (token, token_fits) in tokens {
                        let said = [host, origin, site, Some("application/json"), token];
                        let head = head(method(&route).as_str(), &path(&route), said);
                        let got_in = check(&head, route.access, PORT, &keys).is_ok();
                        let may = host_fits
                            && (origin_fits && is_own(host, origin))
                            && site_fits
                            && (token_fits || route.access != RouteAccess::Token);
                        assert_eq!(got_in, may, "{} {host:?} {origin:?} {site:?} {token:?}", route.path);
                        let_in += u32::from(got_in);
                        turned_away += u32::from(!got_in);
                    }
                }
            }
        }
        // Two hosts, each with no origin or its own, three sites, and the token where it counts.
        let tokens_that_fit = if route.access == RouteAccess::Token { 1 } else { 3 };
        assert_eq!(let_in, 2 * 2 * 3 * tokens_that_fit, "{}", route.path);
        assert!(turned_away > let_in);
    }
}

#[test]
fn duplicate_or_binary_headers_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let keys = AccessTokens::new(dir.path().join("token"), dir.path().join("page-tokens"));
    let right = crate::access_tokens::read_or_create_token(&dir.path().join("token")).unwrap();
    let fine = [
        ("host", "127.0.0.1:37701"),
        ("origin", "http://127.0.0.1:37701"),
        ("sec-fetch-site", "same-origin"),
        ("content-type", "application/json"),
        ("x-claude-mem-token", right.as_str()),
    ];
    let gets_in = |more: Option<(&str, &[u8])>, less: Option<&str>| {
        let mut request = Request::builder().method("POST").uri("/api/memory/save");
        for (name, value) in fine {
            if less != Some(name) {
                request = request.header(name, value);
            }
        }
        if let Some((name, value)) = more {
            request = request.header(name, value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        check(&head, RouteAccess::Token, PORT, &keys).is_ok()
    };
    assert!(gets_in(None, None));
    for (name, value) in fine {
        assert!(!gets_in(Some((name, value.as_bytes())), None), "{name} twice");
        assert!(!gets_in(Some((name, b"\xff")), Some(name)), "{name} as bytes");
    }
}

#[test]
fn only_the_page_allows_cross_site_navigation() {
    let dir = tempfile::tempdir().unwrap();
    let keys = AccessTokens::new(dir.path().join("token"), dir.path().join("page-tokens"));
    let right = crate::access_tokens::read_or_create_token(&dir.path().join("token")).unwrap();
    let gets_in = |route: &Route, more: &[(&str, &str)]| {
        let mut request = Request::builder()
            .method(method(route).as_str())
            .uri(path(route))
            .header("host", "127.0.0.1:37701")
            .header("content-type", "application/json")
            .header("x-claude-mem-token", &right);
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        check(&head, route.access, PORT, &keys).is_ok()
    };
    let (site, mode) = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"));
    let dest = ("sec-fetch-dest", "document");
    for route in routes() {
        let is_page = route.path == "/";
        assert_eq!(gets_in(&route, &[site, mode, dest]), is_page, "{}", route.path);
        for other in [
            &[site][..],
            &[site, mode],
            &[site, dest],
            &[site, mode, ("sec-fetch-dest", "iframe")],
            &[site, ("sec-fetch-mode", "no-cors"), dest],
            &[site, ("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")],
            &[site, site, mode, dest],
            &[site, mode, dest, ("origin", "http://evil.example")],
        ] {
            assert!(!gets_in(&route, other), "{} {other:?}", route.path);
        }
    }
}

/// A path that matches the route and names nothing that exists.
fn path(route: &Route) -> String {
    let path = route.path.replace("{id}", "999999");
    path.replace("{kind}", "observation").replace("{version}", "1").replace("{file}", "app.js")
}

fn method(route: &Route) -> String {
    route.method.name().to_ascii_uppercase()
}

/// Whether the guard rejected the request, rather than the route.
fn is_refused(reply: &TestResponse) -> bool {
    // A wrong link secret is rejected by its route.
    let by_route = reply.body.contains("this link was already used");
    matches!(reply.status, 401 | 403 | 415 | 421) && !by_route
}

#[test]
fn every_route_is_behind_the_guard() {
    let stage = TestServer::new();
    let (host, token) = (format!("host: {}", stage.host()), format!("x-claude-mem-token: {}", stage.token));
    let (host, token, json) = (host.as_str(), token.as_str(), "content-type: application/json");
    for route in routes() {
        let ask = |headers: &[&str]| stage.send_raw(&request(&method(&route), &path(&route), headers, ""));
        let fine = ask(&[host, token, json]);
        assert!(!is_refused(&fine), "{} {}: {fine:?}", method(&route), route.path);
        assert!(fine.status < 500, "{} {}: {fine:?}", method(&route), route.path);
        let foreign = format!("host: evil.example:{}", stage.port);
        let other_port = format!("host: 127.0.0.1:{}", stage.port ^ 1);
        for (what, headers, status) in [
            ("another name", &[foreign.as_str(), token, json][..], 421),
            ("another port", &[other_port.as_str(), token, json], 421),
            ("another site's page", &[host, token, json, "origin: http://evil.example"], 403),
            ("a page without origin", &[host, token, json, "origin: null"], 403),
            ("a cross-site load", &[host, token, json, "sec-fetch-site: cross-site"], 403),
            ("a neighbour's load", &[host, token, json, "sec-fetch-site: same-site"], 403),
        ] {
            let reply = ask(headers);
            assert_eq!(reply.status, status, "{what} at {} {}", method(&route), route.path);
            assert!(reply.json()["hint"].is_string());
        }
        if route.method == RouteMethod::Post || route.method == RouteMethod::Patch {
            let form = ask(&[host, token, "content-type: application/x-www-form-urlencoded"]);
            assert_eq!(form.status, 415, "{}", route.path);
        }
        for headers in
            [&[host, json][..], &[host, json, "x-claude-mem-token: 0"], &[host, token, json, token]]
        {
            let reply = ask(headers);
            match route.access {
                RouteAccess::Open | RouteAccess::Page => {
                    assert!(!is_refused(&reply), "{}", route.path);
                }
                RouteAccess::Token => assert_eq!(reply.status, 401, "{}", route.path),
            }
        }
    }
}

#[test]
fn open_routes_return_no_secret() {
    let open: Vec<_> = routes().into_iter().filter(|route| route.access != RouteAccess::Token).collect();
    let paths: Vec<_> = open.iter().map(|route| route.path).collect();
    assert_eq!(paths, ["/", "/assets/{version}/{file}", "/health", "/api/page/token"]);
    assert!(open.iter().all(|route| !matches!(route.action, RouteAction::Stream)));
}

#[test]
fn get_changes_nothing() {
    let stage = TestServer::with_turn();
    let looks = || TRIES.iter().filter(|(method, ..)| *method == "GET");
    // The first round creates what is created lazily.
    for (_, _, target, ..) in looks() {
        stage.get(target);
    }
    let store = claude_mem_store::Store::open_read_only(&stage.scratch.dir.db()).unwrap();
    let before = store.read().data_version().unwrap();
    let mut answered = 0;
    for (_, _, target, ..) in looks() {
        answered += u32::from(stage.get(target).status == 200);
    }
    assert!(answered > 30, "{answered}");
    assert_eq!(store.read().data_version().unwrap(), before);
}

/// What is malformed, the raw request (`HOST` and `TOKEN` stand for valid values), the status.
#[rustfmt::skip]
const ODD: [(&str, &str, &[&str], u16); 20] = [
    ("no host", "GET /api/feed HTTP/1.1", &["TOKEN"], 421),
    ("no host, old protocol", "GET /api/feed HTTP/1.0", &["TOKEN"], 421),
    ("two hosts", "GET /api/feed HTTP/1.1", &["host: HOST", "host: HOST", "TOKEN"], 421),
    ("two hosts, one foreign", "GET /api/feed HTTP/1.1", &["host: HOST", "host: evil.example", "TOKEN"], 421),
    ("a foreign target", "GET http://evil.example/api/feed HTTP/1.1", &["host: HOST", "TOKEN"], 421),
    ("our target, a foreign host", "GET http://HOST/api/feed HTTP/1.1", &["host: evil.example", "TOKEN"], 421),
    ("our own target", "GET http://HOST/api/feed HTTP/1.1", &["host: HOST", "TOKEN"], 200),
    ("a foreign host over loopback", "GET /api/feed HTTP/1.1", &["host: evil.example", "TOKEN"], 421),
    ("an empty token", "GET /api/feed HTTP/1.1", &["host: HOST", "x-claude-mem-token:"], 401),
    ("two tokens", "GET /api/feed HTTP/1.1", &["host: HOST", "TOKEN", "TOKEN"], 401),
    ("a token in the address", "GET /api/feed?TOKEN HTTP/1.1", &["host: HOST"], 401),
    ("a token in a cookie", "GET /api/feed HTTP/1.1", &["host: HOST", "cookie: TOKEN"], 401),
    ("nothing there, no token", "GET /api/none HTTP/1.1", &["host: HOST"], 401),
    ("nothing there", "GET /api/none HTTP/1.1", &["host: HOST", "TOKEN"], 404),
    ("another method", "PUT /api/feed HTTP/1.1", &["host: HOST", "TOKEN", "content-type: application/json", "content-length: 0"], 405),
    ("a change by GET", "GET /api/pause HTTP/1.1", &["host: HOST", "TOKEN"], 405),
    ("bytes that are no text, foreign", "GET /api/observations/%ff HTTP/1.1", &["host: evil.example", "TOKEN"], 421),
    ("bytes that are no text, no token", "GET /api/observations/%ff HTTP/1.1", &["host: HOST"], 401),
    ("bytes that are no text", "GET /api/observations/%ff HTTP/1.1", &["host: HOST", "TOKEN"], 404),
    ("a folder above", "GET /assets/1/..%2f..%2ftoken HTTP/1.1", &["host: HOST"], 404),
];

#[test]
fn malformed_raw_requests_are_rejected() {
    let stage = TestServer::new();
    let token = format!("x-claude-mem-token: {}", stage.token);
    for (what, line, headers, status) in ODD {
        let mut request = format!("{line}\r\nconnection: close\r\n");
        for header in headers {
            request.push_str(&format!("{header}\r\n"));
        }
        let in_line = format!("token={}", stage.token);
        let request = request.replace("?TOKEN", &format!("?{in_line}"));
        let request = request.replace("cookie: TOKEN", &format!("cookie: {in_line}"));
        let request = request.replace("TOKEN", &token).replace("HOST", &stage.host());
        let reply = stage.send_raw(&format!("{request}\r\n"));
        assert_eq!(reply.status, status, "{what}: {reply:?}");
    }
}

#[test]
fn no_response_has_cors_headers() {
    let stage = TestServer::new();
    let own = format!("origin: http://{}", stage.host());
    let asks = ["access-control-request-method: POST", "access-control-request-headers: x-claude-mem-token"];
    for origin in [own.as_str(), "origin: http://evil.example"] {
        let headers = [origin, asks[0], asks[1]];
        let reply = stage.send("OPTIONS", "/api/memory/save", &headers, "");
        assert!(reply.status >= 400, "{reply:?}");
        let allows = reply.headers.iter().any(|(name, _)| name.starts_with("access-control"));
        assert!(!allows, "{reply:?}");
    }
    for path in ["/", "/assets/1/app.js", "/api/feed", "/health"] {
        let reply = stage.get(path);
        assert_eq!(reply.status, 200, "{path}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{path}");
        }
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert_eq!(reply.header("set-cookie"), None);
    }
}

#[test]
fn oversized_body_is_rejected() {
    let stage = TestServer::new();
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(claude_mem_core::limits::HTTP_BODY_BYTES_MAX));
    let reply = stage.call("POST", "/api/memory/save", &long);
    assert_eq!(reply.status, 413, "{reply:?}");
}

#[test]
fn link_works_once() {
    let stage = TestServer::new();
    let link = stage.worker.viewer_link().unwrap().unwrap();
    let (address, secret) = link.split_once("/#k=").unwrap();
    assert_eq!(address, format!("http://{}", stage.host()));
    let body = serde_json::json!({ "secret": secret, "turns": { "limit": 2 } }).to_string();
    let json = ["content-type: application/json"];
    let wrong = body.replace(secret, "0");
    let wrong = stage.send("POST", "/api/page/token", &json, &wrong);
    assert_eq!(wrong.status, 401);
    assert!(!wrong.body.contains("items"), "{wrong:?}");
    let first = stage.send("POST", "/api/page/token", &json, &body);
    assert_eq!(first.status, 200, "{first:?}");
    assert!(first.json()["turns"]["items"].is_array(), "{first:?}");
    let token = format!("x-claude-mem-token: {}", first.json()["token"].as_str().unwrap());
    assert_eq!(stage.send("GET", "/api/feed", &[&token], "").status, 200);
    let second = stage.send("POST", "/api/page/token", &json, &body);
    assert_eq!(second.status, 401);
    assert!(second.body.contains("claude-mem open"), "{second:?}");
}

#[test]
fn rotation_revokes_the_install_token_only() {
    let stage = TestServer::new();
    let file = stage.scratch.dir.token();
    let old = crate::access_tokens::read_or_create_token(&file).unwrap();
    let header = format!("x-claude-mem-token: {old}");
    assert_eq!(stage.send("GET", "/api/feed", &[&header], "").status, 200);
    let rotated = stage.call("POST", "/api/token/rotate", "{}");
    assert_eq!(rotated.status, 200);
    let new = crate::access_tokens::read_or_create_token(&file).unwrap();
    assert!(!rotated.body.contains(&new), "the token is in the answer");
    assert_eq!(stage.send("GET", "/api/feed", &[&header], "").status, 401);
    assert_eq!(stage.get("/api/feed").status, 200);
}
