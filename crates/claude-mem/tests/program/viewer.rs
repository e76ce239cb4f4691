use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use rig::Sandbox;

use crate::common::sandbox;

/// The status of a request to the worker, by hand.
fn ask(address: &str, head: &str, headers: &[String], body: &str) -> (u16, String) {
    let host = address.strip_prefix("http://").expect("an address");
    let mut stream = TcpStream::connect(host).expect("it listens");
    let headers: String = headers
        .iter()
        .map(|header| header.clone() + "\r\n")
        .collect();
    let length = body.len();
    write!(
        stream,
        "{head} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{headers}\r\n{body}"
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status.expect("a status"), body.to_owned())
}

fn address(home: &Sandbox) -> String {
    let status = home.mem(&["status", "--json"]).ok().stdout;
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    let address = status["worker"]["address"].as_str();
    address.expect("the viewer is served").to_owned()
}

fn token(home: &Sandbox) -> String {
    let path = home.data_dir().join("token");
    let mode = std::fs::metadata(&path)
        .expect("a token")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = std::fs::read_to_string(path).expect("a token");
    format!("x-claude-mem-token: {}", token.trim())
}

#[test]
fn open_starts_the_worker_and_gives_a_link_that_works_once() {
    let home = sandbox();
    let link = home.mem(&["open", "--print"]).ok().stdout;
    let (page, secret) = link.trim().split_once("/#k=").expect("a link");
    assert_eq!(page, address(&home));
    let (status, html) = ask(page, "GET /", &[], "");
    assert_eq!(status, 200);
    assert!(html.contains("<title>claude-mem</title>"), "{html}");
    let body = format!("{{\"secret\":\"{secret}\"}}");
    let (status, given) = ask(page, "POST /api/page/token", &[], &body);
    assert_eq!(status, 200);
    let given: serde_json::Value = serde_json::from_str(&given).expect("JSON");
    let header = format!(
        "x-claude-mem-token: {}",
        given["token"].as_str().expect("a token")
    );
    assert_eq!(ask(page, "GET /api/feed", &[header], "").0, 200);
    assert_eq!(ask(page, "POST /api/page/token", &[], &body).0, 401);
    let text = home.mem(&["status"]).ok().stdout;
    assert!(
        text.contains(&format!("viewer   {page}; `claude-mem open` opens it")),
        "{text}"
    );
    home.mem(&["worker", "stop"]).ok();
    home.assert_alone();
}

#[test]
fn where_a_port_is_taken_another_one_serves() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let home = sandbox().with_env("CLAUDE_MEM_PORT", port.to_string());
    home.mem(&["worker", "start"]).ok();
    let served = address(&home);
    assert_ne!(served, format!("http://127.0.0.1:{port}"));
    assert_eq!(ask(&served, "GET /health", &[], "").0, 200);
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn a_token_is_private_never_printed_and_void_once_rotated() {
    let home = sandbox();
    let shown = home.mem(&["token", "path"]).ok().stdout;
    assert_eq!(
        shown.trim(),
        home.data_dir().join("token").display().to_string()
    );
    let first = token(&home);
    home.mem(&["worker", "start"]).ok();
    let page = address(&home);
    assert_eq!(
        ask(&page, "GET /api/stats", std::slice::from_ref(&first), "").0,
        200
    );
    let rotated = home.mem(&["token", "rotate"]).ok().stdout;
    let second = token(&home);
    assert_ne!(first, second);
    assert!(!rotated.contains(second.split(' ').nth(1).expect("a token")));
    assert_eq!(ask(&page, "GET /api/stats", &[first], "").0, 401);
    assert_eq!(ask(&page, "GET /api/stats", &[second], "").0, 200);
    home.mem(&["worker", "stop"]).ok();
    let third = home.mem(&["token", "rotate", "--json"]).ok();
    assert!(third.stdout.contains("\"rotated\": true"), "{third}");
}
