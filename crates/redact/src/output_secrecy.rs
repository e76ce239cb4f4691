//! Whether what a tool returns is secret because of what it was asked: `pass show mail`, a file named
//! `.pgpass`. `sources.txt` lists such commands and files.

use serde_json::Value;

use super::look_up;
use super::names::{is_one_of, promises};
use super::rules::SOURCES;
use super::secrecy::OutputSecrecy;

/// Maximum length of a command that is examined.
const COMMAND_BYTES_MAX: usize = 16 << 10;
/// Files with one of these endings are examples or source code.
const HARMLESS_ENDINGS: &str = ".example .sample .template .dist .tpl .md .pub .lock .schema .crt .test .rs .ts .tsx .js .jsx \
    .mjs .cjs .py .go .java .kt .rb .php .c .h .cpp .cs .swift .vue .svelte .html .css .scss .sh .sql .ex .exs .scala";
/// Endings of files that hold one value.
const VALUE_ENDINGS: &str = "txt pass pwd password passwd passphrase secret token key psk b64 asc enc";
/// Programs that print a file as it is, or nearly so.
const READERS: &str = "cat bat batcat less more head tail nl tac sed awk grep egrep rg cut tr xxd od hexdump strings base64 \
    base32 type Get-Content gc jq yq dotenv view sort uniq tee column fold rev source paste xargs";
/// Readers whose first argument is a pattern or a program, not a file.
const PATTERN_READERS: &str = "sed awk grep egrep rg tr jq yq";
/// Programs that reduce what they read to something harmless.
const REDUCERS: &str = "wc sha256sum sha1sum md5sum shasum cksum stat file ls test true";
/// Programs that run another program whose output is shown.
const RUNNERS: &str = "docker docker-compose podman nerdctl kubectl oc ssh sh bash zsh fly flyctl";

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
        let files =
            SOURCES.iter().filter(|source| source.is_file && matches_path(path, source.pattern.get()));
        files.map(|source| source.secrecy).max().max(by_file_name(path)).unwrap_or_default()
    }

    /// By a command line: the strictest of its commands whose output is printed.
    pub(super) fn from_command(command: &str) -> Self {
        let command = &command[..command.floor_char_boundary(COMMAND_BYTES_MAX)];
        let pipelines =
            command.split(['\n', ';']).flat_map(|line| line.split("&&")).flat_map(|line| line.split("||"));
        let by_pipeline = pipelines.map(Self::from_pipeline).max().unwrap_or_default();
        // Code has semicolons of its own.
        let by_code = look_up::runs_secret_code(&words(command), command).then_some(Self::Answer);
        by_pipeline.max(by_code.unwrap_or_default())
    }

    fn from_pipeline(pipeline: &str) -> Self {
        let commands = printing_commands(pipeline);
        let files = commands.iter().flat_map(|words| read_files(words));
        let by_file = files.map(Self::from_path).max().unwrap_or_default();
        let by_command = SOURCES
            .iter()
            .filter(|source| !source.is_file)
            .filter(|source| commands.iter().any(|words| matches_words(words, source.pattern.get())))
            .map(|source| source.secrecy);
        let by_variable = commands.iter().filter_map(|words| by_variable(words));
        let by_look_up = look_up::asks_for_secret(&commands, pipeline).then_some(Self::Answer);
        // Without its name, a value of such a file is a line of its own.
        let cut = by_file == Self::Values && commands.iter().any(|words| look_up::is_cutter(words));
        let by_file = if cut { Self::Lines } else { by_file };
        by_command.chain(by_variable).chain(by_look_up).max().unwrap_or_default().max(by_file)
    }
}

/// The files that a command prints.
fn read_files<'a>(words: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let reader = words.first().is_some_and(|program| is_one_of(program, READERS));
    let has_pattern = words.first().is_some_and(|program| is_one_of(program, PATTERN_READERS));
    let arguments: Vec<&str> = words.iter().skip(1).filter(|word| !word.starts_with('-')).copied().collect();
    arguments
        .into_iter()
        .skip(usize::from(has_pattern))
        .filter(move |_| reader)
        .map(|word| word.trim_matches(['"', '\'', '<', '(', ')', '`']))
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

/// By what the name of a file promises, `db_password.txt`, or by a directory of secrets.
fn by_file_name(path: &str) -> Option<OutputSecrecy> {
    let name = file_name(path);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let one_value = ending.is_empty() || VALUE_ENDINGS.split(' ').any(|known| ending == known);
    if one_value && (promises(stem) || promises(ending)) {
        return Some(OutputSecrecy::Whole);
    }
    let mut folders = path.split(['/', '\\']).rev().skip(1);
    let in_secrets = folders.any(|folder| matches!(folder, "secrets" | ".secrets" | "secret"));
    in_secrets.then_some(if one_value { OutputSecrecy::Lines } else { OutputSecrecy::Values })
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
    let names = |word: &&str| promises(word.trim_matches(['"', '\'', '{', '}', '$']));
    let secret = match words.first()? {
        &"echo" | &"printf" => words[1..].iter().filter(|word| word.contains('$')).any(names),
        &"printenv" => words[1..].iter().any(names),
        _ => false,
    };
    secret.then_some(OutputSecrecy::Lines)
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
    let skipped = words.iter().take_while(|word| before(word)).count();
    words.drain(..skipped);
    if let Some(program) = words.first_mut() {
        *program = program
            .rsplit('/')
            .next()
            .unwrap_or(program)
            .trim_start_matches(['"', '\'', '(', '`'])
            .trim_start_matches("$(");
        if matches!(*program, "k" | "kc" | "kubecolor") {
            *program = "kubectl";
        }
    }
    if let Some(at) = inner_program(&words) {
        words.drain(..at);
        words[0] = words[0].trim_start_matches(['"', '\'']);
    }
    words
}

/// Where the program stands that another one runs: `docker exec name cat …`, `ssh host cat …`,
/// `sh -c 'echo …`.
fn inner_program(words: &[&str]) -> Option<usize> {
    let (runner, rest) = words.split_first()?;
    if !is_one_of(runner, RUNNERS) {
        return None;
    }
    let runs = match *runner {
        "sh" | "bash" | "zsh" | "ssh" => 0,
        _ => rest.iter().position(|word| matches!(*word, "exec" | "run" | "ssh"))? + 1,
    };
    let is_program = |word: &&str| is_one_of(word, READERS) || is_one_of(word, "printenv env echo printf");
    rest.iter().skip(runs).position(is_program).map(|at| at + runs + 1)
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
