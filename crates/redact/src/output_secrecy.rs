//! Whether what a tool returns is secret because of what it was asked: `pass show mail`, a file named
//! `.pgpass`. `sources.txt` lists such commands and files.

use serde_json::Value;

use super::names::{self, NamePromise};

/// How much of a tool's output is secret because of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputSecrecy {
    /// Only what the rules find.
    #[default]
    Ordinary,
    /// Values behind a name, if they look like a secret.
    Values,
    /// Every line that looks like a value.
    Lines,
    /// Everything.
    Whole,
}

const SOURCES: &str = include_str!("sources.txt");
/// Maximum length of a command that is examined.
const COMMAND_BYTES_MAX: usize = 16 << 10;
/// Files with one of these endings are examples or source code.
const HARMLESS_ENDINGS: &str = ".example .sample .template .dist .tpl .md .pub .lock .schema .crt .test .rs .ts .tsx .js .jsx \
    .mjs .cjs .py .go .java .kt .rb .php .c .h .cpp .cs .swift .vue .svelte .html .css .scss .sh .sql .ex .exs .scala";
/// Programs that print a file as it is, or nearly so.
const READERS: &str = "cat bat batcat less more head tail nl tac sed awk grep egrep rg cut tr xxd od hexdump strings base64 \
    base32 type Get-Content gc jq yq dotenv view sort uniq tee column fold rev source paste xargs";
/// Programs that reduce what they read to something harmless.
const REDUCERS: &str = "wc sha256sum sha1sum md5sum shasum cksum stat file ls test true";

impl OutputSecrecy {
    /// By the input of a tool: the command that it runs or the file that it reads.
    pub fn from_input(input: &Value) -> Self {
        let Value::Object(fields) = input else {
            return Self::Ordinary;
        };
        let by_field = |(key, value): (&String, &Value)| {
            let text = value.as_str()?;
            match key.as_str() {
                "command" | "cmd" | "script" => Some(Self::from_command(text)),
                "file_path" | "filePath" | "path" | "notebook_path" | "uri" | "file" | "filename" => {
                    Some(Self::from_path(text))
                }
                _ => None,
            }
        };
        fields.iter().filter_map(by_field).max().unwrap_or_default()
    }

    /// By the path of a file.
    pub fn from_path(path: &str) -> Self {
        if is_harmless_file(path) {
            return Self::Ordinary;
        }
        let files = sources().filter(|(_, kind, pattern)| *kind == "file" && matches_path(path, pattern));
        files.map(|(secrecy, ..)| secrecy).max().unwrap_or_default()
    }

    /// By a command line: the strictest of its commands whose output is printed.
    pub(super) fn from_command(command: &str) -> Self {
        let command = &command[..command.floor_char_boundary(COMMAND_BYTES_MAX)];
        let pipelines =
            command.split(['\n', ';']).flat_map(|line| line.split("&&")).flat_map(|line| line.split("||"));
        let commands: Vec<Vec<&str>> = pipelines.flat_map(printing_commands).collect();
        let files: Vec<&str> = commands
            .iter()
            .filter(|words| words.first().is_some_and(|program| is_one_of(program, READERS)))
            .flat_map(|words| &words[1..])
            .map(|word| word.trim_matches(['"', '\'', '<', '(', ')', '`']))
            .filter(|word| !word.starts_with('-') && !is_harmless_file(word))
            .collect();
        let by_source = sources().filter(|(_, kind, pattern)| match *kind {
            "command" => commands.iter().any(|words| matches_words(words, pattern)),
            _ => files.iter().any(|file| matches_path(file, pattern)),
        });
        let by_source = by_source.map(|(secrecy, ..)| secrecy).max();
        by_source.max(commands.iter().filter_map(|words| by_variable(words)).max()).unwrap_or_default()
    }
}

