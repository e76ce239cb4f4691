//! What a person types. The only part of the library that prints.
//!
//! In: arguments, the environment, the data directory. Out: text for people, or JSON for
//! programs with `--json`, and an exit code: 0 done, 1 failed, 64 wrong usage. What was typed and
//! cannot be understood is wrong usage; that there is no such row, file or project, or nothing yet,
//! is a failure. Never 2: a client that runs us as a hook by mistake would take it for "block the
//! prompt".
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

`claude-mem <command> --help` says more. Every command but completions, embed and mcp takes --json.

Exit codes: 0 done; 1 it failed, or there is no such memory, file or project; 64 the command was
not understood."
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
    let args: Vec<OsString> = args.into_iter().collect();
    let for_program = args.iter().any(|arg| arg == "--json");
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, for_program),
    };
    let mut screen = Screen::of_process(cli.json);
    let outcome = cli
        .verb
        .answers_in(cli.json)
        .and_then(|()| App::of_process(cli.data_dir.as_deref()))
        .and_then(|app| cli.verb.run(&app, &mut screen));
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

impl Verb {
    /// What speaks a language of its own has no JSON to answer in.
    fn answers_in(&self, json: bool) -> anyhow::Result<()> {
        let own = matches!(self, Self::Completions(_) | Self::Embed(_) | Self::Mcp(_));
        if json && own {
            Err(Usage::error("this command has no --json"))
        } else {
            Ok(())
        }
    }
}

fn parse(mut args: Vec<OsString>) -> Result<Cli, clap::Error> {
    // Someone who says nothing asks what there is to say.
    if args.len() < 2 {
        args.push("--help".into());
    }
    let matches = command().try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

/// Prints clap's own message: help and version are answers, everything else is wrong usage. A
/// program is told of that as of any other error.
fn refuse(error: &clap::Error, for_program: bool) -> ExitCode {
    use clap::error::ErrorKind;
    let is_answer = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if for_program && !is_answer {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text).trim();
        Screen::of_process(true).error(&anyhow::anyhow!("{text}"));
    } else {
        // If nobody reads it, nobody needs it.
        let _ = error.print();
    }
    if is_answer {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_USAGE)
    }
}

/// `claude-mem status | head -1` is not a failure of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    use crate::export::ExportError;
    let is_it = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref().is_some_and(is_it)
            || matches!(cause.downcast_ref(), Some(ExportError::Write(_, io)) if is_it(io))
    })
}

/// Arguments that clap lets pass and that still make no sense, as a time that is none.
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
