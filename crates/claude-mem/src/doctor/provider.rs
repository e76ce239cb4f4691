//! The model that writes memories, where one is set. Where none is, nothing is asked.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use super::{Finding, Patient};
use crate::compress::model::{Choice, Endpoint, Launch};
use crate::config::Provider;
use crate::limits::REACH_SECONDS_MAX;

pub(super) fn reachable(patient: &Patient<'_>) -> Vec<Finding> {
    let settings = &patient.settings.settings;
    let value = |name: &str| (patient.env)(name).and_then(|value| value.into_string().ok());
    let Some(choice) = Choice::of(settings, false, &value) else {
        return vec![Finding::ok(
            "provider",
            "local: no model, no network, no tokens",
        )];
    };
    let name = choice.provider();
    if settings.provider == Provider::Claude {
        return vec![own_client(patient)];
    }
    if choice.model().is_empty() {
        let what = format!("{name}: no model is named");
        return vec![Finding::problem(
            "provider",
            what,
            "claude-mem config set model NAME",
        )];
    }
    let endpoint = match Endpoint::new(choice.address(), false) {
        Ok(endpoint) => endpoint,
        Err(error) => {
            let fix = "claude-mem config set base_url ADDRESS";
            return vec![Finding::problem(
                "provider",
                format!("{name}: {error}"),
                fix,
            )];
        }
    };
    if !choice.has_key() && !endpoint.is_loopback() {
        let what = format!("{name}: there is no key");
        return vec![Finding::problem(
            "provider",
            what,
            "claude-mem config set api_key KEY",
        )];
    }
    if crate::compress::model::proxy_from_environment().is_some() && !endpoint.is_loopback() {
        return vec![Finding::ok(
            "provider",
            format!("{name}, through a proxy; not tried"),
        )];
    }
    vec![match connect(endpoint.host(), endpoint.port()) {
        Ok(()) => Finding::ok("provider", format!("{name} answers at {}", endpoint.host())),
        Err(error) => Finding::problem(
            "provider",
            format!(
                "{name} cannot be reached at {}:{}: {error}",
                endpoint.host(),
                endpoint.port()
            ),
            "start it, or claude-mem config set provider local",
        ),
    }]
}

fn own_client(patient: &Patient<'_>) -> Finding {
    let names = ["PATH", "HOME"];
    let env = names
        .iter()
        .filter_map(|name| Some(((*name).into(), (patient.env)(name)?)));
    let found = Launch::find(
        env.collect(),
        patient.data.compressor(),
        std::path::Path::is_file,
    );
    match found {
        Ok(_) => Finding::ok("provider", "claude: your own Claude Code"),
        Err(error) => Finding::problem(
            "provider",
            format!("claude: {error}"),
            "put `claude` on the PATH, or claude-mem config set provider local",
        ),
    }
}

fn connect(host: &str, port: u16) -> std::io::Result<()> {
    let within = Duration::from_secs(REACH_SECONDS_MAX);
    let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, within) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}
