//! The steps as they are taken: shown at once to people, gathered for programs.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::cli::screen::{BAD, GOOD, QUIET, Screen, WARN};

/// A mark and a name, each with a space behind it.
const MARGIN_COLUMNS: usize = 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Ok,
    /// It was changed, or would be.
    Changed,
    Would,
    /// Not as it could be, and not wrong either.
    Note,
    Failed,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Step {
    name: &'static str,
    pub(crate) state: State,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
}

pub(crate) struct Steps<'a> {
    screen: &'a mut Screen,
    dry_run: bool,
    all: Vec<Step>,
    spinner: Option<ProgressBar>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(screen: &'a mut Screen, dry_run: bool) -> Self {
        Self {
            screen,
            dry_run,
            all: Vec::new(),
            spinner: None,
        }
    }

    pub(crate) const fn is_json(&self) -> bool {
        self.screen.json
    }

    pub(crate) const fn is_dry(&self) -> bool {
        self.dry_run
    }

    pub(crate) fn all(&self) -> Vec<Step> {
        self.all.clone()
    }

    /// Shows that something takes a moment, where somebody watches.
    pub(crate) fn busy(&mut self, name: &str, what: &str) {
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

    pub(crate) fn say(
        &mut self,
        name: &'static str,
        state: State,
        detail: impl Into<String>,
    ) -> anyhow::Result<()> {
        self.add(Step {
            name,
            state,
            detail: detail.into(),
            backup: None,
        })
    }

    /// Something that changes the machine; in a dry run it would.
    pub(crate) fn done(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
    ) -> anyhow::Result<()> {
        let state = if self.dry_run {
            State::Would
        } else {
            State::Changed
        };
        self.say(name, state, detail)
    }

    /// The same for a file, with the copy that was kept of it.
    pub(crate) fn done_to_file(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
        backup: Option<PathBuf>,
    ) -> anyhow::Result<()> {
        let state = if self.dry_run {
            State::Would
        } else {
            State::Changed
        };
        self.add(Step {
            name,
            state,
            detail: detail.into(),
            backup,
        })
    }

    fn add(&mut self, step: Step) -> anyhow::Result<()> {
        if let Some(bar) = self.spinner.take() {
            bar.finish_and_clear();
        }
        if !self.screen.json {
            let (style, mark) = match step.state {
                State::Ok => (GOOD, "ok"),
                State::Changed => (GOOD, "done"),
                State::Would => (QUIET, "would"),
                State::Note => (WARN, "note"),
                State::Failed => (BAD, "failed"),
            };
            let margin = format!("{style}{mark:6}{style:#} {:10} ", step.name);
            self.screen.beside(&margin, MARGIN_COLUMNS, &step.detail)?;
            if let Some(backup) = &step.backup {
                let margin = " ".repeat(MARGIN_COLUMNS);
                let what = format!("backup: {}", backup.display());
                self.screen.beside(&margin, MARGIN_COLUMNS, &what)?;
            }
            self.screen.flush()?;
        }
        self.all.push(step);
        Ok(())
    }

    /// Words between the steps, for people.
    pub(crate) fn tell(&mut self, line: &str) -> anyhow::Result<()> {
        if !self.screen.json {
            writeln!(self.screen, "{line}")?;
            self.screen.flush()?;
        }
        Ok(())
    }

    pub(crate) fn ask(&mut self, question: &str) -> anyhow::Result<String> {
        write!(self.screen, "{question} ")?;
        self.screen.flush()?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        Ok(answer.trim().to_lowercase())
    }

    pub(crate) fn farewell(&mut self, usable: bool) -> anyhow::Result<()> {
        if self.all.iter().any(|step| step.state == State::Failed) {
            return Ok(());
        }
        self.tell("")?;
        self.tell(if usable {
            "Start Claude Code as always: it remembers from now on. `claude-mem status` shows what."
        } else {
            "Hooks keep what happens from now on; memories are made once there is a database."
        })
    }

    /// The whole for a program. True if that is what was asked for.
    pub(crate) fn close(self, report: &impl Serialize) -> anyhow::Result<bool> {
        if self.screen.json {
            self.screen.json(report)?;
            self.screen.flush()?;
        }
        Ok(self.screen.json)
    }
}
