//! Everything as it was remembered, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::lists::{page, types};
use super::problem::Problem;
use super::projects;
use super::rows::{Row, Views};
use super::stream;
use crate::clock::Millis;
use crate::store::{FeedPlace, FeedScope, RowKind};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    /// `nextCursor` of the page before.
    before: Option<String>,
    limit: Option<u32>,
    /// An id, or a name.
    project: Option<String>,
    /// Types of observations, separated by commas.
    r#type: Option<String>,
    /// observation, summary, prompt or message; several separated by commas.
    kind: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feed {
    items: Vec<Row>,
    next_cursor: Option<String>,
    /// As Last-Event-ID of `/stream`: whatever came after this answer is told.
    seen: String,
}

pub(super) fn feed(api: &Api, _: &Params, which: Which) -> Result<Feed, Problem> {
    let limit = page(0, which.limit).limit;
    let before = which.before.as_deref().filter(|text| !text.is_empty());
    let before = before.map(place).transpose()?;
    api.view(|reads| {
        let scope = FeedScope {
            project: projects::named(reads, which.project.as_deref())?,
            kinds: kinds(which.kind.as_deref())?,
            types: types(which.r#type.as_deref()),
            before,
        };
        let mut places = reads.feed(&scope, limit)?;
        let has_more = places.len() > limit as usize;
        places.truncate(limit as usize);
        let next = places.last().copied().filter(|_| has_more).map(cursor);
        let mut views = Views::new(reads);
        let mut items = Vec::with_capacity(places.len());
        for place in places {
            items.extend(views.row(place.kind, place.row_id)?);
        }
        Ok(Feed {
            items,
            next_cursor: next,
            seen: stream::id(reads.marks()?),
        })
    })
}

pub(super) fn kinds(text: Option<&str>) -> Result<Vec<RowKind>, Problem> {
    let names = text.unwrap_or_default().split(',').map(str::trim);
    let kind = |name: &str| {
        RowKind::from_name(name).ok_or_else(|| {
            let hint = "Kinds are observation, summary, prompt and message.";
            Problem::bad(format!("{name:?} is not a kind"), hint)
        })
    };
    names.filter(|name| !name.is_empty()).map(kind).collect()
}

/// `1763200000000-observation-12`
fn cursor(place: FeedPlace) -> String {
    format!("{}-{}-{}", place.at.0, place.kind.as_str(), place.row_id)
}

fn place(text: &str) -> Result<FeedPlace, Problem> {
    let mut parts = text.rsplitn(3, '-');
    let mut next = || parts.next();
    let (row_id, kind, at) = (next(), next(), next());
    let read = || {
        Some(FeedPlace {
            row_id: row_id?.parse().ok()?,
            kind: RowKind::from_name(kind?)?,
            at: Millis(at?.parse().ok()?),
        })
    };
    read().ok_or_else(|| {
        let hint = "Take nextCursor of the page before, as it is.";
        Problem::bad(format!("{text:?} is not a place in the feed"), hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_its_place_and_nothing_else_does() {
        for at in [0, 1_763_200_000_000, -5] {
            let there = FeedPlace {
                at: Millis(at),
                kind: RowKind::Summary,
                row_id: 7,
            };
            assert_eq!(place(&cursor(there)).ok(), Some(there));
        }
        for wrong in [
            "",
            "12",
            "1-2-3",
            "x-prompt-1",
            "1-prompt-",
            "1-prompt-9999999999999999999",
        ] {
            assert!(place(wrong).is_err(), "{wrong:?}");
        }
    }
}
