//! Parses command lines far enough to know which commands they run.
//!
//! Quotes, heredocs and operators between commands are parsed; everything else is plain words. Nothing is
//! expanded or executed.

use super::text::{clip, head, one_line};
use crate::limits::DISTIL_TEXT_BYTES_MAX;

/// One command of a line, its words unquoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub words: Vec<String>,
    /// The body of its heredoc.
    pub heredoc: Option<String>,
    /// The file that its output was written to.
    pub written: Option<String>,
    /// Its input is another command's output.
    pub piped: bool,
    /// It runs only if the command before it passed: `a && b`.
    pub needs_previous: bool,
}

/// Maximum commands of one line that are read.
const COMMANDS_MAX: usize = 64;
const WORDS_MAX: usize = 400;

pub(super) fn parse(line: &str) -> Vec<SimpleCommand> {
    let mut parser = ShellParser { rest: head(line, DISTIL_TEXT_BYTES_MAX), ..ShellParser::default() };
    while parser.step() {}
    parser.end_command(false);
    parser.done
}

#[derive(Default)]
struct ShellParser<'a> {
    rest: &'a str,
    done: Vec<SimpleCommand>,
    now: SimpleCommand,
    word: Option<String>,
    /// Delimiters of heredocs whose bodies start on the next line.
    heredocs: Vec<String>,
    next_piped: bool,
    next_needs_previous: bool,
    redirects: bool,
}

impl ShellParser<'_> {
    fn step(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else {
            return false;
        };
        match c {
            '\\' => {
                self.skip(1);
                match self.take() {
                    Some('\n') | None => {}
                    Some(escaped) => self.push(escaped),
                }
            }
            '\'' => {
                self.skip(1);
                let end = self.rest.find('\'').unwrap_or(self.rest.len());
                let (quoted, rest) = self.rest.split_at(end);
                self.word.get_or_insert_default().push_str(quoted);
                self.rest = rest.strip_prefix('\'').unwrap_or(rest);
            }
            '"' => self.double_quoted(),
            '$' if self.rest.starts_with("$(") => self.substitution(),
            '#' if self.word.is_none() => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            }
            '\n' => {
                self.skip(1);
                self.end_word();
                self.read_heredocs();
                self.end_command(false);
            }
            '&' if self.rest.starts_with("&&") => {
                self.operator(2, false);
                self.next_needs_previous = true;
            }
            '&' if self.rest.starts_with("&>") => self.redirect(2),
            '&' | ';' => self.operator(1, false),
            '|' if self.rest.starts_with("||") => self.operator(2, false),
            '|' => self.operator(1, true),
            '<' if self.rest.starts_with("<<<") => self.skip(3),
            '<' if self.rest.starts_with("<<") => self.heredoc(),
            '>' => self.redirect(if self.rest.starts_with(">>") { 2 } else { 1 }),
            _ if c.is_whitespace() => {
                self.skip(c.len_utf8());
                self.end_word();
            }
            _ => {
                self.skip(c.len_utf8());
                self.push(c);
            }
        }
        true
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.skip(c.len_utf8());
        Some(c)
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn double_quoted(&mut self) {
        self.skip(1);
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.chars().next() {
            match c {
                '"' => {
                    self.skip(1);
                    return;
                }
                '\\' => {
                    self.skip(1);
                    if let Some(escaped) = self.take() {
                        if !"\"\\$`\n".contains(escaped) {
                            self.push('\\');
                        }
                        self.push(escaped);
                    }
                }
                '$' if self.rest.starts_with("$(") => self.substitution(),
                _ => {
                    self.skip(c.len_utf8());
                    self.push(c);
                }
            }
        }
    }

    /// `$(cat <<'EOF' … EOF)` stands for the heredoc's text; any other substitution for itself.
    fn substitution(&mut self) {
        let inside = &self.rest[2..];
        if let Some((body, rest)) = cat_heredoc(inside) {
            self.word.get_or_insert_default().push_str(body);
            self.rest = rest;
            return;
        }
        let end = closing(inside).map_or(self.rest.len(), |at| at + 3);
        let (whole, rest) = self.rest.split_at(end);
        self.word.get_or_insert_default().push_str(whole);
        self.rest = rest;
    }

    fn heredoc(&mut self) {
        self.skip(2);
        self.end_word();
        self.rest = self.rest.trim_start_matches(['-', ' ']);
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || "_'\"-.".contains(c)))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.heredocs.push(name.trim_matches(['\'', '"']).to_owned());
        self.rest = rest;
    }

    fn read_heredocs(&mut self) {
        for delimiter in std::mem::take(&mut self.heredocs) {
            let (body, rest) = until_line(self.rest, &delimiter);
            self.now.heredoc = Some(body.to_owned());
            self.rest = rest;
        }
    }

    fn redirect(&mut self, bytes: usize) {
        self.skip(bytes);
        // `2>` and `&1`: where errors go says nothing about what was run.
        let errors = self.word.as_deref() == Some("2");
        if errors || self.word.as_deref() == Some("1") {
            self.word = None;
        }
        self.end_word();
        if let Some(rest) = self.rest.strip_prefix('&') {
            self.rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        } else {
            self.redirects = true;
        }
    }

    fn operator(&mut self, bytes: usize, pipes: bool) {
        self.skip(bytes);
        self.end_word();
        self.end_command(pipes);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        if std::mem::take(&mut self.redirects) {
            if word != "/dev/null" {
                self.now.written = Some(word);
            }
        } else if self.now.words.len() < WORDS_MAX {
            self.now.words.push(word);
        }
    }

    fn end_command(&mut self, pipes: bool) {
        self.end_word();
        let mut command = std::mem::take(&mut self.now);
        command.piped = self.next_piped;
        command.needs_previous = self.next_needs_previous;
        self.next_piped = pipes;
        self.next_needs_previous = false;
        let empty = command.words.is_empty() && command.heredoc.is_none();
        if !empty && self.done.len() < COMMANDS_MAX {
            self.done.push(command);
        }
    }
}

