//! Finds values assigned to names that promise a secret: `.env` lines, YAML, JSON, code, command
//! options, query parameters, XML, and prose.
//!
//! `names` says how likely the name is to hold a secret, `place` how literally the value is meant,
//! `value` how much it looks like one; `judge` combines the three.

use super::assigned_value::{AssignedValue, ValueContext};
use super::cell;
use super::class;
use super::code;
use super::judge::{is_chosen, judge};
use super::literal::quote_at;
use super::names::{self, NamePromise};
use super::neighbour;
use super::place;
use super::reference::is_placeholder;
use super::rules::{AnchorScanner, RuleAnchor, RuleId, SecretMatch};
use super::sentence;
use super::shape;
use super::value::{self, ValueRandomness};
use super::value_form;

const NAME_BYTES_MAX: usize = 80;
/// Maximum length of a block that declares a variable.
const BLOCK_BYTES_MAX: usize = 600;
/// How far after a name a terminal colour may stand before its value.
const COLOUR_REACH_BYTES: usize = 12;
/// How far after its name a value may stand in a sentence.
const SENTENCE_BYTES_MAX: usize = 80;

/// Maximum length of the ending of a word: an article, a case.
const FOREIGN_ENDING_BYTES_MAX: usize = 4;
/// Minimum length of a value after a word that also means something ordinary.
const AMBIGUOUS_VALUE_BYTES_MIN: usize = 8;

/// The secret assigned to the name that contains `anchor` at `at`.
pub(super) fn secret_at(bytes: &[u8], at: usize, anchor: &RuleAnchor) -> Option<SecretMatch> {
    let (start, end) = match anchor.scanner {
        AnchorScanner::Word => foreign_word(bytes, at, anchor)?,
        _ => name_around(bytes, at, name_bytes(anchor))?,
    };
    match anchor.scanner {
        AnchorScanner::Named => {
            let value = place::find_value(bytes, start, end)?;
            let whole = shape::matches_whole(anchor.rule.rule(), value.slice(bytes));
            whole.then_some((value.start, value.end, anchor.rule))
        }
        AnchorScanner::Word if is_key_word(anchor) => {
            secret_by_promise(bytes, start, end, NamePromise::Token)
                .or_else(|| sentence::token_behind_particle(bytes, end))
        }
        AnchorScanner::Word => secret_by_promise(bytes, start, end, NamePromise::Maybe)
            .or_else(|| cell::value_beside(bytes, start..end))
            .or_else(|| sentence::value_behind_particle(bytes, end))
            .or_else(|| sentence::value_near(bytes, start..end))
            .or_else(|| sentence::formed_value_near(bytes, start..end))
            .filter(|(start, end, _)| !is_ambiguous(anchor) || end - start >= AMBIGUOUS_VALUE_BYTES_MIN),
        _ => {
            let promise = promise(bytes, start, end)?;
            let assigned = || {
                secret_by_promise(bytes, start, end, promise)
                    .or_else(|| secret_in_object(bytes, start, end, promise))
                    .or_else(|| trailing_value(bytes, end, promise))
            };
            let found = if place::may_follow(bytes, end) { assigned() } else { None };
            if found.is_some() || !matches!(promise, NamePromise::Password | NamePromise::Token) {
                return found;
            }
            let beside = cell::value_beside(bytes, start..end).filter(|(start, end, _)| {
                promise == NamePromise::Password || is_token_cell(&bytes[*start..*end])
            });
            if beside.is_some() || promise != NamePromise::Password {
                return beside;
            }
            sentence::value_near(bytes, start..end)
        }
    }
}

/// The extent of a word of another language, with its ending: `lösenordet`. We cannot split such names
/// into words.
fn foreign_word(bytes: &[u8], at: usize, anchor: &RuleAnchor) -> Option<(usize, usize)> {
    let end = at + anchor.len();
    let first = bytes[at];
    if !first.is_ascii() {
        return Some((at, end));
    }
    let ending = class::run(&bytes[end..], class::ALPHA, FOREIGN_ENDING_BYTES_MAX + 1);
    let most = if anchor.len() <= 5 { 0 } else { FOREIGN_ENDING_BYTES_MAX };
    (shape::word_begins(bytes, at) && ending <= most).then_some((at, end + ending))
}

