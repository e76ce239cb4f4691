//! Entry point of `claude-mem-team`, the executable of the team server.
//!
//! It is a program of its own, because most installations never run a server and should not carry one.
//! `claude-mem team serve` starts it with the same arguments.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use claude_mem_core::child;

mod serve_command;

use serve_command::{CommandError, ServeArgs};

/// Exit code of a usage error: `EX_USAGE` of sysexits.h, as in `claude-mem`.
const EXIT_USAGE: u8 = 64;

/// The server of a team's shared memory, in front of PostgreSQL
#[derive(Debug, clap::Parser)]
#[command(name = "claude-mem-team", version, disable_help_subcommand = true)]
struct TeamCli {
    #[command(subcommand)]
    verb: ServerVerb,
}

#[derive(Debug, clap::Subcommand)]
enum ServerVerb {
    Serve(ServeArgs),
}

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    // A child process of ours, about to exec another program.
    if args.first().is_some_and(|verb| verb == "child") {
        return child::shim(args.into_iter().skip(1));
    }
    let cli = match TeamCli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let is_answer = !error.use_stderr();
            // A failed write leaves nothing to report to.
            let _ = error.print();
            return if is_answer { ExitCode::SUCCESS } else { ExitCode::from(EXIT_USAGE) };
        }
    };
    let ServerVerb::Serve(args) = cli.verb;
    match serve_command::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report_error(&error, args.json);
            ExitCode::from(if matches!(error, CommandError::Usage(_)) { EXIT_USAGE } else { 1 })
        }
    }
}

/// Prints an error as `claude-mem` does: to stderr, or as JSON to stdout.
fn report_error(error: &CommandError, json: bool) {
    // If the write fails, only the exit code is left.
    let _ = if json {
        writeln!(std::io::stdout(), "{}", serde_json::json!({ "error": error.to_string() }))
    } else {
        writeln!(std::io::stderr(), "error: {error}")
    };
}
