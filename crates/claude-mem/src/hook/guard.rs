//! A hook that panics still answers, and still exits 0.
//!
//! The shipped build aborts on a panic, so nothing can be caught: the panic hook itself is the
//! last code that runs, and it leaves by the front door.

use std::panic::PanicHookInfo;

use super::answer::{self, Answer};
use super::log;
use crate::clock::Micros;
use crate::paths::DataDir;

/// What a developer asked for with `CLAUDE_MEM_STRICT=1`, and what our own bugs exit with then.
pub const STRICT_EXIT: u8 = 2;

/// From here on a panic ends the process with the neutral answer.
pub fn install(dir: Option<DataDir>, at: Micros, strict: bool) {
    std::panic::set_hook(Box::new(move |info| {
        answer::write(&Answer::Neutral);
        let place = place(info);
        if let Some(dir) = &dir {
            log::line(dir, at, &format!("panic at {place}"));
        }
        if strict {
            // The message may quote the payload: it goes to the developer's screen, not to a file.
            let _ = std::io::Write::write_fmt(
                &mut std::io::stderr(),
                format_args!("claude-mem: {info}\n"),
            );
        }
        std::process::exit(if strict { STRICT_EXIT.into() } else { 0 });
    }));
}

fn place(info: &PanicHookInfo<'_>) -> String {
    let place = info.location();
    place.map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()))
}
