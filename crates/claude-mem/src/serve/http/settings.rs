//! Settings: shown with their help, changed after they were checked. Secrets go in, never out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::api::Api;
use super::call::Params;
use super::problem::Problem;
use super::route::Nothing;
use crate::config::{self, Change, KEYS, Key, Kind, Loaded, Raw, SettingsFile, Source, Value};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Settings {
    items: Vec<Setting>,
    /// What in the file or the environment has no effect.
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Setting {
    key: &'static str,
    group: &'static str,
    r#type: Shape,
    /// `null` for a secret, set or not.
    value: Json,
    default: Json,
    source: From,
    help: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u64>,
    /// A worker that runs goes by the old value until it is started anew.
    restart: bool,
    /// Of a secret: whether there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<bool>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Bool,
    Int,
    String,
    Enum,
    List,
    Secret,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum From {
    Default,
    File,
    Env,
}

impl Setting {
    fn of(key: &Key, loaded: &Loaded) -> Self {
        let (value, source) = loaded.get(key);
        let (shape, choices, range) = match key.kind {
            Kind::Switch => (Shape::Bool, None, None),
            Kind::Number { min, max, .. } => (Shape::Int, None, Some((min, max))),
            Kind::Choice(names) => (Shape::Enum, Some(names), None),
            Kind::Text(_) | Kind::Address => (Shape::String, None, None),
            Kind::Secret(_) => (Shape::Secret, None, None),
            Kind::List(_) => (Shape::List, None, None),
        };
        let set = match &value {
            Value::Secret(secret) => Some(!secret.is_empty()),
            _ => None,
        };
        let usual = key.kind.read(&Raw::Text(key.default.to_owned()));
        Self {
            key: key.name,
            group: key.group,
            r#type: shape,
            value: match &value {
                Value::Secret(_) => Json::Null,
                Value::Text(text) if matches!(key.kind, Kind::Address) => shown(text).into(),
                value => value.to_json(),
            },
            default: if set.is_some() {
                Json::Null
            } else {
                usual.map_or(Json::Null, |value| value.to_json())
            },
            source: match source {
                Source::Default => From::Default,
                Source::File => From::File,
                Source::Environment => From::Env,
            },
            help: key.help,
            choices,
            min: range.map(|(min, _)| min),
            max: range.map(|(_, max)| max),
            restart: !is_read_anew(key),
            set,
        }
    }
}

/// What an address shows of itself: who may use it, in front of the host or behind the path, is as
/// secret as a key.
fn shown(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let (rest, asked) = rest
        .find(['?', '#'])
        .map_or((rest, ""), |at| rest.split_at(at));
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = match host.rsplit_once('@') {
        Some((_, host)) => format!("{HIDDEN}@{host}"),
        None => host.to_owned(),
    };
    let asked = if asked.is_empty() {
        String::new()
    } else {
        format!("?{HIDDEN}")
    };
    let scheme = if scheme.is_empty() {
        String::new()
    } else {
        format!("{scheme}://")
    };
    format!("{scheme}{host}{path}{asked}")
}

const HIDDEN: &str = "…";

/// Hooks read their settings each time; the worker has read its own when it started.
fn is_read_anew(key: &Key) -> bool {
    let of_hooks = ["What is remembered", "What the agent is told"].contains(&key.group);
    (of_hooks && key.name != "prompts_days_max") || matches!(key.name, "worker" | "viewer_open")
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of a handler")]
pub(super) fn list(api: &Api, _: &Params, _: Nothing) -> Result<Settings, Problem> {
    let loaded = api.settings();
    Ok(Settings {
        items: KEYS.iter().map(|key| Setting::of(key, &loaded)).collect(),
        warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
    })
}

/// Nothing is written before all of it was found good, and then all of it at once.
pub(super) fn edit(
    api: &Api,
    params: &Params,
    wanted: BTreeMap<String, Json>,
) -> Result<Settings, Problem> {
    let mut checked = Vec::with_capacity(wanted.len());
    for (name, json) in &wanted {
        let about = |problem: Problem| Problem {
            key: Some(name.clone()),
            ..problem
        };
        let key = config::key(name).ok_or_else(|| {
            let hint = config::suggestion(name);
            let hint = hint.trim_start_matches("; ");
            about(Problem::unfit(format!("{name} is not a setting"), hint))
        })?;
        if matches!(key.kind, Kind::Address)
            && json.as_str().is_some_and(|text| text.contains(HIDDEN))
        {
            let hint = "What is hidden in it is not known here.";
            return Err(about(Problem::unfit(
                format!("{name} must be said in full"),
                hint,
            )));
        }
        let value = match raw(json) {
            None => None,
            Some(raw) => Some(key.kind.read(&raw).map_err(|expected| {
                let hint = "Leave it empty to go back to the default.";
                about(Problem::unfit(format!("{name} must be {expected}"), hint))
            })?),
        };
        checked.push((key, value));
    }
    let names: Vec<Vec<String>> = checked.iter().map(|(key, _)| every_name(key)).collect();
    let changes: Vec<Change<'_>> = checked
        .iter()
        .zip(&names)
        .map(|((key, value), names)| match value {
            Some(value) => Change::Set(key.name, value),
            None => Change::Unset(names),
        })
        .collect();
    SettingsFile::of(api.dir().root()).apply(&changes)?;
    list(api, params, Nothing {})
}

/// Every name the file may know it by: taken out alone, an older one would take its place.
fn every_name(key: &Key) -> Vec<String> {
    let older = key.older.iter().map(|name| format!("CLAUDE_MEM_{name}"));
    older.chain([key.name.to_owned(), key.variable()]).collect()
}

/// `None`: back to the default.
fn raw(json: &Json) -> Option<Raw> {
    Some(match json {
        Json::Null => return None,
        Json::String(text) => Raw::Text(text.clone()),
        Json::Bool(on) => Raw::Text(on.to_string()),
        Json::Number(number) => Raw::Text(number.to_string()),
        Json::Array(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map_or(Raw::Other, Raw::List)
        }
        Json::Object(_) => Raw::Other,
    })
}
