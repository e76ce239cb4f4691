//! How far an import is, on a terminal; silence elsewhere.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::import::Progress;

/// A bar that is gone when the work is done.
pub(super) struct Bar(ProgressBar);

impl Progress for Bar {
    fn total(&mut self, amount: u64) {
        self.0.set_length(amount);
    }

    fn advance(&mut self, amount: u64) {
        self.0.inc(amount);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

pub(super) fn of_rows() -> Bar {
    bar("{bar:24} {human_pos} of {human_len} rows, {per_sec}, {eta} left")
}

pub(super) fn of_bytes() -> Bar {
    bar("{bar:24} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
}

fn bar(template: &str) -> Bar {
    let bar = ProgressBar::with_draw_target(None, target());
    // A template that does not read leaves indicatif's own.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    Bar(bar)
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}
