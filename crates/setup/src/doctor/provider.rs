//! Check of the model provider, if one is configured. Without one, the network is not used.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use super::{DoctorContext, DoctorFinding};
use crate::model_notice::model_notice;
use claude_mem_core::config::Provider;
use claude_mem_models::model::{ModelEndpoint, ProviderConfig, read_api_key};
use claude_mem_store::Store;

/// Seconds within which `doctor` must be able to reach a provider.
const REACH_SECONDS_MAX: u64 = 3;

/// Whether the configured provider is complete and accepts connections, and why its last call failed.
pub(super) fn reachable(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let settings = &context.settings.settings;
    let key = match read_api_key(context.data.root(), settings) {
        Ok(key) => key,
        Err(error) => {
            let fix = "claude-mem config set api_key_file FILE";
            return vec![DoctorFinding::problem("provider", error.to_string(), fix)];
        }
    };
    let Some(choice) = ProviderConfig::from_settings(settings, key) else {
        return vec![DoctorFinding::ok("provider", "local: no model, no network, no tokens")];
    };
    let mut found = vec![configuration_finding(context, &choice)];
    found.extend(last_call_finding(context));
    found
}

fn configuration_finding(context: &DoctorContext<'_>, choice: &ProviderConfig) -> DoctorFinding {
    let (settings, name) = (&context.settings.settings, choice.provider());
    if settings.provider == Provider::Claude {
        return claude_finding(context);
    }
    let endpoint = match ModelEndpoint::new(choice.address(), false) {
        Ok(endpoint) => endpoint,
        Err(error) => {
            let fix = "claude-mem config set base_url ADDRESS";
            return DoctorFinding::problem("provider", format!("{name}: {error}"), fix);
        }
    };
    if let Some(missing) = choice.missing_part() {
        return DoctorFinding::problem("provider", format!("{name}: {}", missing.what), missing.fix);
    }
    if !settings.proxy.is_empty() && !endpoint.is_loopback() {
        let what = format!("{name}, through a proxy; the connection was not tested");
        return DoctorFinding::ok("provider", what);
    }
    match try_connect(endpoint.host(), endpoint.port()) {
        Ok(()) => DoctorFinding::ok("provider", format!("{name} is reachable at {}", endpoint.host())),
        Err(error) => DoctorFinding::problem(
            "provider",
            format!("{name} cannot be reached at {}:{}: {error}", endpoint.host(), endpoint.port()),
            "start it, or claude-mem config set provider local",
        ),
    }
}

/// The recorded failure of the last call. Other checks report a store that cannot be opened.
fn last_call_finding(context: &DoctorContext<'_>) -> Option<DoctorFinding> {
    let store = Store::open_read_only(&context.data.db()).ok()?;
    let notice = model_notice(&store.read(), &context.settings.settings, context.now).ok()??;
    Some(DoctorFinding::problem("model", notice.what, notice.fix))
}

fn claude_finding(context: &DoctorContext<'_>) -> DoctorFinding {
    let home = (context.env)("HOME").unwrap_or_default();
    let install = context.manifest.claude_install(home.into());
    match install.find_program(&context.settings.settings, std::path::Path::is_file) {
        Ok(program) => {
            DoctorFinding::ok("provider", format!("claude: your own Claude Code ({})", program.display()))
        }
        Err(error) => DoctorFinding::problem(
            "provider",
            format!("claude: {error}"),
            "claude-mem config set claude_program PATH, or claude-mem config set provider local",
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
