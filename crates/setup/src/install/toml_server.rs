//! Adds and removes our MCP server in a TOML file: one table, the rest of the text keeps every byte.

use super::NAME;
use super::entry::is_our_program;
use super::server::ServerEditError;

/// The text with our server in the table `servers`.
pub(super) fn add_server(
    text: &str,
    servers: &str,
    program: &str,
    arguments: &[String],
) -> Result<String, ServerEditError> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let quoted = |word: &str| serde_json::Value::from(word).to_string();
    let words: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
    let ours = format!(
        "[{servers}.{NAME}]{end}command = {}{end}args = [{}]{end}",
        quoted(program),
        words.join(", ")
    );
    let sections =
        split_sections(text).ok_or_else(|| "a string or a list in it is never closed".to_owned())?;
    if sections[0].1.lines().any(|line| is_inline(line, servers)) {
        return Err(format!("{servers} is an inline table, to which nothing can be added").into());
    }
    let found = sections.iter().position(|(key, _)| is_ours(key, servers));
    match found {
        None => {
            let gap = match text {
                "" => "",
                _ if text.ends_with('\n') => end,
                _ => &end.repeat(2),
            };
            Ok(format!("{text}{gap}{ours}"))
        }
        Some(at) if !runs_us(sections[at].1) => Err(ServerEditError::NameTaken),
        Some(at) => {
            let (_, body) = &sections[at];
            // Text after the entry, such as a comment on the next table, is kept.
            let rest = trailing(body);
            let texts = sections.iter().enumerate().map(|(index, (_, section))| {
                if index == at { format!("{ours}{rest}") } else { (*section).to_owned() }
            });
            Ok(texts.collect())
        }
    }
}

/// The text without our server.
pub(super) fn remove_server(text: &str, servers: &str) -> String {
    let Some(sections) = split_sections(text) else {
        return text.to_owned();
    };
    if !sections.iter().any(|(key, section)| is_ours(key, servers) && runs_us(section)) {
        return text.to_owned();
    }
    let mut left = String::new();
    for (key, section) in &sections {
        let is_below = key.len() >= 2 && key[0] == servers && key[1] == NAME;
        if is_below {
            // The empty line that separated it from the table before.
            let kept = left.strip_suffix("\r\n\r\n").map(|kept| format!("{kept}\r\n"));
            let kept = kept.or_else(|| left.strip_suffix("\n\n").map(|kept| format!("{kept}\n")));
            left = kept.unwrap_or(left);
            left.push_str(trailing(section));
        } else {
            left.push_str(section);
        }
    }
    left
}

/// Whether the table with this key is our server's.
fn is_ours(key: &[String], servers: &str) -> bool {
    matches!(key, [first, second] if first == servers && second == NAME)
}

/// Whether a line outside of all tables sets `servers` as a whole.
fn is_inline(line: &str, servers: &str) -> bool {
    let rest = line.trim_start().strip_prefix(servers);
    rest.is_some_and(|rest| rest.trim_start().starts_with('='))
}

/// Whether the table starts our executable as a server.
fn runs_us(section: &str) -> bool {
    let value = |name: &str| {
        section
            .lines()
            .find_map(|line| Some(line.trim().strip_prefix(name)?.trim().strip_prefix('=')?.trim()))
    };
    let program = value("command").unwrap_or_default().trim_matches(['"', '\'']);
    is_our_program(program)
        && value("args").is_some_and(|args| args.contains("\"mcp\"") || args.contains("'mcp'"))
}

/// The comments and empty lines at the end of a table.
fn trailing(section: &str) -> &str {
    let mut end = section.len();
    for line in section.split_inclusive('\n').rev() {
        let is_rest = line.trim().is_empty() || line.trim_start().starts_with('#');
        if !is_rest {
            break;
        }
        end -= line.len();
    }
    &section[end..]
}

/// A table: its key, and its text with the header.
type TomlSection<'t> = (Vec<String>, &'t str);

/// The tables of a text; the first has no key. `None` if the text ends inside of a value.
fn split_sections(text: &str) -> Option<Vec<TomlSection<'_>>> {
    let mut sections: Vec<(Vec<String>, usize)> = vec![(Vec::new(), 0)];
    let mut open = OpenValue::default();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if open.is_closed() && trimmed.starts_with('[') {
            sections.push((parse_key(trimmed), offset));
        } else {
            open.read(line);
        }
        offset += line.len();
    }
    let ends = sections.iter().skip(1).map(|(_, start)| *start).chain([text.len()]).collect::<Vec<_>>();
    let all = sections.into_iter().zip(ends).map(|((key, start), end)| (key, &text[start..end]));
    open.is_closed().then(|| all.collect())
}

/// The parts of a table's key: `[a."b c".d]`.
fn parse_key(header: &str) -> Vec<String> {
    let inside = header.trim_start_matches('[').split(']').next().unwrap_or_default();
    inside.split('.').map(|part| part.trim().trim_matches(['"', '\'']).to_owned()).collect()
}

/// A value that continues on the next line: a long string or a list.
#[derive(Debug, Default)]
struct OpenValue {
    /// The quotation marks that close the long string.
    quote: Option<&'static str>,
    brackets: usize,
}

impl OpenValue {
    const fn is_closed(&self) -> bool {
        self.quote.is_none() && self.brackets == 0
    }

    fn read(&mut self, line: &str) {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if let Some(quote) = self.quote {
                match rest.find(quote) {
                    Some(at) => {
                        self.quote = None;
                        rest = &rest[at + quote.len()..];
                    }
                    None => return,
                }
                continue;
            }
            let long = ["\"\"\"", "'''"].into_iter().find(|quote| rest.starts_with(quote));
            if let Some(quote) = long {
                self.quote = Some(quote);
                rest = &rest[quote.len()..];
                continue;
            }
            match first {
                '#' => return,
                '"' | '\'' => rest = &rest[end_of_string(rest, first)..],
                _ => {
                    match first {
                        '[' | '{' => self.brackets += 1,
                        ']' | '}' => self.brackets = self.brackets.saturating_sub(1),
                        _ => {}
                    }
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
    }
}

/// The end of the string that a text begins with; strings of this kind end with their line.
fn end_of_string(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\\' if quote == '"' => escaped = !escaped,
            _ if letter == quote && !escaped => return at + 1,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
#[path = "toml_server_tests.rs"]
mod tests;
