//! Finds secrets in tables: a header cell that promises a secret makes its column secret.
//!
//! Tables as databases, spreadsheets and Markdown print them: cells separated by `|`, tabs, commas,
//! semicolons or several blanks; and the columns and values of an SQL `INSERT`.

use std::ops::Range;

use super::assigned_value::ValueContext;
use super::judge::{is_chosen, judge};
use super::names::{self, NamePromise};
use super::rules::RuleId;
use super::secret_span::SecretSpan;
use super::value::{self, ValueRandomness};
use super::value_form;

/// Maximum length of a header line.
const HEADER_BYTES_MAX: usize = 1000;
/// Maximum length of a row of an `INSERT`.
const ROW_BYTES_MAX: usize = 64 << 10;
/// Maximum length of a cell of a header.
const HEADER_CELL_BYTES_MAX: usize = 48;

/// Appends the secrets of the column whose header cell contains the name at `name`.
pub(super) fn find(bytes: &[u8], name: Range<usize>, foreign: bool, spans: &mut Vec<SecretSpan>) {
    let line = header_line(bytes, &name);
    let text = &bytes[line.clone()];
    let is_list = text.first() == Some(&b'(');
    if !is_list && text.iter().any(|b| b"{}=<>$&".contains(b)) {
        return;
    }
    if text.contains(&b'|')
        && let Some(cell) = expanded_value(bytes, line.clone(), &name)
    {
        let column =
            TableColumn { separator: Separator::Bar, column: 1, columns: 2, promise: NamePromise::Password };
        return column.push_cell(bytes, cell, spans);
    }
    let Some((separator, header)) = split_header(bytes, line.clone()) else {
        return;
    };
    let Some(column) = header.iter().position(|cell| cell.start <= name.start && name.end <= cell.end) else {
        return;
    };
    let by_word = foreign.then_some(NamePromise::Password);
    let Some(promise) = promise(&bytes[header[column].clone()]).or(by_word) else {
        return;
    };
    let column_of = TableColumn { separator, column, columns: header.len(), promise };
    if separator == Separator::Insert {
        column_of.inserted(bytes, header.last().map_or(line.end, |cell| cell.end), spans);
    } else {
        column_of.rows(bytes, line.end, spans);
    }
}

/// The value of a table that has one row for each field: `password | secret`.
fn expanded_value(bytes: &[u8], line: Range<usize>, name: &Range<usize>) -> Option<Range<usize>> {
    let cells = split_cells(bytes, line.clone(), Separator::Bar);
    let below = next_line(bytes, line.end).map_or(&[][..], |next| &bytes[next]);
    let expanded =
        cells.len() == 2 && bytes[line.start] != b'|' && cells[0].end == name.end && !is_rule(below);
    (expanded && promise(&bytes[cells[0].clone()]).is_some()).then(|| cells[1].clone())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    Bar,
    /// `│` or `║`
    Box,
    Tab,
    Comma,
    Semicolon,
    Blanks,
    /// One blank, below names in capitals.
    Blank,
    /// The list of columns of an SQL `INSERT`.
    Insert,
}

struct TableColumn {
    separator: Separator,
    column: usize,
    columns: usize,
    promise: NamePromise,
}

impl TableColumn {
    fn rows(&self, bytes: &[u8], header_end: usize, spans: &mut Vec<SecretSpan>) {
        let mut here = header_end;
        while let Some(line) = next_line(bytes, here) {
            here = line.end;
            if is_rule(&bytes[line.clone()]) {
                continue;
            }
            let cells = split_cells(bytes, line, self.separator);
            if cells.len() != self.columns {
                return;
            }
            self.push_cell(bytes, cells[self.column].clone(), spans);
        }
    }

