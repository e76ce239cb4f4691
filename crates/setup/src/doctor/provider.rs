//! Check of the model provider, if one is configured. Without one, the network is not used.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use super::{DoctorContext, DoctorFinding};
use claude_mem_core::config::Provider;
use claude_mem_models::model::{ClaudeLaunch, ModelEndpoint, ProviderConfig};

/// Seconds within which `doctor` must be able to reach a provider.
const REACH_SECONDS_MAX: u64 = 3;

/// Whether the configured provider is complete and accepts connections.
pub(super) fn reachable(patient: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let settings = &patient.settings.settings;
    let value = |name: &str| (patient.env)(name).and_then(|value| value.into_string().ok());
    let Some(choice) = ProviderConfig::from_settings(settings, false, &value) else {
        return vec![DoctorFinding::ok("provider", "local: no model, no network, no tokens")];
    };
    let name = choice.provider();
    if settings.provider == Provider::Claude {
        return vec![claude_finding(patient)];
    }
    if choice.model().is_empty() {
        let what = format!("{name}: no model is set");
        return vec![DoctorFinding::problem("provider", what, "claude-mem config set model NAME")];
    }
    let endpoint = match ModelEndpoint::new(choice.address(), false) {
        Ok(endpoint) => endpoint,
        Err(error) => {
            let fix = "claude-mem config set base_url ADDRESS";
            return vec![DoctorFinding::problem("provider", format!("{name}: {error}"), fix)];
        }
    };
    if !choice.has_key() && !endpoint.is_loopback() {
        let what = format!("{name}: no API key is set");
        return vec![DoctorFinding::problem("provider", what, "claude-mem config set api_key KEY")];
    }
    if claude_mem_models::model::proxy_from_environment().is_some() && !endpoint.is_loopback() {
        return vec![DoctorFinding::ok(
            "provider",
            format!("{name}, through a proxy; the connection was not tested"),
        )];
    }
    vec![match try_connect(endpoint.host(), endpoint.port()) {
        Ok(()) => DoctorFinding::ok("provider", format!("{name} is reachable at {}", endpoint.host())),
        Err(error) => DoctorFinding::problem(
            "provider",
            format!("{name} cannot be reached at {}:{}: {error}", endpoint.host(), endpoint.port()),
            "start it, or claude-mem config set provider local",
        ),
    }]
}

fn claude_finding(patient: &DoctorContext<'_>) -> DoctorFinding {
    let names = ["PATH", "HOME"];
    let env = names.iter().filter_map(|name| Some(((*name).into(), (patient.env)(name)?)));
    let found = ClaudeLaunch::find(env.collect(), patient.data.compressor(), std::path::Path::is_file);
    match found {
        Ok(_) => DoctorFinding::ok("provider", "claude: your own Claude Code"),
        Err(error) => DoctorFinding::problem(
            "provider",
            format!("claude: {error}"),
            "put `claude` on the PATH, or claude-mem config set provider local",
        ),
    }
}

fn try_connect(host: &str, port: u16) -> std::io::Result<()> {
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
