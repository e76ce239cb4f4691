//! The executable: a hook, or everything else.

use std::ffi::OsString;
use std::process::ExitCode;

use claude_mem::hook::{self, Asked, Outcome, Surroundings};
use claude_mem::{clock, hook::guard::STRICT_EXIT};

fn main() -> ExitCode {
    let started = clock::now();
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    // A hook runs hundreds of times an hour inside someone else's program. It goes before the
    // command line is parsed, before any setting is read, before any thread, and it cannot fail.
    if let Some(asked) = Asked::from_args(&args) {
        let around = Surroundings {
            started,
            env: |name: &str| std::env::var_os(name),
        };
        match hook::run(&asked, &around) {
            Outcome::NotAHook => {}
            Outcome::Fault(fault) if around.is_strict() => {
                eprintln!("claude-mem: {fault}");
                return ExitCode::from(STRICT_EXIT);
            }
            Outcome::Answered | Outcome::Fault(_) => return ExitCode::SUCCESS,
        }
    }
    // A child of the worker, on its way to becoming another program.
    if args.first().is_some_and(|verb| verb == "child") {
        return claude_mem::child::shim(args.into_iter().skip(1));
    }
    claude_mem::cli::run(std::env::args_os())
}