/// The commands of a pipeline whose output reaches the agent.
fn printing_commands(pipeline: &str) -> Vec<Vec<&str>> {
    let commands: Vec<Vec<&str>> = pipeline.split('|').map(words).filter(|words| !words.is_empty()).collect();
    let Some(last) = commands.last() else {
        return commands;
    };
    let redirected = last.iter().any(|word| word.starts_with('>') && !word.starts_with(">&"));
    if redirected || is_one_of(last[0], REDUCERS) { Vec::new() } else { commands }
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn is_harmless_file(path: &str) -> bool {
    HARMLESS_ENDINGS.split_ascii_whitespace().any(|ending| path.ends_with(ending))
}

fn matches_path(path: &str, pattern: &str) -> bool {
    if pattern.starts_with('/') {
        path.contains(pattern)
    } else if pattern.contains('/') {
        path.ends_with(pattern)
    } else {
        matches_glob(file_name(path), pattern)
    }
}

/// The output of `echo $DB_PASSWORD` and `printenv DB_PASSWORD`.
fn by_variable(words: &[&str]) -> Option<OutputSecrecy> {
    let names = |word: &&str| {
        let name = word.trim_matches(['"', '\'', '{', '}', '$']);
        matches!(names::promise(name.as_bytes()), Some(NamePromise::Password | NamePromise::Token))
    };
    let secret = match words.first()? {
        &"echo" | &"printf" => words[1..].iter().filter(|word| word.contains('$')).any(names),
        &"printenv" => words[1..].iter().any(names),
        _ => false,
    };
    secret.then_some(OutputSecrecy::Lines)
}

/// The lines of `sources.txt`.
fn sources() -> impl Iterator<Item = (OutputSecrecy, &'static str, &'static str)> {
    SOURCES.lines().filter_map(|line| {
        let (secrecy, rest) = line.split_once(' ')?;
        let (kind, pattern) = rest.split_once(' ')?;
        let secrecy = match secrecy {
            "whole" => OutputSecrecy::Whole,
            "lines" => OutputSecrecy::Lines,
            "values" => OutputSecrecy::Values,
            _ => return None,
        };
        Some((secrecy, kind, pattern))
    })
}

/// The words of one command, from its program on: without `sudo`, variables and what runs it
/// elsewhere.
fn words(command: &str) -> Vec<&str> {
    let mut words: Vec<&str> = command.split_ascii_whitespace().collect();
    let before = |word: &str| {
        let assigns = word.split_once('=').is_some_and(|(name, _)| {
            name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
        });
        matches!(
            word,
            "sudo" | "time" | "command" | "exec" | "nohup" | "$" | "(" | "{" | "then" | "do" | "!" | "-E"
        ) || assigns
    };
    while words.first().is_some_and(|word| before(word)) {
        words.remove(0);
    }
    // `docker exec name program …`, `ssh host program …`
    let remote = match words.as_slice() {
        ["docker" | "podman" | "kubectl", "exec", ..] => words
            .iter()
            .skip(2)
            .position(|word| is_one_of(word, READERS) || *word == "printenv" || *word == "env")
            .map(|at| at + 2),
        ["ssh", ..] => words
            .iter()
            .skip(2)
            .position(|word| is_one_of(word.trim_matches(['"', '\'']), READERS))
            .map(|at| at + 2),
        _ => None,
    };
    if let Some(at) = remote {
        words.drain(..at);
    }
    if let Some(program) = words.first_mut() {
        *program = program
            .rsplit('/')
            .next()
            .unwrap_or(program)
            .trim_start_matches(['"', '\'', '(', '`'])
            .trim_start_matches("$(");
    }
    words
}

fn is_one_of(word: &str, list: &str) -> bool {
    let word = word.trim_matches(['"', '\'']);
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Whether the words of the pattern occur in this order; the first must be the program.
fn matches_words(words: &[&str], pattern: &str) -> bool {
    let mut pattern = pattern.split(' ');
    let Some(program) = pattern.next() else {
        return false;
    };
    if !words.first().is_some_and(|word| matches_glob(word, program)) {
        return false;
    }
    let mut rest = words[1..].iter();
    let mut alone = true;
    let all = pattern.all(|wanted| {
        alone = false;
        rest.any(|word| matches_glob(word, wanted))
    });
    // A program alone prints a secret only if it gets nothing more than options and one argument.
    let is_argument = |word: &&&str| !word.starts_with('-') && word.parse::<u32>().is_err();
    all && (!alone || words[1..].iter().filter(is_argument).count() <= 1)
}

/// Whether the text matches a pattern with at most two `*`.
fn matches_glob(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((start, rest)) => {
            let Some(text) = text.strip_prefix(start) else {
                return false;
            };
            match rest.split_once('*') {
                None => text.ends_with(rest),
                Some((middle, end)) => {
                    text.find(middle).is_some_and(|at| text[at + middle.len()..].ends_with(end))
                }
            }
        }
    }
}
