//! Where output goes: text that fits the terminal, or JSON.
//!
//! Colours go only where they are wanted: `NO_COLOR`, `CLICOLOR_FORCE` and pipes are respected by
//! anstream. Lines are cut to the terminal's width; into a pipe they are whole.

use std::io::{IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::terminal::{Terminal, plain};

pub(super) const TITLE: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const WARN: Style = AnsiColor::Yellow.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

pub(super) struct Screen {
    out: Terminal<Box<dyn Write>>,
    pub(super) json: bool,
    /// Columns to fit into, where there is something to fit into.
    width: Option<usize>,
}

impl Screen {
    pub(super) fn of_process(json: bool) -> Self {
        Self {
            out: Terminal::new(Box::new(anstream::stdout().lock())),
            json,
            width: width_of_process(),
        }
    }

    /// The answer for a program. Call it once: one command prints one value.
    pub(super) fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(value)?;
        // Of the control characters, JSON leaves these as they are.
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

    /// JSON where it was asked for, else what `text` prints.
    pub(super) fn show<T: Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce(&mut Self, &T) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        if self.json {
            self.json(value)
        } else {
            Ok(text(self, value)?)
        }
    }

    /// Rows under headings, columns aligned, the last one cut to what is left of the width.
    pub(super) fn table<const N: usize>(
        &mut self,
        headings: [&str; N],
        rows: &[[String; N]],
    ) -> std::io::Result<()> {
        let rows: Vec<[String; N]> = rows
            .iter()
            .map(|row| row.each_ref().map(|cell| plain(cell)))
            .collect();
        let widths = widths_of(&headings, &rows);
        writeln!(self.out, "{QUIET}{}{QUIET:#}", self.row(&headings, &widths))?;
        for row in &rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            writeln!(self.out, "{}", self.row(&cells, &widths))?;
        }
        Ok(())
    }

    /// The same with the last column wrapped under itself: for words of which none may be lost.
    pub(super) fn table_of_reasons<const N: usize>(
        &mut self,
        headings: [&str; N],
        rows: &[[String; N]],
    ) -> std::io::Result<()> {
        let widths = widths_of(&headings, rows);
        writeln!(self.out, "{QUIET}{}{QUIET:#}", self.row(&headings, &widths))?;
        for row in rows {
            let [first @ .., last] = row.as_slice() else {
                continue;
            };
            let mut margin = String::new();
            for (cell, width) in first.iter().zip(&widths) {
                let gap = width.saturating_sub(columns_of(cell)) + 2;
                margin.push_str(cell);
                margin.extend(std::iter::repeat_n(' ', gap));
            }
            let columns = columns_of(&margin);
            self.beside(&margin, columns, last)?;
        }
        Ok(())
    }

    /// Something in the margin, and a text beside it that is wrapped under itself. The margin may
    /// be styled, so its columns are said.
    pub(super) fn beside(
        &mut self,
        margin: &str,
        columns: usize,
        text: &str,
    ) -> std::io::Result<()> {
        let room = |width: usize| width.saturating_sub(columns).max(BESIDE_COLUMNS_MIN);
        let lines = wrapped(&plain(text), self.width.map_or(usize::MAX, room));
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
                line.extend(std::iter::repeat_n(
                    ' ',
                    width.saturating_sub(columns_of(cell)),
                ));
            }
        }
        let line = line.trim_end();
        self.width
            .map_or_else(|| line.to_owned(), |width| cut(line, width))
    }

    /// Wraps a paragraph to the width, each line after `indent`.
    pub(super) fn paragraph(&mut self, indent: &str, text: &str) -> std::io::Result<()> {
        let room = self.width.unwrap_or(100).min(100) - columns_of(indent);
        for line in wrapped(&plain(text), room) {
            writeln!(self.out, "{indent}{line}")?;
        }
        Ok(())
    }

    /// A word in the margin and what there is to say about it beside it.
    pub(super) fn fact(&mut self, style: Style, label: &str, text: &str) -> std::io::Result<()> {
        const MARGIN: usize = 9;
        let room = self.width.map_or(usize::MAX, |width| width - MARGIN);
        for (at, line) in wrapped(&plain(text), room).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            writeln!(self.out, "{style}{label:MARGIN$}{style:#}{line}")?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }

    /// Says why the command failed, to whoever asked: a program reads JSON from stdout, a person
    /// stderr.
    pub(super) fn error(&mut self, error: &anyhow::Error) {
        let told = if self.json {
            self.json(&serde_json::json!({ "error": format!("{error:#}") }))
                .is_ok()
                && self.flush().is_ok()
        } else {
            let mut stderr = Terminal::new(anstream::stderr());
            writeln!(stderr, "{BAD}error:{BAD:#} {error:#}").is_ok()
        };
        // With both streams gone there is only the exit code left.
        debug_assert!(told || !std::io::stderr().is_terminal());
    }
}

/// A remark beside the answer, on stderr, so that the answer stays clean.
pub(super) fn remark(text: impl std::fmt::Display) -> std::io::Result<()> {
    let mut stderr = Terminal::new(anstream::stderr());
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

/// `COLUMNS` where it is set, so that a script can choose; else the terminal's own width.
fn width_of_process() -> Option<usize> {
    let given = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let terminal = || {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col))
    };
    given.or_else(terminal).filter(|columns| *columns >= 20)
}

/// Text beside a margin is never narrower than this, whatever the terminal.
const BESIDE_COLUMNS_MIN: usize = 20;

fn widths_of<const N: usize>(headings: &[&str; N], rows: &[[String; N]]) -> [usize; N] {
    let mut widths = headings.map(columns_of);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(columns_of(cell));
        }
    }
    widths
}

/// Lines of at most `room` columns, broken between words; a word that is longer stands alone.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut line = lines.pop().unwrap_or_default();
        if !line.is_empty() && columns_of(&line) + 1 + columns_of(word) > room {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        lines.push(line);
    }
    lines
}

/// Columns that a terminal needs for the text.
fn columns_of(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// The text, or as much of it as fits with a `…` behind.
fn cut(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
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
#[path = "screen_tests.rs"]
mod tests;
