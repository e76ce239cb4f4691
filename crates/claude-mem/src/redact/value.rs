//! How much a value looks like a secret, whatever it is assigned to.

use super::class;
use super::shape::entropy;

/// From "there is no secret here" to "no person chose these letters".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Empty, a placeholder, a reference to a value that is kept elsewhere, a sentence.
    Nothing,
    /// Words: an identifier, a label, a weak password.
    Word,
    /// Letters with digits or signs between them.
    Mixed,
    /// What a generator makes.
    Random,
}

/// Weighs a value without its quotes.
pub(super) fn weigh(value: &[u8]) -> Weight {
    if is_blank(value) || is_reference(value) || is_literal(value) {
        return Weight::Nothing;
    }
    if value.iter().any(u8::is_ascii_whitespace) {
        return weigh_phrase(value);
    }
    if is_random(value) {
        Weight::Random
    } else if is_wordlike(value) {
        Weight::Word
    } else {
        Weight::Mixed
    }
}

/// Empty, masked already, or one sign over and over.
fn is_blank(value: &[u8]) -> bool {
    let filler = |b: &u8| {
        matches!(
            b,
            b'*' | b'.' | b'x' | b'X' | b'-' | b'_' | b'#' | b'?' | b' ' | b':'
        )
    };
    value.len() < 2
        || !value
            .iter()
            .any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
        || value.iter().all(filler)
        || value.iter().all(|b| *b == value[0])
        || value.starts_with("•".as_bytes())
        || value.starts_with("…".as_bytes())
        || ALPHABETS.iter().any(|row| contains(value, row))
        || contains(value, b"[redacted")
        || contains(value, "[… ".as_bytes())
}

/// Rows of an alphabet: examples, and tables of characters.
const ALPHABETS: [&[u8]; 3] = [b"abcdefghij", b"ABCDEFGHIJ", b"0123456789"];

/// A value that says where the secret is, not what it is.
fn is_reference(value: &[u8]) -> bool {
    match value {
        // A bcrypt or crypt hash also begins with a dollar, but a digit follows.
        [b'$', b'0'..=b'9', ..] => false,
        // `${NAME}`, `$(command)`, `{name}`, `<name>`, `<%= name %>`, `#{name}`, `%(name)s`
        [b'$', b'{' | b'(' | b'[' | b'$', ..]
        | [
            b'<' | b'{',
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'{' | b'%' | b'?',
            ..,
        ]
        | [b'#', b'{', ..]
        | [b'%', b'(', ..]
        | [b'%', b's' | b'v' | b'd' | b'q' | b'@']
        | [b'{', .., b'}']
        | [b'<', .., b'>']
        | [b'%', .., b'%']
        | [b'@', .., b'@'] => true,
        // `$NAME`, `:name`
        [b'$' | b':', name @ ..] => class::run(name, class::WORD, usize::MAX) == name.len(),
        [b'/' | b'~', ..] | [b'.', b'/' | b'.', ..] => is_path(value),
        _ => {
            value.starts_with(b"arn:")
                || value.starts_with(b"data:")
                || REFERRING.iter().any(|part| contains(value, part))
        }
    }
}

const REFERRING: [&[u8]; 4] = [b"://", b"${", b"{{", b"%s"];

fn is_path(value: &[u8]) -> bool {
    let relative = [b"./".as_slice(), b"../", b"~/"];
    let parts = value.split(|b| *b == b'/').count();
    relative.iter().any(|start| value.starts_with(start)) || (parts > 2 && is_wordlike(value))
}

/// Values that every language has a word for.
fn is_literal(value: &[u8]) -> bool {
    const LITERALS: [&str; 14] = [
        "true",
        "false",
        "null",
        "nil",
        "none",
        "undefined",
        "nan",
        "void",
        "yes",
        "no",
        "on",
        "off",
        "empty",
        "unset",
    ];
    LITERALS
        .iter()
        .any(|literal| value.eq_ignore_ascii_case(literal.as_bytes()))
        || (value.len() < 4 && value.iter().all(u8::is_ascii_digit))
        || is_number(value)
        || is_sized_type(value)
}

/// `0x80`, `5i32`, `0x8000_u32`: numbers as only code writes them.
fn is_number(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let hex = value.strip_prefix(b"0x");
    let digits = hex.unwrap_or(value);
    let of_number = |b: &u8| match hex {
        Some(_) => b.is_ascii_hexdigit() || *b == b'_',
        None => b.is_ascii_digit() || *b == b'_',
    };
    let length = digits.iter().take_while(|b| of_number(b)).count();
    let rest = &digits[length..];
    length > 0
        && length <= 10
        && (rest.is_empty() && hex.is_some()
            || matches!(rest, [b'u' | b'i', ..]) && is_sized_type(rest))
}