/// Whether the word means a key, whose value is generated.
fn is_key_word(anchor: &RuleAnchor) -> bool {
    const WORDS: [&str; 11] =
        ["clé", "schl", "api", "令牌", "トークン", "токен", "Токен", "토큰", "密钥", "密鑰", "ключ"];
    WORDS.iter().any(|word| anchor.text().starts_with(word))
}

/// Whether the word also means something ordinary: a key of a table, a word, an island.
fn is_ambiguous(anchor: &RuleAnchor) -> bool {
    matches!(anchor.text(), "clave" | "parole" | "parola" | "sandi" | "geslo")
}

/// The value at the end of the line, after a colon: `temporary password for root@localhost: …`.
fn trailing_value(bytes: &[u8], end: usize, promise: NamePromise) -> Option<SecretMatch> {
    if promise != NamePromise::Password || bytes.get(end) != Some(&b' ') {
        return None;
    }
    let line = &bytes[end..bytes.len().min(end + SENTENCE_BYTES_MAX)];
    let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
    // `Use the following password to log in:`, and the value alone below.
    if line.trim_ascii_end().ends_with(b":")
        && let Some((start, stop)) = sentence::lone_value(bytes, end + line.len())
    {
        return Some((start, stop, RuleId::named("password")));
    }
    let line = line.trim_ascii_end();
    let colon = line.windows(2).rposition(|w| w == b": ")?;
    let of_sentence = |b: &u8| b.is_ascii_alphanumeric() || b" @._-[]'".contains(b) || !b.is_ascii();
    let value = &line[colon + 2..];
    let start = end + colon + 2;
    let chosen = value.len() >= 10
        && value_form::is_mixed(value)
        && is_chosen(value, value::classify_value(value))
        && !value.contains(&b' ');
    let said = line[..colon].iter().all(of_sentence) && (value::is_strong(value) || chosen);
    said.then_some((start, start + value.len(), RuleId::named("password")))
}

/// Whether a cell beside the label of a token holds one, not the name of a service: `Web3Auth`.
fn is_token_cell(value: &[u8]) -> bool {
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    digits >= 2 || value::classify_value(value) == ValueRandomness::Random || value::is_strong(value)
}

/// The length of the anchor as part of a name, without the sign after it: `pw:`.
fn name_bytes(anchor: &RuleAnchor) -> usize {
    anchor.text().trim_end_matches([':', '=', '"', ' ']).len()
}

/// Whether a terminal sequence stands so near the name that it may stand between it and its value.
pub(super) fn is_coloured(bytes: &[u8], at: usize, anchor: &RuleAnchor) -> bool {
    let end = at + anchor.len();
    let near = &bytes[end..bytes.len().min(end + COLOUR_REACH_BYTES)];
    near.contains(&0x1b) || bytes[at.saturating_sub(1)] == 0x1b
}

/// The name around an anchor, if it may be the header of a column of a table.
pub(super) fn header_name(bytes: &[u8], at: usize, anchor: &RuleAnchor) -> Option<std::ops::Range<usize>> {
    let foreign = anchor.scanner == AnchorScanner::Word;
    let (start, end) =
        if foreign { foreign_word(bytes, at, anchor)? } else { name_around(bytes, at, name_bytes(anchor))? };
    let closing = |b: &&u8| matches!(**b, b'"' | b'\'' | b'`' | b'*' | b'_');
    let after = end + bytes[end..].iter().take(4).take_while(closing).count();
    let spaces = bytes[after..].iter().take(64).take_while(|b| **b == b' ').count();
    let ends_cell =
        matches!(bytes.get(after + spaces), None | Some(b'|' | b',' | b';' | b'\t' | b'\n' | b'\r' | b')'))
            || ["│", "║"].iter().any(|bar| bytes[after + spaces..].starts_with(bar.as_bytes()));
    let starts_cell = matches!(
        bytes[..start].last(),
        None | Some(b' ' | b'\n' | b'\t' | b'|' | b',' | b';' | b'(' | b'"' | b'\'' | b'`' | b'*')
    );
    if foreign && starts_cell && ends_cell {
        return Some(start..end);
    }
    if !starts_cell || !(ends_cell || spaces > 1) {
        return None;
    }
    // `Secret access key`: a weak word may end a name that promises more.
    let promises = promise(bytes, start, end)? != NamePromise::Weak;
    promises.then_some(start..end)
}

