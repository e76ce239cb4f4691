//! Checks of the client: installed, our hooks and tools registered, and nothing disabling them.

use crate::limits::CLIENT_SETTINGS_BYTES_MAX;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{AutoFix, DoctorContext, DoctorFinding};
use crate::install::entry;
use crate::install::entry::EntryOwner;
use crate::install::file::{ClientFile, ClientFileError};
use crate::install::manifest::{InstallManifest, InstallPart};
use crate::install::plan::ClientPaths;
use crate::install::shell_alias::unregistered_config_dirs;
use crate::install::{NAME, client, hooks, json, legacy, legacy_worker, plugin, server};

const REPAIR: &str = "claude-mem repair";

/// Whether the client is installed and supported.
pub(super) fn client_presence(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    if !context.manifest.includes_claude_code() {
        return Vec::new();
    }
    let finding = match &context.client {
        None => DoctorFinding::note(
            "client",
            "Claude Code was not found on the PATH",
            "install it, or start claude-mem where `claude` is on the PATH",
        ),
        Some(_) if !context.launch.capabilities.is_supported() => DoctorFinding::problem(
            "client",
            format!("Claude Code is older than {}", client::OLDEST_SUPPORTED),
            "update Claude Code, then `claude-mem repair`",
        ),
        Some(found) => {
            let version = found.version.map_or("of unknown version".to_owned(), |v| v.to_string());
            DoctorFinding::ok("client", format!("Claude Code {version} ({})", found.program.display()))
        }
    };
    vec![finding]
}

/// The settings that should contain our hooks: those in the manifest, else the user's.
fn hook_files(context: &DoctorContext<'_>) -> Vec<ClientPaths> {
    hook_files_of(&context.manifest, &context.client_paths, context.env)
}