/// The body of `cat <<'EOF' … EOF` at the start of a substitution, and what follows its bracket.
fn cat_heredoc(inside: &str) -> Option<(&str, &str)> {
    let after = inside.trim_start().strip_prefix("cat")?.trim_start().strip_prefix("<<")?;
    let (head, body) = after.split_once('\n')?;
    let delimiter = head.trim_start_matches('-').trim().trim_matches(['\'', '"', '\\']);
    let (body, rest) = until_line(body, delimiter);
    let rest = rest.trim_start();
    Some((body.trim_end_matches('\n'), rest.strip_prefix(')').unwrap_or(rest)))
}

/// The text up to a line that is the delimiter, and what follows that line.
fn until_line<'a>(text: &'a str, delimiter: &str) -> (&'a str, &'a str) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == delimiter || line.trim() == format!("{delimiter})\"") {
            let kept = if line.trim() == delimiter { at + line.len() } else { at + delimiter.len() };
            return (&text[..at], text.get(kept..).unwrap_or_default());
        }
        at += line.len();
    }
    (text, "")
}

/// Where the bracket that opened before `text` closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

impl SimpleCommand {
    /// The words that say what was run: no variables, no wrappers such as `sudo` or `npx`.
    pub(super) fn bare(&self) -> &[String] {
        let mut words = self.words.as_slice();
        loop {
            let skip = wrapper_words(words);
            if skip == 0 || skip >= words.len() {
                return words;
            }
            words = &words[skip..];
        }
    }

    /// The program's name, without its directory.
    pub(super) fn program(&self) -> &str {
        let name = self.bare().first().map_or("", String::as_str);
        name.rsplit('/').next().unwrap_or(name)
    }

    pub(super) fn argument(&self, index: usize) -> &str {
        self.bare().get(index).map_or("", String::as_str)
    }

    /// The words, clipped, without the variables before them.
    pub(super) fn line(&self) -> String {
        let shown = |word: &String| {
            if word.contains([' ', '\n', '\'']) || word.is_empty() {
                format!("\"{}\"", clip(&one_line(word), 40))
            } else {
                word.clone()
            }
        };
        let words: Vec<String> = self.bare().iter().take(24).map(shown).collect();
        clip(&words.join(" "), 90)
    }
}

/// The number of leading words that choose the package a script runs in: `--filter web`, `-C api`, `workspace api`.
pub(super) fn package_options(words: &[String]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count) {
        match word.as_str() {
            "--filter" | "-F" | "-C" | "--dir" | "--cwd" | "--prefix" | "--workspace" | "workspace" => {
                count += 2;
            }
            option if option.starts_with('-') && option != "-v" && option != "--version" => count += 1,
            _ => break,
        }
    }
    count.min(words.len())
}

/// The number of leading words that are wrappers or variables.
fn wrapper_words(words: &[String]) -> usize {
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    let first = word(0);
    let name = first.rsplit('/').next().unwrap_or(first);
    match name {
        _ if is_assignment(first) => 1,
        // What `rtk test` and the like run comes behind them.
        "rtk" if matches!(word(1), "test" | "err" | "proxy" | "summary") => 2,
        "sudo" | "time" | "rtk" | "nohup" | "exec" | "command" | "npx" | "bunx" | "xvfb-run" | "then"
        | "do" | "else" | "if" | "!" | "while" | "until" | "{" | "(" => 1,
        "env" | "nice" | "stdbuf" => 1 + words[1..].iter().take_while(|w| w.starts_with('-')).count(),
        "timeout" => 2 + words[1..].iter().take_while(|w| w.starts_with('-')).count(),
        "uv" | "poetry" | "pipenv" | "rye" | "pdm" | "hatch" if word(1) == "run" => 2,
        "bundle" if word(1) == "exec" => 2,
        "pnpm" | "yarn" | "npm" => {
            let options = package_options(&words[1..]);
            if matches!(word(1 + options), "exec" | "dlx") { 2 + options } else { 0 }
        }
        "python" | "python3" | "py" if word(1) == "-m" => 2,
        _ => 0,
    }
}

pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