/// Names of fields that hold a name.
const NAMING_FIELDS: &str = "name key k field label parameter parametername param variable var id title \
    secretname secret_name arn";

/// The value of an object that the name belongs to: `"db_password": {"value": "…"}`, or
/// `{"Name": "/prod/db/password", …, "Value": "…"}`.
fn secret_in_object(bytes: &[u8], start: usize, end: usize, promise: NamePromise) -> Option<SecretMatch> {
    if !matches!(promise, NamePromise::Password | NamePromise::Token) {
        return None;
    }
    let quote = quote_at(bytes, end)?;
    let joint = bytes[quote.end..].iter().take(8).take_while(|b| matches!(b, b' ' | b':' | b'\n')).count();
    let open = quote.end + joint;
    if joint > 0 && bytes.get(open) == Some(&b'{') {
        if bytes[quote.end..open].contains(&b':') {
            return neighbour::secret_inside(bytes, open);
        }
        return default_in_block(bytes, open, promise);
    }
    // The name is itself the value of a field that names things.
    let string = start - class::run_back(&bytes[..start], class::PCT, NAME_BYTES_MAX);
    let before = bytes[..string].strip_suffix(b"\"")?;
    let before = before.iter().rev().skip_while(|b| **b == b'\\').count();
    let before = bytes[..before].trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let before = before.strip_suffix(b"\"")?;
    let before = &before[..before.len() - before.iter().rev().take_while(|b| **b == b'\\').count()];
    let key = &before[before.len() - class::run_back(before, class::WORD, 24)..];
    let names =
        NAMING_FIELDS.split_ascii_whitespace().any(|known| key.eq_ignore_ascii_case(known.as_bytes()));
    names.then(|| neighbour::secret_beside(bytes, start)).flatten()
}

/// The default of a variable that a block declares: `variable "db_password" { default = "…" }`.
fn default_in_block(bytes: &[u8], open: usize, promise: NamePromise) -> Option<SecretMatch> {
    let block = &bytes[open..bytes.len().min(open + BLOCK_BYTES_MAX)];
    let block = &block[..block.iter().position(|b| *b == b'}').unwrap_or(block.len())];
    let name = memchr::memmem::find(block, b"default")? + open;
    let value = place::find_value(bytes, name, name + b"default".len())?;
    let rule = judge(promise, ValueContext::Quoted, value.slice(bytes))?;
    (value.place == ValueContext::Quoted).then_some((value.start, value.end, rule))
}

/// What the name promises; for a plain `key`, with the word before it.
fn promise(bytes: &[u8], start: usize, end: usize) -> Option<NamePromise> {
    let promise = names::promise(&bytes[start..end])?;
    if promise != NamePromise::Weak || start == 0 || bytes[start - 1] != b' ' {
        return Some(promise);
    }
    let owner = class::run_back(&bytes[..start - 1], class::ALPHA, NAME_BYTES_MAX);
    names::promise(&bytes[start - 1 - owner..end])
}

/// The value assigned to the name, if it is a secret under this promise.
fn secret_by_promise(bytes: &[u8], start: usize, end: usize, promise: NamePromise) -> Option<SecretMatch> {
    let value = place::find_value(bytes, start, end)?;
    if value.place == ValueContext::Expression {
        return literal_in(bytes, value, promise).or_else(|| pair_in(bytes, value, &bytes[start..end]));
    }
    let whole = match value.place {
        ValueContext::ConfigLine | ValueContext::Unquoted | ValueContext::Juxtaposed => {
            code::extend_value(bytes, value)
        }
        _ => value,
    };
    let rule = judge(promise, value.place, value.slice(bytes))
        .or_else(|| judge(promise, value.place, whole.slice(bytes)))?;
    let rule = shape::rule_of_whole(whole.slice(bytes)).unwrap_or(rule);
    Some((whole.start, whole.end, rule))
}

