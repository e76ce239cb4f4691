//! [`ErrorSignature`]: what identifies an error, without the parts that differ from run to run.
//!
//! Two error lines have the same signature if they say the same of the same thing: numbers, paths, times and
//! addresses are left out, names in quotation marks and error codes are kept. A memory rarely quotes the whole
//! line, so the comparison goes both ways: the memory quotes the line, or the line contains what the memory quotes.

use claude_mem_search::analyzer::{is_stop_word, words};
use claude_mem_search::stem::stem;

/// Share of the signature's words that a text must contain close together, in percent.
const WORDS_PERCENT_MIN: usize = 75;
/// Share of a quotation's words that an output line must contain close together, in percent.
const QUOTED_PERCENT_MIN: usize = 80;
/// Share of the words that say why something failed, in percent. Many errors of a tool begin alike.
const REASON_PERCENT_MIN: usize = 60;
/// Words from which a line with a reason is the same error for another object: a refused deployment of another name.
const LONG_WORDS_MIN: usize = 8;
/// Words without which a signature identifies nothing, unless it has a name.
const WORDS_MIN: usize = 3;
/// Words without which a passage of a memory is no quotation of an error.
const QUOTED_WORDS_MIN: usize = 4;
/// The words of a signature stand within this many words more than there are of them.
const WINDOW_SLACK_WORDS: usize = 6;
/// The same for a quotation: what was left out of the line stands between its words.
const QUOTED_SLACK_WORDS: usize = 12;

/// One error line as the words and names that identify it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorSignature {
    /// Stems, in order, without those that any error has.
    words: Vec<String>,
    /// Quoted names and error codes, in lower case.
    names: Vec<String>,
    /// What a version belongs to, as stems: `nokogiri` of `nokogiri-1.16.2`.
    versioned: Vec<String>,
    /// The class of an exception, as a stem; it is among the words, too.
    class: Option<String>,
    /// Words and names of the last part of "connection failed: fatal: no such database", which says why.
    reason: Vec<String>,
}

