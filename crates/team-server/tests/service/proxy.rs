//! Limits by address; with `--behind-proxy` by the one that the proxy adds, and by no other.

use claude_mem_team_server::ServeOptions;
use claude_mem_wire::messages::JoinRequest;
use claude_mem_wire::{DeviceToken, InviteSecret, routes};

use crate::support::{TestService, json, random_token, raw_request};

/// More attempts than one address has at once, also on a slow machine, where new ones are allowed meanwhile.
const ATTEMPTS_MAX: usize = 200;

/// Whether so many attempts to join with an invite that does not exist are slowed down.
fn is_limited(service: &TestService, attempts: usize, forwarded_for: impl Fn(usize) -> String) -> bool {
    let url = format!("{}{}", service.base(), routes::JOIN);
    let request = JoinRequest {
        secret: InviteSecret::from_random([9; 16]),
        token: random_token(),
        handle: "mallory".to_owned(),
        name: "Mallory".to_owned(),
        device: "laptop".to_owned(),
    };
    let attempt = |number| {
        let address = forwarded_for(number);
        let headers = [("x-forwarded-for", address.as_str())];
        raw_request("POST", &url, None, Some(json(&request)), &headers).0
    };
    (0..attempts).map(attempt).any(|status| status == 429)
}

#[test]
fn behind_a_proxy_each_client_has_its_own_limit() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let mut options = ServeOptions::new(cluster.address());
    options.behind_proxy = true;
    options.public_url = Some("https://mem.acme.dev".to_owned());
    let service = TestService::start_with(&options);
    assert!(service.admin_link().unwrap().starts_with("https://mem.acme.dev/#i."));

    assert!(is_limited(&service, ATTEMPTS_MAX, |_| "192.0.2.1".to_owned()));
    // The client wrote an address of its own into the header; the proxy added the real one after it.
    assert!(is_limited(&service, ATTEMPTS_MAX, |number| format!("198.51.100.{number}, 192.0.2.2")));
    assert!(!is_limited(&service, ATTEMPTS_MAX, |number| format!("203.0.113.{number}")));
}

#[test]
fn without_a_proxy_the_header_is_not_believed() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let service = TestService::start(&cluster);
    assert!(is_limited(&service, ATTEMPTS_MAX, |number| format!("203.0.113.{number}")));
}

#[test]
fn known_device_does_not_wait_for_the_strangers_of_its_address() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let service = TestService::start(&cluster);
    let mira = service.first_admin();
    let url = format!("{}{}", service.base(), routes::ME);
    let me = |token: &DeviceToken| raw_request("GET", &url, Some(token), None, &[]).0;
    assert!((0..ATTEMPTS_MAX).any(|_| me(&random_token()) == 429));
    assert_eq!(me(&mira.token), 200);
}