fn hook_files_of(
    manifest: &InstallManifest,
    of_user: &ClientPaths,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<ClientPaths> {
    if !manifest.includes_claude_code() {
        return Vec::new();
    }
    let of_projects = manifest.files.iter().filter(|left| left.part == InstallPart::Hooks);
    let projects: Vec<Option<PathBuf>> = of_projects.map(|left| left.project.clone()).collect();
    if projects.is_empty() || projects.contains(&None) {
        return vec![of_user.clone()];
    }
    projects.into_iter().filter_map(|project| ClientPaths::find(env, project)).collect()
}

/// The settings file that lacks our hooks, if no client calls us. A file that cannot be read or
/// parsed does not count as missing hooks; `claude-mem doctor` reports it.
pub fn settings_without_hooks(
    manifest: &InstallManifest,
    of_user: &ClientPaths,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    if is_plugin_enabled_at(of_user) {
        return None;
    }
    let places = hook_files_of(manifest, of_user, env);
    // Of a file that cannot be read this does not claim that hooks are missing; other checks report it.
    let are_missing = |places: &ClientPaths| {
        let Ok(file) = places.read_settings() else {
            return false;
        };
        let registered = hooks::registered_hooks(&file.text.unwrap_or_default());
        registered.is_ok_and(|all| !all.iter().any(|hook| hook.owner == EntryOwner::Ours))
    };
    let missing = places.iter().all(are_missing).then(|| places.first())?;
    missing.map(|places| places.settings.clone())
}

fn is_plugin_enabled(context: &DoctorContext<'_>) -> bool {
    is_plugin_enabled_at(&context.client_paths)
}

fn is_plugin_enabled_at(places: &ClientPaths) -> bool {
    let name = plugin::id();
    // `hooks_disabled` reports a file that cannot be read.
    is_flag_set(&places.settings, &["enabledPlugins", &name]).unwrap_or(false)
}

fn is_flag_set(path: &Path, way: &[&str]) -> Result<bool, ClientFileError> {
    let file = ClientFile::read(path, CLIENT_SETTINGS_BYTES_MAX)?;
    let value = file.text.as_deref().and_then(|text| json::value_at(text, way));
    Ok(value == Some(Value::Bool(true)))
}

/// Whether our hooks are registered, complete and current.
pub(super) fn hooks(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let by_plugin = is_plugin_enabled(context);
    hook_files(context).iter().map(|places| hooks_at(context, places, by_plugin)).collect()
}

fn hooks_at(context: &DoctorContext<'_>, places: &ClientPaths, by_plugin: bool) -> DoctorFinding {
    // Without an installation there is nothing to repair.
    let fix = if context.manifest.files.is_empty() { "claude-mem install" } else { REPAIR };
    let broken =
        |what: String| DoctorFinding::problem("hooks", what, fix).with_auto_fix(AutoFix::Registration);
    let path = places.settings.display();
    let read = places.read_settings().map_err(|error| error.to_string());
    let text = match read {
        Ok(file) => file.text.unwrap_or_default(),
        Err(error) => return DoctorFinding::problem("hooks", error, format!("fix {path}")),
    };
    let registered = match hooks::registered_hooks(&text) {
        Ok(registered) => registered,
        Err(reason) => {
            return DoctorFinding::problem("hooks", format!("{path}: {reason}"), format!("fix {path}"));
        }
    };
    let ours: Vec<_> = registered.iter().filter(|hook| hook.owner == EntryOwner::Ours).collect();
    match (ours.is_empty(), by_plugin) {
        (true, true) => return DoctorFinding::ok("hooks", "through the plugin"),
        (false, true) => {
            return DoctorFinding::note(
                "hooks",
                format!("registered by the plugin and in {path}, so each hook runs twice"),
                format!("claude plugin uninstall {}", plugin::id()),
            );
        }
        (true, false) => return broken(format!("no claude-mem hooks in {path}")),
        (false, false) => {}
    }
    for hook in &ours {
        let program = hook_program(&hook.hook);
        if program.is_absolute() && !program.is_file() {
            return broken(format!("{path} calls {}, which does not exist", program.display()));
        }
    }
    let events = context.launch.capabilities.events();
    let is_there = |event: &&&str| ours.iter().any(|hook| hook.event == ***event);
    let missing: Vec<&str> = events.iter().filter(|event| !is_there(event)).copied().collect();
    if !missing.is_empty() {
        return broken(format!("{path} has no hook for {}", missing.join(", ")));
    }
    match hooks::add_hooks(&text, &context.launch) {
        Ok(wanted) if wanted == text => {
            DoctorFinding::ok("hooks", format!("{} events in {path}", events.len()))
        }
        _ => DoctorFinding::note(
            "hooks",
            format!("the hooks in {path} are outdated for this version and client"),
            REPAIR,
        )
        .with_auto_fix(AutoFix::Registration),
    }
}

fn hook_program(hook: &Value) -> PathBuf {
    let command = hook["command"].as_str().unwrap_or_default();
    let program = if hook["args"].is_array() {
        Some(command.to_owned())
    } else {
        entry::split_command(command, &[]).into_iter().next()
    };
    program.unwrap_or_default().into()
}

/// Whether a setting of the client disables hooks.
pub(super) fn hooks_disabled(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let mut found = Vec::new();
    for (path, key) in [
        (&context.client_paths.settings, "disableAllHooks"),
        (&context.managed_settings, "disableAllHooks"),
        (&context.managed_settings, "allowManagedHooksOnly"),
    ] {
        match is_flag_set(path, &[key]) {
            Ok(false) => {}
            Ok(true) => found.push(DoctorFinding::problem(
                "hooks",
                format!("{key} in {} disables them", path.display()),
                format!("remove {key} from {}", path.display()),
            )),
            Err(error) => found.push(DoctorFinding::unknown("hooks", &error)),
        }
    }
    found.dedup();
    found
}

/// Configuration directories that only an alias sets: their sessions are not recorded.
pub(super) fn alias_directories(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let Some(home) = (context.env)("HOME").filter(|home| !home.is_empty()) else {
        return Vec::new();
    };
    let Some(current) = context.client_paths.settings.parent() else {
        return Vec::new();
    };
    let found = unregistered_config_dirs(home.as_ref(), current);
    let finding = |dir: PathBuf| {
        let dir = dir.display();
        DoctorFinding::note(
            "hooks",
            format!("a shell alias uses {dir}, where they are not registered"),
            format!("CLAUDE_CONFIG_DIR='{dir}' claude-mem install"),
        )
    };
    found.into_iter().map(finding).collect()
}

/// Whether our MCP server is registered and current.
pub(super) fn tools(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    if is_plugin_enabled(context) {
        return vec![DoctorFinding::ok("tools", "through the plugin")];
    }
    hook_files(context).iter().map(|places| tools_at(context, places)).collect()
}

fn tools_at(context: &DoctorContext<'_>, places: &ClientPaths) -> DoctorFinding {
    let path = places.state.display();
    let read = places.read_state().map_err(|error| error.to_string());
    let project = places.project_name();
    let registered = read.and_then(|file| {
        server::registered_server(&file.text.unwrap_or_default(), project.as_deref())
            .map_err(|reason| format!("{path}: {reason}"))
    });
    let fix = if context.manifest.files.is_empty() { "claude-mem install" } else { REPAIR };
    let wrong =
        |what: String| DoctorFinding::problem("tools", what, fix).with_auto_fix(AutoFix::Registration);
    match registered {
        Err(reason) => DoctorFinding::problem("tools", reason, format!("fix {path}")),
        Ok(None) => wrong(format!("the agent's search tools are not in {path}")),
        Ok(Some(server)) if entry::server_owner(&server) != EntryOwner::Ours => DoctorFinding::problem(
            "tools",
            format!("another MCP server is named {NAME} in {path}"),
            format!("claude mcp remove {NAME}, then `claude-mem repair`"),
        ),
        Ok(Some(server)) => {
            let program = PathBuf::from(server["command"].as_str().unwrap_or_default());
            if program.is_absolute() && !program.is_file() {
                return wrong(format!("{path} calls {}, which does not exist", program.display()));
            }
            if server != json::input_to_value(&context.launch.server_entry()) {
                let what = format!("the entry in {path} is outdated for this version");
                return DoctorFinding::note("tools", what, REPAIR).with_auto_fix(AutoFix::Registration);
            }
            DoctorFinding::ok("tools", format!("in {path}"))
        }
    }
}

/// Whether the earlier program of the same name is enabled or running.
pub(super) fn legacy(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let text = match context.client_paths.read_settings() {
        Ok(file) => file.text.unwrap_or_default(),
        Err(error) => return vec![DoctorFinding::unknown("earlier", &error)],
    };
    let rival = match legacy::find_legacy(&text) {
        Ok(rival) => rival,
        Err(reason) => return vec![DoctorFinding::unknown("earlier", &reason)],
    };
    if rival.is_present() {
        let parts = [rival.plugins.join(", "), rival.events.join(", ")];
        let parts = parts.iter().filter(|part| !part.is_empty());
        let parts: Vec<&str> = parts.map(String::as_str).collect();
        return vec![DoctorFinding::problem(
            "earlier",
            format!("an earlier program of the same name is still enabled: {}", parts.join("; ")),
            "claude-mem install --adopt",
        )];
    }
    // Sessions that were open when it was disabled still run its hooks, which start it again.
    let pids = legacy_worker::find_running(context.data).into_iter();
    let workers = pids.map(|pid| {
        let pid = pid.as_raw_nonzero();
        DoctorFinding::problem(
            "earlier",
            format!(
                "a worker of the earlier program (process {pid}) is using {}",
                context.data.root().display()
            ),
            format!("kill {pid}, and restart the Claude Code sessions that are still open"),
        )
    });
    workers.collect()
}
