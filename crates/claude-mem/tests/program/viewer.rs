use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use rig::Sandbox;

use crate::common::sandbox;

/// Sends a request to the worker and returns status and body.
pub(crate) fn ask(address: &str, head: &str, headers: &[String], body: &str) -> (u16, String) {
    let host = address.strip_prefix("http://").expect("an address");
    let mut stream = TcpStream::connect(host).expect("it listens");
    let headers: String = headers.iter().map(|header| header.clone() + "\r\n").collect();
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

pub(crate) fn address(home: &Sandbox) -> String {
    let status = home.mem(&["status", "--json"]).ok().stdout;
    let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
    let address = status["worker"]["address"].as_str();
    address.expect("the viewer is served").to_owned()
}

pub(crate) fn token(home: &Sandbox) -> String {
    let path = home.data_dir().join("token");
    let mode = std::fs::metadata(&path).expect("a token").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = std::fs::read_to_string(path).expect("a token");
    format!("x-claude-mem-token: {}", token.trim())
}

#[test]
fn open_prints_a_link_that_works_once() {
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
    let header = format!("x-claude-mem-token: {}", given["token"].as_str().expect("a token"));
    assert_eq!(ask(page, "GET /api/feed", &[header], "").0, 200);
    assert_eq!(ask(page, "POST /api/page/token", &[], &body).0, 401);
    let text = home.mem(&["status"]).ok().stdout;
    assert!(text.contains(&format!("viewer   {page}; `claude-mem open` opens it")), "{text}");
    home.mem(&["worker", "stop"]).ok();
    home.assert_no_processes();
}

#[test]
fn taken_port_falls_back_to_another() {
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
fn rotated_token_stops_working() {
    let home = sandbox();
    let shown = home.mem(&["token", "path"]).ok().stdout;
    assert_eq!(shown.trim(), home.data_dir().join("token").display().to_string());
    let first = token(&home);
    home.mem(&["worker", "start"]).ok();
    let page = address(&home);
    assert_eq!(ask(&page, "GET /api/stats", std::slice::from_ref(&first), "").0, 200);
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

/// Installs a fake browser that records its arguments and then runs `more`.
fn with_browser(home: &Sandbox, more: &str) {
    let opened = home.home().join("opened");
    let script = home.write(
        home.home().join("browser.sh"),
        format!("#!/bin/sh\necho \"$*\" >> {}\n{more}\n", opened.display()),
    );
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a program");
    home.put_on_path("xdg-open", &script);
}

fn given(home: &Sandbox) -> Option<String> {
    let given = std::fs::read_to_string(home.home().join("opened")).ok()?;
    Some(given.trim().to_owned())
}

fn pages(home: &Sandbox) -> usize {
    let files = std::fs::read_dir(home.data_dir()).expect("a data directory");
    let names = files.map(|file| file.expect("a file").file_name());
    names.filter(|name| name.to_string_lossy().starts_with("open-")).count()
}

#[test]
fn browser_gets_a_private_page_without_the_secret() {
    let home = sandbox().with_env("DISPLAY", ":0");
    with_browser(&home, "exit 0");
    let said = home.mem(&["open"]).ok().stdout;
    assert_eq!(said.trim(), "opening the viewer in your browser");
    let page = given(&home).expect("it was asked");
    assert!(!page.contains("k=") && page.contains(".html"), "{page}");
    let mode = std::fs::metadata(&page).expect("a page").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(&page).expect("a page");
    let (_, link) = text.split_once("location.replace(\"").expect("a link");
    let (link, _) = link.split_once('"').expect("a link");
    let (address, secret) = link.split_once("/#k=").expect("a link");
    let body = format!("{{\"secret\":\"{secret}\"}}");
    assert_eq!(ask(address, "POST /api/page/token", &[], &body).0, 200);
    assert_eq!(pages(&home), 0, "the page was removed");
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn link_is_printed_without_a_browser() {
    let mut home = sandbox().with_env("DISPLAY", ":0");
    with_browser(&home, "exit 3");
    let said = home.mem(&["open"]).ok().stdout;
    assert!(said.contains("/#k="), "{said}");
    assert!(given(&home).is_some());
    assert_eq!(pages(&home), 0);
    std::fs::remove_file(home.home().join("opened")).expect("removed");
    home.set_env("CLAUDE_MEM_VIEWER_OPEN", "off");
    assert!(home.mem(&["open"]).ok().stdout.contains("/#k="));
    home.unset_env("CLAUDE_MEM_VIEWER_OPEN");
    home.unset_env("DISPLAY");
    assert!(home.mem(&["open"]).ok().stdout.contains("/#k="));
    assert_eq!(given(&home), None, "nothing was opened");
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn open_does_not_wait_for_the_browser() {
    let home = sandbox().with_env("DISPLAY", ":0");
    let pid = home.home().join("pid");
    with_browser(&home, &format!("echo $$ > {}\nexec sleep 300", pid.display()));
    let said = home.mem(&["open"]).ok().stdout;
    assert_eq!(said.trim(), "opening the viewer in your browser");
    let running = std::fs::read_to_string(pid).expect("a number");
    let running = running.trim().parse().expect("a number");
    let running = rustix::process::Pid::from_raw(running).expect("a process");
    rustix::process::kill_process(running, rustix::process::Signal::KILL).expect("it still runs");
    home.mem(&["worker", "stop"]).ok();
}
