//! `claude-mem team sync` and `team check`: brings this machine in step now.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::super::app::App;
use super::super::{AlreadyReported, UsageError};
use super::connection::TeamConnection;
use crate::cli::format;
use crate::cli::output::Screen;
use claude_mem_core::ids::PublicId;
use claude_mem_core::project;
use claude_mem_core::sync::lock;
use claude_mem_sharing::{TeamServer, count_differences};
use claude_mem_store::{NewSpace, SpaceMode};
use claude_mem_wire::MemberRole;

/// Send and receive now; exits with 1 if not in step afterwards
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem team sync --wait 20s
  CLAUDE_MEM_TEAM='https://mem.example.com:7700/#t.…' claude-mem team sync --recent 2000 --wait 20s   (in CI)")]
pub(in crate::cli) struct SyncArgs {
    /// Try for this long, such as 20s or 2m
    #[arg(long, value_name = "TIME", default_value = "10s")]
    wait: String,
    /// Of a project that was never fetched, take only the newest so many records
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    recent: Option<i64>,
    /// With CLAUDE_MEM_TEAM: a PEM file with the certificates to trust, for a server with a private authority
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

/// Compare all names with the server
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CheckArgs {
    /// Mend what differs
    #[arg(long)]
    repair: bool,
}

#[derive(Serialize)]
struct SyncOutput {
    in_step: bool,
    partial: bool,
    sent: u64,
    received: u64,
    erased: u64,
    refused: u64,
}

pub(super) fn run(args: &SyncArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let seconds = format::duration_seconds(&args.wait).map_err(UsageError::error)?;
    let team = TeamConnection::open_for_sync(app, args.ca.as_deref())?;
    if team.file.is_from_environment {
        share_here(&team, app)?;
    }
    let wait = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    let (report, in_step) = team.rounds(args.recent, wait)?;
    let output = SyncOutput {
        in_step,
        partial: report.partial,
        sent: report.sent,
        received: report.received,
        erased: report.erased,
        refused: report.refused,
    };
    screen.show(&output, |screen, output| {
        let state = if output.in_step { "in step" } else { "not in step yet" };
        writeln!(
            screen,
            "{state}: {} sent, {} received, {} removed",
            output.sent, output.received, output.erased
        )
    })?;
    match (in_step, screen.json) {
        (true, _) => Ok(()),
        (false, true) => Err(AlreadyReported.into()),
        (false, false) => anyhow::bail!("not in step; `claude-mem team status` says why"),
    }
}

/// In CI nobody runs `team share`: the project of this directory is shared as far as the token's role allows.
fn share_here(team: &TeamConnection, app: &App) -> anyhow::Result<()> {
    let me = team.server.me()?;
    let hint = project::identify(&std::env::current_dir()?);
    let Some(info) = me.spaces.iter().find(|space| space.keys.iter().any(|key| hint.keys.contains(key)))
    else {
        return Ok(());
    };
    let mut store = lock(&team.store);
    let project = store.write(|tx| tx.ensure_project(&hint, app.now))?;
    if store.read().space_of_project(project)?.is_some() {
        return Ok(());
    }
    let mode = if me.role == MemberRole::Reader { SpaceMode::Receive } else { SpaceMode::Auto };
    let uid = PublicId(info.id.0);
    let new =
        NewSpace { uid, own: false, project: Some(project), mode, history: false, generation: String::new() };
    store.write(|tx| tx.put_space(&new))?;
    Ok(())
}

pub(super) fn run_check(args: &CheckArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    let mended = team.round(None, args.repair)?.mended;
    let spaces = lock(&team.store).read().spaces()?;
    let mut differing = 0;
    for space in spaces.iter().filter(|space| space.mode != SpaceMode::Off && space.window.is_none()) {
        differing += count_differences(&team.store, &team.server, space.id)?;
    }
    let output = serde_json::json!({ "differing": differing, "mended": mended });
    screen.show(&output, |screen, _| {
        if args.repair {
            writeln!(screen, "{} looked at again", format::count(mended, "record"))?;
        }
        match differing {
            0 => writeln!(screen, "this machine and the server hold the same records"),
            n => writeln!(
                screen,
                "{} {}; `claude-mem team check --repair` mends that",
                format::count(n, "record"),
                if n == 1 { "differs" } else { "differ" }
            ),
        }
    })?;
    match (differing, screen.json) {
        (0, _) => Ok(()),
        (_, true) => Err(AlreadyReported.into()),
        (_, false) => anyhow::bail!("not in step"),
    }
}
