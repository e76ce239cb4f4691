//! Finds passwords in command lines and SQL, after options that are not named as such.

use memchr::memmem;

use super::assigned_value::blanks;
use super::class;
use super::literal::{self, opening_quote_at};
use super::rules::RuleId;
use super::value::{self, ValueRandomness};

const COMMAND_PASSWORD: RuleId = RuleId::named("command-password");
/// Maximum distance of the option from the program's name.
const COMMAND_BYTES_MAX: usize = 300;

/// The form in which a program takes a password.
#[derive(Clone, Copy)]
enum PasswordForm {
    /// The next argument: `-p secret`.
    Next,
    /// In the same argument: `-psecret`.
    Glued,
    /// After the user name: `-u user:secret`.
    User,
    /// A quoted argument only: `'secret'`.
    Quoted,
}

/// Programs with their password option and its form.
const PROGRAMS: [(&str, &str, PasswordForm); 13] = [
    ("curl", "-u", PasswordForm::User),
    ("curl", "--user", PasswordForm::User),
    ("wget", "--user", PasswordForm::User),
    ("sshpass", "-p", PasswordForm::Next),
    ("sshpass", "-p", PasswordForm::Glued),
    ("mysql", "-p", PasswordForm::Glued),
    ("mariadb", "-p", PasswordForm::Glued),
    ("redis-cli", "-a", PasswordForm::Next),
    ("docker login", "-p", PasswordForm::Next),
    ("podman login", "-p", PasswordForm::Next),
    ("unzip", "-P", PasswordForm::Next),
    ("openssl", "pass:", PasswordForm::Glued),
    ("identified by", "", PasswordForm::Quoted),
];

/// The password in the arguments of the program whose name is at `at`.
pub(super) fn secret_at(bytes: &[u8], at: usize) -> Option<(usize, usize, RuleId)> {
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

/// The end of the command at `at`; a trailing backslash continues it on the next line.
fn command_end(bytes: &[u8], at: usize) -> usize {
    let limit = bytes.len().min(at + COMMAND_BYTES_MAX);
    let ends = |i: &usize| match bytes[*i] {
        b'\n' => bytes[*i - 1] != b'\\',
        b'|' | b';' => true,
        _ => false,
    };
    (at + 1..limit).find(ends).unwrap_or(limit)
}

/// The password after the first `option` in `bytes[from..end]` that has one.
fn argument(
    bytes: &[u8],
    from: usize,
    end: usize,
    option: &str,
    form: PasswordForm,
) -> Option<(usize, usize)> {
    if option.is_empty() {
        return value(bytes, from, end, form);
    }
    memmem::find_iter(bytes.get(from..end)?, option)
        .map(|found| from + found)
        .filter(|&start| bytes[start - 1].is_ascii_whitespace())
        .find_map(|start| value(bytes, start + option.len(), end, form))
}

/// The password after an option that ends at `at`.
fn value(bytes: &[u8], at: usize, end: usize, form: PasswordForm) -> Option<(usize, usize)> {
    let apart = blanks(bytes, at) + usize::from(bytes.get(at) == Some(&b'='));
    let quoted = bytes.get(at + apart) == Some(&b'\'');
    let (start, stop) = match (form, apart) {
        (PasswordForm::Glued, 0) => word(bytes, at, end),
        (PasswordForm::Next | PasswordForm::User, 1..) => word(bytes, at + apart, end),
        (PasswordForm::Quoted, 1..) if quoted => word(bytes, at + apart, end),
        _ => return None,
    };
    let start = match form {
        PasswordForm::User => start + 1 + bytes[start..stop].iter().position(|b| *b == b':')?,
        PasswordForm::Next | PasswordForm::Glued | PasswordForm::Quoted => start,
    };
    let secret = &bytes[start..stop];
    let counts =
        secret.len() >= 3 && secret[0] != b'-' && value::classify_value(secret) > ValueRandomness::NotSecret;
    counts.then_some((start, stop))
}

/// One argument, without quotes.
fn word(bytes: &[u8], at: usize, end: usize) -> (usize, usize) {
    if let Some(open) = opening_quote_at(bytes, at) {
        return (open.end, literal::literal_end(bytes, open));
    }
    let rest = bytes.get(at..end).unwrap_or_default();
    (at, at + class::run(rest, class::PATH, rest.len()))
}
