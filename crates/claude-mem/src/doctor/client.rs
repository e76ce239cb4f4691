//! The client: there, with our hooks and tools in its files, and nothing in their way.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Cure, Finding, Patient};
use crate::install::change::Places;
use crate::install::entry::{self, Whose};
use crate::install::file::{ClientFile, FileError};
use crate::install::receipt::{Part, Receipt};
use crate::install::{NAME, client, hooks, json, plugin, rival, rival_worker, server};
use crate::limits::CLIENT_SETTINGS_BYTES_MAX;

const REPAIR: &str = "claude-mem repair";

pub(super) fn found(patient: &Patient<'_>) -> Vec<Finding> {
    let finding = match &patient.client {
        None => Finding::note(
            "client",
            "Claude Code was not found on the PATH",
            "install it, or start claude-mem where `claude` is on the PATH",
        ),
        Some(_) if !patient.launch.abilities.is_supported() => Finding::problem(
            "client",
            format!("Claude Code is older than {}", client::OLDEST),
            "update Claude Code, then `claude-mem repair`",
        ),
        Some(found) => {
            let version = found
                .version
                .map_or("of unknown version".to_owned(), |v| v.to_string());
            Finding::ok(
                "client",
                format!("Claude Code {version} ({})", found.program.display()),
            )
        }
    };
    vec![finding]
}

/// The settings in which our hooks should stand: those of the receipt, or the user's.
fn places(patient: &Patient<'_>) -> Vec<Places> {
    places_of(&patient.receipt, &patient.places, patient.env)
}

fn places_of(
    receipt: &Receipt,
    of_user: &Places,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<Places> {
    let of_projects = receipt.files.iter().filter(|left| left.part == Part::Hooks);
    let projects: Vec<Option<PathBuf>> = of_projects.map(|left| left.project.clone()).collect();
    if projects.is_empty() || projects.contains(&None) {
        return vec![of_user.clone()];
    }
    projects
        .into_iter()
        .filter_map(|project| Places::find(env, project))
        .collect()
}

/// Whether no client calls us: the settings in which hooks are missing. A file that cannot be read
/// or understood is no proof of it; `claude-mem doctor` says what is wrong with it.
pub fn without_hooks(
    receipt: &Receipt,
    of_user: &Places,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    if is_on_at(of_user) {
        return None;
    }
    let places = places_of(receipt, of_user, env);
    let are_missing = |places: &Places| {
        let Ok(file) = places.read_settings() else {
            return false;
        };
        let registered = hooks::registered(&file.text.unwrap_or_default());
        registered.is_ok_and(|all| !all.iter().any(|hook| hook.whose == Whose::Ours))
    };
    let missing = places.iter().all(are_missing).then(|| places.first())?;
    missing.map(|places| places.settings.clone())
}

fn is_plugin_on(patient: &Patient<'_>) -> bool {
    is_on_at(&patient.places)
}

fn is_on_at(places: &Places) -> bool {
    let name = plugin::id();
    // A file that cannot be read is told of by `switched_off`.
    is_on(&places.settings, &["enabledPlugins", &name]).unwrap_or(false)
}

fn is_on(path: &Path, way: &[&str]) -> Result<bool, FileError> {
    let file = ClientFile::read(path, CLIENT_SETTINGS_BYTES_MAX)?;
    let value = file
        .text
        .as_deref()
        .and_then(|text| json::value_at(text, way));
    Ok(value == Some(Value::Bool(true)))
}

pub(super) fn hooks(patient: &Patient<'_>) -> Vec<Finding> {
    let by_plugin = is_plugin_on(patient);
    places(patient)
        .iter()
        .map(|places| hooks_at(patient, places, by_plugin))
        .collect()
}

fn hooks_at(patient: &Patient<'_>, places: &Places, by_plugin: bool) -> Finding {
    // Who never installed has nothing to repair.
    let fix = if patient.receipt.files.is_empty() {
        "claude-mem install"
    } else {
        REPAIR
    };
    let broken = |what: String| Finding::problem("hooks", what, fix).cured_by(Cure::Registration);
    let path = places.settings.display();
    let read = places.read_settings().map_err(|error| error.to_string());
    let text = match read {
        Ok(file) => file.text.unwrap_or_default(),
        Err(error) => return Finding::problem("hooks", error, format!("mend {path}")),
    };
    let registered = match hooks::registered(&text) {
        Ok(registered) => registered,
        Err(reason) => {
            return Finding::problem("hooks", format!("{path}: {reason}"), format!("mend {path}"));
        }
    };
    let ours: Vec<_> = registered
        .iter()
        .filter(|hook| hook.whose == Whose::Ours)
        .collect();
    match (ours.is_empty(), by_plugin) {
        (true, true) => return Finding::ok("hooks", "through the plugin"),
        (false, true) => {
            return Finding::note(
                "hooks",
                format!("both the plugin and {path} have them, so each is started twice"),
                format!("claude plugin uninstall {}", plugin::id()),
            );
        }
        (true, false) => return broken(format!("none of ours in {path}")),
        (false, false) => {}
    }
    for hook in &ours {
        let program = program_of(&hook.hook);
        if program.is_absolute() && !program.is_file() {
            return broken(format!(
                "{} is gone, and {path} still calls it",
                program.display()
            ));
        }
    }
    let events = patient.launch.abilities.events();
    let is_there = |event: &&&str| ours.iter().any(|hook| hook.event == ***event);
    let missing: Vec<&str> = events
        .iter()
        .filter(|event| !is_there(event))
        .copied()
        .collect();
    if !missing.is_empty() {
        return broken(format!("{} not in {path}", missing.join(", ")));
    }
    match hooks::with(&text, &patient.launch) {
        Ok(wanted) if wanted == text => {
            Finding::ok("hooks", format!("{} events in {path}", events.len()))
        }
        _ => Finding::note(
            "hooks",
            format!("those in {path} are not as this version would write them for this client"),
            REPAIR,
        )
        .cured_by(Cure::Registration),
    }
}

fn program_of(hook: &Value) -> PathBuf {
    let command = hook["command"].as_str().unwrap_or_default();
    let program = if hook["args"].is_array() {
        Some(command.to_owned())
    } else {
        entry::words_of(command, &[]).into_iter().next()
    };
    program.unwrap_or_default().into()
}

pub(super) fn switched_off(patient: &Patient<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, key) in [
        (&patient.places.settings, "disableAllHooks"),
        (&patient.managed_settings, "disableAllHooks"),
        (&patient.managed_settings, "allowManagedHooksOnly"),
    ] {
        match is_on(path, &[key]) {
            Ok(false) => {}
            Ok(true) => found.push(Finding::problem(
                "hooks",
                format!("{key} in {} switches them off", path.display()),
                format!("take {key} out of {}", path.display()),
            )),
            Err(error) => found.push(Finding::could_not_look("hooks", &error)),
        }
    }
    found.dedup();
    found
}

