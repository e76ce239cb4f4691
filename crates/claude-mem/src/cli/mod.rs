//! What a person types. The only part of the library that prints.
//!
//! In: arguments, the environment, the data directory. Out: text for people, or JSON for
//! programs with `--json`, and an exit code: 0 done, 1 failed, 64 wrong usage. Never 2: a client
//! that runs us as a hook by mistake would take it for "block the prompt".
//!
//! One file per verb. A verb is a `clap::Args` struct, whose doc comment is its help, and a
//! `run`. To add one, write the file, declare it and add a line to `verbs!`.

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
mod looking;
mod mark;
mod mcp;
mod open;
mod pause;
mod pin;
mod preferences;
mod project;
mod queue;
mod recent;
mod repair;
mod restore;
mod resume;
mod save;
mod screen;
mod search;
mod show;
mod stats;
mod status;
mod terminal;
mod timeline;
mod token;
mod uninstall;
mod unpin;
mod update_check;
mod version;
mod why;
mod words;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{FromArgMatches as _, Parser, Subcommand};

use app::App;
use screen::Screen;

/// Arguments that make no sense. What sysexits calls EX_USAGE.
const EXIT_USAGE: u8 = 64;

/// Declares each verb's variant and its call. Its module is declared by hand: rustfmt does not look
/// into a macro.
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
    Save => save,
    Forget => forget,
    Edit => edit,
    Pin => pin,
    Unpin => unpin,
    Mark => mark,
    Preferences => preferences,
    Import => import,
    Export => export,
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

/// Memory for coding agents that nobody notices
///
/// Hooks hand over what happens, a worker turns it into memories, and the next session is told
/// what it needs. Everything stays on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "claude-mem",
    version,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  claude-mem search login loops     what was remembered, best first
  claude-mem status                 is it working, and what does it hold
  claude-mem pause 1h               look away for an hour
  claude-mem config set worker manual

`claude-mem <command> --help` says more. Every command takes --json."
)]
struct Cli {
    /// Print JSON, for programs
    #[arg(long, global = true)]
    json: bool,
    /// Where everything is kept, instead of ~/.claude-mem
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

/// The whole command line as clap sees it, for completions.
fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs one command. `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let mut screen = Screen::of_process(cli.json);
    let outcome =
        App::of_process(cli.data_dir.as_deref()).and_then(|app| cli.verb.run(&app, &mut screen));
    match outcome.and_then(|()| Ok(screen.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Told>() => ExitCode::FAILURE,
        Err(error) => {
            screen.error(&error);
            ExitCode::from(if error.is::<Usage>() { EXIT_USAGE } else { 1 })
        }
    }
}

fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    // Someone who says nothing asks what there is to say.
    if args.len() < 2 {
        args.push("--help".into());
    }
    let matches = command().try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

/// Prints clap's own message: help and version are answers, everything else is wrong usage.
fn refuse(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    // If nobody reads it, nobody needs it.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(EXIT_USAGE),
    }
}

/// `claude-mem status | head -1` is not a failure of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// Arguments that clap lets pass and that still make no sense, as a name that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

impl Usage {
    fn error(message: impl Into<String>) -> anyhow::Error {
        Self(message.into()).into()
    }
}

/// A failure of which the answer tells already: a program reads one value.
#[derive(Debug, thiserror::Error)]
#[error("it failed, as the answer says")]
struct Told;

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