    /// `VALUES ('a', 'b'), …`
    fn inserted(&self, bytes: &[u8], list_end: usize, spans: &mut Vec<SecretSpan>) {
        let rest = &bytes[list_end..];
        let skipped = rest.iter().take_while(|b| b.is_ascii_whitespace() || **b == b')').count();
        // `COPY users (…) FROM stdin;` and rows with tabs
        if rest.get(skipped..skipped + 10).is_some_and(|word| word.eq_ignore_ascii_case(b"from stdin")) {
            let end = list_end + skipped + rest[skipped..].iter().position(|b| *b == b'\n').unwrap_or(0);
            return Self { separator: Separator::Tab, ..*self }.rows(bytes, end, spans);
        }
        let values = rest.get(skipped..skipped + 6).is_some_and(|word| word.eq_ignore_ascii_case(b"values"));
        if !values {
            return;
        }
        let mut here = list_end + skipped + 6;
        while let Some(open) = bytes[here..].iter().take(8).position(|b| *b == b'(').map(|i| here + i + 1) {
            let cells = split_values(bytes, open);
            let Some(last) = cells.last() else {
                return;
            };
            here = last.end;
            if let Some(cell) = cells.get(self.column).filter(|_| cells.len() == self.columns) {
                self.push_cell(bytes, cell.clone(), spans);
            }
            here += bytes[here..].iter().take_while(|b| **b != b')').count();
            here = (here + 1).min(bytes.len());
        }
    }

    fn push_cell(&self, bytes: &[u8], cell: Range<usize>, spans: &mut Vec<SecretSpan>) {
        let Range { mut start, mut end } = cell;
        if end - start >= 2 && matches!(bytes[start], b'"' | b'\'' | b'`') && bytes[end - 1] == bytes[start] {
            (start, end) = (start + 1, end - 1);
        }
        let value = &bytes[start..end];
        if let Some(rule) = self.judge_cell(value) {
            spans.push(SecretSpan { start, end, rule });
        }
    }

    fn judge_cell(&self, value: &[u8]) -> Option<RuleId> {
        let weight = value::classify_value(value);
        let rule = judge(self.promise, ValueContext::Quoted, value)?;
        let numbered = self.promise == NamePromise::Token && value_form::is_numbered_word(value);
        let fits = (is_chosen(value, weight) || weight == ValueRandomness::Random) && !numbered;
        (fits && !value.contains(&b'(')).then_some(rule)
    }
}

/// What a header cell promises: `Secret access key`, `password`.
fn promise(cell: &[u8]) -> Option<NamePromise> {
    let marks = |b: &&u8| b"*_`".contains(b);
    let before = cell.iter().take_while(marks).count();
    let after = cell[before..].iter().rev().take_while(marks).count();
    names::promise(&cell[before..cell.len() - after])
        .filter(|promise| matches!(promise, NamePromise::Password | NamePromise::Token | NamePromise::Maybe))
}

/// The line around the name, if it is short enough for a header.
fn header_line(bytes: &[u8], name: &Range<usize>) -> Range<usize> {
    let from = name.start.saturating_sub(HEADER_BYTES_MAX);
    let start = bytes[from..name.start].iter().rposition(|b| *b == b'\n').map_or(from, |i| from + i + 1);
    let limit = bytes.len().min(name.end + HEADER_BYTES_MAX);
    let end = bytes[name.end..limit].iter().position(|b| *b == b'\n').map_or(limit, |i| name.end + i);
    let start = match memchr::memrchr(b'(', &bytes[start..name.start]) {
        Some(open) => start + open,
        None => start,
    };
    start..end
}

/// The cells of a header line and their separator.
fn split_header(bytes: &[u8], line: Range<usize>) -> Option<(Separator, Vec<Range<usize>>)> {
    let text = &bytes[line.clone()];
    if text.first() == Some(&b'(') {
        let close = line.start + text.iter().position(|b| *b == b')')?;
        let cells = split_cells(bytes, line.start + 1..close, Separator::Comma);
        return is_header(bytes, &cells).then_some((Separator::Insert, cells));
    }
    let separator = if text.contains(&b'|') {
        Separator::Bar
    } else if contains_box(text) {
        Separator::Box
    } else if text.contains(&b'\t') {
        Separator::Tab
    } else if text.contains(&b',') {
        Separator::Comma
    } else if text.contains(&b';') {
        Separator::Semicolon
    } else if memchr::memmem::find(text.trim_ascii(), b"  ").is_some() {
        Separator::Blanks
    } else if text.trim_ascii().contains(&b' ')
        && text.iter().all(|b| b.is_ascii_uppercase() || b"_ \r".contains(b))
    {
        Separator::Blank
    } else {
        return None;
    };
    let cells = split_cells(bytes, line, separator);
    is_header(bytes, &cells).then_some((separator, cells))
}

