//! `claude-mem team`: shares memory with a team and with one's other machines.

mod connection;
mod join;
mod leave;
mod members;
mod review;
mod serve;
mod share;
mod status;
mod sync;
mod trust;

use super::app::App;
use crate::cli::output::Screen;

/// Share memory with a team, or among your own machines
///
/// Nothing leaves this machine until you join a team and share a project with it. Prompts, replies,
/// preferences and private text never leave.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem team join 'https://mem.example.com:7700/#i.…'
  claude-mem team share                 share the project of this directory, after a preview
  claude-mem team status
  claude-mem team invite jonas          a link for a new member (administrators)
  claude-mem team invite --me           a link for another machine of yours
  claude-mem search who:mira rounding   what Mira recorded
  claude-mem team serve --trial         try the server with a PostgreSQL of this machine
  claude-mem team serve --database postgres://claude_mem@db/claude_mem \\
      --listen 0.0.0.0:7700 --cert c.pem --key k.pem --public-url https://mem.acme.dev:7700

The link is a secret: put it in quotes and pass it on in private.")]
pub(super) struct Args {
    #[command(subcommand)]
    verb: TeamVerb,
}

#[derive(Debug, clap::Subcommand)]
enum TeamVerb {
    Join(join::JoinArgs),
    Share(share::ShareArgs),
    Unshare(share::UnshareArgs),
    Status(status::StatusArgs),
    Sync(sync::SyncArgs),
    Check(sync::CheckArgs),
    Review(review::ReviewArgs),
    Trust(trust::TrustArgs),
    Mute(trust::MuteArgs),
    Members(members::MembersArgs),
    Invite(members::InviteArgs),
    Revoke(members::RevokeArgs),
    Retract(members::RetractArgs),
    Audit(members::AuditArgs),
    Leave(leave::LeaveArgs),
    Serve(serve::ServeArgs),
}

pub(in crate::cli) use leave::remove_for_all;

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.verb {
        TeamVerb::Join(args) => join::run(args, app, screen),
        TeamVerb::Share(args) => share::run(args, app, screen),
        TeamVerb::Unshare(args) => share::run_unshare(args, app, screen),
        TeamVerb::Status(args) => status::run(args, app, screen),
        TeamVerb::Sync(args) => sync::run(args, app, screen),
        TeamVerb::Check(args) => sync::run_check(args, app, screen),
        TeamVerb::Review(args) => review::run(args, app, screen),
        TeamVerb::Trust(args) => trust::run(args, app, screen),
        TeamVerb::Mute(args) => trust::run_mute(args, app, screen),
        TeamVerb::Members(args) => members::run(args, app, screen),
        TeamVerb::Invite(args) => members::run_invite(args, app, screen),
        TeamVerb::Revoke(args) => members::run_revoke(args, app, screen),
        TeamVerb::Retract(args) => members::run_retract(args, app, screen),
        TeamVerb::Audit(args) => members::run_audit(args, app, screen),
        TeamVerb::Leave(args) => leave::run(args, app, screen),
        TeamVerb::Serve(args) => serve::run(args, app, screen),
    }
}
