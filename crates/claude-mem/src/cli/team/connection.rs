//! The team of this machine, opened for one command.

use std::cell::Cell;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::super::app::App;
use crate::cli::output::question_text;
use claude_mem_core::clock;
use claude_mem_core::ids::SpaceRowId;
use claude_mem_core::paths::DataDir;
use claude_mem_sharing::{
    ShareRules, SharingError, SyncEngine, SyncOptions, SyncReport, TEAM_VARIABLE, TeamFile, TeamHttpClient,
    health_after_error, health_after_round, load_team, purge_team, take_back_spaces, team_from_link,
};
use claude_mem_store::Store;

/// Pause between two rounds of a command that waits.
const ROUND_PAUSE: Duration = Duration::from_millis(300);

/// The team's file, its server and the store.
pub(super) struct TeamConnection {
    pub(super) file: TeamFile,
    pub(super) server: TeamHttpClient,
    pub(super) store: Mutex<Store>,
    pub(super) rules: ShareRules,
    data: DataDir,
    /// A round of this command was tried.
    has_tried: Cell<bool>,
}

/// The team of this machine; `None` if it has none.
pub(super) fn find_team(app: &App) -> anyhow::Result<Option<TeamFile>> {
    Ok(load_team(&app.data)?)
}

/// The team of this machine or, in CI, of the environment. A project can set variables for the commands of its
/// agent: they do not replace a team that the person joined, to which spaces of the store belong.
fn find_team_for_sync(app: &App) -> anyhow::Result<Option<TeamFile>> {
    let known = load_team(&app.data)?;
    let link = std::env::var(TEAM_VARIABLE).ok().filter(|link| !link.trim().is_empty());
    match (known, link) {
        (Some(known), Some(_)) => anyhow::bail!(
            "{TEAM_VARIABLE} is set, but this machine belongs to {} at {}; unset the variable, or `claude-mem team leave` \
             first",
            if known.team.is_empty() { "a team" } else { &known.team },
            known.base
        ),
        (None, Some(link)) => Ok(Some(team_from_link(&link)?)),
        (known, None) => Ok(known),
    }
}

impl TeamConnection {
    pub(super) fn open(app: &App) -> anyhow::Result<Self> {
        Self::open_as(app, find_team(app)?)
    }

    /// As [`TeamConnection::open`]; in CI the environment names the team.
    pub(super) fn open_for_sync(app: &App, certificates: Option<&Path>) -> anyhow::Result<Self> {
        let mut file = find_team_for_sync(app)?;
        if let Some(file) = file.as_mut().filter(|file| file.is_from_environment) {
            file.certificates = certificates.map(Path::to_path_buf);
        }
        Self::open_as(app, file)
    }

    fn open_as(app: &App, file: Option<TeamFile>) -> anyhow::Result<Self> {
        let file = file.context("this machine belongs to no team; `claude-mem team join LINK` joins one")?;
        let server = TeamHttpClient::connect(&file)?;
        app.data.create()?;
        let store = Store::open(&app.data.db()).with_context(|| app.data.db().display().to_string())?;
        let (rules, data) = (share_rules(app), app.data.clone());
        Ok(Self { file, server, store: Mutex::new(store), rules, data, has_tried: Cell::new(false) })
    }

    /// One round, and its result in the store.
    pub(super) fn round(&self, recent: Option<i64>, check: bool) -> Result<SyncReport, SharingError> {
        let now = clock::now().millis();
        let options = SyncOptions {
            rules: self.rules.clone(),
            recent,
            check,
            is_first: !self.has_tried.replace(true),
            now,
        };
        let outcome = SyncEngine { access: &self.store, server: &self.server }.round(&options);
        let mut store = claude_mem_core::sync::lock(&self.store);
        let known = store.read().team_health_to_replace()?;
        let health = match &outcome {
            Ok(report) => health_after_round(&known, report, now),
            Err(error) => health_after_error(&known, error, now),
        };
        store.save_team_health(&health)?;
        if outcome.as_ref().is_ok_and(|report| report.erased > 0) {
            // What was taken back must not stay in the write-ahead log.
            store.checkpoint()?;
        }
        drop(store);
        if matches!(outcome, Err(SharingError::Revoked)) && !self.file.is_from_environment {
            purge_team(&self.store, &self.data)?;
        }
        outcome
    }

    /// Takes back what the user shared in these spaces, and ends their sharing.
    pub(super) fn take_back(&self, spaces: &[SpaceRowId]) -> Result<u64, SharingError> {
        let now = clock::now().millis();
        let options = SyncOptions { rules: self.rules.clone(), now, ..SyncOptions::default() };
        let engine = SyncEngine { access: &self.store, server: &self.server };
        take_back_spaces(&engine, spaces, &options)
    }

    /// Rounds until this machine is in step, at most for `wait`. The last report, and whether it is.
    pub(super) fn rounds(
        &self,
        recent: Option<i64>,
        wait: Duration,
    ) -> Result<(SyncReport, bool), SharingError> {
        let begun = Instant::now();
        let mut all = SyncReport::default();
        loop {
            let round = self.round(recent, false);
            let is_over = begun.elapsed() >= wait;
            match round {
                Ok(report) => {
                    let sums = (
                        all.sent + report.sent,
                        all.received + report.received,
                        all.erased + report.erased,
                        all.refused + report.refused,
                    );
                    all = report;
                    (all.sent, all.received, all.erased, all.refused) = sums;
                    if all.in_step || is_over || all.quota_exceeded {
                        let in_step = all.in_step;
                        return Ok((all, in_step));
                    }
                }
                Err(error) if error.is_transient() && !is_over => {}
                Err(error) => return Err(error),
            }
            std::thread::sleep(ROUND_PAUSE);
        }
    }
}

pub(super) fn share_rules(app: &App) -> ShareRules {
    let settings = app.settings().settings;
    ShareRules {
        never: settings.team_never,
        requests: settings.team_requests,
        home: std::env::var("HOME").unwrap_or_default(),
    }
}

/// Asks for confirmation; Enter means no. Without a terminal, `--yes` is required.
pub(super) fn confirm(question: &str, yes: bool, json: bool) -> anyhow::Result<()> {
    if yes {
        return Ok(());
    }
    anyhow::ensure!(super::super::install::can_ask(json), "confirm with --yes");
    let mut out = anstream::stderr();
    write!(out, "{} ", question_text(question, "[y/N]"))?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    anyhow::ensure!(is_yes, "nothing was changed");
    Ok(())
}
