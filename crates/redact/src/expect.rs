//! Predicts from its name, its parent or its siblings whether a JSON field holds a secret.

use serde_json::{Map, Value};

use super::assigned_value::ValueContext;
use super::judge::judge;
use super::names::{self, NamePromise};
use super::neighbour;
use super::value::{self, ValueRandomness};

/// The kind of secret expected in a field, which sets how much its text must look like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedSecret {
    Secret(NamePromise, ValueContext),
    /// Credentials, with or without their scheme.
    Authorization,
    /// One cookie or several.
    Cookies,
    /// The digits of a PIN or a one-time code.
    AccessCode,
    /// An object whose fields are secrets of any name.
    SecretMap,
}

/// Maximum length of a description; longer ones are prose.
const DESCRIPTION_BYTES_MAX: usize = 200;

impl ExpectedSecret {
    /// A password; here even a number is a secret.
    pub(super) const PASSWORD: Self = Self::Secret(NamePromise::Password, ValueContext::Environment);

    /// By the field's own name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let is = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        if is(&["authorization", "proxy-authorization", "proxyAuthorization"]) {
            return Some(Self::Authorization);
        }
        if is(&["cookie", "cookies", "set-cookie", "setCookie"]) {
            return Some(Self::Cookies);
        }
        if is(&[
            "pin", "otp", "totp", "passcode", "cvv", "cvc", "pinCode", "pin_code", "mfaCode", "mfa_code",
            "otpCode",
        ]) {
            return Some(Self::AccessCode);
        }
        if is(&[
            "secrets",
            "secretData",
            "secret_data",
            "secretValues",
            "secret_values",
            "github-oauth",
            "gitlab-oauth",
            "gitlab-token",
        ]) {
            return Some(Self::SecretMap);
        }
        names::promise(name.as_bytes()).map(Self::literal)
    }

    /// By the field's name and whether it holds an object: the fields of a `secret` are secrets of any name.
    pub(super) fn from_field(name: &str, value: &Value, above: Option<Self>) -> Option<Self> {
        let inside = above == Some(Self::SecretMap) && !is_descriptive_name(name);
        if value.is_object() && (inside || is_secret_map(name)) {
            return Some(Self::SecretMap);
        }
        Self::from_name(name)
    }

    /// By sibling fields: `{"name": "DB_PASSWORD", "value": "…"}`.
    pub(super) fn from_siblings(fields: &Map<String, Value>) -> Option<Self> {
        let is = |key: &str, names: &[&str]| names.iter().any(|name| key.eq_ignore_ascii_case(name));
        let by_field = |(key, field): (&String, &Value)| {
            if is(key, &["sensitive", "secret", "masked", "isSecret", "secure"])
                && field == &Value::Bool(true)
            {
                return Some(Self::PASSWORD);
            }
            let text = field.as_str()?;
            if text.len() > DESCRIPTION_BYTES_MAX {
                None
            } else if is(
                key,
                &[
                    "name",
                    "key",
                    "k",
                    "header",
                    "parameter",
                    "parameterName",
                    "param",
                    "variable",
                    "var",
                    "env",
                    "property",
                    "parameterKey",
                    "outputKey",
                    "optionName",
                    "settingName",
                    "fieldName",
                    "attributeName",
                ],
            ) {
                Self::from_description(text)
            } else if is(
                key,
                &[
                    "id",
                    "label",
                    "field",
                    "selector",
                    "element",
                    "placeholder",
                    "title",
                    "question",
                    "prompt",
                    "locator",
                    "target",
                    "description",
                    "secretName",
                    "secret_name",
                    "arn",
                    "path",
                    "column",
                    "attribute",
                    "setting",
                ],
            ) {
                Self::from_description(text).map(Self::relaxed)
            } else if is(key, &["type", "purpose", "kind", "inputType"]) {
                // In parsers, `token` is an ordinary type.
                Self::from_description(text).filter(|expect| *expect == Self::PASSWORD)
            } else {
                None
            }
        };
        let mut found = None;
        for expected in fields.iter().filter_map(by_field) {
            if expected == Self::PASSWORD {
                return Some(expected);
            }
            found = found.or(Some(expected));
        }
        found
    }

    /// By a description: `Password field`, `#login input[name=password]`, `CONCEALED`.
    fn from_description(text: &str) -> Option<Self> {
        if ["concealed", "securestring", "secureString", "random_password"]
            .iter()
            .any(|known| text.eq_ignore_ascii_case(known))
        {
            return Some(Self::PASSWORD);
        }
        if text.contains("vault.azure.net/secrets/") {
            return Some(Self::PASSWORD.relaxed());
        }
        let mut text = text;
        loop {
            if let Some(expect) = Self::from_name(text) {
                return Some(expect);
            }
            let trimmed = text.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let word_start = trimmed.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
            let word = trimmed.get(word_start..).unwrap_or_default();
            if word_start == 0 || !is_form_word(word) {
                return None;
            }
            text = trimmed.get(..word_start).unwrap_or_default();
        }
    }

    const fn literal(promise: NamePromise) -> Self {
        Self::Secret(
            promise,
            match promise {
                NamePromise::Weak | NamePromise::Maybe => ValueContext::Quoted,
                NamePromise::Token | NamePromise::Password => ValueContext::Environment,
            },
        )
    }

    /// A weaker expectation, under which ordinary words are not secrets.
    pub(super) const fn relaxed(self) -> Self {
        match self {
            Self::Secret(promise, _) => Self::Secret(promise, ValueContext::Quoted),
            other => other,
        }
    }

    /// The expectation for the field `name` of an object under this expectation.
    pub(super) fn for_child(self, name: &str) -> Option<Self> {
        let passes = match self {
            Self::Secret(NamePromise::Password, _) | Self::Authorization | Self::Cookies => {
                !is_descriptive_name(name)
            }
            Self::AccessCode => false,
            Self::SecretMap => {
                let generic = Self::Secret(NamePromise::Maybe, ValueContext::Quoted);
                let about = ["name", "id", "version", "namespace", "mode"];
                let lower = name.to_ascii_lowercase();
                let described = is_descriptive_name(name) || about.iter().any(|end| lower.ends_with(end));
                return (!described).then_some(generic);
            }
            Self::Secret(..) => {
                names::is_qualifier(name.as_bytes()) || neighbour::is_value_name(name.as_bytes())
            }
        };
        passes.then(|| self.relaxed())
    }

    /// The masked text, if it is a secret.
    pub(super) fn mask(self, text: &str) -> Option<String> {
        match self {
            Self::Secret(promise, place) => {
                let rule = judge(promise, place, text.as_bytes())?;
                Some(format!("[redacted:{}]", rule.name()))
            }
            Self::AccessCode => {
                let code = (4..=10).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
                code.then(|| "[redacted:access-code]".to_owned())
            }
            Self::SecretMap => None,
            Self::Authorization => authorization(text),
            Self::Cookies => {
                let pairs = text.split(';').map(|pair| {
                    let (_, value) = pair.split_once('=').unwrap_or(("", pair));
                    value.trim()
                });
                let secret = |value: &str| {
                    value.len() >= 8 && value::classify_value(value.as_bytes()) >= ValueRandomness::Mixed
                };
                let any = pairs.into_iter().any(secret);
                any.then(|| "[redacted:cookie]".to_owned())
            }
        }
    }
}

/// Whether an object of this name holds secrets of any name.
fn is_secret_map(name: &str) -> bool {
    name.eq_ignore_ascii_case("secret") || name.eq_ignore_ascii_case("bearer")
}

/// Masks `Bearer …` or bare credentials.
fn authorization(text: &str) -> Option<String> {
    let text = text.trim();
    let (scheme, credentials) = match text.split_once(' ') {
        Some((scheme, rest)) => (scheme, rest.trim()),
        None => ("", text),
    };
    let weight = value::classify_value(credentials.as_bytes());
    let secret = match weight {
        ValueRandomness::NotSecret => false,
        ValueRandomness::Word => credentials.len() >= 16,
        ValueRandomness::Mixed | ValueRandomness::Random => credentials.len() >= 6,
    };
    let gap = if scheme.is_empty() { "" } else { " " };
    secret.then(|| format!("{scheme}{gap}[redacted:authorization]"))
}

/// Whether this word names a form input.
fn is_form_word(word: &str) -> bool {
    const WORDS: [&str; 9] =
        ["field", "input", "box", "textbox", "textfield", "entry", "element", "control", "area"];
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Whether a field of this name describes a secret rather than holding it.
fn is_descriptive_name(name: &str) -> bool {
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
