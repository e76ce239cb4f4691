//! Whether a command asks for one secret value by its name: `jq -r .db.password`,
//! `node -p process.env.API_TOKEN`, `grep DB_PASSWORD .env | cut -d= -f2`.

use super::names::{is_one_of, promises};

/// Programs that print the value at a path.
const QUERIES: &str =
    "jq gojq jaq yq dasel xmllint xq tomlq kubectl oc terraform tofu pulumi nmcli git heroku";
/// Programs that run code given as an argument.
const INTERPRETERS: &str = "node deno bun python python3 python2 ruby perl php";

/// Programs that print the answer to a query.
const DATABASES: &str =
    "sqlite3 psql mysql mariadb duckdb clickhouse-client cockroach sqlcmd pgcli mycli litecli usql";
/// Verbs of subcommands that print what they make or find.
const VERBS: &str =
    "get show reset create generate gen print reveal new rotate read mint issue regenerate random";
/// How many words of a command may be its program and its subcommands.
const SUBCOMMANDS_MAX: usize = 4;
/// Functions that make a random secret.
const GENERATORS: [&str; 7] = [
    "secrets.token_",
    "randomBytes",
    "random_secret",
    "SecureRandom",
    "random_bytes",
    "generate_key(",
    "token_bytes(",
];

/// Whether the answer of these commands is a secret. `pipeline` is their text.
pub(super) fn asks_for_secret(commands: &[Vec<&str>], pipeline: &str) -> bool {
    let decodes = commands.last().is_some_and(|words| is_decoder(words));
    let queries = commands.iter().any(|words| queries_secret(words));
    let cuts = commands.iter().any(|words| is_cutter(words)) && names_secret(pipeline);
    let selects = commands.iter().any(|words| is_database(words)) && selects_secret(pipeline);
    decodes || queries || cuts || selects || commands.iter().any(|words| makes_secret(words))
}

fn is_database(words: &[&str]) -> bool {
    words.first().is_some_and(|program| is_one_of(program, DATABASES))
}

/// Whether a statement selects a column whose name promises a secret.
fn selects_secret(pipeline: &str) -> bool {
    let lower = pipeline.to_ascii_lowercase();
    let list = lower.split("select ").skip(1).find_map(|rest| rest.split_once(" from "));
    list.is_some_and(|(columns, _)| columns.split([',', '.', ' ']).any(promises))
}

/// Whether a subcommand makes or shows a secret by its own name: `reset-password`, `get-token`,
/// `show_secret`.
fn makes_secret(words: &[&str]) -> bool {
    let of_command = words.iter().take(SUBCOMMANDS_MAX).take_while(|word| !word.starts_with('-'));
    of_command.into_iter().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let name = name.split_once('.').map_or(name, |(stem, _)| stem);
        let verb = name.split(['-', '_', ':']).find(|part| is_one_of(part, VERBS));
        verb.is_some_and(|verb| verb.len() < name.len()) && promises(name)
    })
}

/// Whether the command keeps only a part of each line: the value behind a name.
pub(super) fn is_cutter(words: &[&str]) -> bool {
    match words.first() {
        Some(&"cut") => true,
        Some(&"awk") => words.iter().any(|word| word.contains("print")),
        Some(&"sed") => words.iter().any(|word| word.contains("s/") && word.contains("//")),
        _ => false,
    }
}

/// `base64 -d`, which prints what was hidden.
fn is_decoder(words: &[&str]) -> bool {
    let decodes = |word: &&str| matches!(*word, "-d" | "-D" | "--decode" | "-di" | "-id");
    words.first().is_some_and(|program| is_one_of(program, "base64 base32")) && words[1..].iter().any(decodes)
}

/// Whether a path among the arguments ends with the name of a secret.
fn queries_secret(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let last = arguments.last().copied().unwrap_or_default();
    let asks = match *program {
        "terraform" | "tofu" | "pulumi" => arguments.contains(&"output") && promises(last),
        _ => false,
    };
    asks || is_one_of(program, QUERIES)
        && arguments.iter().any(|word| word.contains('.') && ends_with_name(word))
}

/// Whether the last name of a path promises a secret: `.db.password`, `{.data.DB_PASSWORD}`.
fn ends_with_name(path: &str) -> bool {
    let path = path.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let start =
        path.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').map_or(0, |at| at + 1);
    start > 0 && promises(&path[start..])
}

/// Whether an interpreter runs code that prints a secret.
pub(super) fn runs_secret_code(words: &[&str], code: &str) -> bool {
    is_interpreter(words) && reads_secret(code)
}

fn is_interpreter(words: &[&str]) -> bool {
    let with_code = |word: &&str| matches!(*word, "-e" | "-c" | "-p" | "-r" | "eval" | "-ne" | "-pe");
    words.first().is_some_and(|program| is_one_of(program, INTERPRETERS)) && words[1..].iter().any(with_code)
}

/// Whether the code makes a secret, or reads a variable of the environment or an entry of a keyring with such a
/// name.
fn reads_secret(code: &str) -> bool {
    if GENERATORS.iter().any(|function| code.contains(function)) {
        return true;
    }
    let reads = ["env", "ENV", "get_password", "keyring"].iter().any(|word| code.contains(word));
    reads && (names_secret(code) || code.contains("get_password"))
}

/// Whether a name in the text promises a secret.
fn names_secret(text: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.split(|c: char| !of_name(c)).any(|word| word.len() >= 4 && promises(word))
}
