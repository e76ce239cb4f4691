//! Secrets behind words that are no names of secrets: options of programs that take a password,
//! and SQL.

use memchr::memmem;

use super::class;
use super::literal::{self, opening};
use super::place::blanks;
use super::rules::RuleId;
use super::value::{self, Weight};

const COMMAND_PASSWORD: RuleId = RuleId::named("command-password");
/// How far behind the program's name its option may stand.
const COMMAND_BYTES_MAX: usize = 300;

/// How a program takes a password.
#[derive(Clone, Copy)]
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

/// A program, the option that takes a password, and how.
const PROGRAMS: [(&str, &str, Form); 13] = [
    ("curl", "-u", Form::User),
    ("curl", "--user", Form::User),
    ("wget", "--user", Form::User),
    ("sshpass", "-p", Form::Next),
    ("sshpass", "-p", Form::Glued),
    ("mysql", "-p", Form::Glued),
    ("mariadb", "-p", Form::Glued),
    ("redis-cli", "-a", Form::Next),
    ("docker login", "-p", Form::Next),
    ("podman login", "-p", Form::Next),
    ("unzip", "-P", Form::Next),
    ("openssl", "pass:", Form::Glued),
    ("identified by", "", Form::Quoted),
];

/// The secret among the arguments of the program whose name stands at `at`.
pub(super) fn at(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
    let mut end = None;
    for (name, option, form) in PROGRAMS {
        let start = bytes[at..].get(..name.len());
        if !start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes())) {
            continue;
        }
        let end = *end.get_or_insert_with(|| command_end(bytes, at));
        if let Some((start, stop)) = argument(bytes, at + name.len(), end, option, form) {
            return Some((start, stop, COMMAND_PASSWORD));
        }
    }
    None
}

/// Where the command that begins at `at` ends; a backslash takes it on to the next line.
fn command_end(bytes: &[u8], at: usize) -> usize {
    let limit = bytes.len().min(at + COMMAND_BYTES_MAX);
    let ends = |i: &usize| match bytes[*i] {
        b'\n' => bytes[*i - 1] != b'\\',
        b'|' | b';' => true,
        _ => false,
    };
    (at + 1..limit).find(ends).unwrap_or(limit)
}

/// The secret behind the first `option` in `bytes[from..end]` that has one.
fn argument(
    bytes: &[u8],
    from: usize,
    end: usize,
    option: &str,
    form: Form,
) -> Option<(usize, usize)> {
    if option.is_empty() {
        return value(bytes, from, end, form);
    }
    memmem::find_iter(bytes.get(from..end)?, option)
        .map(|found| from + found)
        .filter(|&start| bytes[start - 1].is_ascii_whitespace())
        .find_map(|start| value(bytes, start + option.len(), end, form))
}

/// The secret behind an option that ends at `at`.
fn value(bytes: &[u8], at: usize, end: usize, form: Form) -> Option<(usize, usize)> {
    let apart = blanks(bytes, at) + usize::from(bytes.get(at) == Some(&b'='));
    let quoted = bytes.get(at + apart) == Some(&b'\'');
    let (start, stop) = match (form, apart) {
        (Form::Glued, 0) => word(bytes, at, end),
        (Form::Next | Form::User, 1..) => word(bytes, at + apart, end),
        (Form::Quoted, 1..) if quoted => word(bytes, at + apart, end),
        _ => return None,
    };
    let start = match form {
        Form::User => start + 1 + bytes[start..stop].iter().position(|b| *b == b':')?,
        Form::Next | Form::Glued | Form::Quoted => start,
    };
    let secret = &bytes[start..stop];
    let counts = secret.len() >= 3 && secret[0] != b'-' && value::weigh(secret) > Weight::Nothing;
    counts.then_some((start, stop))
}

/// One argument, without its quotes.
fn word(bytes: &[u8], at: usize, end: usize) -> (usize, usize) {
    if let Some(open) = opening(bytes, at) {
        return (open.end, literal::end(bytes, open));
    }
    let rest = bytes.get(at..end).unwrap_or_default();
    (at, at + class::run(rest, class::PATH, rest.len()))
}