/// Whether these are at least two names.
fn is_header(bytes: &[u8], cells: &[Range<usize>]) -> bool {
    let of_name = |b: &u8| b.is_ascii_alphanumeric() || b" _-./\"'`#()*".contains(b) || !b.is_ascii();
    let named = cells.iter().filter(|cell| !cell.is_empty()).count();
    // A list has one item in each line, and a comma.
    cells.len() >= 2
        && (named >= 2 || cells.len() > 2)
        && cells
            .iter()
            .all(|cell| cell.len() <= HEADER_CELL_BYTES_MAX && bytes[cell.clone()].iter().all(of_name))
}

/// The trimmed cells of a line. The bars around a line of a table make no cells.
fn split_cells(bytes: &[u8], line: Range<usize>, separator: Separator) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut line = trim(bytes, line);
    if separator == Separator::Bar {
        line.start += usize::from(bytes.get(line.start) == Some(&b'|'));
        line.end -= usize::from(line.end > line.start && bytes[line.end - 1] == b'|');
    }
    let sign = match separator {
        Separator::Bar => b'|',
        Separator::Tab => b'\t',
        Separator::Comma | Separator::Insert => b',',
        Separator::Semicolon => b';',
        Separator::Blank => b' ',
        Separator::Blanks => return split_at_blanks(bytes, line),
        Separator::Box => return split_box(bytes, line),
    };
    let (mut start, mut quoted) = (line.start, false);
    for i in line.clone() {
        if bytes[i] == b'"' && matches!(sign, b',' | b';') {
            quoted = !quoted;
        } else if bytes[i] == sign && !quoted {
            cells.push(trim(bytes, start..i));
            start = i + 1;
        }
    }
    cells.push(trim(bytes, start..line.end));
    cells
}

fn contains_box(text: &[u8]) -> bool {
    ["│", "║"].iter().any(|bar| memchr::memmem::find(text, bar.as_bytes()).is_some())
}

/// Cells between the lines of a box.
fn split_box(bytes: &[u8], line: Range<usize>) -> Vec<Range<usize>> {
    const BAR_BYTES: usize = "│".len();
    let is_bar = |i: usize| bytes[i..].starts_with("│".as_bytes()) || bytes[i..].starts_with("║".as_bytes());
    let bars: Vec<usize> = line.clone().filter(|i| is_bar(*i)).collect();
    bars.windows(2).map(|pair| trim(bytes, pair[0] + BAR_BYTES..pair[1])).collect()
}

/// Cells with at least two blanks between them.
fn split_at_blanks(bytes: &[u8], line: Range<usize>) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = line.start;
    while let Some(gap) = memchr::memmem::find(&bytes[start..line.end], b"  ") {
        cells.push(start..start + gap);
        start += gap;
        start += bytes[start..line.end].iter().take_while(|b| **b == b' ').count();
    }
    cells.push(start..line.end);
    cells
}

/// The values of one row of an `INSERT`, after its opening parenthesis.
fn split_values(bytes: &[u8], open: usize) -> Vec<Range<usize>> {
    let limit = bytes.len().min(open + ROW_BYTES_MAX);
    let mut cells = Vec::new();
    let (mut start, mut quote) = (open, None);
    for i in open..limit {
        match (quote, bytes[i]) {
            (None, b'\'' | b'"') => quote = Some(bytes[i]),
            (Some(mark), b) if b == mark => quote = None,
            (None, b',') => {
                cells.push(trim(bytes, start..i));
                start = i + 1;
            }
            (None, b')') => {
                cells.push(trim(bytes, start..i));
                return cells;
            }
            _ => {}
        }
    }
    Vec::new()
}

fn trim(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let text = &bytes[range.clone()];
    let start = range.start + text.len() - text.trim_ascii_start().len();
    let end = range.end - (text.len() - text.trim_ascii_end().len());
    start.min(end)..end
}

/// Whether the line only separates: `---+---`, `|:--|--:|`, `=====`.
fn is_rule(line: &[u8]) -> bool {
    let drawn = memchr::memmem::find(line, "─".as_bytes()).is_some()
        || memchr::memmem::find(line, "═".as_bytes()).is_some();
    drawn && !line.iter().any(u8::is_ascii_alphanumeric)
        || !line.trim_ascii().is_empty()
            && line.iter().all(|b| b"-+|:= \t\r".contains(b))
            && line.contains(&b'-')
        || line.starts_with(b"===")
}

/// The line after the one that ends at `end`.
fn next_line(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    if bytes.get(end) != Some(&b'\n') {
        return None;
    }
    let start = end + 1;
    let stop = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |i| start + i);
    (start < bytes.len()).then_some(start..stop)
}
