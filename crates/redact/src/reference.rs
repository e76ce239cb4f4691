//! Recognises values that are not secrets: blanks, references to where a secret is stored, and
//! common literals.

use super::class;
use super::value_form::{contains, is_hex, is_wordlike};

/// Whether it is empty, already masked, or one character repeated.
pub(super) fn is_blank(value: &[u8]) -> bool {
    const FILLERS: &[u8] = b"*.xX-_#? :";
    value.len() < 2
        || !value.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
        || value.iter().all(|b| FILLERS.contains(b) || *b == value[0])
        || value.starts_with("•".as_bytes())
        || value.starts_with("…".as_bytes())
        || contains(value, b"[redacted")
        || contains(value, "[… ".as_bytes())
}

/// Whether it says where the secret is, not what it is.
#[allow(
    clippy::match_same_arms,
    clippy::unnested_or_patterns,
    reason = "one line for each way of writing it"
)]
pub(super) fn is_reference(value: &[u8]) -> bool {
    match value {
        // A crypt hash also starts with a dollar, but a digit follows.
        [b'$', b'0'..=b'9', ..] => false,
        // `${NAME}`, `$(command)`, `{{ name }}`, `<%= name %>`, `#{name}`, `%(name)s`, `%s`
        [b'$', b'{' | b'(' | b'[' | b'$', ..]
        | [b'{', b'{', ..]
        | [b'<', b'%' | b'?', ..]
        | [b'#', b'{', ..]
        | [b'%', b'(', ..]
        | [b'%', b's' | b'v' | b'd' | b'q' | b'@'] => true,
        // `<name>`, `{name`
        [b'<' | b'{', name @ ..] if is_slot(name) => true,
        // `%NAME%`, `@name@`
        [b'%', name @ .., b'%'] | [b'@', name @ .., b'@'] => is_name(name),
        // `$NAME`, `:name`
        [b'$' | b':', name @ ..] => is_name(name),
        [b'/' | b'~', ..] | [b'.', b'/' | b'.', ..] => is_path(value),
        _ => is_composed(value),
    }
}

fn is_name(text: &[u8]) -> bool {
    let begins = text.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    begins && class::run(text, class::WORD, text.len()) == text.len()
}

/// Whether it is a placeholder's name or number, and then what closes or formats it.
fn is_slot(text: &[u8]) -> bool {
    let of_name = |b: &&u8| class::has(class::TILDE, **b) || **b == b' ';
    let length = text.iter().take_while(of_name).count();
    let ended = text.get(length).is_none_or(|b| b"}>([|:,".contains(b));
    ended && (is_wordlike(&text[..length]) || matches!(text, [b'0'..=b'9', b'}' | b'>', ..]))
}

/// Whether it is a template, a URL, an ARN or a data URI.
fn is_composed(value: &[u8]) -> bool {
    const PARTS: [&[u8]; 3] = [b"://", b"${", b"{{"];
    let format = contains(value, b"%s") && !value.iter().any(u8::is_ascii_digit);
    format
        || value.starts_with(b"arn:")
        || value.starts_with(b"data:")
        || PARTS.iter().any(|part| contains(value, part))
}

fn is_path(value: &[u8]) -> bool {
    let relative = [b"./".as_slice(), b"../", b"~/"];
    let parts = value.split(|b| *b == b'/').count();
    relative.iter().any(|start| value.starts_with(start)) || (parts > 2 && is_wordlike(value))
}

/// Whether it asks to be replaced: `changeme`, `your-api-key-here`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const STARTS: &str = "changeme change-me change_me change_this change-this changeit your- your_ yourpass yoursecret \
        yourtoken yourkey replace-me replace_me replace-with replace_with replaceme insert- insert_ enter-your enter_your \
        put-your put_your put_ add-your add_your placeholder todo fixme example- example_ dummy- dummy_ sample- sample_ \
        my-api-key my-secret-key xxx- xxxx";
    const ENDS: &str = "-here _here -placeholder _placeholder -goes-here -example _example";
    if value.starts_with(b"pk_test_") || value.starts_with(b"pk_live_") || contains(value, b"EXAMPLE") {
        return true;
    }
    if value.len() > 64 || value.iter().filter(|b| b.is_ascii_digit()).count() > 4 {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let lower = lower.strip_prefix(b"sk-").or_else(|| lower.strip_prefix(b"<")).unwrap_or(&lower);
    is_default(lower)
        || names_a_test(lower)
        || has_filler_only(lower)
        || STARTS.split_ascii_whitespace().any(|start| lower.starts_with(start.as_bytes()))
        || ENDS.split_ascii_whitespace().any(|end| lower.ends_with(end.as_bytes()))
}

