//! `claude-mem team join`: makes this machine a member's device.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;

use super::super::app::App;
use super::super::{UsageError, worker};
use super::connection::find_team;
use crate::cli::output;
use crate::cli::output::Screen;
use claude_mem_core::paths::random_hex;
use claude_mem_core::platform;
use claude_mem_sharing::{SharingError, TeamFile, TeamHttpClient, TeamServer as _, join_team, save_team};
use claude_mem_wire::messages::JoinRequest;
use claude_mem_wire::{DeviceToken, LinkSecret, TeamLink, is_handle, tidy_name};

/// Attempts with the same token: a lost answer does not use up the invite.
const ATTEMPTS_MAX: usize = 3;

/// Join a team by a link; nothing is shared yet
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct JoinArgs {
    /// The link that an administrator, or another machine of yours, made with `team invite`
    link: String,
    /// Your handle in the team, such as `mira`; the link may set it
    #[arg(long)]
    handle: Option<String>,
    /// Your name as others read it
    #[arg(long)]
    name: Option<String>,
    /// The name of this machine
    #[arg(long)]
    device: Option<String>,
    /// A PEM file with the certificates to trust, for a server with a private authority
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Print a link with a token for `CLAUDE_MEM_TEAM`, for CI, and keep nothing here
    #[arg(long)]
    for_ci: bool,
}

#[derive(Serialize)]
struct JoinOutput {
    team: String,
    handle: String,
    role: &'static str,
    device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

pub(super) fn run(args: &JoinArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let link = TeamLink::parse(&args.link).map_err(|error| UsageError::error(error.to_string()))?;
    if !args.for_ci
        && let Some(known) = find_team(app)?
    {
        anyhow::bail!("this machine already belongs to {}; `claude-mem team leave` first", known.team);
    }
    let certificates = args.ca.as_ref().map(std::path::absolute).transpose()?;
    let LinkSecret::Invite(secret) = link.secret.clone() else {
        if args.for_ci {
            return Err(UsageError::error("this link already has a token: it belongs into CLAUDE_MEM_TEAM"));
        }
        return join_with_token(&args.link, certificates, app, screen);
    };
    let user = std::env::var("USER").unwrap_or_default();
    let handle = args.handle.clone().unwrap_or_else(|| handle_from(&user));
    if !is_handle(&handle) {
        return Err(UsageError::error(
            "a handle has lower-case letters, digits, `-`, `_` and `.`; use --handle",
        ));
    }
    let device = args.device.clone().unwrap_or_else(machine_name);
    let token = random_hex::<32>().ok().and_then(|hex| DeviceToken::parse(&hex));
    let request = JoinRequest {
        secret,
        token: token.context("no random numbers")?,
        name: args.name.clone().unwrap_or_else(|| handle.clone()),
        handle,
        device: tidy_name(&device).unwrap_or_else(|| "machine".to_owned()),
    };
    let mut attempts = 0;
    let reply = loop {
        attempts += 1;
        match join_team(&link, certificates.as_deref(), &request) {
            Err(SharingError::Unreachable { .. }) if attempts < ATTEMPTS_MAX => {}
            outcome => break outcome?,
        }
    };
    let ci_link = TeamLink::new(link.base(), LinkSecret::Token(request.token.clone()))?;
    let output = JoinOutput {
        team: tidy_name(&reply.team.name).unwrap_or_default(),
        handle: tidy_name(&reply.member.handle).unwrap_or_default(),
        role: reply.member.role.as_str(),
        device: request.device.clone(),
        link: args.for_ci.then(|| ci_link.to_string()),
    };
    if !args.for_ci {
        app.data.create()?;
        let file = TeamFile {
            base: link.base().to_owned(),
            token: request.token,
            team: output.team.clone(),
            handle: output.handle.clone(),
            member: Some(reply.member.id),
            device: Some(reply.device),
            certificates,
            is_from_environment: false,
        };
        keep_membership(&file, app)?;
    }
    print(&output, screen)
}

/// A machine of CI whose worker should keep it in step: the link of `--for-ci`, kept.
fn join_with_token(
    link: &str,
    certificates: Option<PathBuf>,
    app: &App,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let mut file =
        TeamFile { certificates, is_from_environment: false, ..claude_mem_sharing::team_from_link(link)? };
    let me = TeamHttpClient::connect(&file)?.me()?;
    let own =
        me.members.iter().find(|member| member.id == me.member).context("the server does not know you")?;
    let device = me.devices.iter().find(|device| device.id == me.device).map(|device| device.name.as_str());
    let output = JoinOutput {
        team: tidy_name(&me.team.name).unwrap_or_default(),
        handle: tidy_name(&own.handle).unwrap_or_default(),
        role: me.role.as_str(),
        device: device.and_then(tidy_name).unwrap_or_else(machine_name),
        link: None,
    };
    file.team.clone_from(&output.team);
    file.handle.clone_from(&output.handle);
    (file.member, file.device) = (Some(me.member), Some(me.device));
    app.data.create()?;
    keep_membership(&file, app)?;
    print(&output, screen)
}

fn keep_membership(file: &TeamFile, app: &App) -> anyhow::Result<()> {
    save_team(&app.data, file)?;
    // The first round fetches the members; a worker that is not wanted is not started.
    if let Err(error) = worker::ensure_synchronising(app) {
        output::print_note(format!("the worker does not run: {error}"))?;
    }
    Ok(())
}

fn print(output: &JoinOutput, screen: &mut Screen) -> anyhow::Result<()> {
    screen.show(output, |screen, output| match &output.link {
        Some(link) => writeln!(screen, "{link}"),
        None => writeln!(
            screen,
            "You are {} ({}) of {}, on {}. Nothing is shared until you say so: `claude-mem team share` in a project.",
            output.handle, output.role, output.team, output.device
        ),
    })
}

/// A handle of a user name: its letters and digits in lower case.
fn handle_from(user: &str) -> String {
    let plain = user.to_lowercase().chars().filter(char::is_ascii_alphanumeric).take(32).collect::<String>();
    if plain.is_empty() { "me".to_owned() } else { plain }
}

fn machine_name() -> String {
    let named = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    named.or_else(platform::machine_name).unwrap_or_else(|| "machine".to_owned())
}
