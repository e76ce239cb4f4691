//! [`Screen`]: the output of a command, as text that fits the terminal or as JSON.
//!
//! anstream respects `NO_COLOR`, `CLICOLOR_FORCE` and pipes. Lines are truncated to the width of the
//! terminal, but never in a pipe. Invariant: no control sequence in stored text reaches the terminal.

use std::io::{IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::terminal::{SanitizingWriter, sanitize};

pub(super) const TITLE: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Writes the output of one command to stdout.
pub(super) struct Screen {
    out: SanitizingWriter<Box<dyn Write>>,
    pub(super) json: bool,
    /// Width of the terminal; `None` in a pipe.
    width: Option<usize>,
}

impl Screen {
    pub(super) fn from_process(json: bool) -> Self {
        Self {
            out: SanitizingWriter::new(Box::new(anstream::stdout().lock())),
            json,
            width: terminal_width(),
        }
    }

    /// Prints a value as JSON. Call it once: a command prints one JSON value.
    pub(super) fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(value)?;
        // serde_json does not escape DEL and the C1 control characters.
        let is_left = |c: char| matches!(c, '\u{7f}'..='\u{9f}');
        for piece in json.split_inclusive(is_left) {
            let text = piece.trim_end_matches(is_left);
            write!(self.out, "{text}")?;
            for control in piece[text.len()..].chars() {
                write!(self.out, "\\u{:04x}", u32::from(control))?;
            }
        }
        Ok(writeln!(self.out)?)
    }

    /// Prints `value` as JSON if `--json` was given, else calls `text`.
    pub(super) fn show<T: Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce(&mut Self, &T) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        if self.json { self.json(value) } else { Ok(text(self, value)?) }
    }

    /// Prints an aligned table. Lines are truncated to the width.
    pub(super) fn table<const N: usize>(
        &mut self,
        headings: [&str; N],
        rows: &[[String; N]],
    ) -> std::io::Result<()> {
        let rows: Vec<[String; N]> =
            rows.iter().map(|row| row.each_ref().map(|cell| sanitize(cell))).collect();
        let widths = column_widths(&headings, &rows);
        writeln!(self.out, "{QUIET}{}{QUIET:#}", self.row(&headings, &widths))?;
        for row in &rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            writeln!(self.out, "{}", self.row(&cells, &widths))?;
        }
        Ok(())
    }

    /// Prints an aligned table whose last column is wrapped instead of truncated.
    pub(super) fn wrapped_table<const N: usize>(
        &mut self,
        headings: [&str; N],
        rows: &[[String; N]],
    ) -> std::io::Result<()> {
        let widths = column_widths(&headings, rows);
        writeln!(self.out, "{QUIET}{}{QUIET:#}", self.row(&headings, &widths))?;
        for row in rows {
            let [first @ .., last] = row.as_slice() else {
                continue;
            };
            let mut margin = String::new();
            for (cell, width) in first.iter().zip(&widths) {
                let gap = width.saturating_sub(display_width(cell)) + 2;
                margin.push_str(cell);
                margin.extend(std::iter::repeat_n(' ', gap));
            }
            let columns = display_width(&margin);
            self.wrap_beside(&margin, columns, last)?;
        }
        Ok(())
    }

    /// Prints `margin` and wraps `text` to the right of it. `columns` is the width of the margin,
    /// which may contain styles.
    pub(super) fn wrap_beside(&mut self, margin: &str, columns: usize, text: &str) -> std::io::Result<()> {
        let room = |width: usize| width.saturating_sub(columns).max(WRAP_COLUMNS_MIN);
        let lines = wrap_words(&sanitize(text), self.width.map_or(usize::MAX, room));
        for (at, line) in lines.iter().enumerate() {
            match at {
                0 if line.is_empty() => writeln!(self.out, "{}", margin.trim_end())?,
                0 => writeln!(self.out, "{margin}{line}")?,
                _ => writeln!(self.out, "{:columns$}{line}", "")?,
            }
        }
        Ok(())
    }

    fn row(&self, cells: &[&str], widths: &[usize]) -> String {
        let mut line = String::new();
        for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if at > 0 {
                line.push_str("  ");
            }
            line.push_str(cell);
            if at + 1 < cells.len() {
                line.extend(std::iter::repeat_n(' ', width.saturating_sub(display_width(cell))));
            }
        }
        let line = line.trim_end();
        self.width.map_or_else(|| line.to_owned(), |width| truncate_to_width(line, width))
    }

    /// Prints a paragraph, wrapped to the width, each line after `indent`.
    pub(super) fn paragraph(&mut self, indent: &str, text: &str) -> std::io::Result<()> {
        let room = self.width.unwrap_or(100).min(100) - display_width(indent);
        for line in wrap_words(&sanitize(text), room) {
            writeln!(self.out, "{indent}{line}")?;
        }
        Ok(())
    }

    /// Prints a label and wraps `text` to the right of it.
    pub(super) fn fact(&mut self, style: Style, label: &str, text: &str) -> std::io::Result<()> {
        const MARGIN: usize = 9;
        let room = self.width.map_or(usize::MAX, |width| width - MARGIN);
        for (at, line) in wrap_words(&sanitize(text), room).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            writeln!(self.out, "{style}{label:MARGIN$}{style:#}{line}")?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }

    /// Prints the error of a failed command: as JSON to stdout, or as text to stderr.
    pub(super) fn error(&mut self, error: &anyhow::Error) {
        let told = if self.json {
            self.json(&serde_json::json!({ "error": format!("{error:#}") })).is_ok() && self.flush().is_ok()
        } else {
            let mut stderr = SanitizingWriter::new(anstream::stderr());
            writeln!(stderr, "{BAD}error:{BAD:#} {error:#}").is_ok()
        };
        // If the write fails, only the exit code is left.
        debug_assert!(told || !std::io::stderr().is_terminal());
    }
}

/// Prints a note to stderr, so that stdout holds only the result.
pub(super) fn print_note(text: impl std::fmt::Display) -> std::io::Result<()> {
    let mut stderr = SanitizingWriter::new(anstream::stderr());
    writeln!(stderr, "{WARN}note:{WARN:#} {text}")
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// The output width: `COLUMNS` if set, so that a script can choose, else the width of the terminal.
fn terminal_width() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col))
    };
    given.or_else(terminal).filter(|columns| *columns >= 20)
}

/// Text beside a margin is never wrapped narrower than this.
const WRAP_COLUMNS_MIN: usize = 20;

fn column_widths<const N: usize>(headings: &[&str; N], rows: &[[String; N]]) -> [usize; N] {
    let mut widths = headings.map(display_width);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(display_width(cell));
        }
    }
    widths
}

/// Columns of a question: a narrow terminal must not break it inside a word.
const QUESTION_COLUMNS: usize = 60;

/// A question with its choices, wrapped: `Leave the team? [y/N]`.
pub(super) fn question_text(question: &str, choices: &str) -> String {
    wrap_words(&format!("{question} {choices}"), QUESTION_COLUMNS).join("\n")
}

/// Breaks text between words into lines of at most `room` columns. A longer word gets its own line.
fn wrap_words(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut line = lines.pop().unwrap_or_default();
        if !line.is_empty() && display_width(&line) + 1 + display_width(word) > room {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        lines.push(line);
    }
    lines
}

/// The number of terminal columns of a text.
fn display_width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// Truncates text to `width` columns, ending in `…`.
fn truncate_to_width(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for letter in text.chars() {
        let columns = unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        kept.push(letter);
        used += columns;
    }
    kept.push('…');
    kept
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
