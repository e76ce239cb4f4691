//! `claude-mem team status`: whether this machine and the team are in step.

use std::io::Write as _;

use serde::Serialize;

use super::super::app::App;
use super::connection::find_team;
use crate::cli::format;
use crate::cli::output::{BAD, GOOD, QUIET, Screen, WARN};
use claude_mem_store::{SpaceHealth, SpaceMode, TeamHealth};

/// Show whether this machine and the team are in step
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct StatusArgs {}

#[derive(Serialize)]
struct TeamStatus {
    joined: bool,
    server: Option<String>,
    health: TeamHealth,
    spaces: Vec<SpaceHealth>,
}

pub(super) fn run(_args: &StatusArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let file = find_team(app)?;
    let mut status = TeamStatus {
        joined: file.is_some(),
        server: file.map(|file| file.base),
        health: TeamHealth::default(),
        spaces: Vec::new(),
    };
    if let Some(store) = app.store_if_any()? {
        status.health = store.read().team_health()?;
        status.spaces = store.read().space_healths()?;
    }
    screen.show(&status, |screen, status| print(screen, status, app))
}

fn print(screen: &mut Screen, status: &TeamStatus, app: &App) -> std::io::Result<()> {
    let health = &status.health;
    if health.revoked {
        return writeln!(
            screen,
            "{BAD}removed{BAD:#}: this machine was removed from the team; what others shared is gone from here"
        );
    }
    let Some(server) = status.server.as_deref().filter(|_| status.joined) else {
        return writeln!(screen, "no team; `claude-mem team join LINK` joins one");
    };
    let received: u64 = status.spaces.iter().map(|space| space.counts.received).sum();
    let (unsent, refused) =
        (sum(status, |space| space.counts.unsent), sum(status, |space| space.counts.refused));
    let team = if health.team.is_empty() { server } else { &health.team };
    let (style, state) = match () {
        () if !health.error.is_empty() => (WARN, "not reached"),
        () if health.in_step => (GOOD, "in step"),
        () if health.last_ok.is_none() => (QUIET, "not synchronised yet"),
        () => (WARN, "behind"),
    };
    let change = health.last_change.map(|at| format!(", last change {}", format::ago(at, app.now)));
    writeln!(
        screen,
        "{team}: {style}{state}{style:#}, {} of others, {}{}; {unsent} to send, {refused} refused",
        format::count(received, "memory"),
        format::people(health.members),
        change.unwrap_or_default(),
    )?;
    if !health.error.is_empty() {
        screen.paragraph("  ", &health.error)?;
    }
    for space in &status.spaces {
        let name = if space.own { "your own machines" } else { &space.project };
        let mode = match space.mode {
            SpaceMode::Auto => "shared",
            SpaceMode::Review => "shared after review",
            SpaceMode::Receive => "only received",
            SpaceMode::Off => "not shared any more",
        };
        let counts = &space.counts;
        let mut facts =
            vec![mode.to_owned(), format!("{} sent", counts.sent), format!("{} received", counts.received)];
        for (count, what) in [
            (counts.held, "waiting for `team review`"),
            (counts.refused, "refused by the server"),
            (counts.aside, "set aside"),
            (counts.held_back, "held back because they read like instructions"),
        ] {
            if count > 0 {
                facts.push(format!("{count} {what}"));
            }
        }
        if space.is_walking {
            facts.push("still fetching".to_owned());
        }
        writeln!(screen, "  {name}: {}", facts.join(", "))?;
    }
    if status.spaces.is_empty() {
        writeln!(screen, "  nothing is shared; `claude-mem team share` in a project")?;
    }
    Ok(())
}

fn sum(status: &TeamStatus, of: impl Fn(&SpaceHealth) -> u64) -> u64 {
    status.spaces.iter().map(of).sum()
}
