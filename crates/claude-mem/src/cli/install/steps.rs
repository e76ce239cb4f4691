//! Reports installation steps: printed as they happen, or collected for the JSON output.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::cli::output::{BAD, GOOD, QUIET, Screen, WARN};

/// Width of the state and name columns.
const MARGIN_COLUMNS: usize = 18;

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StepState {
    /// Nothing to do.
    Ok,
    Changed,
    /// A dry run: it would be changed.
    Would,
    /// Not a failure, but worth knowing.
    Note,
    /// Installed, and something is missing that only the user can add.
    Incomplete,
    Failed,
}

/// One reported step.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InstallStep {
    name: &'static str,
    pub(crate) state: StepState,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
}

/// Prints steps for people and collects them for JSON.
pub(crate) struct StepReporter<'a> {
    screen: &'a mut Screen,
    dry_run: bool,
    steps: Vec<InstallStep>,
    spinner: Option<ProgressBar>,
}

impl<'a> StepReporter<'a> {
    pub(crate) fn new(screen: &'a mut Screen, dry_run: bool) -> Self {
        Self { screen, dry_run, steps: Vec::new(), spinner: None }
    }

    pub(crate) const fn is_json(&self) -> bool {
        self.screen.json
    }

    pub(crate) const fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(crate) fn steps(&self) -> Vec<InstallStep> {
        self.steps.clone()
    }

    /// Shows a spinner on a terminal until the next step is reported.
    pub(crate) fn start_spinner(&mut self, name: &str, what: &str) {
        if self.screen.json || !std::io::stderr().is_terminal() {
            return;
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner}      {msg}") {
            bar.set_style(style);
        }
        bar.set_message(format!("{name:10} {what}"));
        bar.enable_steady_tick(Duration::from_millis(100));
        self.spinner = Some(bar);
    }

    /// Reports a step.
    pub(crate) fn report(
        &mut self,
        name: &'static str,
        state: StepState,
        detail: impl Into<String>,
    ) -> anyhow::Result<()> {
        self.add(InstallStep { name, state, detail: detail.into(), backup: None })
    }

    /// Reports a change; in a dry run, one that would be made.
    pub(crate) fn report_change(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
    ) -> anyhow::Result<()> {
        let state = if self.dry_run { StepState::Would } else { StepState::Changed };
        self.report(name, state, detail)
    }

    /// Reports a change of a file and the backup of its previous content.
    pub(crate) fn report_file_change(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
        backup: Option<PathBuf>,
    ) -> anyhow::Result<()> {
        let state = if self.dry_run { StepState::Would } else { StepState::Changed };
        self.add(InstallStep { name, state, detail: detail.into(), backup })
    }

    fn add(&mut self, step: InstallStep) -> anyhow::Result<()> {
        if let Some(bar) = self.spinner.take() {
            bar.finish_and_clear();
        }
        if !self.screen.json {
            let (style, mark) = match step.state {
                StepState::Ok => (GOOD, "ok"),
                StepState::Changed => (GOOD, "done"),
                StepState::Would => (QUIET, "would"),
                StepState::Note => (WARN, "note"),
                StepState::Incomplete => (WARN, "todo"),
                StepState::Failed => (BAD, "failed"),
            };
            let margin = format!("{style}{mark:6}{style:#} {:10} ", step.name);
            self.screen.wrap_beside(&margin, MARGIN_COLUMNS, &step.detail)?;
            if let Some(backup) = &step.backup {
                let margin = " ".repeat(MARGIN_COLUMNS);
                let what = format!("backup: {}", backup.display());
                self.screen.wrap_beside(&margin, MARGIN_COLUMNS, &what)?;
            }
            self.screen.flush()?;
        }
        self.steps.push(step);
        Ok(())
    }

    /// Prints a line between the steps. Omitted with `--json`.
    pub(crate) fn print_line(&mut self, line: &str) -> anyhow::Result<()> {
        if !self.screen.json {
            writeln!(self.screen, "{line}")?;
            self.screen.flush()?;
        }
        Ok(())
    }

    /// Asks a question and returns the answer in lower case.
    pub(crate) fn prompt(&mut self, question: &str) -> anyhow::Result<String> {
        write!(self.screen, "{question} ")?;
        self.screen.flush()?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        Ok(answer.trim().to_lowercase())
    }

    /// Prints the closing line, unless a step failed.
    pub(crate) fn print_closing(&mut self, usable: bool) -> anyhow::Result<()> {
        if self.steps.iter().any(|step| step.state == StepState::Failed) {
            return Ok(());
        }
        if self.steps.iter().any(|step| step.state == StepState::Incomplete) {
            self.print_line("")?;
            return self.print_line(
                "Hooks are installed, but not everything is set up: see the lines marked todo. Until then \
                 memories are made without a model.",
            );
        }
        self.print_line("")?;
        self.print_line(if usable {
            "Start your agent as usual; its sessions are now recorded. `claude-mem status` shows the state."
        } else {
            "Hooks now record events; memories are created once there is a database."
        })
    }

    /// Prints the JSON report if `--json` was given, and returns whether it was.
    pub(crate) fn finish(self, report: &impl Serialize) -> anyhow::Result<bool> {
        if self.screen.json {
            self.screen.json(report)?;
            self.screen.flush()?;
        }
        Ok(self.screen.json)
    }
}
