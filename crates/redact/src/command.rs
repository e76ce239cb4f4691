//! Finds passwords in command lines, SQL and calls, in places that no name announces.
//!
//! `commands.txt` says which program takes a secret after which option and in which form; this file
//! interprets the forms.

use super::class;
use super::command_input;
use super::judge::is_chosen;
use super::literal::{self, opening_quote_at};
use super::password_form::PasswordForm;
use super::rules::{RuleAnchor, RuleId, command_options};
use super::secret_words::{chosen_word, is_secret, is_sure, secret_word, sure_word};
use super::shape::word_begins;
use super::shell_words::{CommandReach, ShellWord};
use super::value::{self, ValueRandomness};
use super::value_form;

const COMMAND_PASSWORD: RuleId = RuleId::named("command-password");
/// Maximum length of the rest of a program's name that may continue.
const OPEN_END_BYTES_MAX: usize = 64;
/// Maximum length of the arguments of a call that are examined.
const CALL_BYTES_MAX: usize = 4096;

/// The secret among the arguments of the program whose name is `anchor`, at `at`.
pub(super) fn secret_at(
    bytes: &[u8],
    at: usize,
    anchor: &RuleAnchor,
    reach: &mut CommandReach,
) -> Option<(usize, usize, RuleId)> {
    let name = anchor.text();
    let after = at + name.len();
    let opens_call = name.ends_with('(');
    // Commands of protocols are in capitals, and a class may end with the name: `NetworkCredential(`.
    let capitals = !name.bytes().any(|b| b.is_ascii_lowercase());
    if capitals && !bytes[at..].starts_with(name.as_bytes()) {
        return None;
    }
    // A short option stands alone; a long one may be glued to anything.
    let short = name.starts_with('-') && !name.starts_with("--");
    if short && !matches!(bytes[..at].last(), None | Some(b' ' | b'\t' | b'\n')) {
        return None;
    }
    let starts = matches!(bytes[at], b'-' | b'/' | b'\'' | b'"')
        || opens_call && name.starts_with(|c: char| c.is_ascii_uppercase())
        || word_begins(bytes, at) && (opens_call || !follows_joint(bytes, at));
    if !starts {
        return None;
    }
    let entries = command_options(name);
    let open_end = entries.iter().any(|entry| entry.open_end);
    let ended = !name.ends_with(|c: char| c.is_ascii_alphanumeric())
        || bytes.get(after).is_none_or(|b| !class::has(class::URL, *b) && *b != b'.');
    if !open_end && !ended {
        return None;
    }
    let after =
        after + if open_end { class::run(&bytes[after..], class::TILDE, OPEN_END_BYTES_MAX) } else { 0 };
    let mut words = None;
    entries.iter().find_map(|entry| {
        let (start, end) = match entry.form {
            PasswordForm::Call => call(bytes, after, name),
            PasswordForm::Stdin => {
                let words = words.get_or_insert_with(|| reach.split(bytes, after));
                let option = entry.option.get();
                let asked = option.is_empty()
                    || words.iter().any(|word| word.slice(bytes).starts_with(option.as_bytes()));
                let here = || {
                    command_input::here_string(bytes, words)
                        .or_else(|| command_input::here_document(bytes, words))
                };
                asked.then(|| command_input::piped(bytes, at).or_else(here)).flatten()
            }
            PasswordForm::Listed => listed(bytes, after),
            PasswordForm::Printed => {
                command_input::printed(bytes, at, words.get_or_insert_with(|| reach.split(bytes, after)))
            }
            form => {
                let words = words.get_or_insert_with(|| reach.split(bytes, after));
                let found = argument(bytes, words, entry.option.get().as_bytes(), form);
                // `AUTH failed2`: a message in capitals, not a command of a protocol.
                let message = capitals || name.ends_with(|c: char| c.is_ascii_digit());
                found.filter(|(start, end)| !message || !value_form::is_numbered_word(&bytes[*start..*end]))
            }
        }?;
        Some((start, end, COMMAND_PASSWORD))
    })
}

/// Whether the name continues a path or a longer name: `my-zip`, `x.zip`; a program may follow a
/// slash.
fn follows_joint(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[..at].last(), Some(b'-' | b'.' | b'$' | b'_'))
}

