//! `claude-mem team serve`: runs the server of a team.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Serialize;

use super::super::UsageError;
use super::super::app::App;
use super::super::output::Screen;
use claude_mem_team_server::{ReadyReport, ServeOptions, TrialCluster};

/// Environment variable with the address of the database, which keeps a password out of the process list.
const DATABASE_VARIABLE: &str = "CLAUDE_MEM_TEAM_DATABASE";

/// Run the server of a team, in front of PostgreSQL 13 or newer
///
/// Makes its tables and the team, proves that row-level security is in force, and prints the link of the first
/// administrator. Any number of these servers can run on one database. See docs/team.md.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Args {
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
}

/// What a started server reports.
#[derive(Serialize)]
struct ServeReport<'a> {
    listening: String,
    postgresql: &'a str,
    team: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_link: Option<&'a str>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let trial =
        if args.trial { Some(TrialCluster::start(&app.data, |name| std::env::var_os(name))?) } else { None };
    let outcome = match &trial {
        Some(trial) => run_with(args, trial.address(), screen),
        None => {
            let given = args.database.clone().or_else(|| std::env::var(DATABASE_VARIABLE).ok());
            match given {
                Some(database) => run_with(args, &database, screen),
                None => Err(UsageError::error("pass --database or --trial")),
            }
        }
    };
    if let Some(trial) = trial {
        trial.stop();
    }
    outcome
}

fn run_with(args: &Args, database: &str, screen: &mut Screen) -> anyhow::Result<()> {
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
        let value = serde_json::json!({ "admin_link": link });
        return screen.show(&value, |screen, _| print_link(screen, "A further administrator", &link));
    }
    if args.new_generation {
        let teams = claude_mem_team_server::renew_generation(&options)?;
        let value = serde_json::json!({ "teams": teams });
        return screen.show(&value, |screen, _| {
            writeln!(screen, "Clients of {teams} teams will compare everything with this server.")
        });
    }
    let mut printed = Ok(());
    claude_mem_team_server::serve(&options, |ready| printed = print_ready(ready, screen))?;
    printed
}

fn print_ready(ready: &ReadyReport, screen: &mut Screen) -> anyhow::Result<()> {
    let report = ServeReport {
        listening: ready.address.to_string(),
        postgresql: &ready.database_version,
        team: &ready.team,
        admin_link: ready.admin_link.as_deref(),
    };
    screen.show(&report, |screen, _| {
        let (version, team) = (&ready.database_version, &ready.team);
        let made = if ready.migrated { "Made the tables" } else { "Found the tables" };
        let word = if ready.team_created { "made the team" } else { "found the team" };
        writeln!(screen, "{made} (PostgreSQL {version}, row security in force) and {word} \"{team}\".")?;
        if let Some(link) = &ready.admin_link {
            print_link(screen, "First administrator", link)?;
        }
        writeln!(screen, "Listening on {}; Ctrl-C ends it.", ready.address)
    })?;
    Ok(screen.flush()?)
}

fn print_link(screen: &mut Screen, who: &str, link: &str) -> std::io::Result<()> {
    writeln!(screen, "{who}, once, within 7 days:\n  claude-mem team join '{link}'")
}
