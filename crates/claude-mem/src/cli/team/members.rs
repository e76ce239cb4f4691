//! `claude-mem team members`, `invite`, `revoke`, `retract`, `audit`: who belongs to the team.

use std::io::Write as _;

use anyhow::Context as _;
use serde::Serialize;

use super::super::UsageError;
use super::super::app::App;
use super::connection::{TeamConnection, confirm};
use crate::cli::format;
use crate::cli::output::Screen;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_search::date_arg;
use claude_mem_sharing::TeamServer;
use claude_mem_wire::messages::{
    DeviceInfo, InviteRequest, MeReply, MemberInfo, MemberPatch, RetractRequest,
};
use claude_mem_wire::{LinkSecret, MemberRole, TeamLink, tidy_name};

/// List the members of the team and their machines
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct MembersArgs {}

/// Make a link for a new member, or for another machine of yours
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct InviteArgs {
    /// The handle of the new member
    handle: Option<String>,
    /// Another machine of yours
    #[arg(long, conflicts_with_all = ["handle", "role"])]
    me: bool,
    /// admin, member, reader or bot
    #[arg(long, default_value = "member", value_parser = parse_role)]
    role: MemberRole,
}

/// Remove a member with all machines, or one machine
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RevokeArgs {
    /// The member's handle, or the id of a machine from `team members`
    name: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// Take back what a member shared, from everybody (administrators)
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RetractArgs {
    /// The member's handle
    #[arg(long, value_name = "NAME")]
    member: String,
    /// What the server received since this time, such as 2026-11-15 or 3d; without it everything
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// Show who joined, invited, revoked and retracted (administrators)
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct AuditArgs {}

#[derive(Serialize)]
struct MemberLine {
    handle: String,
    name: String,
    role: &'static str,
    left: bool,
    you: bool,
    machines: Vec<MachineLine>,
}

#[derive(Serialize)]
struct MachineLine {
    id: String,
    name: String,
    revoked: bool,
    seen_at: Option<Millis>,
}

fn parse_role(name: &str) -> Result<MemberRole, String> {
    MemberRole::from_name(name).ok_or_else(|| "expected admin, member, reader or bot".to_owned())
}

pub(super) fn run(_args: &MembersArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    let me = team.server.me()?;
    let lines: Vec<MemberLine> = me.members.iter().map(|member| member_line(&me, member)).collect();
    screen.show(&lines, |screen, lines| {
        let mut rows = Vec::new();
        for line in lines {
            let state = match (line.you, line.left) {
                (true, _) => "you",
                (_, true) => "left",
                _ => "",
            };
            let machines: Vec<String> = line
                .machines
                .iter()
                .map(|machine| {
                    let revoked = if machine.revoked { ", removed" } else { "" };
                    format!("{} ({}{revoked})", machine.name, short_id(&machine.id))
                })
                .collect();
            rows.push([
                line.handle.clone(),
                line.name.clone(),
                line.role.to_owned(),
                state.to_owned(),
                machines.join(" "),
            ]);
        }
        screen.table(["handle", "name", "role", "", "machines"], &rows)
    })
}

/// The end of a machine's id. Ids begin with the time, which machines that joined together share.
fn short_id(id: &str) -> &str {
    id.char_indices().rev().nth(7).map_or(id, |(at, _)| &id[at..])
}

/// The machine with this id, or with this short one.
fn find_device<'d>(devices: &'d [DeviceInfo], name: &str) -> anyhow::Result<Option<&'d DeviceInfo>> {
    let is_named = |device: &&DeviceInfo| {
        let id = device.id.to_string();
        id == name || short_id(&id) == name
    };
    let mut found = devices.iter().filter(is_named);
    let first = found.next();
    anyhow::ensure!(
        found.next().is_none(),
        "several machines are called {name}; `team members --json` has whole ids"
    );
    Ok(first)
}

fn member_line(me: &MeReply, member: &MemberInfo) -> MemberLine {
    let machines = me.devices.iter().filter(|device| device.member == member.id);
    MemberLine {
        handle: tidy_name(&member.handle).unwrap_or_default(),
        name: tidy_name(&member.name).unwrap_or_default(),
        role: member.role.as_str(),
        left: member.left_at.is_some(),
        you: member.id == me.member,
        machines: machines
            .map(|device| MachineLine {
                id: device.id.to_string(),
                name: tidy_name(&device.name).unwrap_or_default(),
                revoked: device.revoked_at.is_some(),
                seen_at: device.seen_at.map(Millis),
            })
            .collect(),
    }
}

