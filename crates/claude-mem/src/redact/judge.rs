//! Name, place and value together: is this a secret, and by which rule?

use super::class;
use super::names::Promise;
use super::place::Place;
use super::rules::RuleId;
use super::scheme;
use super::value::{self, Weight};

const PASSWORD: RuleId = RuleId::named("password");
const SECRET: RuleId = RuleId::named("secret");
const HIGH_ENTROPY: RuleId = RuleId::named("high-entropy");

/// Whether a value is a secret. The more a name promises, and the more literally a place means
/// what stands in it, the less the value must look like one.
pub(super) fn judge(promise: Promise, place: Place, value: &[u8]) -> Option<RuleId> {
    let weight = value::weigh(value);
    if weight == Weight::Nothing || place == Place::Code {
        return None;
    }
    match promise {
        Promise::Password => is_password(place, value, weight).then_some(PASSWORD),
        Promise::Maybe => (place != Place::Bare && is_chosen(value, weight)).then_some(PASSWORD),
        Promise::Token => is_token(place, value, weight).then_some(SECRET),
        Promise::Weak => is_generated(place, value, weight).then_some(HIGH_ENTROPY),
    }
}

fn is_password(place: Place, value: &[u8], weight: Weight) -> bool {
    match place {
        Place::Environment | Place::Query => true,
        Place::Quoted => weight >= Weight::Mixed || !value::is_common(value),
        // `settings.password` is where it is kept, `true/false` what it may be.
        Place::Line => {
            let plain = class::run(value, class::URL, value.len()) == value.len();
            weight >= Weight::Mixed || (plain && !value::is_common(value))
        }
        Place::Loose => {
            weight >= Weight::Mixed && value.len() >= 4 && !value.iter().all(u8::is_ascii_digit)
        }
        Place::Bare => is_chosen(value, weight),
        Place::Code => false,
    }
}

/// What a careful person chooses: not a word, not a number.
fn is_chosen(value: &[u8], weight: Weight) -> bool {
    weight >= Weight::Mixed
        && value.len() >= 6
        && value.iter().any(u8::is_ascii_alphabetic)
        && value
            .iter()
            .any(|b| b.is_ascii_digit() || b"!@#$%^&*+=".contains(b))
        && !value::is_pattern(value)
}

fn is_token(place: Place, value: &[u8], weight: Weight) -> bool {
    let digit = value.iter().any(u8::is_ascii_digit);
    match place {
        Place::Environment | Place::Query => true,
        Place::Quoted | Place::Line => {
            let signs = value.len() >= 16 && digit && !value::is_pattern(value);
            weight >= Weight::Mixed && value.len() >= 8 && (value::is_token(value) || signs)
        }
        // A name of letters only is a type or a function, however its capitals jump.
        Place::Loose | Place::Bare => weight == Weight::Random && value.len() >= 16 && digit,
        Place::Code => false,
    }
}

/// A name that says nothing needs a value that says everything. Checksums say nothing either.
fn is_generated(place: Place, value: &[u8], weight: Weight) -> bool {
    let random = weight == Weight::Random;
    match place {
        Place::Query => random && value.len() >= 16,
        Place::Bare | Place::Code => false,
        Place::Environment | Place::Quoted | Place::Line | Place::Loose => {
            scheme::is_user_and_password(value)
                || random && value.len() >= 20 && !value::is_hex(value) && is_varied(value)
        }
    }
}

/// Lower case, upper case and digits.
fn is_varied(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase)
        && value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_digit)
}
