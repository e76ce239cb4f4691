//! What a field of JSON is expected to hold, by its own name, by the name of what it is part of,
//! or by what stands beside it.

use serde_json::{Map, Value};

use super::judge::judge;
use super::names::{self, Promise};
use super::place::Place;
use super::value::{self, Weight};

/// What is expected, and so how much a text must look like a secret to be taken for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    Secret(Promise, Place),
    /// Credentials, with the name of their scheme before them or without.
    Authorization,
    /// One cookie, or several in a row.
    Cookies,
}

/// A description longer than this is a text.
const DESCRIPTION_BYTES_MAX: usize = 200;

impl Expect {
    /// Under this name a number is a secret, too.
    pub(super) const PASSWORD: Self = Self::Secret(Promise::Password, Place::Environment);

    /// By a field's own name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let is = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        if is(&["authorization", "proxy-authorization", "proxyAuthorization"]) {
            return Some(Self::Authorization);
        }
        if is(&["cookie", "cookies", "set-cookie", "setCookie"]) {
            return Some(Self::Cookies);
        }
        names::promise(name.as_bytes()).map(Self::literal)
    }

    /// By what stands beside it: `{"name": "DB_PASSWORD", "value": "…"}`.
    pub(super) fn of_neighbours(fields: &Map<String, Value>) -> Option<Self> {
        let is =
            |key: &str, names: &[&str]| names.iter().any(|name| key.eq_ignore_ascii_case(name));
        fields.iter().find_map(|(key, text)| {
            let text = text.as_str()?;
            if text.len() > DESCRIPTION_BYTES_MAX {
                None
            } else if is(key, &["name", "key", "header"]) {
                Self::of_description(text)
            } else if is(
                key,
                &["id", "label", "field", "selector", "element", "placeholder"],
            ) {
                Self::of_description(text).map(Self::loosely)
            } else if is(key, &["type", "purpose"]) {
                // Words of a language have the type `token`.
                Self::of_description(text).filter(|expect| *expect == Self::PASSWORD)
            } else {
                None
            }
        })
    }

    /// `Password field`, `#login input[name=password]`, `CONCEALED`.
    fn of_description(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("concealed") {
            return Some(Self::PASSWORD);
        }
        let mut text = text;
        loop {
            if let Some(expect) = Self::of_name(text) {
                return Some(expect);
            }
            let trimmed = text.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let word_start = trimmed
                .rfind(|c: char| !c.is_ascii_alphanumeric())
                .map_or(0, |at| at + 1);
            let word = trimmed.get(word_start..).unwrap_or_default();
            if word_start == 0 || !is_of_a_form(word) {
                return None;
            }
            text = trimmed.get(..word_start).unwrap_or_default();
        }
    }

    const fn literal(promise: Promise) -> Self {
        Self::Secret(
            promise,
            match promise {
                Promise::Weak | Promise::Maybe => Place::Quoted,
                Promise::Token | Promise::Password => Place::Environment,
            },
        )
    }

    /// For what is said in passing, where an ordinary word is a word.
    pub(super) const fn loosely(self) -> Self {
        match self {
            Self::Secret(promise, _) => Self::Secret(promise, Place::Quoted),
            other => other,
        }
    }

    /// Of a field `name` of an object of which this was expected.
    pub(super) fn below(self, name: &str) -> Option<Self> {
        let passes = match self {
            Self::Secret(Promise::Password, _) | Self::Authorization | Self::Cookies => {
                !describes(name)
            }
            Self::Secret(..) => names::is_qualifier(name.as_bytes()),
        };
        passes.then(|| self.loosely())
    }

    /// The text with its secret masked, if it is one.
    pub(super) fn mask(self, text: &str) -> Option<String> {
        match self {
            Self::Secret(promise, place) => {
                let rule = judge(promise, place, text.as_bytes())?;
                Some(format!("[redacted:{}]", rule.name()))
            }
            Self::Authorization => authorization(text),
            Self::Cookies => {
                let pairs = text.split(';').map(|pair| {
                    let (_, value) = pair.split_once('=').unwrap_or(("", pair));
                    value.trim()
                });
                let secret = |value: &str| {
                    value.len() >= 8 && value::weigh(value.as_bytes()) >= Weight::Mixed
                };
                let any = pairs.into_iter().any(secret);
                any.then(|| "[redacted:cookie]".to_owned())
            }
        }
    }
}

/// `Bearer …`, or the credentials alone.
fn authorization(text: &str) -> Option<String> {
    let text = text.trim();
    let (scheme, credentials) = match text.split_once(' ') {
        Some((scheme, rest)) => (scheme, rest.trim()),
        None => ("", text),
    };
    let weight = value::weigh(credentials.as_bytes());
    let secret = match weight {
        Weight::Nothing => false,
        Weight::Word => credentials.len() >= 16,
        Weight::Mixed | Weight::Random => credentials.len() >= 6,
    };
    let gap = if scheme.is_empty() { "" } else { " " };
    secret.then(|| format!("{scheme}{gap}[redacted:authorization]"))
}

/// Words for the part of a form that something is typed into.
fn is_of_a_form(word: &str) -> bool {
    const WORDS: [&str; 9] = [
        "field",
        "input",
        "box",
        "textbox",
        "textfield",
        "entry",
        "element",
        "control",
        "area",
    ];
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Names of fields that say what something is, and do not hold it.
fn describes(name: &str) -> bool {
    const NAMES: [&str; 38] = [
        "type",
        "kind",
        "format",
        "description",
        "title",
        "label",
        "name",
        "id",
        "key",
        "field",
        "element",
        "selector",
        "placeholder",
        "pattern",
        "message",
        "error",
        "code",
        "rule",
        "hint",
        "help",
        "status",
        "state",
        "reason",
        "domain",
        "path",
        "expires",
        "sameSite",
        "url",
        "uri",
        "href",
        "ref",
        "role",
        "autocomplete",
        "widget",
        "in",
        "method",
        "source",
        "scheme",
    ];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}
