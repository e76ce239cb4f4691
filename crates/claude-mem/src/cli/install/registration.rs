//! Hooks and tools in the client's files.

use anyhow::Context as _;

use super::Setting;
use super::steps::{State, Steps};
use crate::install::NAME;
use crate::install::change::{self, Done, Plan, Remark};
use crate::install::client::Form;
use crate::install::file::FileError;
use crate::install::receipt::Part;
use crate::limits::CLIENT_FILE_TRIES;
use crate::serve::backups;

pub(super) fn plan(setting: &Setting<'_>) -> anyhow::Result<Plan> {
    let Setting {
        places,
        launch,
        receipt,
        ..
    } = setting;
    Ok(change::to_install(
        places,
        launch,
        receipt,
        setting.wish.adopt,
    )?)
}

pub(super) fn apply(
    setting: &mut Setting<'_>,
    plan: &Plan,
    steps: &mut Steps<'_>,
) -> anyhow::Result<()> {
    if setting.wish.dry_run {
        for change in &plan.changes {
            let path = change.file.path.display().to_string();
            say(setting, steps, change.part, &path, change.is_needed(), None)?;
        }
    } else {
        for one in write(setting)? {
            let path = one.path.display().to_string();
            say(setting, steps, one.part, &path, one.changed, one.backup)?;
        }
    }
    for lost in plan
        .changes
        .iter()
        .filter_map(|change| change.lost_copy.as_ref())
    {
        steps.say("copy", State::Note, lost_copy(lost))?;
    }
    for remark in &plan.remarks {
        let Remark::NameTaken = remark;
        let detail = format!(
            "another server is called {NAME} in {}; it keeps the name, and the agent has no tools of ours",
            setting.places.state.display()
        );
        steps.say("tools", State::Note, detail)?;
    }
    Ok(())
}

/// The files and the receipt, and nothing said. A client that runs writes its state all the time:
/// what it changed since we looked is read again.
pub(super) fn write(setting: &mut Setting<'_>) -> anyhow::Result<Vec<Done>> {
    let mut tries = 1..=CLIENT_FILE_TRIES;
    loop {
        let plan = plan(setting)?;
        match (write_planned(setting, &plan), tries.next()) {
            (Err(error), Some(_)) if is_changing(&error) => {}
            (outcome, _) => return outcome,
        }
    }
}

fn is_changing(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(FileError::Changing(_)))
}

fn write_planned(setting: &mut Setting<'_>, plan: &Plan) -> anyhow::Result<Vec<Done>> {
    let data = &setting.app.data;
    let path = data.installed();
    let before = setting.receipt.clone();
    let stamp = backups::stamp(setting.app.now);
    let done = change::note(plan, &mut setting.receipt, &data.client_copies(), &stamp)?;
    save(setting)?;
    if let Err(error) = change::write_all(&plan.changes) {
        // What is ours in a file that could not be given back has to be known.
        if matches!(error, FileError::HalfDone { .. }) {
            return Err(error.into());
        }
        before.write(&path)?;
        setting.receipt = before;
        return Err(error.into());
    }
    Ok(done)
}

/// The receipt, with who wrote it.
pub(super) fn save(setting: &mut Setting<'_>) -> anyhow::Result<()> {
    let Setting {
        receipt,
        launch,
        client,
        ..
    } = setting;
    env!("CARGO_PKG_VERSION").clone_into(&mut receipt.version);
    receipt.executable.clone_from(&launch.executable);
    receipt.client = client
        .as_ref()
        .and_then(|found| Some(found.version?.to_string()));
    let path = setting.app.data.installed();
    let written = setting.receipt.write(&path);
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// For whoever takes something out again.
pub(in crate::cli) fn lost_copy(lost: &str) -> String {
    format!(
        "what stood there before cannot be read ({lost}); uninstalling takes out our entries and leaves the rest"
    )
}

fn say(
    setting: &Setting<'_>,
    steps: &mut Steps<'_>,
    part: Part,
    path: &str,
    changed: bool,
    backup: Option<std::path::PathBuf>,
) -> anyhow::Result<()> {
    let (name, what) = match part {
        Part::Hooks => ("hooks", hooks_in_words(setting)),
        Part::Server => ("tools", "the agent's search tools".to_owned()),
    };
    if changed {
        steps.done_to_file(name, format!("{what} in {path}"), backup)
    } else {
        steps.say(name, State::Ok, format!("{what} in {path} already"))
    }
}

fn hooks_in_words(setting: &Setting<'_>) -> String {
    let abilities = setting.launch.abilities;
    let form = match abilities.form() {
        Form::Exec => "started directly",
        Form::Shell => "through a shell",
    };
    format!("{} events, {form},", abilities.events().len())
}