impl ErrorSignature {
    /// `None` if the line identifies no error: "exit code 1", "tests failed", "execution failed for task 'build'".
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        if names_step_only(line) || has_empty_reason(line) {
            return None;
        }
        let signature = Self { reason: reason_of(line), ..Self::parse(line) };
        let telling = signature.words.len();
        let is_named = !signature.names.is_empty() || !signature.versioned.is_empty();
        let identifies = if is_named { telling >= 1 } else { telling >= WORDS_MIN };
        identifies.then_some(signature)
    }

    /// A passage of a memory as the quotation of an error. `None` if it has too little to be one.
    pub(crate) fn from_quotation(passage: &str) -> Option<Self> {
        if names_step_only(passage) {
            return None;
        }
        let signature = Self { reason: reason_of(passage), ..Self::parse(passage) };
        let is_named =
            !signature.names.is_empty() || !signature.versioned.is_empty() || signature.class.is_some();
        let least = if is_named { 2 } else { QUOTED_WORDS_MIN };
        // One compound is the name of a tool, not what it said.
        let is_said = signature.class.is_some() || passage.split_whitespace().count() >= WORDS_MIN;
        (is_said && signature.words.len() >= least).then_some(signature)
    }

    /// The last part of a quoted line, which says why. `None` if other errors may say the same.
    pub(crate) fn from_reason(passage: &str) -> Option<Self> {
        Self::from_quotation(passage).filter(|signature| signature.words.len() >= QUOTED_WORDS_MIN)
    }

    fn parse(line: &str) -> Self {
        let mut signature = Self::default();
        if let Some(missing) = missing_thing(line) {
            signature.names.push(missing);
            signature.words.push(stem("found"));
        }
        signature.names.extend(missing_file(line));
        let line = without_panic_head(line);
        for (at, part) in line.split(['\'', '"', '`', '‘', '’', '“', '”']).enumerate() {
            if at % 2 == 1 && is_name(part) {
                signature.names.push(part.trim().to_lowercase());
                continue;
            }
            for token in part.split_whitespace().filter(|token| !is_place(token)) {
                signature.names.extend(port(token).map(str::to_owned));
                for piece in token.split(['[', ']', '(', ')', ':', ',', ';']) {
                    signature.add_token(piece);
                }
            }
        }
        signature
    }

    fn add_token(&mut self, token: &str) {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric());
        if is_error_code(token) {
            self.names.push(token.to_lowercase());
        } else if let Some(product) = versioned_product(token) {
            self.versioned.extend(words(product).map(|word| stem(&word)));
        } else if !token.chars().any(|c| c.is_ascii_digit()) {
            let kept = words(token).filter(|word| word.len() > 1 && !is_stop_word(word));
            let kept = kept.map(|word| stem(&word)).filter(|word| !GENERIC.contains(&word.as_str()));
            if is_exception_class(token) {
                // Its package is that of its neighbours.
                self.class = kept.last();
                self.words.extend(self.class.clone());
            } else {
                self.words.extend(kept);
            }
        }
    }

    /// Whether a text quotes this error: every name, and nearly all words within one passage.
    pub(crate) fn is_quoted_in(&self, text: &str) -> bool {
        self.is_within(text, WORDS_PERCENT_MIN, WINDOW_SLACK_WORDS)
    }

    /// Whether an output line contains this quotation.
    pub(crate) fn is_printed_in(&self, line: &str) -> bool {
        let has_class = |class: &String| words(line).any(|word| stem(&word) == *class);
        self.class.iter().all(has_class) && self.is_within(line, QUOTED_PERCENT_MIN, QUOTED_SLACK_WORDS)
    }

    fn is_within(&self, text: &str, percent: usize, slack_words: usize) -> bool {
        let lower = text.to_lowercase();
        let may_name_others = self.words.len() >= LONG_WORDS_MIN && !self.reason.is_empty();
        if !may_name_others && !self.names.iter().all(|name| stands_in(name, &lower)) {
            return false;
        }
        let stems: Vec<String> = words(text).map(|word| stem(&word)).collect();
        if !self.versioned.iter().all(|product| stems.contains(product)) {
            return false;
        }
        let has_reason = |part: &String| stems.contains(part) || stands_in(part, &lower);
        let reasons = self.reason.iter().filter(|part| has_reason(part)).count();
        if reasons * 100 < self.reason.len() * REASON_PERCENT_MIN {
            return false;
        }
        let width = self.words.len() + self.names.len() + slack_words;
        let most = (0..stems.len().max(1))
            .map(|from| {
                let window = &stems[from.min(stems.len())..(from + width).min(stems.len())];
                self.words.iter().filter(|word| window.contains(word)).count()
            })
            .max()
            .unwrap_or(0);
        most * 100 >= self.words.len() * percent
    }
}

/// Whether a name stands in a lower-case text, and not as a part of a longer one.
fn stands_in(name: &str, lower: &str) -> bool {
    lower.match_indices(name).any(|(at, found)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + found.len()..].chars().next();
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
        !inside(before) && !inside(after)
    })
}

/// What tools print of the step that failed, whatever the error was.
const STEP_VERDICTS: &[&str] = &[
    "build command failed",
    "could not compile",
    "execution failed for task",
    "failed to solve",
    "hook exited with code",
    "recipe for target",
    "while importing test module",
];

/// How lines begin that accompany an error.
const COMPANIONS: &[&str] = &[
    "help:",
    "hint:",
    "note:",
    "make: ***",
    "make[",
    "gmake: ***",
    "process didn't exit successfully",
    "see also",
];

/// Whether a line says which step failed, and not why, or only accompanies an error.
fn names_step_only(line: &str) -> bool {
    let lower = line.trim_start().to_lowercase();
    if COMPANIONS.iter().any(|start| lower.starts_with(start)) {
        return true;
    }
    let is_verdict = |verdict: &&str| {
        // What follows the verdict and another colon is a reason.
        lower.split_once(*verdict).is_some_and(|(_, rest)| !rest.contains(": "))
    };
    STEP_VERDICTS.iter().any(is_verdict)
}

/// Words of a reason at least: of fewer, one may be left out.
const REASON_WORDS_MIN: usize = 2;

/// The words and names after the last colon, if there are enough of them to say why.
fn reason_of(line: &str) -> Vec<String> {
    let Some((_, last)) = line.rsplit_once(": ") else { return Vec::new() };
    let said = ErrorSignature::parse(last);
    if said.words.len() + said.names.len() < REASON_WORDS_MIN {
        return Vec::new();
    }
    said.words.into_iter().chain(said.names).collect()
}

/// Words of a last part that says only that something failed: "goal x of project y: there are test failures".
const EMPTY_REASON_WORDS_MIN: usize = 3;

