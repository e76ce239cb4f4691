//! A minimal terminal emulator: the [`ScreenGrid`] that a terminal shows after some bytes.
//!
//! Clients redraw only the cells that changed, so the words on the screen do not appear as such in
//! the bytes. Cursor movement and erasing are interpreted; colours and modes are ignored.

/// A screen of cells and a cursor, and where the bytes so far ended.
#[derive(Debug)]
pub(crate) struct ScreenGrid {
    cells: Vec<Vec<char>>,
    columns: usize,
    row: usize,
    column: usize,
    sequence: EscapeSequence,
    /// The first bytes of a character whose rest has not come yet.
    partial: Vec<u8>,
}

/// The escape sequence that the next character belongs to.
#[derive(Debug)]
enum EscapeSequence {
    None,
    /// After ESC.
    Begun,
    /// After ESC and `[`, with its parameters so far.
    Control(String),
    /// An OSC sequence such as a title; it ends with BEL or with ESC and a backslash.
    Text,
}

impl ScreenGrid {
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        let cells = vec![vec![' '; columns]; rows];
        let sequence = EscapeSequence::None;
        Self { cells, columns, row: 0, column: 0, sequence, partial: Vec::new() }
    }

    /// Shows more bytes; they may end within a character or an escape sequence.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let mut bytes = [std::mem::take(&mut self.partial).as_slice(), bytes].concat();
        if let Err(e) = std::str::from_utf8(&bytes)
            && e.error_len().is_none()
        {
            self.partial = bytes.split_off(e.valid_up_to());
        }
        String::from_utf8_lossy(&bytes).chars().for_each(|c| self.process_char(c));
    }

    /// The screen as text, without trailing blanks.
    pub(crate) fn text(&self) -> String {
        let lines = self.cells.iter().map(|row| row.iter().collect::<String>());
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    fn process_char(&mut self, c: char) {
        match (std::mem::replace(&mut self.sequence, EscapeSequence::None), c) {
            (EscapeSequence::Begun, '[') => self.sequence = EscapeSequence::Control(String::new()),
            (EscapeSequence::Begun, ']') => self.sequence = EscapeSequence::Text,
            (EscapeSequence::Begun, _) | (EscapeSequence::Text, '\x07' | '\\') => {}
            (EscapeSequence::Text, _) => self.sequence = EscapeSequence::Text,
            (EscapeSequence::Control(parameters), '@'..='~') => self.control(&parameters, c),
            (EscapeSequence::Control(parameters), _) => {
                self.sequence = EscapeSequence::Control(parameters + c.encode_utf8(&mut [0; 4]));
            }
            (EscapeSequence::None, c) => self.process_plain(c),
        }
    }

    fn process_plain(&mut self, c: char) {
        match c {
            '\x1b' => self.sequence = EscapeSequence::Begun,
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
