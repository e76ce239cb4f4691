//! The progress bar of an import. Hidden if stderr is not a terminal.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use claude_mem_transfer::import::ImportProgress;

/// A progress bar that is cleared on drop.
pub(in crate::cli) struct ImportProgressBar(ProgressBar);

impl ImportProgress for ImportProgressBar {
    fn total(&mut self, amount: u64) {
        self.0.set_length(amount);
    }

    fn advance(&mut self, amount: u64) {
        self.0.inc(amount);
    }
}

impl Drop for ImportProgressBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A bar that counts rows.
pub(in crate::cli) fn for_rows() -> ImportProgressBar {
    bar("{bar:24} {human_pos} of {human_len} rows, {per_sec}, {eta} left")
}

/// A bar that counts bytes.
pub(super) fn for_bytes() -> ImportProgressBar {
    bar("{bar:24} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
}

fn bar(template: &str) -> ImportProgressBar {
    let bar = ProgressBar::with_draw_target(None, target());
    // An invalid template falls back to indicatif's default style.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    ImportProgressBar(bar)
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
