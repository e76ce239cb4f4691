//! A minimal terminal emulator: the [`ScreenGrid`] that a terminal shows after some bytes.
//!
//! Clients redraw only the cells that changed, so the words on the screen do not appear as such in
//! the bytes. Cursor movement and erasing are interpreted; colours and modes are ignored.

use std::str::Chars;

/// A screen of cells and a cursor.
#[derive(Debug)]
pub(crate) struct ScreenGrid {
    cells: Vec<Vec<char>>,
    columns: usize,
    row: usize,
    column: usize,
}

impl ScreenGrid {
    /// The screen after these bytes.
    pub(crate) fn from_bytes(bytes: &[u8], rows: usize, columns: usize) -> Self {
        let cells = vec![vec![' '; columns]; rows];
        let mut grid = Self { cells, columns, row: 0, column: 0 };
        let text = String::from_utf8_lossy(bytes);
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            grid.process_char(c, &mut chars);
        }
        grid
    }

    /// The screen as text, without trailing blanks.
    pub(crate) fn text(&self) -> String {
        let lines = self.cells.iter().map(|row| row.iter().collect::<String>());
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    fn process_char(&mut self, c: char, rest: &mut Chars<'_>) {
        match c {
            '\x1b' => self.escape(rest),
            '\r' => self.column = 0,
            '\n' => self.line_feed(),
            '\x08' => self.column = self.column.saturating_sub(1),
            c if c.is_control() => {}
            c => self.put(c),
        }
    }

    fn put(&mut self, c: char) {
        if self.column >= self.columns {
            self.column = 0;
            self.line_feed();
        }
        self.cells[self.row][self.column] = c;
        self.column += 1;
    }

    fn line_feed(&mut self) {
        if self.row + 1 < self.cells.len() {
            self.row += 1;
        } else {
            self.cells.rotate_left(1);
            self.cells[self.row].fill(' ');
        }
    }

    fn escape(&mut self, rest: &mut Chars<'_>) {
        match rest.next() {
            Some('[') => {
                let mut parameters = String::new();
                let last = rest.find(|c| {
                    let ends = ('@'..='~').contains(c);
                    if !ends {
                        parameters.push(*c);
                    }
                    ends
                });
                self.control(&parameters, last.unwrap_or('m'));
            }
            // An OSC sequence such as a title; it ends with BEL or with ESC and a backslash.
            Some(']') => drop(rest.find(|c| matches!(c, '\x07' | '\\'))),
            _ => {}
        }
    }

    fn control(&mut self, parameters: &str, last: char) {
        let mut numbers = parameters.split(';').map(|n| n.parse::<usize>().ok());
        let first = numbers.next().flatten();
        let count = first.unwrap_or(1).max(1);
        match last {
            'A' => self.row = self.row.saturating_sub(count),
            'B' => self.row = self.row.saturating_add(count),
            'C' => self.column = self.column.saturating_add(count),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.column = count - 1,
            'H' => {
                self.row = count - 1;
                self.column = numbers.next().flatten().unwrap_or(1).max(1) - 1;
            }
            'J' => self.erase_screen(first.unwrap_or(0)),
            'K' => self.erase_line(first.unwrap_or(0)),
            'h' | 'l' if parameters == "?1049" => self.erase_screen(2),
            _ => return,
        }
        self.row = self.row.min(self.cells.len() - 1);
        self.column = self.column.min(self.columns - 1);
    }

    fn erase_line(&mut self, which: usize) {
        let at = self.column.min(self.columns - 1);
        match which {
            0 => self.cells[self.row][at..].fill(' '),
            1 => self.cells[self.row][..=at].fill(' '),
            _ => self.cells[self.row].fill(' '),
        }
    }

    fn erase_screen(&mut self, which: usize) {
        let row = self.row;
        let (from, to) = match which {
            0 => (row + 1, self.cells.len()),
            1 => (0, row),
            _ => (0, self.cells.len()),
        };
        self.cells[from..to].iter_mut().for_each(|line| line.fill(' '));
        if which < 2 {
            self.erase_line(which);
        }
    }
}
