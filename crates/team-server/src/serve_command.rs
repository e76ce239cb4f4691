//! `claude-mem-team serve`: its arguments, and what it prints.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use claude_mem_core::paths::DataDir;
use claude_mem_team_server::{ReadyReport, ServeOptions, StartError, TrialCluster};
use serde::Serialize;

/// Environment variable with the address of the database, which keeps a password out of the process list.
const DATABASE_VARIABLE: &str = "CLAUDE_MEM_TEAM_DATABASE";

/// Run the server of a team, in front of PostgreSQL 13 or newer
///
/// Makes its tables and the team, proves that row-level security is in force, and prints the link of the first
/// administrator. Any number of these servers can run on one database. See docs/team.md.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct ServeArgs {
    /// Database, as postgres://user@host/name (or in CLAUDE_MEM_TEAM_DATABASE)
    #[arg(long, value_name = "ADDRESS", conflicts_with = "trial")]
    database: Option<String>,
    /// Start a private PostgreSQL of this machine's programs, for trying things out
    #[arg(long)]
    trial: bool,
    /// Authority of the database's certificate, if it is a private one
    #[arg(long, value_name = "FILE")]
    database_ca: Option<PathBuf>,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7700")]
    listen: SocketAddr,
    /// Certificate chain (PEM); read again on SIGHUP
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Private key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// A proxy in front terminates TLS and sets X-Forwarded-For
    #[arg(long, requires = "public_url")]
    behind_proxy: bool,
    /// Address by which members reach the server, for links
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Name of the team; made if it does not exist
    #[arg(long, value_name = "NAME", default_value = "team")]
    team: String,
    /// Print a link for a further administrator and exit
    #[arg(long)]
    admin_link: bool,
    /// After a restore of the database: make all clients compare everything, and exit
    #[arg(long, conflicts_with = "admin_link")]
    new_generation: bool,
    /// Print JSON
    #[arg(long, overrides_with = "json")]
    pub(crate) json: bool,
    /// Data directory, for --trial (default: ~/.claude-mem)
    #[arg(long, value_name = "DIR", overrides_with = "data_dir")]
    data_dir: Option<PathBuf>,
}

/// The report of a started server.
#[derive(Serialize)]
struct ServeReport<'a> {
    listening: String,
    postgresql: &'a str,
    team: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_link: Option<&'a str>,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("{0}")]
    Usage(&'static str),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
}

pub(crate) fn run(args: &ServeArgs) -> Result<(), CommandError> {
    if args.trial {
        let trial = TrialCluster::start(&data_dir(args)?, |name| std::env::var_os(name))?;
        let outcome = run_with(args, trial.address());
        trial.stop();
        return outcome;
    }
    let given = args.database.clone().or_else(|| std::env::var(DATABASE_VARIABLE).ok());
    run_with(args, &given.ok_or(CommandError::Usage("pass --database or --trial"))?)
}

fn data_dir(args: &ServeArgs) -> Result<DataDir, CommandError> {
    match &args.data_dir {
        Some(dir) => Ok(DataDir::new(std::path::absolute(dir)?)),
        None => DataDir::find(|name| std::env::var_os(name))
            .ok_or(CommandError::Usage("no home directory; use --data-dir")),
    }
}

fn run_with(args: &ServeArgs, database: &str) -> Result<(), CommandError> {
    let options = ServeOptions {
        database_ca: args.database_ca.clone(),
        listen: args.listen,
        certificate: args.cert.clone().zip(args.key.clone()),
        behind_proxy: args.behind_proxy,
        public_url: args.public_url.clone(),
        team: args.team.clone(),
        ..ServeOptions::new(database)
    };
    if args.admin_link {
        let link = claude_mem_team_server::make_admin_link(&options)?;
        let text = link_text("A further administrator", &link);
        return print(args, &serde_json::json!({ "admin_link": link }), &text);
    }
    if args.new_generation {
        let teams = claude_mem_team_server::renew_generation(&options)?;
        let text = format!("Clients of {teams} teams will compare everything with this server.\n");
        return print(args, &serde_json::json!({ "teams": teams }), &text);
    }
    let mut printed = Ok(());
    claude_mem_team_server::serve(&options, |ready| printed = print_ready(args, ready))?;
    printed
}

fn print_ready(args: &ServeArgs, ready: &ReadyReport) -> Result<(), CommandError> {
    let report = ServeReport {
        listening: ready.address.to_string(),
        postgresql: &ready.database_version,
        team: &ready.team,
        admin_link: ready.admin_link.as_deref(),
    };
    let (version, team) = (&ready.database_version, &ready.team);
    let made = if ready.migrated { "Made the tables" } else { "Found the tables" };
    let word = if ready.team_created { "made the team" } else { "found the team" };
    let mut text = format!("{made} (PostgreSQL {version}, row security in force) and {word} \"{team}\".\n");
    if let Some(link) = &ready.admin_link {
        text.push_str(&link_text("First administrator", link));
    }
    text.push_str(&format!("Listening on {}; Ctrl-C ends it.\n", ready.address));
    print(args, &report, &text)
}

/// Prints the text, or the value with `--json`.
fn print(args: &ServeArgs, value: &impl Serialize, text: &str) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, value).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        out.write_all(text.as_bytes())?;
    }
    Ok(out.flush()?)
}

fn link_text(who: &str, link: &str) -> String {
    format!("{who}, once, within 7 days:\n  claude-mem team join '{link}'\n")
}
