//! Arguments of the tools. Unknown arguments are rejected: if ignored, the agent would assume they
//! took effect.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use claude_mem_recall::manual_edits::Judgement;
use claude_mem_search::ResultOrder;
use claude_mem_store::RowId;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(non_snake_case, reason = "the names that agents know these parameters by")]
pub(super) struct SearchArgs {
    pub(super) query: String,
    #[serde(deserialize_with = "number")]
    pub(super) limit: Option<u32>,
    #[serde(deserialize_with = "number")]
    pub(super) offset: Option<u32>,
    pub(super) project: Option<String>,
    pub(super) r#type: Option<String>,
    pub(super) obs_type: Option<String>,
    pub(super) dateStart: Option<String>,
    pub(super) dateEnd: Option<String>,
    pub(super) orderBy: Option<OrderBy>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TimelineArgs {
    pub(super) anchor: Option<RowIdArg>,
    pub(super) query: Option<String>,
    #[serde(deserialize_with = "number")]
    pub(super) depth_before: Option<u32>,
    #[serde(deserialize_with = "number")]
    pub(super) depth_after: Option<u32>,
    pub(super) project: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GetArgs {
    #[serde(deserialize_with = "row_ids")]
    pub(super) ids: Vec<RowIdArg>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SaveArgs {
    pub(super) text: String,
    pub(super) title: Option<String>,
    pub(super) project: Option<String>,
    pub(super) r#type: Option<String>,
    #[serde(default)]
    pub(super) global: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForgetArgs {
    pub(super) id: RowIdArg,
    pub(super) mark: Option<Judgement>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct OpenItemsArgs {
    #[serde(deserialize_with = "item_ids")]
    pub(super) close: Vec<i64>,
    #[serde(deserialize_with = "item_ids")]
    pub(super) reopen: Vec<i64>,
    pub(super) reason: String,
    pub(super) project: Option<String>,
}

/// A number, or its digits as a string: models quote numbers now and then.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum NumberArg {
        Number(u32),
        Text(String),
    }
    match Option::<NumberArg>::deserialize(from)? {
        None => Ok(None),
        Some(NumberArg::Number(number)) => Ok(Some(number)),
        Some(NumberArg::Text(text)) if text.trim().is_empty() => Ok(None),
        Some(NumberArg::Text(text)) => {
            text.trim().parse().map(Some).map_err(|_| D::Error::custom(format!("{text:?} is not a number")))
        }
    }
}

/// A list of ids, one id, or several in one string: `7`, `"7"`, `"#7, S3"`, `"[7, 8]"`.
fn row_ids<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<RowIdArg>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum RowIdsArg {
        List(Vec<RowIdArg>),
        One(RowIdArg),
    }
    Ok(match RowIdsArg::deserialize(from)? {
        RowIdsArg::List(ids) => ids,
        RowIdsArg::One(RowIdArg::Number(number)) => vec![RowIdArg::Number(number)],
        RowIdsArg::One(RowIdArg::Text(text)) => text
            .split([',', ' ', '[', ']', '"'])
            .filter(|id| !id.is_empty())
            .map(|id| RowIdArg::Text(id.to_owned()))
            .collect(),
    })
}

/// Ids of open items, as freely as [`row_ids`]. They are plain numbers.
fn item_ids<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<i64>, D::Error> {
    let number = |id: RowIdArg| match id {
        RowIdArg::Number(number) => Ok(number),
        RowIdArg::Text(text) => text
            .trim()
            .trim_start_matches('#')
            .parse()
            .map_err(|_| D::Error::custom(format!("{text:?} is not the id of an open item"))),
    };
    row_ids(from)?.into_iter().map(number).collect()
}

/// A row handle as agents pass it: `12`, `"12"`, `"#12"`, `"S3"`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum RowIdArg {
    Number(i64),
    Text(String),
}

impl RowIdArg {
    /// Parses the handle; the error is a text for the agent.
    pub(super) fn handle(&self) -> Result<RowId, String> {
        self.to_string().parse().map_err(|e| format!("{e}."))
    }
}

impl std::fmt::Display for RowIdArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Sort orders by the names agents know.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrderBy {
    Relevance,
    DateDesc,
    DateAsc,
}

impl From<OrderBy> for ResultOrder {
    fn from(by: OrderBy) -> Self {
        match by {
            OrderBy::Relevance => Self::Relevance,
            OrderBy::DateDesc => Self::NewestFirst,
            OrderBy::DateAsc => Self::OldestFirst,
        }
    }
}
