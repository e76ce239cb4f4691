//! Panic hook that makes a panicking hook process respond and exit 0.
//!
//! The shipped build aborts on a panic, so unwinding cannot be caught: the panic hook is the last
//! code that runs. It writes the neutral response and exits the process.

use std::panic::PanicHookInfo;

use super::answer::{self, HookResponse};
use crate::hook_log;
use claude_mem_core::clock::Micros;
use claude_mem_core::paths::DataDir;

/// Exit code of our own faults under `CLAUDE_MEM_STRICT=1`, which developers set.
pub const STRICT_EXIT_CODE: u8 = 2;

/// Installs the panic hook: from here on a panic ends the process with the neutral response.
pub(super) fn install_panic_hook(dir: Option<DataDir>, at: Micros, strict: bool) {
    std::panic::set_hook(Box::new(move |info| {
        answer::write_response(&HookResponse::Neutral);
        let place = panic_location(info);
        if let Some(dir) = &dir {
            hook_log::log_warning(dir, at, &format!("panic at {place}"));
        }
        if strict {
            // The message may quote the payload, so it goes to stderr and never into a file.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("claude-mem: {info}\n"));
        }
        std::process::exit(if strict { STRICT_EXIT_CODE.into() } else { 0 });
    }));
}

fn panic_location(info: &PanicHookInfo<'_>) -> String {
    let place = info.location();
    place.map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()))
}
