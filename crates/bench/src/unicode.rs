//! `cargo xtask unicode`: generates the Unicode table of the tokenizer in `crates/embed`.
//!
//! Categories come from `unicode_categories` and decompositions from `unicode-normalization`, because
//! the tokenizer that produced the model's training vocabulary uses these crates: a newer version of
//! Unicode would split some rare scripts differently from the model's training data.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use unicode_categories::UnicodeCategories as _;
use unicode_normalization::UnicodeNormalization as _;

const TABLE: &str = "crates/embed/src/unicode_table.rs";

/// Head of the generated file, formatted as rustfmt would, so that formatting does not make it stale.
const OPENING: &str = "\
//! Made by `cargo xtask unicode`: do not edit.
//!
//! Ranges include both ends. Zeros fill up the long folds.

#![allow(clippy::unreadable_literal, reason = \"code points are written like this\")]
";

/// Arguments of `cargo xtask unicode`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail if the committed table is out of date
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let path = crate::workspace::workspace_root().join(TABLE);
    let table = table();
    if args.check {
        anyhow::ensure!(read(&path)? == table, "{TABLE} is out of date: run cargo xtask unicode");
        return Ok(());
    }
    std::fs::write(&path, table).with_context(|| format!("writing {}", path.display()))
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

fn table() -> String {
    let mut out = String::from(OPENING);
    write_ranges(&mut out, "DROPPED", is_dropped);
    write_ranges(&mut out, "PUNCTUATION", |c| !c.is_ascii() && c.is_punctuation());
    write_folds(&mut out);
    out
}

fn is_dropped(c: char) -> bool {
    c == '\u{FFFD}'
        || c.is_other_control()
        || c.is_other_format()
        || c.is_other_private_use()
        || c.is_mark_nonspacing()
}

fn is_hangul_syllable(c: char) -> bool {
    ('\u{AC00}'..='\u{D7A3}').contains(&c)
}

/// A character as the tokenizer sees it: decomposed, without combining marks, in lower case.
fn folded(c: char) -> Vec<char> {
    c.nfd().filter(|c| !c.is_mark_nonspacing()).flat_map(char::to_lowercase).collect()
}

fn write_ranges(out: &mut String, name: &str, belongs: impl Fn(char) -> bool) {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in ('\0'..=char::MAX).filter(|c| belongs(*c)).map(u32::from) {
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == code => last.1 = code,
            _ => ranges.push((code, code)),
        }
    }
    let cells = ranges.iter().map(|(first, last)| format!("(0x{first:X}, 0x{last:X})"));
    write_array(out, name, "(u32, u32)", cells);
}

fn write_folds(out: &mut String) {
    let changed = ('\0'..=char::MAX)
        .filter(|c| !is_dropped(*c) && !c.is_whitespace() && !is_hangul_syllable(*c))
        .map(|c| (c, folded(c)))
        .filter(|(c, folded)| !c.to_lowercase().eq(folded.iter().copied()));
    let (short, long): (Vec<_>, Vec<_>) = changed.partition(|(_, folded)| folded.len() == 1);
    let cells =
        short.iter().map(|(c, folded)| format!("(0x{:X}, 0x{:X})", u32::from(*c), u32::from(folded[0])));
    write_array(out, "FOLDS", "(u32, u32)", cells);
    let cells = long.iter().map(|(c, folded)| {
        let code = |at: usize| folded.get(at).map_or(0, |c| u32::from(*c));
        format!("(0x{:X}, [0x{:X}, 0x{:X}, 0x{:X}])", u32::from(*c), code(0), code(1), code(2))
    });
    write_array(out, "FOLDS_LONG", "(u32, [u32; 3])", cells);
}

fn write_array(out: &mut String, name: &str, of: &str, cells: impl Iterator<Item = String>) {
    let mut line = String::from("   ");
    let _ = writeln!(out, "\n#[rustfmt::skip]\npub(crate) static {name}: &[{of}] = &[");
    for cell in cells {
        if line.len() + cell.len() + 2 > 100 {
            let _ = writeln!(out, "{line}");
            line.truncate(3);
        }
        let _ = write!(line, " {cell},");
    }
    let _ = writeln!(out, "{line}\n];");
}