/// The extent of the name around an anchor.
fn name_around(bytes: &[u8], at: usize, length: usize) -> Option<(usize, usize)> {
    let mut start = at - class::run_back(&bytes[..at], class::TILDE, NAME_BYTES_MAX);
    // In `\npassword` and after a terminal colour, the letter before the name does not belong to
    // it.
    while start < at && !shape::word_begins(bytes, start) {
        start += 1;
    }
    if start < at && shape::word_begins(bytes, start + 1) && bytes[start].is_ascii_alphabetic() {
        start += 1;
    }
    let mut end = at + length;
    end += class::run(&bytes[end..], class::URL, NAME_BYTES_MAX);
    while bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic) {
        end += 1;
        end += class::run(&bytes[end..], class::URL, NAME_BYTES_MAX);
        if end - start > NAME_BYTES_MAX {
            return None;
        }
    }
    (end - start <= NAME_BYTES_MAX).then_some((start, end))
}

/// A secret literal within an expression: a default value, an argument.
fn literal_in(bytes: &[u8], code: AssignedValue, promise: NamePromise) -> Option<SecretMatch> {
    let mut from = code.start;
    while let Some(literal) = place::next_literal(bytes, from, code.end) {
        let value = literal.slice(bytes);
        let weight = value::classify_value(value);
        let random = weight == ValueRandomness::Random && value.len() >= 16;
        let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
        let default = promise == NamePromise::Password
            && (digits >= 2 || digits == 1 && is_wrapped(code.slice(bytes)))
            && is_chosen(value, weight)
            && value_form::is_mixed(value);
        if promise == NamePromise::Token && digits >= 2 && is_default_of_variable(bytes, code.start, &literal)
        {
            let chosen = is_chosen(value, weight) && value_form::is_mixed(value) && value.len() >= 10;
            if chosen && !is_placeholder(value) && !value_form::is_common(value) {
                return Some((literal.start, literal.end, RuleId::named("secret")));
            }
        }
        if (random || default)
            && let Some(rule) = judge(promise, ValueContext::Unquoted, value)
        {
            let rule = shape::rule_of_whole(value).unwrap_or(rule);
            return Some((literal.start, literal.end, rule));
        }
        from = literal.end + 1;
    }
    None
}

/// Whether an expression only wraps a literal, as debug output and constructors do: `Some("…")`, `['…']`.
fn is_wrapped(expression: &[u8]) -> bool {
    const WRAPPERS: [&str; 11] = [
        "[",
        "Some(",
        "Ok(",
        "Just ",
        "Optional[",
        "Optional(",
        "String::from(",
        "Secret::new(",
        "SecretStr(",
        "SecretString(",
        "Password(",
    ];
    let expression = expression.strip_prefix(b"new ").unwrap_or(expression);
    let wrapper = WRAPPERS.iter().find_map(|wrapper| expression.strip_prefix(wrapper.as_bytes()));
    wrapper.is_some_and(|rest| matches!(rest.first(), Some(b'"' | b'\'')))
}

/// Whether a literal stands in for a variable of the environment that is not set: `process.env.X || "…"`,
/// `getenv("X", "…")`.
fn is_default_of_variable(bytes: &[u8], start: usize, literal: &AssignedValue) -> bool {
    let before = &bytes[start..literal.start.saturating_sub(1)];
    let joined = before.trim_ascii_end();
    let otherwise = [b"||".as_slice(), b"??", b",", b"or"].iter().any(|sign| joined.ends_with(sign));
    otherwise && value_form::contains(&joined.to_ascii_lowercase(), b"env")
}

/// The password of a credential pair: `auth=("user", "password")`, `auth = HTTPBasicAuth("user",
/// "password")`.
fn pair_in(bytes: &[u8], code: AssignedValue, name: &[u8]) -> Option<SecretMatch> {
    let expression = code.slice(bytes);
    let pair = expression.starts_with(b"(") || value_form::contains(expression, b"BasicAuth(");
    if !pair || !name.to_ascii_lowercase().ends_with(b"auth") {
        return None;
    }
    let user = place::next_literal(bytes, code.start, code.end)?;
    let password = place::next_literal(bytes, user.end + 1, code.end)?;
    let rule = judge(NamePromise::Password, ValueContext::Unquoted, password.slice(bytes))?;
    Some((password.start, password.end, rule))
}