/// Whether it is a password that every example and every local database uses.
pub(super) fn is_default(lower: &[u8]) -> bool {
    const WORDS: &str = "postgres root admin guest mysql mariadb redis password passwd pass secret test user example rabbitmq \
        minio minioadmin default foobared";
    let digits = lower.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let word = &lower[..lower.len() - digits];
    digits <= 4
        && (digits == 0 || matches!(word, b"password" | b"secret" | b"test"))
        && WORDS.split_ascii_whitespace().any(|known| word == known.as_bytes())
}

/// Whether it is words that call themselves the secret of a test: `e2e-test-secret-ci-only`.
fn names_a_test(lower: &[u8]) -> bool {
    const TESTS: &str = "test tests testing e2e dummy fake mock ci dev local example sample fixture unit";
    const NOUNS: &str = "secret token key password pass pw jwt";
    let words = || lower.split(|b| b"-_. ".contains(b));
    let any = |list: &str| words().any(|word| list.split(' ').any(|known| word == known.as_bytes()));
    let plain = words().all(|word| word == b"e2e" || word.iter().all(u8::is_ascii_lowercase));
    plain && any(TESTS) && any(NOUNS)
}

/// Whether only dots, stars or crosses follow the prefix of a token: `sk-...`, `ghp_xxxx`.
fn has_filler_only(lower: &[u8]) -> bool {
    let prefix = lower.iter().take(12).rposition(|b| matches!(b, b'-' | b'_' | b'.')).map_or(0, |at| at + 1);
    let rest = &lower[prefix..];
    rest.len() >= 3 && rest.iter().all(|b| b"x.*_-".contains(b)) || lower.ends_with(b"...")
}

/// Whether it is a literal of most languages.
pub(super) fn is_literal(value: &[u8]) -> bool {
    const LITERALS: &str = "true false null nil none undefined nan void yes no on off empty unset";
    LITERALS.split(' ').any(|literal| value.eq_ignore_ascii_case(literal.as_bytes()))
        || (value.len() < 4 && value.iter().all(u8::is_ascii_digit))
        || is_number(value)
        || is_sized_type(value)
        || is_required_type(value)
        || is_colour(value)
}

/// Whether it is a colour: `#36f`, `#3366ff`.
fn is_colour(value: &[u8]) -> bool {
    value.strip_prefix(b"#").is_some_and(|digits| {
        matches!(digits.len(), 3 | 4 | 6 | 8) && digits.iter().all(u8::is_ascii_hexdigit)
    })
}

/// Whether it is a type of a schema that must not be null: `String!`, `[ID!]!`.
fn is_required_type(value: &[u8]) -> bool {
    const TYPES: &str = "String Int Float Boolean ID JSON Upload Date DateTime Time UUID Password Email";
    let name = value.strip_prefix(b"[").unwrap_or(value).split(|b| matches!(b, b'!' | b']')).next();
    value.ends_with(b"!") && name.is_some_and(|name| TYPES.split(' ').any(|known| name == known.as_bytes()))
}

/// Whether it is a number as only code writes it: `0x80`, `5i32`, `0x8000_u32`.
fn is_number(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    if let Some(hex) = value.strip_prefix(b"0x") {
        let digits = hex.split(|b| *b == b'_').next().unwrap_or_default();
        return digits.len() <= 8 && is_hex(digits);
    }
    let digits = value.iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let suffix = &value[digits..];
    digits > 0 && digits <= 10 && matches!(suffix, [b'u' | b'i', ..]) && is_sized_type(suffix)
}

/// Whether it is a sized type: `u32`, `__u64`, `uint8_t`, `char16`, `Uint8Array`.
fn is_sized_type(value: &[u8]) -> bool {
    let name = value.strip_suffix(b"_t").unwrap_or(value);
    let array = name.strip_suffix(b"Array").map(|name| name.strip_suffix(b"Clamped").unwrap_or(name));
    let name = &array.unwrap_or(name).to_ascii_lowercase();
    let letters = name.iter().take_while(|b| b.is_ascii_lowercase() || **b == b'_').count();
    letters <= if array.is_some() { 7 } else { 6 }
        && matches!(&name[letters..], b"8" | b"16" | b"32" | b"64" | b"128")
}
