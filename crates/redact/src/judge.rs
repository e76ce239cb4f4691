//! Decides whether a value is a secret from its name, its context and its form, and by which rule.

use super::assigned_value::ValueContext;
use super::class;
use super::names::NamePromise;
use super::reference::{self, is_placeholder};
use super::rules::RuleId;
use super::scheme;
use super::value::{self, ValueRandomness};
use super::value_form;

const PASSWORD: RuleId = RuleId::named("password");
const SECRET: RuleId = RuleId::named("secret");
const HIGH_ENTROPY: RuleId = RuleId::named("high-entropy");

/// The rule by which a value is a secret, if it is one. The more the name promises and the more
/// literal the context, the less the value must look like a secret.
pub(super) fn judge(promise: NamePromise, place: ValueContext, value: &[u8]) -> Option<RuleId> {
    let weight = value::classify_value(value);
    if weight == ValueRandomness::NotSecret || place == ValueContext::Expression {
        return None;
    }
    // Under the name of a password, words with dashes are more than words.
    let phrase = matches!(promise, NamePromise::Password | NamePromise::Maybe)
        && weight == ValueRandomness::Word
        && value_form::is_passphrase(value);
    let weight = if phrase { ValueRandomness::Mixed } else { weight };
    let rule = judge_weight(promise, place, value, weight)?;
    (!is_placeholder(value)).then_some(rule)
}

fn judge_weight(
    promise: NamePromise,
    place: ValueContext,
    value: &[u8],
    weight: ValueRandomness,
) -> Option<RuleId> {
    match promise {
        NamePromise::Password => is_password(place, value, weight).then_some(PASSWORD),
        NamePromise::Maybe => {
            let fits = if place == ValueContext::Juxtaposed {
                value::is_strong(value)
            } else {
                is_chosen(value, weight)
            };
            (fits && !assigns(value)).then_some(PASSWORD)
        }
        NamePromise::Token => is_token(place, value, weight).then_some(SECRET),
        NamePromise::Weak => is_generated(place, value, weight).then_some(HIGH_ENTROPY),
    }
}

fn is_password(place: ValueContext, value: &[u8], weight: ValueRandomness) -> bool {
    match place {
        ValueContext::Environment | ValueContext::Query => true,
        ValueContext::Quoted => weight >= ValueRandomness::Mixed || !value_form::is_common(value),
        // `settings.password` is a reference, `true/false` a list of options.
        ValueContext::ConfigLine => {
            let plain = class::run(value, class::URL, value.len()) == value.len();
            weight >= ValueRandomness::Mixed || (plain && !value_form::is_common(value))
        }
        ValueContext::Unquoted => {
            (weight >= ValueRandomness::Mixed || value_form::is_joined_password(value))
                && value.len() >= 4
                && !value.iter().all(u8::is_ascii_digit)
                && !assigns_literal(value)
        }
        ValueContext::Juxtaposed => is_chosen(value, weight) && !assigns(value),
        ValueContext::Expression => false,
    }
}

/// Whether it is an assignment: `name=value`.
fn assigns(value: &[u8]) -> bool {
    let sign = value.iter().position(|b| *b == b'=');
    sign.is_some_and(|sign| value[..sign].iter().all(|b| b.is_ascii_alphabetic() || *b == b'_'))
}

/// Whether it is a setting: `enable=true`, `min=8`.
fn assigns_literal(value: &[u8]) -> bool {
    let sign = value.iter().position(|b| *b == b'=');
    assigns(value) && sign.is_some_and(|sign| reference::is_literal(&value[sign + 1..]))
}

/// Whether it looks like a chosen password: neither a word nor a number.
pub(super) fn is_chosen(value: &[u8], weight: ValueRandomness) -> bool {
    (weight >= ValueRandomness::Mixed || value_form::is_passphrase(value))
        && weight > ValueRandomness::NotSecret
        && value.len() >= 6
        && value.iter().any(u8::is_ascii_alphabetic)
        && (value.iter().any(|b| b.is_ascii_digit() || b"!@#$%^&*+=".contains(b))
            || value_form::is_passphrase(value))
        && !value_form::is_pattern(value)
        && !value_form::is_technical(value)
}

fn is_token(place: ValueContext, value: &[u8], weight: ValueRandomness) -> bool {
    let digit = value.iter().any(u8::is_ascii_digit);
    match place {
        ValueContext::Environment | ValueContext::Query => true,
        ValueContext::Quoted | ValueContext::ConfigLine => {
            let sign = value.iter().any(|b| b"!#$%^&*?".contains(b));
            let signs = (value.len() >= 16 || sign) && digit && !value_form::is_pattern(value);
            weight >= ValueRandomness::Mixed
                && value.len() >= 8
                && (value_form::is_token(value) || signs || value::is_strong(value))
        }
        // A name of letters only is a type or function, whatever its capitals.
        ValueContext::Unquoted | ValueContext::Juxtaposed => {
            weight == ValueRandomness::Random && value.len() >= 16 && digit && !is_fingerprint(value)
                || place == ValueContext::Unquoted && (value::is_strong(value) || is_scrambled(value))
        }
        ValueContext::Expression => false,
    }
}

/// Whether small letters, capitals and digits alternate as in generated values, in a short value.
fn is_scrambled(value: &[u8]) -> bool {
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    value.len() >= 12 && digits >= 2 && is_varied(value) && value::is_random(value) && !is_fingerprint(value)
}

/// Whether it is the fingerprint of a key: many digits and capitals of hexadecimal, no small letters.
fn is_fingerprint(value: &[u8]) -> bool {
    matches!(value.len(), 16 | 40) && value_form::is_hex(value) && !value.iter().any(u8::is_ascii_lowercase)
}

/// Under a weak name, only a clearly generated value is a secret. Checksums are excluded.
fn is_generated(place: ValueContext, value: &[u8], weight: ValueRandomness) -> bool {
    let random = weight == ValueRandomness::Random;
    match place {
        ValueContext::Query => random && value.len() >= 16,
        ValueContext::Juxtaposed | ValueContext::Expression => false,
        ValueContext::Environment
        | ValueContext::Quoted
        | ValueContext::ConfigLine
        | ValueContext::Unquoted => {
            scheme::is_user_and_password(value)
                || random && value.len() >= 20 && !value_form::ends_with_hash(value) && is_varied(value)
        }
    }
}

/// Whether it has lower case, upper case and digits.
fn is_varied(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_digit)
}