/// Whether the last part of a line is a whole statement and says nothing in particular.
fn has_empty_reason(line: &str) -> bool {
    line.rsplit_once(": ").is_some_and(|(_, last)| {
        let said = ErrorSignature::parse(last);
        last.split_whitespace().count() >= EMPTY_REASON_WORDS_MIN
            && said.words.is_empty()
            && said.names.is_empty()
    })
}

/// Words of any error: alone they say which kind of program failed, not why.
const GENERIC: &[&str] = &[
    "abort", "build", "cannot", "code", "command", "compil", "complet", "could", "error", "err", "exit",
    "fail", "failur", "fatal", "find", "found", "invalid", "line", "npm", "panic", "process", "run",
    "script", "statu", "step", "task", "test", "unexpect", "unknown", "warn",
];

/// A quoted word. A quoted path differs from machine to machine.
fn is_name(part: &str) -> bool {
    let part = part.trim();
    let is_word = !part.is_empty() && part.len() <= 120 && !part.contains(char::is_whitespace);
    is_word && !is_place(part) && part.chars().any(char::is_alphabetic)
}

/// The command of "sh: pnpm: not found", or `None`.
fn missing_thing(line: &str) -> Option<String> {
    let (before, _) = line.split_once(": not found").or_else(|| line.split_once(": command not found"))?;
    let name = before.rsplit([' ', ':']).next()?.trim_matches(['\'', '"', '`']).to_lowercase();
    (name.len() > 1 && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')).then_some(name)
}

/// The name of the file that is missing: a compiler looks for it on many paths.
fn missing_file(line: &str) -> Option<String> {
    let (before, _) = line
        .split_once(": No such file or directory")
        .or_else(|| line.split_once(": no such file or directory"))?;
    let path = before.rsplit([' ', ':']).next()?.trim_matches(['\'', '"', '`']);
    let name = path.rsplit('/').next()?.to_lowercase();
    (name.len() > 2 && name.contains('.')).then_some(name)
}

/// What follows "thread 'main' panicked at src/a.rs:3:5:": every panic begins so.
fn without_panic_head(line: &str) -> &str {
    match line.split_once("' panicked at ") {
        Some((_, rest)) => rest.split_once(": ").map_or("", |(_, message)| message),
        None => line,
    }
}

/// The port of `127.0.0.1:5432` or `localhost:5432`: it says which service did not answer.
fn port(token: &str) -> Option<&str> {
    let (host, port) = token.trim_matches(|c: char| !c.is_alphanumeric()).rsplit_once(':')?;
    let is_address = host == "localhost" || host.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_port = (2..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit());
    (is_address && host.len() > 3 && is_port).then_some(port)
}

fn is_place(token: &str) -> bool {
    (token.contains('/') && !token.starts_with('@')) || token.contains('\\')
}

/// `E0502`, `TS2345`, `ENOENT`, `P2002`, `SQLITE_BUSY`, `CS0103`.
fn is_error_code(token: &str) -> bool {
    let letters = token.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').count();
    let rest = &token[letters..];
    let is_numbered =
        (1..=6).contains(&letters) && rest.len() >= 3 && rest.bytes().all(|b| b.is_ascii_digit());
    let is_constant =
        letters == token.len() && letters >= 5 && (token.starts_with('E') || token.contains('_'));
    (is_numbered || is_constant)
        && !matches!(token, "ERROR" | "ERRORS" | "ENDED" | "EXITED" | "EMPTY" | "EXPECTED")
}

/// The name in `nokogiri-1.16.2` or `left-pad@1.3.0`.
fn versioned_product(token: &str) -> Option<&str> {
    let at = token.find(|c: char| c.is_ascii_digit())?;
    let product = token[..at].strip_suffix(['-', '@'])?;
    let is_version = token[at..].contains('.');
    (is_version && product.len() > 1 && product.starts_with(|c: char| c.is_alphabetic())).then_some(product)
}

/// `RequiredDependencyException`, `DBConnection.OwnershipError`, `ExecutorLostFailure`.
fn is_exception_class(token: &str) -> bool {
    let is_suffix = |end: &&str| token.len() > end.len() + 2 && token.ends_with(*end);
    token.starts_with(|c: char| c.is_ascii_uppercase() || c == '_' || c.is_ascii_lowercase())
        && ["Exception", "Error", "Failure"].iter().any(is_suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(line: &str, text: &str) -> bool {
        ErrorSignature::from_line(line).is_some_and(|signature| signature.is_quoted_in(text))
    }

    #[test]
    fn numbers_and_paths_do_not_matter_and_names_do() {
        let told = "`cargo build` failed with error[E0502]: cannot borrow `rows` as mutable at src/a.rs:12. \
                    Collecting the ids first worked.";
        assert!(same("error[E0502]: cannot borrow `rows` as mutable", told));
        assert!(!same("error[E0502]: cannot borrow `cells` as mutable", told));
        assert!(!same("error[E0499]: cannot borrow `rows` as mutable", told));
        let database = "connect ECONNREFUSED 127.0.0.1:5432: docker compose up -d db";
        assert!(same("Error: connect ECONNREFUSED 10.0.0.7:5432", database));
        assert!(!same("Error: connect ECONNREFUSED 127.0.0.1:6379", database));
    }

    #[test]
    fn line_that_contains_the_quoted_part_is_the_same_error() {
        let quoted = |passage: &str, line: &str| {
            ErrorSignature::from_quotation(passage).is_some_and(|quoted| quoted.is_printed_in(line))
        };
        let line = "app/mail.py:3: error: Library stubs not installed for \"requests\"  [import-untyped]";
        assert!(quoted("Library stubs not installed for \"requests\".", line));
        assert!(!quoted("Library stubs not installed for \"yaml\".", line));
        assert!(!quoted("Installing the types worked.", line));
        let gem = "Could not find nokogiri-1.16.2-aarch64-linux in locally installed gems";
        assert!(quoted("Could not find nokogiri-1.15.0 in locally installed gems.", gem));
        assert!(!quoted("Could not find puma-6.4.2 in locally installed gems.", gem));
    }

    #[test]
    fn errors_that_begin_alike_differ_in_their_reason() {
        let told = "psql: error: connection to server on socket failed: FATAL: Peer authentication failed for \
                    user \"shop\". `psql -h localhost -U shop books` worked.";
        assert!(same(
            "psql: error: connection to server on socket failed: FATAL: Peer authentication failed for user \"shop\"",
            told
        ));
        assert!(!same(
            "psql: error: connection to server failed: FATAL: database \"books\" does not exist",
            told
        ));
    }

    #[test]
    fn failed_step_is_no_error() {
        for line in
            ["Execution failed for task ':app:minify'.", "ImportError while importing test module 'a'."]
        {
            assert_eq!(ErrorSignature::from_line(line), None, "{line}");
            assert_eq!(ErrorSignature::from_quotation(line), None, "{line}");
        }
    }

    #[test]
    fn missing_command_or_header_is_the_name_of_the_error() {
        let told =
            "`make` failed with “src/tls.c:4:10: fatal error: mbedtls/ssl.h: No such file or directory”.";
        assert!(same("lib/dtls.c:7:10: fatal error: mbedtls/ssl.h: No such file or directory", told));
        assert!(!same("lib/dtls.c:7:10: fatal error: zlib.h: No such file or directory", told));
        let hook =
            "`git commit` failed with “.husky/pre-commit: 4: pnpm: not found”. `corepack enable` helped.";
        assert!(same(".husky/pre-commit: 9: pnpm: not found", hook));
        assert!(!same(".husky/pre-commit: 9: bun: not found", hook));
        assert!(!same("sh: pnpm: not found", "Run `pnpm install` after every pull."));
    }

    #[test]
    fn head_of_a_panic_is_no_error() {
        let told =
            "“thread 'main' panicked at /a/build.rs:1:5: Could not find directory of OpenSSL installation”";
        assert!(same(
            "thread 'main' panicked at /b/build.rs:9:5: Could not find directory of OpenSSL installation",
            told
        ));
        assert!(!same(
            "thread 'main' panicked at /a/build.rs:1:5: the linker of the target is not installed",
            told
        ));
    }

    #[test]
    fn what_any_failure_prints_identifies_nothing() {
        for line in [
            "[ERROR] Failed to execute goal org.acme:surefire:test on project billing: There are test failures.",
            "error: test failed",
            "Process exited with status 1",
            "npm ERR! code 1",
            "FAILED",
            "",
        ] {
            assert_eq!(ErrorSignature::from_line(line), None, "{line}");
        }
    }
}
