//! `claude-mem team leave`: this machine no longer belongs to the team.

use std::io::Write as _;

use anyhow::Context as _;

use super::super::app::App;
use super::connection::{TeamConnection, confirm};
use crate::cli::output::Screen;
use crate::cli::{format, output};
use claude_mem_core::sync::lock;
use claude_mem_sharing::{TeamServer as _, erase_others, forget_team, remove_record, remove_team};
use claude_mem_store::{RowId, TeamHealth};
use claude_mem_wire::MemberRole;

/// Leave the team: others' memories go from this machine, your own stay
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct LeaveArgs {
    /// Keep the memories of others
    #[arg(long)]
    keep: bool,
    /// Take back from everybody what you shared; it stays here
    #[arg(long)]
    retract: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &LeaveArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    if is_last_administrator(&team) {
        output::print_note(
            "you are the only administrator: afterwards `claude-mem team serve --admin-link` on the server makes another"
                .to_owned(),
        )?;
    }
    confirm(&format!("Leave {}?", team.file.team), args.yes, screen.json)?;
    let mut taken_back = 0;
    if args.retract {
        let spaces: Vec<_> = lock(&team.store).read().spaces()?.into_iter().map(|space| space.id).collect();
        taken_back = team.take_back(&spaces)?;
    }
    if let Some(device) = team.file.device
        && let Err(error) = team.server.revoke_device(device)
    {
        output::print_note(format!("the server does not know that you left: {error}"))?;
    }
    // First the token: a worker must not fetch again what is erased now.
    remove_team(&app.data)?;
    let erased = if args.keep { 0 } else { erase_others(&team.store, None)? };
    forget_team(&team.store)?;
    let mut store = lock(&team.store);
    store.save_team_health(&TeamHealth::default())?;
    store.checkpoint()?;
    drop(store);
    screen.show(&serde_json::json!({ "erased": erased, "retracted": taken_back }), |screen, _| {
        let memories = |n: u64| format::count(n, "memory");
        writeln!(
            screen,
            "Left {}. {} of others removed from this machine, yours stay.",
            team.file.team,
            memories(erased)
        )?;
        if args.retract {
            writeln!(screen, "{} of yours taken back.", memories(taken_back))?;
        }
        Ok(())
    })
}

/// Whether nobody could invite or revoke after this machine has left. False if the server cannot be asked.
fn is_last_administrator(team: &TeamConnection) -> bool {
    let Ok(me) = team.server.me() else { return false };
    let others = me.members.iter().filter(|member| member.id != me.member && member.left_at.is_none());
    let machines =
        me.devices.iter().filter(|device| device.member == me.member && device.revoked_at.is_none());
    me.role.may_administer()
        && machines.count() == 1
        && !others.map(|member| member.role).any(MemberRole::may_administer)
}

/// Removes rows of other members from everybody, which only administrators may.
pub(in crate::cli) fn remove_for_all(app: &App, ids: &[RowId]) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    for id in ids {
        let share = lock(&team.store).read().share_of_row(*id)?;
        let share = share.with_context(|| format!("{id} is not shared"))?;
        anyhow::ensure!(
            remove_record(&team.store, &team.server, &share, app.now)?,
            "only administrators remove what others shared"
        );
    }
    team.round(None, false)?;
    Ok(())
}