pub(super) fn tools(patient: &Patient<'_>) -> Vec<Finding> {
    if is_plugin_on(patient) {
        return vec![Finding::ok("tools", "through the plugin")];
    }
    places(patient)
        .iter()
        .map(|places| tools_at(patient, places))
        .collect()
}

fn tools_at(patient: &Patient<'_>, places: &Places) -> Finding {
    let path = places.state.display();
    let read = places.read_state().map_err(|error| error.to_string());
    let project = places.project_name();
    let registered = read.and_then(|file| {
        server::registered(&file.text.unwrap_or_default(), project.as_deref())
            .map_err(|reason| format!("{path}: {reason}"))
    });
    let fix = if patient.receipt.files.is_empty() {
        "claude-mem install"
    } else {
        REPAIR
    };
    let wrong = |what: String| Finding::problem("tools", what, fix).cured_by(Cure::Registration);
    match registered {
        Err(reason) => Finding::problem("tools", reason, format!("mend {path}")),
        Ok(None) => wrong(format!("the agent's search tools are not in {path}")),
        Ok(Some(server)) if entry::whose_server(&server) != Whose::Ours => Finding::problem(
            "tools",
            format!("another server is called {NAME} in {path}"),
            format!("claude mcp remove {NAME}, then `claude-mem repair`"),
        ),
        Ok(Some(server)) => {
            let program = PathBuf::from(server["command"].as_str().unwrap_or_default());
            if program.is_absolute() && !program.is_file() {
                return wrong(format!(
                    "{} is gone, and {path} still calls it",
                    program.display()
                ));
            }
            if server != json::meaning_of(&patient.launch.server()) {
                let what = format!("the entry in {path} is not as this version would write it");
                return Finding::note("tools", what, REPAIR).cured_by(Cure::Registration);
            }
            Finding::ok("tools", format!("in {path}"))
        }
    }
}

pub(super) fn rival(patient: &Patient<'_>) -> Vec<Finding> {
    let text = match patient.places.read_settings() {
        Ok(file) => file.text.unwrap_or_default(),
        Err(error) => return vec![Finding::could_not_look("earlier", &error)],
    };
    let rival = rival::look(&text).unwrap_or_default();
    if rival.is_there() {
        let parts = [rival.plugins.join(", "), rival.events.join(", ")];
        let parts = parts.iter().filter(|part| !part.is_empty());
        let parts: Vec<&str> = parts.map(String::as_str).collect();
        return vec![Finding::problem(
            "earlier",
            format!(
                "an earlier program of this name is still on: {}",
                parts.join("; ")
            ),
            "claude-mem install --adopt",
        )];
    }
    // Hooks of sessions that were open when it was switched off start it again.
    let workers = rival_worker::running(patient.data).into_iter();
    let workers = workers.map(|pid| {
        let pid = pid.as_raw_nonzero();
        Finding::problem(
            "earlier",
            format!(
                "a worker of the earlier program (process {pid}) runs in {}",
                patient.data.root().display()
            ),
            format!("kill {pid}, and end the Claude Code sessions that were open before"),
        )
    });
    workers.collect()
}
