//! Search by our ranking, and what happened around a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::feed::kinds;
use super::lists::{page, since, types, until};
use super::problem::Problem;
use super::projects;
use super::rows::{Row, Views};
use crate::search::timeline::{Around, timeline as around};
use crate::search::{Ask, Fit, Found, Handle, Whose, ask};

/// Rows on each side of an anchor.
const AROUND: usize = 5;
const AROUND_MAX: usize = 100;

/// Asks the searcher that stays.
pub(super) fn ask(api: &Api, question: &Ask) -> Result<Found, Problem> {
    Ok(api.worker.warm.with(|engine| engine.search(question))?)
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent parameters of a request"
)]
pub(super) struct Question {
    /// Words, phrases, operators and filters. Empty: the newest.
    query: String,
    /// An id, or a name. Others' memories follow where it has none.
    project: Option<String>,
    all_projects: bool,
    /// observation, summary, prompt or message; several separated by commas.
    kind: Option<String>,
    r#type: Option<String>,
    concept: Option<String>,
    file: Option<String>,
    since: Option<String>,
    until: Option<String>,
    /// Also what was marked as wrong.
    wrong: bool,
    limit: Option<u32>,
    offset: u32,
    /// With the parts of each score.
    explain: bool,
    /// The last word is still being typed.
    typing: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answers {
    query: String,
    scope: Scope,
    items: Vec<Answer>,
    offset: u32,
    limit: u32,
    has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Scope {
    project: Option<String>,
    how: How,
    /// Whether meaning had a say, or words alone.
    vectors: bool,
    /// What in the question could not be understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// How closely the answers fit.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum How {
    Asked,
    OtherProjects,
    /// Not even others' have all of it.
    OtherProjectsBroader,
    Broader,
    Recent,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Answer {
    #[serde(flatten)]
    row: Row,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
}

/// Each part of the score, as it went into the sum.
#[derive(Debug, Serialize, JsonSchema)]
struct Why {
    words: f64,
    vectors: f64,
    coverage: f64,
    /// Identifiers and paths as they were typed.
    names: f64,
    neighbours: f64,
    recency: f64,
    /// Made when the question says.
    time: f64,
    /// Replaces another, was replaced, or is told above.
    judged: f64,
    /// How near in meaning, as measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    cosine: Option<f64>,
    /// The words, as they stand in the row.
    matched: Vec<String>,
}

pub(super) fn search(api: &Api, _: &Params, asked: Question) -> Result<Answers, Problem> {
    let mut question = Ask::new(&asked.query, api.now());
    question.zone = api.zone.clone();
    question.kinds = kinds(asked.kind.as_deref())?;
    question.types = types(asked.r#type.as_deref());
    question.concepts = asked.concept.into_iter().collect();
    question.files = asked.file.into_iter().collect();
    question.since = since(api, asked.since.as_deref())?;
    question.until = until(api, asked.until.as_deref())?;
    question.with_wrong = asked.wrong;
    question.page = page(asked.offset, asked.limit);
    question.typing = asked.typing;
    let project = api.view(|reads| projects::named(reads, asked.project.as_deref()))?;
    question.whose = match project {
        Some(id) if !asked.all_projects => Whose::ProjectFirst(id),
        _ => Whose::All,
    };
    let found = ask(api, &question)?;
    let how = how(&found);
    api.view(|reads| {
        let mut views = Views::new(reads);
        let mut items = Vec::with_capacity(found.results.len());
        for item in found.results {
            let Some(row) = views.row(item.id.kind, item.id.row_id)? else {
                continue;
            };
            let why = Why {
                words: item.why.words,
                vectors: item.why.vectors,
                coverage: item.why.coverage,
                names: item.why.names,
                neighbours: item.why.neighbours,
                recency: item.why.recency,
                time: item.why.time,
                judged: item.why.judged,
                cosine: item.why.cosine,
                matched: item.why.matched,
            };
            let why = asked.explain.then_some(why);
            items.push(Answer {
                row,
                score: item.score,
                why,
            });
        }
        Ok(Answers {
            query: asked.query,
            scope: Scope {
                project: found.scope.project,
                how,
                vectors: found.scope.vectors,
                notes: found.scope.notes,
            },
            items,
            offset: question.page.offset,
            limit: question.page.limit,
            has_more: found.has_more,
        })
    })
}

fn how(found: &Found) -> How {
    match (found.scope.fit, found.scope.from) {
        (Fit::Recent, _) => How::Recent,
        (Fit::Broader, ask::From::OtherProjects) => How::OtherProjectsBroader,
        (Fit::Broader, _) => How::Broader,
        (_, ask::From::OtherProjects) => How::OtherProjects,
        _ => How::Asked,
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Where {
    /// `#12`, `S3`, `P7` or `M9`; the `#` of a URL is written `%23`, or left out.
    anchor: String,
    before: Option<usize>,
    after: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Timeline {
    anchor: String,
    /// Oldest first.
    items: Vec<Row>,
}

pub(super) fn timeline(api: &Api, _: &Params, asked: Where) -> Result<Timeline, Problem> {
    let anchor: Handle = asked
        .anchor
        .parse()
        .map_err(|e| Problem::bad(format!("{e}"), "Search shows the ids."))?;
    let asked = Around {
        anchor,
        before: asked.before.unwrap_or(AROUND).min(AROUND_MAX),
        after: asked.after.unwrap_or(AROUND).min(AROUND_MAX),
        kinds: Vec::new(),
        types: Vec::new(),
        since: None,
        until: None,
        all_projects: false,
        // The viewer shows them as such.
        with_wrong: true,
    };
    api.view(|reads| {
        let found = around(reads, &asked)?.ok_or_else(|| Problem::not_there(anchor))?;
        let mut views = Views::new(reads);
        let mut items = Vec::with_capacity(found.len());
        for item in found {
            items.extend(views.row(item.id.kind, item.id.row_id)?);
        }
        Ok(Timeline {
            anchor: anchor.to_string(),
            items,
        })
    })
}
