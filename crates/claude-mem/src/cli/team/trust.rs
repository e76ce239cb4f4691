//! `claude-mem team trust` and `team mute`: how far a member's memories are offered on this machine.

use std::io::Write as _;

use anyhow::Context as _;

use super::super::app::App;
use crate::cli::output::Screen;
use claude_mem_store::{MemberTrust, Store};

/// Offer a member's memories as readily as your own, with the name
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct TrustArgs {
    /// The member's handle
    handle: String,
    /// Back to the ordinary trust of a member
    #[arg(long)]
    undo: bool,
}

/// Never offer a member's memories; `who:NAME` still finds them
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct MuteArgs {
    /// The member's handle
    handle: String,
    /// Offer them again
    #[arg(long)]
    undo: bool,
}

pub(super) fn run(args: &TrustArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let trust = if args.undo { MemberTrust::Member } else { MemberTrust::Trusted };
    set_trust(&args.handle, trust, app, screen)
}

pub(super) fn run_mute(args: &MuteArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let trust = if args.undo { MemberTrust::Member } else { MemberTrust::Muted };
    set_trust(&args.handle, trust, app, screen)
}

fn set_trust(handle: &str, trust: MemberTrust, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store: Store = app.store_to_change()?;
    let member = store.read().member_by_handle(handle)?;
    let member =
        member.with_context(|| format!("no member is called {handle}; see `claude-mem team members`"))?;
    anyhow::ensure!(member.trust != MemberTrust::Own, "{} is you", member.handle);
    store.write(|tx| tx.set_member_trust(member.id, trust))?;
    screen.show(&serde_json::json!({ "handle": member.handle, "trust": trust }), |screen, _| {
        let what = match trust {
            MemberTrust::Muted => "is muted: found only by `who:`",
            MemberTrust::Trusted => "is trusted: offered with the name, as readily as your own",
            MemberTrust::Member | MemberTrust::Own => "has the trust of any member",
        };
        writeln!(screen, "{} {what}", member.label())
    })
}
