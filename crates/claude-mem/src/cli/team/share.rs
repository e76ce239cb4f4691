//! `claude-mem team share` and `unshare`: opts a project in or out, after a preview.

use std::io::Write as _;

use anyhow::Context as _;
use serde::Serialize;

use super::super::app::App;
use super::super::{UsageError, worker};
use super::connection::{TeamConnection, confirm};
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args::ProjectArgs;
use crate::cli::{format, output};
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ProjectId, PublicId};
use claude_mem_core::project::{REMOTE_KEY, normalise_remote};
use claude_mem_core::sync::lock;
use claude_mem_recall::quote;
use claude_mem_sharing::record_body::outgoing_body;
use claude_mem_sharing::{ShareRules, ShareVerdict, TeamServer, forget_space, has_own_records};
use claude_mem_store::{
    NewSpace, PageRequest, RowFilter, RowId, RowKind, RowOwner, SpaceMode, SpaceRow, StoreError, StoreReader,
};
use claude_mem_wire::messages::SpaceRequest;

/// Rows of the preview, and rows that are looked through for it.
const PREVIEW_ROWS: usize = 3;
const PREVIEW_LOOKED_AT: u32 = 60;

/// Share a project with the team, from now on, after a preview
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem team share                  the project of this directory
  claude-mem team share --review         each memory waits for `team review`
  claude-mem team share --receive        only read what others share
  claude-mem team share --history        share the memories that there are, too
  claude-mem team share --own            all other projects, among your own machines only")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(in crate::cli) struct ShareArgs {
    #[command(flatten)]
    whose: ProjectArgs,
    /// Each memory waits for your word
    #[arg(long, conflicts_with = "receive")]
    review: bool,
    /// Only read what others share
    #[arg(long)]
    receive: bool,
    /// Share the memories that there are, too
    #[arg(long, conflicts_with = "receive")]
    history: bool,
    /// All projects that are not shared otherwise, among your own machines only
    #[arg(long, conflicts_with_all = ["review", "receive", "address"])]
    own: bool,
    /// The address of the repository, if this directory has none or another one, such as a fork
    #[arg(long = "as", value_name = "URL")]
    address: Option<String>,
    /// Show the preview and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// Stop sharing a project
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct UnshareArgs {
    #[command(flatten)]
    whose: ProjectArgs,
    /// Stop sharing among your own machines
    #[arg(long)]
    own: bool,
    /// Take back from everybody what was shared; it stays here
    #[arg(long)]
    retract: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

#[derive(Serialize)]
struct ShareOutput {
    project: String,
    keys: Vec<String>,
    mode: SpaceMode,
    history: bool,
    /// Memories of the project that there are already.
    existing: u64,
    /// The latest that would have left.
    preview: Vec<PreviewRow>,
    dry_run: bool,
    team: String,
    people: u64,
}

#[derive(Serialize)]
struct PreviewRow {
    id: RowId,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    your_words: bool,
}

pub(super) fn run(args: &ShareArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    let me = team.server.me()?;
    let mode = match () {
        () if args.receive => SpaceMode::Receive,
        () if args.review => SpaceMode::Review,
        () => SpaceMode::Auto,
    };
    let SharedProject { project, new, name, keys } =
        if args.own { SharedProject::default() } else { find_shared(args, &team)? };
    let (existing, preview) = if new.is_some() {
        (0, Vec::new())
    } else {
        let store = lock(&team.store);
        let reads = store.read();
        let existing = match project {
            Some(project) => u64::from(reads.count_observations_up_to(project, u32::MAX)?),
            None => reads.counts()?.observations,
        };
        (existing, preview_rows(&reads, project, &team.rules)?)
    };
    let output = ShareOutput {
        project: name.clone(),
        keys: keys.clone(),
        mode,
        history: args.history,
        existing,
        preview,
        dry_run: args.dry_run,
        team: me.team.name.clone(),
        people: me.members.iter().filter(|member| member.left_at.is_none()).count() as u64,
    };
    if !screen.json || args.dry_run {
        screen.show(&output, |screen, output| print_preview(screen, output, args.own))?;
        screen.flush()?;
    }
    if args.dry_run {
        return Ok(());
    }
    confirm("Share?", args.yes, screen.json)?;
    let request = if args.own { SpaceRequest::Own } else { SpaceRequest::Project { keys, name } };
    let info = team.server.space(&request)?;
    let project = match &new {
        Some(hint) => Some(lock(&team.store).write(|tx| tx.ensure_project(hint, app.now))?),
        None => project,
    };
    let uid = PublicId(info.id.0);
    replace_unshared(&team, project, uid)?;
    let space =
        NewSpace { uid, own: args.own, project, mode, history: args.history, generation: String::new() };
    lock(&team.store).write(|tx| tx.put_space(&space))?;
    // The worker fetches what there is, newest first; of a large project that takes minutes.
    if let Err(error) = worker::ensure_synchronising(app) {
        output::print_note(format!("the worker does not run: {error}"))?;
        if let Err(error) = team.round(None, false) {
            output::print_note(format!("not synchronised yet: {error}"))?;
        }
    }
    if screen.json {
        return screen.json(&output);
    }
    Ok(writeln!(screen, "Shared. `claude-mem team status` shows what comes and goes.")?)
}

/// A project that is to be shared; without any for the user's own machines.
#[derive(Default)]
struct SharedProject {
    project: Option<ProjectId>,
    /// Nothing is remembered of it yet: a new colleague begins with what others know.
    new: Option<ProjectHint>,
    name: String,
    /// The keys by which others find it.
    keys: Vec<String>,
}

fn find_shared(args: &ShareArgs, team: &TeamConnection) -> anyhow::Result<SharedProject> {
    let store = lock(&team.store);
    let reads = store.read();
    let (project, new) = args.whose.resolve_or_identify(&reads)?;
    let (name, known) = match (project, &new) {
        (Some(project), _) => (reads.project(project)?.name, reads.project_keys(project)?),
        (None, Some(hint)) => (hint.name.clone(), hint.keys.clone()),
        (None, None) => return Err(UsageError::error("name one project, or run it in its directory")),
    };
    let keys: Vec<String> = match &args.address {
        Some(address) => {
            let remote = normalise_remote(address)
                .with_context(|| format!("{address} is not a repository's address"))?;
            vec![format!("{REMOTE_KEY}{remote}")]
        }
        None => known.into_iter().filter(|key| key.starts_with(REMOTE_KEY)).collect(),
    };
    if keys.is_empty() {
        return Err(UsageError::error(
            "this project has no git remote by which others find it; use --as URL",
        ));
    }
    Ok(SharedProject { project, new, name, keys })
}

/// Makes room for another space of the same project: one that is not shared any more is forgotten with what others
/// shared in it.
fn replace_unshared(team: &TeamConnection, project: Option<ProjectId>, uid: PublicId) -> anyhow::Result<()> {
    let Some(project) = project else { return Ok(()) };
    let known = lock(&team.store).read().space_of_project(project)?;
    let Some(known) = known.filter(|known| known.uid != uid) else { return Ok(()) };
    let is_free = known.mode == SpaceMode::Off && !has_own_records(&team.store, known.id)?;
    anyhow::ensure!(
        is_free,
        "this project is shared as another repository; `claude-mem team unshare --retract` ends that first"
    );
    forget_space(&team.store, known.id)?;
    Ok(())
}

/// The latest rows that would leave if sharing had been on.
fn preview_rows(
    reads: &StoreReader<'_>,
    project: Option<ProjectId>,
    rules: &ShareRules,
) -> Result<Vec<PreviewRow>, StoreError> {
    let space = SpaceRow {
        id: claude_mem_core::ids::SpaceRowId(0),
        uid: PublicId::new(),
        own: project.is_none(),
        project,
        mode: SpaceMode::Auto,
        from_observation: 0,
        from_account: 0,
        sealed_observation: 0,
        sealed_account: 0,
        sealed_change: 0,
        high: 0,
        low: None,
        window: None,
        live: 0,
        digest: 0,
        unequal: 0,
        generation: String::new(),
    };
    let filter = RowFilter { project, who: Some(RowOwner::Own), ..RowFilter::default() };
    let mut found = Vec::new();
    for row in reads.observations(&filter, PageRequest::first(PREVIEW_LOOKED_AT))?.items {
        let id = RowId::new(RowKind::Observation, row.id.0);
        let Some(body) = outgoing_body(reads, &space, id, rules)? else { continue };
        if body.verdict == ShareVerdict::MayLeave && found.len() < PREVIEW_ROWS {
            let your_words = matches!(
                body.origin,
                claude_mem_core::memory::Origin::User | claude_mem_core::memory::Origin::Manual
            );
            found.push(PreviewRow {
                id,
                kind: body.observation_type,
                title: quote::line(&body.title, 90),
                your_words,
            });
        }
    }
    Ok(found)
}

fn print_preview(screen: &mut Screen, output: &ShareOutput, own: bool) -> std::io::Result<()> {
    if own {
        writeln!(
            screen,
            "All projects that are not shared otherwise, among your own machines of {}.",
            output.team
        )?;
    } else {
        let key = output.keys.first().map_or("", |key| key.trim_start_matches(REMOTE_KEY));
        let people = format::people(output.people);
        writeln!(screen, "Project {} ({key}) with {}, {people}.", output.project, output.team)?;
    }
    if output.mode == SpaceMode::Receive {
        return writeln!(screen, "Only what others share comes here; nothing leaves.");
    }
    writeln!(screen, "From now on: memories and accounts of sessions.")?;
    let existing = format::count(output.existing, "memory");
    let history = match (output.existing, output.history) {
        (0, _) => String::new(),
        (_, true) => format!("What there is goes, too: {existing}."),
        (_, false) => format!("Not what there is already: {existing} (--history)."),
    };
    let never = format!(
        "Never: prompts, replies, preferences, private text, text from the web, other projects. {history}"
    );
    screen.paragraph("", never.trim_end())?;
    if output.mode == SpaceMode::Review {
        writeln!(screen, "Each waits for your word: `claude-mem team review`.")?;
    }
    if output.preview.is_empty() {
        return Ok(());
    }
    writeln!(screen, "The last that would have gone:")?;
    for row in &output.preview {
        let words = if row.your_words { "  (your words)" } else { "" };
        writeln!(screen, "{:>7}  {:10}  {}{QUIET}{words}{QUIET:#}", row.id.to_string(), row.kind, row.title)?;
    }
    Ok(())
}

pub(super) fn run_unshare(args: &UnshareArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let team = TeamConnection::open(app)?;
    let space = {
        let store = lock(&team.store);
        let reads = store.read();
        let found = if args.own {
            reads.spaces()?.into_iter().find(|space| space.own)
        } else {
            let project =
                args.whose.resolve(&reads)?.context("nothing is remembered of this directory yet")?;
            reads.space_of_project(project)?
        };
        found.context("this is not shared")?
    };
    let mut taken_back = 0;
    if args.retract {
        confirm("Take back everything that you shared here?", args.yes, screen.json)?;
        taken_back = team.take_back(&[space.id])?;
    }
    lock(&team.store).write(|tx| tx.set_space_mode(space.id, SpaceMode::Off))?;
    screen.show(&serde_json::json!({ "unshared": true, "retracted": taken_back }), |screen, _| {
        let back = format::count(taken_back, "memory");
        let back = if args.retract { format!(" {back} taken back.") } else { String::new() };
        writeln!(screen, "No longer shared: nothing leaves and nothing comes.{back}")
    })
}
