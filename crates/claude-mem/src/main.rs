//! Entry point of the executable.
//!
//! A hook invocation takes the fast path through [`hook::run`]; every other command line goes to
//! `cli`.

use std::ffi::OsString;
use std::process::ExitCode;

use claude_mem_capture::hook::{self, HookEnvironment, HookInvocation, HookOutcome, STRICT_EXIT_CODE};
use claude_mem_core::{child, clock};

mod limits;
mod cli;
mod mcp;

fn main() -> ExitCode {
    let started = clock::now();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    // A hook runs hundreds of times an hour inside someone else's program. It comes before
    // command-line parsing, settings and threads, and it cannot fail.
    if let Some(invocation) = HookInvocation::from_args(&args) {
        let environment = HookEnvironment {
            started,
            env: |name: &str| std::env::var_os(name),
            notices: claude_mem_setup::notices::session_start_notices,
        };
        match hook::run(&invocation, &environment) {
            HookOutcome::NotAHook => {}
            HookOutcome::Fault(fault) if environment.is_strict() => {
                eprintln!("claude-mem: {fault}");
                return ExitCode::from(STRICT_EXIT_CODE);
            }
            HookOutcome::Answered | HookOutcome::Fault(_) => return ExitCode::SUCCESS,
        }
    }
    // A child process of the worker, about to exec another program.
    if args.first().is_some_and(|verb| verb == "child") {
        return child::shim(args.into_iter().skip(1));
    }
    cli::run(std::env::args_os())
}