pub(super) fn run_invite(args: &InviteArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    let request = if args.me {
        InviteRequest::Me
    } else {
        if args.handle.is_none() {
            return Err(UsageError::error("name the new member, or use --me for another machine of yours"));
        }
        InviteRequest::Member { role: args.role, handle: args.handle.clone() }
    };
    let reply = team.server.invite(&request)?;
    let link = TeamLink::new(&team.file.base, LinkSecret::Invite(reply.secret))?.to_string();
    let output = serde_json::json!({ "link": link, "role": reply.role, "expires_at": reply.expires_at });
    screen.show(&output, |screen, _| {
        writeln!(screen, "claude-mem team join '{link}'")?;
        writeln!(
            screen,
            "One use, until {}. Pass it on in private.",
            format::local_time(Millis(reply.expires_at))
        )
    })
}

pub(super) fn run_revoke(args: &RevokeArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    let me = team.server.me()?;
    let member = me.members.iter().find(|member| member.handle == args.name && member.left_at.is_none());
    let device = find_device(&me.devices, &args.name)?;
    let what = match (member, device) {
        (Some(member), _) => {
            confirm(&format!("Remove {} and all their machines?", member.handle), args.yes, screen.json)?;
            team.server.change_member(member.id, &MemberPatch { revoked: true, ..MemberPatch::default() })?;
            member.handle.clone()
        }
        (None, Some(device)) => {
            let owner = me.members.iter().find(|member| member.id == device.member);
            let owner = owner.map_or("an unknown member", |member| member.handle.as_str());
            confirm(&format!("Remove the machine {} of {owner}?", device.name), args.yes, screen.json)?;
            team.server.revoke_device(device.id)?;
            device.name.clone()
        }
        (None, None) => anyhow::bail!("no member or machine {}; see `claude-mem team members`", args.name),
    };
    screen.show(&serde_json::json!({ "revoked": what }), |screen, _| {
        writeln!(screen, "{what} was removed. What they shared stays; `team retract --member` takes it back.")
    })
}

pub(super) fn run_retract(args: &RetractArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let since = match &args.since {
        Some(text) => date_arg::parse_time(text, app.now, &clock::zone())
            .ok_or_else(|| UsageError::error(format!("{text} is not a time")))?,
        None => Millis(0),
    };
    let team = TeamConnection::open(app)?;
    let me = team.server.me()?;
    let member = me.members.iter().find(|member| member.handle == args.member);
    let member = member
        .with_context(|| format!("no member is called {}; see `claude-mem team members`", args.member))?;
    let question = format!("Take back everything {} shared since then, from everybody?", member.handle);
    confirm(&question, args.yes, screen.json)?;
    let reply = team.server.retract(&RetractRequest { member: member.id, space: None, since: since.0 })?;
    // The own copies go at once; those of others with their next round.
    team.round(None, false)?;
    screen.show(&serde_json::json!({ "retracted": reply.retracted }), |screen, _| {
        writeln!(screen, "{} taken back", format::count(reply.retracted, "record"))
    })
}

pub(super) fn run_audit(_args: &AuditArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    let me = team.server.me()?;
    let page = team.server.audit()?;
    screen.show(&page.entries, |screen, entries| {
        let rows: Vec<[String; 4]> = entries
            .iter()
            .map(|entry| {
                let who = me.members.iter().find(|member| Some(member.id) == entry.member);
                let who = who.map_or("the operator", |member| &member.handle).to_owned();
                let tidy = |text: &str| tidy_name(text).unwrap_or_default();
                [format::local_time(Millis(entry.at)), who, tidy(&entry.action), tidy(&entry.subject)]
            })
            .collect();
        screen.table(["time", "who", "what", "whom"], &rows)
    })
}

#[cfg(test)]
mod tests {
    use claude_mem_wire::{DeviceId, MemberId};

    use super::*;

    fn device(id: &str) -> DeviceInfo {
        let member = MemberId(id.parse::<DeviceId>().unwrap().0);
        let (id, name) = (id.parse().unwrap(), "vm".to_owned());
        DeviceInfo { id, member, name, created_at: 0, seen_at: None, revoked_at: None }
    }

    #[test]
    fn machines_that_joined_together_are_told_apart() {
        let ids = ["01a1edda-0000-7000-8000-00000000000a", "01a1edda-0000-7000-8000-10000000000b"];
        let devices = ids.map(device);
        for (name, want) in
            [("0000000b", Some(1)), ("0000000a", Some(0)), (ids[1], Some(1)), ("01a1edda", None)]
        {
            let found = find_device(&devices, name).unwrap();
            assert_eq!(found, want.map(|at: usize| &devices[at]), "{name}");
        }
        let alike = [device(ids[0]), device("01a1eddb-0000-7000-8000-00000000000a")];
        assert!(find_device(&alike, "0000000a").is_err());
    }
}
