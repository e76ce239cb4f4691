//! Setting kinds, and how text or JSON is parsed into values.
//!
//! One parser for every source: `settings.json` may contain `true`, `"on"` or `"1"`, the
//! environment only text, and all mean the same.

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// On or off.
    Switch,
    Number {
        min: u64,
        max: u64,
        unit: &'static str,
    },
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Any text; the word describes it.
    Text(&'static str),
    /// Empty, or the URL of a web service.
    Address,
    /// Like `Text`, but never shown, logged or returned.
    Secret(&'static str),
    /// Several texts: a JSON array, or one text with commas.
    List(&'static str),
}

/// A value that was checked against its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    Switch(bool),
    Number(u64),
    Text(String),
    Secret(SecretString),
    List(Vec<String>),
}

/// Text that is never shown or logged. Reading it needs the conspicuous `expose`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretString(String);

impl SecretString {
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

impl std::fmt::Debug for SecretString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_empty() { "(none)" } else { "(hidden)" })
    }
}

/// A value as its source wrote it, before it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawSetting {
    /// Text, or the spelling of a number or switch.
    Text(String),
    List(Vec<String>),
    Null,
    /// An object, or an array of something other than text.
    Other,
}

impl SettingKind {
    /// Parses a value. The error completes the phrase "must be …".
    pub fn read(self, raw: &RawSetting) -> Result<SettingValue, String> {
        self.value(raw).ok_or_else(|| self.expects())
    }

    fn value(self, raw: &RawSetting) -> Option<SettingValue> {
        match (self, raw) {
            (Self::List(_), RawSetting::List(items)) => Some(SettingValue::List(trim_items(items.iter()))),
            (Self::List(_), RawSetting::Text(text)) => Some(SettingValue::List(trim_items(text.split(',')))),
            (_, RawSetting::List(_) | RawSetting::Null | RawSetting::Other) => None,
            (Self::Switch, RawSetting::Text(text)) => parse_switch(text).map(SettingValue::Switch),
            (Self::Number { min, max, unit }, RawSetting::Text(text)) => {
                parse_number(text, unit).filter(|n| (min..=max).contains(n)).map(SettingValue::Number)
            }
            (Self::Choice(names), RawSetting::Text(text)) => names
                .iter()
                .find(|name| name.eq_ignore_ascii_case(text.trim()))
                .map(|name| SettingValue::Text((*name).to_owned())),
            (Self::Address, RawSetting::Text(text)) => {
                is_address(text.trim()).then(|| SettingValue::Text(text.trim().to_owned()))
            }
            (Self::Text(_), RawSetting::Text(text)) => Some(SettingValue::Text(text.trim().to_owned())),
            (Self::Secret(_), RawSetting::Text(text)) => {
                Some(SettingValue::Secret(SecretString::new(text.trim())))
            }
        }
    }

    /// Describes valid values, as a phrase for error messages.
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

impl SettingValue {
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

/// As a user would type it, so that `SettingKind::read` parses it again; secrets are hidden.
impl std::fmt::Display for SettingValue {
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

fn trim_items(items: impl Iterator<Item = impl AsRef<str>>) -> Vec<String> {
    items.map(|item| item.as_ref().trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

fn parse_switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

fn is_address(text: &str) -> bool {
    let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    text.is_empty() || host.is_some_and(|host| !host.is_empty() && !host.contains(char::is_whitespace))
}

/// Digits, optionally grouped by `_`; bytes also as `500K`, `64M` or `2G`.
fn parse_number(text: &str, unit: &str) -> Option<u64> {
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
    text[..text.len() - 1].parse::<u64>().ok()?.checked_mul(scale)
}

/// A Rust type that a setting can have. The value was already checked against its kind, so `None`
/// is unreachable as long as the table and its kinds agree, which
/// `every_default_is_valid_and_typed` proves.
pub(super) trait FromSetting: Sized {
    fn from_setting(value: &SettingValue) -> Option<Self>;
}

impl FromSetting for bool {
    fn from_setting(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Switch(on) => Some(*on),
            _ => None,
        }
    }
}

impl FromSetting for u64 {
    fn from_setting(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Number(n) => Some(*n),
            _ => None,
        }
    }
}

impl FromSetting for u32 {
    fn from_setting(value: &SettingValue) -> Option<Self> {
        u64::from_setting(value).and_then(|n| n.try_into().ok())
    }
}

impl FromSetting for u16 {
    fn from_setting(value: &SettingValue) -> Option<Self> {
        u64::from_setting(value).and_then(|n| n.try_into().ok())
    }
}

impl FromSetting for String {
    fn from_setting(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromSetting for SecretString {
    fn from_setting(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Secret(secret) => Some(secret.clone()),
            _ => None,
        }
    }
}

impl FromSetting for Vec<String> {
    fn from_setting(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::List(items) => Some(items.clone()),
            _ => None,
        }
    }
}

/// Generates an enum whose variants are the names of a `SettingKind::Choice`.
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

        impl $crate::config::kind::FromSetting for $type {
            fn from_setting(value: &$crate::config::kind::SettingValue) -> Option<Self> {
                match value {
                    $($crate::config::kind::SettingValue::Text(text) if text == $name => Some(Self::$variant),)+
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
