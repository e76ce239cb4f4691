//! What a setting may hold, and how text or JSON becomes it.
//!
//! One reader for every source: `settings.json` may say `true`, `"on"` or `"1"`, the environment
//! can only say text, and both mean the same.

/// The shape of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On or off.
    Switch,
    Number {
        min: u64,
        max: u64,
        unit: &'static str,
    },
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Any text; the word says what stands there.
    Text(&'static str),
    /// Empty, or where a web service is.
    Address,
    /// Like `Text`, and never shown, logged or returned.
    Secret(&'static str),
    /// Several texts: a JSON array, or one text with commas.
    List(&'static str),
}

/// A setting's value after it was checked against its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Switch(bool),
    Number(u64),
    Text(String),
    Secret(Secret),
    List(Vec<String>),
}

/// Text that no screen, log or API shows. Reading it takes a word that stands out in a review.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_empty() {
            "(none)"
        } else {
            "(hidden)"
        })
    }
}

/// A value as its source wrote it, before any kind was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Raw {
    /// Text, or a number or switch as it was spelt.
    Text(String),
    List(Vec<String>),
    Null,
    /// An object, or an array of something other than text.
    Other,
}

impl Kind {
    /// Reads a value. The error is a phrase that goes on after "must be".
    pub fn read(self, raw: &Raw) -> Result<Value, String> {
        self.value(raw).ok_or_else(|| self.expects())
    }

    fn value(self, raw: &Raw) -> Option<Value> {
        match (self, raw) {
            (Self::List(_), Raw::List(items)) => Some(Value::List(tidy(items.iter()))),
            (Self::List(_), Raw::Text(text)) => Some(Value::List(tidy(text.split(',')))),
            (_, Raw::List(_) | Raw::Null | Raw::Other) => None,
            (Self::Switch, Raw::Text(text)) => switch(text).map(Value::Switch),
            (Self::Number { min, max, unit }, Raw::Text(text)) => number(text, unit)
                .filter(|n| (min..=max).contains(n))
                .map(Value::Number),
            (Self::Choice(names), Raw::Text(text)) => names
                .iter()
                .find(|name| name.eq_ignore_ascii_case(text.trim()))
                .map(|name| Value::Text((*name).to_owned())),
            (Self::Address, Raw::Text(text)) => {
                is_address(text.trim()).then(|| Value::Text(text.trim().to_owned()))
            }
            (Self::Text(_), Raw::Text(text)) => Some(Value::Text(text.trim().to_owned())),
            (Self::Secret(_), Raw::Text(text)) => Some(Value::Secret(Secret::new(text.trim()))),
        }
    }

    /// What a value must be, as a phrase.
    pub fn expects(self) -> String {
        match self {
            Self::Switch => "on or off".to_owned(),
            Self::Number { min, max, unit } => format!("{min} to {max} {unit}"),
            Self::Choice(names) => format!("one of {}", names.join(", ")),
            Self::Text(what) | Self::Secret(what) => what.to_owned(),
            Self::Address => "an address that begins with http:// or https://".to_owned(),
            Self::List(what) => format!("{what}, separated by commas"),
        }
    }
}

impl Value {
    /// As any reader may see it: `null` stands for a secret that is set.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Secret(secret) if secret.is_empty() => "".into(),
            Self::Secret(_) => serde_json::Value::Null,
            Self::Switch(on) => (*on).into(),
            Self::Number(n) => (*n).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.as_slice().into(),
        }
    }
}

/// As a person types it, which `Kind::read` reads back; a secret is not shown.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Switch(true) => f.pad("on"),
            Self::Switch(false) => f.pad("off"),
            Self::Number(n) => n.fmt(f),
            Self::Text(text) => f.pad(text),
            Self::Secret(secret) if secret.is_empty() => Ok(()),
            Self::Secret(_) => f.pad("(hidden)"),
            Self::List(items) => f.pad(&items.join(",")),
        }
    }
}

fn tidy(items: impl Iterator<Item = impl AsRef<str>>) -> Vec<String> {
    items
        .map(|item| item.as_ref().trim().to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

fn switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

fn is_address(text: &str) -> bool {
    let host = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    text.is_empty()
        || host.is_some_and(|host| !host.is_empty() && !host.contains(char::is_whitespace))
}

/// Digits, which may be grouped by `_`; bytes may also be given as `500K`, `64M` or `2G`.
fn number(text: &str, unit: &str) -> Option<u64> {
    let text = text.trim().replace('_', "");
    let scale = match text.as_bytes().last()? {
        b'k' | b'K' => 1 << 10,
        b'm' | b'M' => 1 << 20,
        b'g' | b'G' => 1 << 30,
        _ => return text.parse().ok(),
    };
    if unit != "bytes" {
        return None;
    }
    text[..text.len() - 1]
        .parse::<u64>()
        .ok()?
        .checked_mul(scale)
}

/// A Rust type that a setting can have. `of` gets a value that its kind has already checked; the
/// fallback for a mismatch is unreachable as long as the table and its kinds agree, which
/// `every_default_is_valid_and_typed` proves.
pub(super) trait Field: Sized {
    fn of(value: &Value) -> Option<Self>;
}

impl Field for bool {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Switch(on) => Some(*on),
            _ => None,
        }
    }
}

impl Field for u64 {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }
}

impl Field for u32 {
    fn of(value: &Value) -> Option<Self> {
        u64::of(value).and_then(|n| n.try_into().ok())
    }
}

impl Field for u16 {
    fn of(value: &Value) -> Option<Self> {
        u64::of(value).and_then(|n| n.try_into().ok())
    }
}

impl Field for String {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Field for Secret {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Secret(secret) => Some(secret.clone()),
            _ => None,
        }
    }
}

impl Field for Vec<String> {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::List(items) => Some(items.clone()),
            _ => None,
        }
    }
}

/// An enum whose variants are the names of a `Kind::Choice`.
macro_rules! choice {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $type { #[default] $($(#[$variant_doc])* $variant),+ }

        impl $type {
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl $crate::config::kind::Field for $type {
            fn of(value: &$crate::config::kind::Value) -> Option<Self> {
                match value {
                    $($crate::config::kind::Value::Text(text) if text == $name => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
pub(super) use choice;

#[cfg(test)]
#[path = "kind_tests.rs"]
mod tests;
