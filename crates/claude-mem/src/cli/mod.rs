//! The command line: parsing, dispatch, output and exit codes. The only part of the library that
//! prints.
//!
//! Each command has its own file with a `clap::Args` struct, whose doc comment is the help text,
//! and a `run` function that gets the `App` (data directory and time) and writes to the
//! `Screen` (text, or JSON with `--json`). To add a command, write the file, declare the module
//! and add a line to `verbs!`.
//!
//! Invariant: the exit code is 0 for success, 1 for a failure and 64 for a usage error. A missing
//! row, file or project is a failure, not a usage error. The code is never 2: a client that runs us
//! as a hook by mistake would read it as "block the prompt".

mod app;
mod backup;
mod completions;
mod config;
mod context;
mod doctor;
mod edit;
mod embed;
mod export;
mod forget;
mod import;
mod index;
mod install;
mod query_args;
mod mark;
mod mcp;
mod open;
mod open_items;
mod pause;
mod pin;
mod preferences;
mod project;
mod queue;
mod recent;
mod redo;
mod repair;
mod restore;
mod resume;
mod save;
mod output;
mod search;
mod sessions;
mod show;
mod stats;
mod status;
mod team;
mod terminal;
mod timeline;
mod token;
mod uninstall;
mod unpin;
mod update_check;
mod version;
mod why;
mod format;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{FromArgMatches as _, Parser, Subcommand};

use app::App;
use output::Screen;

/// Exit code of a usage error: `EX_USAGE` of sysexits.h.
const EXIT_USAGE: u8 = 64;

/// Declares the `Verb` enum and its dispatch. The modules are declared by hand, because rustfmt does
/// not follow `mod` items inside a macro.
macro_rules! verbs {
    ($($variant:ident => $module:ident),+ $(,)?) => {
        #[derive(Debug, Subcommand)]
        enum Verb { $($variant($module::Args)),+ }

        impl Verb {
            fn run(&self, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
                match self { $(Self::$variant(args) => $module::run(args, app, screen)),+ }
            }
        }
    };
}

verbs! {
    Search => search,
    Recent => recent,
    Show => show,
    Timeline => timeline,
    Sessions => sessions,
    OpenItems => open_items,
    Save => save,
    Forget => forget,
    Edit => edit,
    Pin => pin,
    Unpin => unpin,
    Mark => mark,
    Preferences => preferences,
    Import => import,
    Export => export,
    Redo => redo,
    Why => why,
    Context => context,
    Mcp => mcp,
    Open => open,
    Status => status,
    Stats => stats,
    Pause => pause,
    Resume => resume,
    Project => project,
    Queue => queue,
    Team => team,
    Worker => worker,
    Backup => backup,
    Restore => restore,
    Index => index,
    Embed => embed,
    Config => config,
    Token => token,
    Install => install,
    Uninstall => uninstall,
    Repair => repair,
    UpdateCheck => update_check,
    Doctor => doctor,
    Completions => completions,
    Version => version,
}

/// Memory for coding agents
///
/// Hooks record what happens, a worker turns it into memories, and the next session starts with the
/// context it needs. Everything stays on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "claude-mem",
    version,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  claude-mem search login loops     find memories, best match first
  claude-mem status                 show health, counts and problems
  claude-mem pause 1h               stop recording for an hour
  claude-mem config set worker manual

`claude-mem <command> --help` shows more. Every command except completions, embed and mcp accepts
--json.

Exit codes: 0 success; 1 failure, or no such memory, file or project; 64 usage error."
)]
struct Cli {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Data directory (default: ~/.claude-mem)
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

/// The clap definition of the whole command line.
fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Parses `args`, which start with the program name, and runs one command.
pub(crate) fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let for_program = args.iter().any(|arg| arg == "--json");
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(error) => return report_clap_error(&error, for_program),
    };
    let mut screen = Screen::from_process(cli.json);
    let outcome = cli
        .verb
        .check_json_support(cli.json)
        .and_then(|()| App::from_process(cli.data_dir.as_deref()))
        .and_then(|app| cli.verb.run(&app, &mut screen));
    match outcome.and_then(|()| Ok(screen.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<AlreadyReported>() => ExitCode::FAILURE,
        Err(error) => {
            screen.error(&error);
            ExitCode::from(if error.is::<UsageError>() { EXIT_USAGE } else { 1 })
        }
    }
}

impl Verb {
    /// Rejects `--json` for commands whose output has a format of its own.
    fn check_json_support(&self, json: bool) -> anyhow::Result<()> {
        let own = matches!(self, Self::Completions(_) | Self::Embed(_) | Self::Mcp(_));
        if json && own { Err(UsageError::error("this command does not support --json")) } else { Ok(()) }
    }
}

fn parse(mut args: Vec<OsString>) -> Result<Cli, clap::Error> {
    // Without arguments, show the help.
    if args.len() < 2 {
        args.push("--help".into());
    }
    let matches = command().try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

/// Prints clap's message and returns the exit code. Help and version are successes, everything else
/// is a usage error. With `--json`, the error is printed as JSON like any other.
fn report_clap_error(error: &clap::Error, for_program: bool) -> ExitCode {
    use clap::error::ErrorKind;
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if for_program && !is_answer {
        let text = error.to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text).trim();
        Screen::from_process(true).error(&anyhow::anyhow!("{message}"));
    } else {
        // A failed write leaves nothing to report to.
        let _ = error.print();
    }
    if is_answer { ExitCode::SUCCESS } else { ExitCode::from(EXIT_USAGE) }
}

/// Whether a reader closed the pipe early, as in `claude-mem status | head -1`. Not a failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    use claude_mem_transfer::export::ExportError;
    let is_it = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref().is_some_and(is_it)
            || matches!(cause.downcast_ref(), Some(ExportError::Write(_, io)) if is_it(io))
    })
}

/// Arguments that clap accepts but we reject, such as an invalid time. Exits with 64.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

impl UsageError {
    fn error(message: impl Into<String>) -> anyhow::Error {
        Self(message.into()).into()
    }
}

/// A failure that the JSON output already reports. A program reads one JSON value, so no second one
/// is printed.
#[derive(Debug, thiserror::Error)]
#[error("failed; see the JSON output")]
struct AlreadyReported;

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
