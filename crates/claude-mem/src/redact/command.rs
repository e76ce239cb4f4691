//! Secrets behind words that are no names of secrets: options of programs that take a password,
//! and SQL.

use super::class;
use super::literal::{self, opening};
use super::place::blanks;
use super::rules::RuleId;
use super::value::{self, Weight};

const ARGUMENT: RuleId = RuleId::named("command-password");
const COMMAND_BYTES_MAX: usize = 400;

/// How a program takes a password.
struct Program {
    name: &'static str,
    option: &'static str,
    form: Form,
}

enum Form {
    /// `-p secret`
    Next,
    /// `-psecret`
    Glued,
    /// `-u user:secret`
    User,
    /// `'secret'`, and nothing without quotes
    Quoted,
}

const PROGRAMS: [Program; 14] = [
    Program {
        name: "curl",
        option: "-u",
        form: Form::User,
    },
    Program {
        name: "curl",
        option: "--user",
        form: Form::User,
    },
    Program {
        name: "wget",
        option: "--user",
        form: Form::User,
    },
    Program {
        name: "sshpass",
        option: "-p",
        form: Form::Next,
    },
    Program {
        name: "sshpass",
        option: "-p",
        form: Form::Glued,
    },
    Program {
        name: "mysql",
        option: "-p",
        form: Form::Glued,
    },
    Program {
        name: "mariadb",
        option: "-p",
        form: Form::Glued,
    },
    Program {
        name: "redis-cli",
        option: "-a",
        form: Form::Next,
    },
    Program {
        name: "docker login",
        option: "-p",
        form: Form::Next,
    },
    Program {
        name: "podman login",
        option: "-p",
        form: Form::Next,
    },
    Program {
        name: "unzip",
        option: "-P",
        form: Form::Next,
    },
    Program {
        name: "openssl",
        option: "pass:",
        form: Form::Glued,
    },
    Program {
        name: "htpasswd",
        option: "-b",
        form: Form::Next,
    },
    Program {
        name: "identified by",
        option: "",
        form: Form::Quoted,
    },
];

/// The secret among the arguments of the program whose name stands at `at`.
pub(super) fn at(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    let limit = bytes.len().min(at + COMMAND_BYTES_MAX);
    let command = &bytes[at..limit];
    let line = command
        .iter()
        .position(|b| matches!(b, b'\n' | b'|' | b';'))
        .unwrap_or(command.len());
    let end = at + line;
    PROGRAMS.iter().find_map(|program| {
        let name = command.get(..program.name.len())?;
        let stands = name.eq_ignore_ascii_case(program.name.as_bytes());
        stands
            .then(|| program.secret(bytes, at + program.name.len(), end))
            .flatten()
    })
}

impl Program {
    fn secret(&self, bytes: &[u8], from: usize, end: usize) -> Option<(usize, usize, RuleId)> {
        let mut here = from;
        while let Some(option) = next_option(bytes, here, end, self.option.as_bytes()) {
            if let Some((start, stop)) = self.value(bytes, option, end) {
                return Some((start, stop, ARGUMENT));
            }
            if self.option.is_empty() {
                return None;
            }
            here = option;
        }
        None
    }

    /// The secret behind an option that ends at `at`.
    fn value(&self, bytes: &[u8], at: usize, end: usize) -> Option<(usize, usize)> {
        let spaces = blanks(bytes, at) + usize::from(bytes.get(at) == Some(&b'='));
        let (start, stop) = match (&self.form, spaces) {
            (Form::Glued, 0) => word(bytes, at, end),
            (Form::Quoted, 1..) if bytes.get(at + spaces) != Some(&b'\'') => return None,
            (Form::Next | Form::User | Form::Quoted, 1..) => word(bytes, at + spaces, end),
            _ => return None,
        };
        let start = match self.form {
            Form::User => start + 1 + bytes[start..stop].iter().position(|b| *b == b':')?,
            Form::Next | Form::Glued | Form::Quoted => start,
        };
        let secret = &bytes[start..stop];
        let counts =
            secret.len() >= 3 && secret[0] != b'-' && value::weigh(secret) > Weight::Nothing;
        counts.then_some((start, stop))
    }
}

/// Behind the next `option` that begins a word.
fn next_option(bytes: &[u8], from: usize, end: usize, option: &[u8]) -> Option<usize> {
    if option.is_empty() {
        return Some(from);
    }
    (from..end).find_map(|i| {
        let begins = bytes[i - 1].is_ascii_whitespace();
        (begins && bytes[i..end].starts_with(option)).then_some(i + option.len())
    })
}

/// One argument, without its quotes.
fn word(bytes: &[u8], at: usize, end: usize) -> (usize, usize) {
    if let Some(open) = opening(bytes, at) {
        return (open.end, literal::end(bytes, open));
    }
    let length = class::run(&bytes[at..end.max(at)], class::PATH, usize::MAX);
    (at, at + length)
}