/// `u32`, `__u64`, `uint8_t`, `char16`
fn is_sized_type(value: &[u8]) -> bool {
    let name = value
        .strip_suffix(b"_t")
        .unwrap_or(value)
        .trim_ascii_start();
    let letters = name
        .iter()
        .take_while(|b| b.is_ascii_lowercase() || **b == b'_')
        .count();
    letters <= 6 && matches!(&name[letters..], b"8" | b"16" | b"32" | b"64" | b"128")
}

/// Several words. A sentence is a label; a row of small words may be a passphrase.
fn weigh_phrase(value: &[u8]) -> Weight {
    let words = value
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .count();
    let small = value
        .iter()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_whitespace());
    match words {
        12.. if small => Weight::Random,
        3.. if small => Weight::Word,
        2 if !is_wordlike(value) && has_digit_and_sign(value) => Weight::Mixed,
        _ => Weight::Nothing,
    }
}

fn has_digit_and_sign(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(|b| b"!@#$%^&*+=".contains(b))
}

/// Letters in runs that a person would write, with a few digits at most.
pub(super) fn is_wordlike(value: &[u8]) -> bool {
    let letters = value
        .iter()
        .filter(|b| b.is_ascii_alphabetic() || !b.is_ascii())
        .count();
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let joints = value.iter().filter(|b| b"_-./: \\@,".contains(b)).count();
    if letters + digits + joints < value.len() || letters == 0 {
        return false;
    }
    // `sha256`, `user_1`, `v2`: digits end a word, and are few.
    let inside = value
        .windows(2)
        .filter(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic());
    digits == 0 || (digits * 4 <= letters && joints > 0 && inside.count() <= 1)
}

/// Long, of many different bytes, and changing between letters, digits and cases all the time.
pub(super) fn is_random(value: &[u8]) -> bool {
    if value.len() < 12 || !is_token(value) {
        return false;
    }
    let kind = |b: u8| match b {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let mut jumps = 0;
    for (i, pair) in value.windows(2).enumerate() {
        let (a, b) = (kind(pair[0]), kind(pair[1]));
        let capitalised = (a, b) == (2, 1) && (i == 0 || kind(value[i - 1]) != 2);
        if a != 0 && b != 0 && a != b && !capitalised {
            jumps += 1;
        }
    }
    jumps * 5 >= value.len() && entropy(value) >= 2.8
}

/// Only bytes that machine-made tokens have.
pub(super) fn is_token(value: &[u8]) -> bool {
    value
        .iter()
        .all(|&b| b.is_ascii_alphanumeric() || b"_-+/=.~:%!@|".contains(&b))
}

/// A regular expression or a format, not a value.
pub(super) fn is_pattern(value: &[u8]) -> bool {
    const SIGNS: [&[u8]; 12] = [
        b"\\d", b"\\w", b"\\s", b"\\b", b".*", b".+", b"[^", b"]+", b"]*", b"(?", b"[a-", b"[0-",
    ];
    SIGNS.iter().any(|sign| contains(value, sign))
}

/// Hexadecimal digits and dashes only: checksums, commits, UUIDs.
pub(super) fn is_hex(value: &[u8]) -> bool {
    value
        .iter()
        .all(|&b| class::has(class::XHEX, b) || b == b'-')
}

/// Words that stand where a password would without being one: types, states, the field's name.
pub(super) fn is_common(value: &[u8]) -> bool {
    const WORDS: [&str; 50] = [
        "string",
        "str",
        "text",
        "bytes",
        "buffer",
        "char",
        "varchar",
        "bool",
        "boolean",
        "number",
        "int",
        "integer",
        "any",
        "unknown",
        "never",
        "object",
        "optional",
        "required",
        "missing",
        "invalid",
        "valid",
        "incorrect",
        "wrong",
        "expired",
        "hidden",
        "default",
        "changed",
        "enabled",
        "disabled",
        "input",
        "field",
        "value",
        "type",
        "self",
        "this",
        "request",
        "body",
        "form",
        "data",
        "label",
        "include",
        "omit",
        "same-origin",
        "ask",
        "prompt",
        "env",
        "config",
        "settings",
        "options",
        "args",
    ];
    const PARTS: [&[u8]; 11] = [
        b"pass",
        b"pwd",
        b"secret",
        b"token",
        b"key",
        b"your",
        b"example",
        b"placeholder",
        b"dummy",
        b"user",
        b"cred",
    ];
    let lower = value.to_ascii_lowercase();
    WORDS.iter().any(|word| lower == word.as_bytes()) || PARTS.iter().any(|p| contains(&lower, p))
}

pub(super) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}
