//! Routes that list and change settings. Values are validated first; secrets are never returned.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::api::ApiState;
use super::handler_request::PathParams;
use super::problem::Problem;
use super::route::NoParams;
use claude_mem_core::config;
use claude_mem_core::config::{
    KEYS, LoadedSettings, RawSetting, SettingKey, SettingKind, SettingSource, SettingValue, SettingsChange,
    SettingsFile,
};

/// All settings.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Settings")]
pub(super) struct SettingsView {
    items: Vec<SettingView>,
    /// Entries of the file or the environment that have no effect.
    warnings: Vec<String>,
    /// Settings that take effect when the worker restarts: their values differ from those at its start.
    #[serde(rename = "restartNeeded")]
    restart_needed: Vec<&'static str>,
}

/// One setting with its value, default and help.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Setting")]
struct SettingView {
    key: &'static str,
    group: &'static str,
    r#type: SettingTypeView,
    /// Always `null` for a secret.
    value: Json,
    default: Json,
    source: SettingSourceView,
    help: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u64>,
    /// A change takes effect only when the worker restarts.
    restart: bool,
    /// For a secret: whether it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<bool>,
}

/// Type of a setting.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Shape")]
enum SettingTypeView {
    Bool,
    Int,
    String,
    Enum,
    List,
    Secret,
}

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "From")]
enum SettingSourceView {
    Default,
    File,
    Env,
}

impl SettingView {
    fn from_key(key: &SettingKey, loaded: &LoadedSettings) -> Self {
        let (value, source) = loaded.get(key);
        let (shape, choices, range) = match key.kind {
            SettingKind::Switch => (SettingTypeView::Bool, None, None),
            SettingKind::Number { min, max, .. } => (SettingTypeView::Int, None, Some((min, max))),
            SettingKind::Choice(names) => (SettingTypeView::Enum, Some(names), None),
            SettingKind::Text(_) | SettingKind::Address => (SettingTypeView::String, None, None),
            SettingKind::Secret(_) => (SettingTypeView::Secret, None, None),
            SettingKind::List(_) => (SettingTypeView::List, None, None),
        };
        let set = match &value {
            SettingValue::Secret(secret) => Some(!secret.is_empty()),
            _ => None,
        };
        let usual = key.kind.read(&RawSetting::Text(key.default.to_owned()));
        Self {
            key: key.name,
            group: key.group,
            r#type: shape,
            value: match &value {
                SettingValue::Secret(_) => Json::Null,
                SettingValue::Text(text) if matches!(key.kind, SettingKind::Address) => {
                    redact_url(text).into()
                }
                value => value.to_json(),
            },
            default: if set.is_some() {
                Json::Null
            } else {
                usual.map_or(Json::Null, |value| value.to_json())
            },
            source: match source {
                SettingSource::Default => SettingSourceView::Default,
                SettingSource::File => SettingSourceView::File,
                SettingSource::Environment => SettingSourceView::Env,
            },
            help: key.help,
            choices,
            min: range.map(|(min, _)| min),
            max: range.map(|(_, max)| max),
            restart: key.needs_restart(),
            set,
        }
    }
}

/// A URL without its credentials: user info and query are as secret as a key.
fn redact_url(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let (rest, asked) = rest.find(['?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = match host.rsplit_once('@') {
        Some((_, host)) => format!("{HIDDEN}@{host}"),
        None => host.to_owned(),
    };
    let asked = if asked.is_empty() { String::new() } else { format!("?{HIDDEN}") };
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    format!("{scheme}{host}{path}{asked}")
}

const HIDDEN: &str = "…";

/// Handles `GET /api/settings`.
#[allow(clippy::unnecessary_wraps, reason = "handlers share one signature")]
pub(super) fn list(api: &ApiState, _: &PathParams, _: NoParams) -> Result<SettingsView, Problem> {
    let loaded = api.settings();
    let differs = |key: &&SettingKey| {
        key.needs_restart() && loaded.get(key).0.to_json() != api.settings_at_start.get(key).0.to_json()
    };
    Ok(SettingsView {
        items: KEYS.iter().map(|key| SettingView::from_key(key, &loaded)).collect(),
        warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
        restart_needed: KEYS.iter().filter(differs).map(|key| key.name).collect(),
    })
}

/// Changes settings. All values are validated before any is written, and all are written at once.
pub(super) fn edit(
    api: &ApiState,
    params: &PathParams,
    wanted: BTreeMap<String, Json>,
) -> Result<SettingsView, Problem> {
    let mut checked = Vec::with_capacity(wanted.len());
    for (name, json) in &wanted {
        let about = |problem: Problem| Problem { key: Some(name.clone()), ..problem };
        let key = config::key(name).ok_or_else(|| {
            let hint = config::suggestion(name);
            let hint = hint.trim_start_matches("; ");
            about(Problem::unprocessable(format!("{name} is not a setting"), hint))
        })?;
        if matches!(key.kind, SettingKind::Address) && json.as_str().is_some_and(|text| text.contains(HIDDEN))
        {
            let hint = "The part shown as … cannot be saved.";
            return Err(about(Problem::unprocessable(format!("{name} must be given in full"), hint)));
        }
        let value = match to_raw(json) {
            None => None,
            Some(raw) => Some(key.kind.read(&raw).map_err(|expected| {
                let hint = "Leave it empty to restore the default.";
                about(Problem::unprocessable(format!("{name} must be {expected}"), hint))
            })?),
        };
        checked.push((key, value));
    }
    let names: Vec<Vec<String>> = checked.iter().map(|(key, _)| all_names(key)).collect();
    let changes: Vec<SettingsChange<'_>> = checked
        .iter()
        .zip(&names)
        .map(|((key, value), names)| match value {
            Some(value) => SettingsChange::Set(key.name, value),
            None => SettingsChange::Unset(names),
        })
        .collect();
    SettingsFile::in_dir(api.dir().root()).apply(&changes)?;
    list(api, params, NoParams {})
}

/// All names that a setting may have in the file. All are removed, or an older one would apply.
fn all_names(key: &SettingKey) -> Vec<String> {
    let older = key.legacy_names.iter().map(|name| format!("CLAUDE_MEM_{name}"));
    older.chain([key.name.to_owned(), key.variable()]).collect()
}

/// The raw value of JSON input; `None` restores the default.
fn to_raw(json: &Json) -> Option<RawSetting> {
    Some(match json {
        Json::Null => return None,
        Json::String(text) => RawSetting::Text(text.clone()),
        Json::Bool(on) => RawSetting::Text(on.to_string()),
        Json::Number(number) => RawSetting::Text(number.to_string()),
        Json::Array(items) => {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map_or(RawSetting::Other, RawSetting::List)
        }
        Json::Object(_) => RawSetting::Other,
    })
}