/// The secret in the first argument that has `option` and `form`.
fn argument(bytes: &[u8], words: &[ShellWord], option: &[u8], form: PasswordForm) -> Option<(usize, usize)> {
    match form {
        PasswordForm::Arg(n) => {
            let word = words.iter().filter(|word| !word.is_option(bytes)).nth(usize::from(n) - 1)?;
            return secret_word(bytes, *word).filter(|(start, end)| end - start >= 4);
        }
        PasswordForm::Last => {
            let word = words.iter().rfind(|word| !word.is_option(bytes))?;
            return chosen_word(bytes, *word);
        }
        PasswordForm::Typed => {
            let typed = words.first().filter(|word| {
                [b"\\r\"".as_slice(), b"\\n\""].iter().any(|end| word.slice(bytes).ends_with(end))
            })?;
            return chosen_word(bytes, *typed);
        }
        PasswordForm::Slash => return words.iter().find_map(|word| user_and_password(bytes, *word, b'/')),
        PasswordForm::Assign => return words.iter().find_map(|word| assigned(bytes, *word)),
        _ => {}
    }
    if option.is_empty() {
        let word = *words.first()?;
        return match form {
            PasswordForm::Quoted => {
                let quoted = bytes[word.start] == b'\'';
                secret_word(bytes, word).filter(|_| quoted)
            }
            _ => value(bytes, word, form),
        };
    }
    for (i, word) in words.iter().enumerate() {
        // An option that holds its value may be in quotes as a whole.
        let word = &match word.unquoted(bytes) {
            (start, end) if form == PasswordForm::Glued && start > word.start => ShellWord { start, end },
            _ => *word,
        };
        let text = word.slice(bytes);
        if !text.starts_with(option) {
            continue;
        }
        let rest = ShellWord { start: word.start + option.len(), ..*word };
        let found = match text.get(option.len()) {
            None if form != PasswordForm::Glued => {
                words.get(i + 1).and_then(|next| value(bytes, *next, form))
            }
            Some(b'=') if form != PasswordForm::Glued => {
                value(bytes, ShellWord { start: rest.start + 1, ..rest }, form)
            }
            Some(_) if matches!(form, PasswordForm::Glued | PasswordForm::Either) => secret_word(bytes, rest),
            // `-uNAME:SECRET`
            Some(_)
                if option.len() == 2
                    && !matches!(form, PasswordForm::Next | PasswordForm::Chosen | PasswordForm::Quoted) =>
            {
                value(bytes, rest, form)
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The secret part of the argument `word`.
fn value(bytes: &[u8], word: ShellWord, form: PasswordForm) -> Option<(usize, usize)> {
    match form {
        PasswordForm::User => user_and_password(bytes, word, b':'),
        PasswordForm::Percent => user_and_password(bytes, word, b'%'),
        PasswordForm::Comma => user_and_password(bytes, word, b','),
        PasswordForm::Slash => user_and_password(bytes, word, b'/'),
        PasswordForm::Cookie => {
            let (start, end) = word.unquoted(bytes);
            let secret = |pair: &[u8]| {
                let sign = pair.iter().position(|b| *b == b'=');
                sign.is_some_and(|sign| is_generated(&pair[sign + 1..]))
            };
            bytes[start..end].split(|b| *b == b';').any(secret).then_some((start, end))
        }
        PasswordForm::Chosen => chosen_word(bytes, word),
        PasswordForm::Sure => sure_word(bytes, word),
        PasswordForm::SureUser => {
            let (start, end) = word.unquoted(bytes);
            let sign = bytes[start..end].iter().position(|b| matches!(b, b':' | b'%' | b','))?;
            let (user, password) = (&bytes[start..start + sign], &bytes[start + sign + 1..end]);
            let fits =
                !user.is_empty() && user.iter().all(|b| class::has(class::TILDE, *b) || b"@\\/".contains(b));
            (fits && is_sure(password)).then_some((start + sign + 1, end))
        }
        PasswordForm::Quoted => {
            let quoted = matches!(bytes.get(word.start), Some(b'\'' | b'"' | b'\\'));
            secret_word(bytes, word).filter(|_| quoted)
        }
        _ => secret_word(bytes, word),
    }
}

fn is_generated(value: &[u8]) -> bool {
    value.len() >= 12 && value::classify_value(value) >= ValueRandomness::Mixed
}

/// The value of an option in a list of strings, whose quotation mark and name stand before `after`.
fn listed(bytes: &[u8], after: usize) -> Option<(usize, usize)> {
    let quote = bytes[after - 3];
    let rest = &bytes[after..];
    let start = if rest.first() == Some(&quote) {
        let joint = rest[1..].iter().take(8).take_while(|b| matches!(b, b',' | b' ' | b'\n')).count();
        let open = rest.get(1 + joint) == Some(&quote);
        (open && rest[1..=joint].contains(&b',')).then_some(after + joint + 2)?
    } else {
        after
    };
    let length = bytes[start..].iter().take(64).position(|b| *b == quote)?;
    let value = &bytes[start..start + length];
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let chosen = is_chosen(value, value::classify_value(value)) && !value_form::is_numbered_word(value);
    (chosen && (digits >= 2 || value::is_strong(value)) && !value.iter().any(|b| b"/:.".contains(b)))
        .then_some((start, start + length))
}

/// The password of `NAME:PASSWORD`, with the given separator.
fn user_and_password(bytes: &[u8], word: ShellWord, separator: u8) -> Option<(usize, usize)> {
    let (start, mut end) = word.unquoted(bytes);
    let sign = bytes[start..end].iter().position(|b| *b == separator)?;
    if separator == b'/' {
        // `NAME/PASSWORD@host`
        end = start + bytes[start..end].iter().rposition(|b| *b == b'@').unwrap_or(end - start);
    }
    let start = start + sign + 1;
    (sign > 0 && start < end && is_secret(&bytes[start..end])).then_some((start, end))
}

/// The value of `NAME=VALUE` or of `--from-literal=NAME=VALUE`.
fn assigned(bytes: &[u8], word: ShellWord) -> Option<(usize, usize)> {
    let (start, end) = word.unquoted(bytes);
    let text = &bytes[start..end];
    let text_start = if text.starts_with(b"-") { text.iter().position(|b| *b == b'=')? + 1 } else { 0 };
    let sign = text_start + text[text_start..].iter().position(|b| *b == b'=')?;
    let inner = ShellWord { start: start + sign + 1, end };
    let (start, end) = inner.unquoted(bytes);
    let value = &bytes[start..end];
    let mixed = value.len() >= 6
        && (value::classify_value(value) >= ValueRandomness::Mixed || value_form::is_passphrase(value))
        && !value_form::is_numbered_word(value);
    mixed.then_some((start, end))
}

/// The last string among the arguments of a call, if it looks like a password or a key. The first
/// argument of a login is a user or a strategy.
fn call(bytes: &[u8], from: usize, function: &str) -> Option<(usize, usize)> {
    let limit = bytes.len().min(from + CALL_BYTES_MAX);
    let (mut here, mut depth) = (from, 0_u32);
    let mut is_first = true;
    let takes_one = [
        "password(",
        "Password(",
        "passphrase(",
        "Fernet(",
        "AESGCM(",
        "cookieParser(",
        "hmacShaKeyFor(",
        "crypt(",
    ]
    .iter()
    .any(|ending| function.ends_with(ending));
    let mut last = None;
    while here < limit {
        match bytes[here] {
            b')' if depth == 0 => break,
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' => is_first = false,
            b'\n' if last.is_some() => break,
            b'"' | b'\'' | b'`' | b'\\' => {
                if let Some(open) = opening_quote_at(bytes, here) {
                    let end = literal::literal_end_within(bytes, open, CALL_BYTES_MAX);
                    let value = &bytes[open.end..end];
                    let named = bytes[..open.start].trim_ascii_end().ends_with(b"=");
                    if is_password_argument(value, is_first && !takes_one) && !named {
                        last = Some((open.end, end));
                    }
                    here = end + open.end - open.start;
                    continue;
                }
            }
            _ => {}
        }
        here += 1;
    }
    last
}

/// Whether an argument of a call is a password or a key. The first argument must be more than chosen.
fn is_password_argument(value: &[u8], is_first: bool) -> bool {
    let weight = value::classify_value(value);
    if weight == ValueRandomness::Random && value.len() >= 16 && !value_form::is_technical(value) {
        return true;
    }
    let address = value.contains(&b'@') && value.contains(&b'.');
    let connection = value_form::contains(value, b"host=") || value_form::contains(value, b"dbname=");
    let plain = is_first || address || connection || value_form::is_numbered_word(value);
    is_chosen(value, weight) && (!plain || value::is_strong(value) && !connection)
}
