//! What a person does to memory by hand: save, forget, bring back, judge.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::observations::one_view;
use super::problem::Problem;
use super::projects;
use super::route::Nothing;
use super::rows::ObservationView;
use crate::remember::{self, CannotSave, From, Judgement, Note};
use crate::search::Handle;
use crate::store::RowKind;

/// What was done.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Done {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) forgotten: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) restored: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Save {
    text: String,
    title: Option<String>,
    /// An id or a name; without one it must be `global`, or there must be one project only.
    project: Option<ProjectName>,
    r#type: Option<String>,
    /// Holds in every project.
    #[serde(default)]
    global: bool,
}

/// Pages send the number as it is or as text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ProjectName {
    Id(i64),
    Name(String),
}

impl ProjectName {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Name(name) => name.clone(),
        }
    }
}

pub(super) fn save(api: &Api, _: &Params, save: Save) -> Result<ObservationView, Problem> {
    let named = save.project.as_ref().map(ProjectName::text);
    let project = api.view(|reads| match &named {
        Some(_) => projects::named(reads, named.as_deref()),
        None => Ok(match &reads.projects()?[..] {
            [only] => Some(only.id),
            _ => None,
        }),
    })?;
    if project.is_none() && !save.global {
        let hint = "Name one, or say global.";
        return Err(Problem::unfit(
            "it is not known which project this is for",
            hint,
        ));
    }
    let vocabulary = api.vocabulary();
    let note = Note {
        text: &save.text,
        title: save.title.as_deref(),
        kind: save.r#type.as_deref().filter(|name| !name.is_empty()),
        project,
        global: save.global,
        by_agent: false,
        session: None,
        vocabulary: Some(&vocabulary),
    };
    let now = api.now();
    // Said and found wanting is an answer; only the store's own troubles are its failure.
    let saved = api.change(|store| match remember::save(store, &note, now) {
        Err(CannotSave::Store(error)) => Err(error),
        told => Ok(told),
    })?;
    let id = saved.map_err(|e| Problem::unfit(e.to_string(), "Say something that may be kept."))?;
    one_view(api, id)
}

/// Removes a row; for a while it can be brought back.
pub(super) fn forget(api: &Api, kind: RowKind, params: &Params) -> Result<Done, Problem> {
    let (id, now) = (params.id()?, api.now());
    let vectors = api.dir().vectors_db();
    let owed = api.change(|store| remember::forget(store, &vectors, &[(kind, id)], now))?;
    if let Some(error) = owed {
        api.worker
            .trouble("vectors of a forgotten row stay for now", &error);
    }
    Ok(Done {
        forgotten: Some(true),
        ..Done::default()
    })
}

pub(super) fn restore(api: &Api, params: &Params, _: Nothing) -> Result<Done, Problem> {
    let id = params.id()?;
    let kind = params.text("kind");
    let kind = RowKind::from_name(kind).ok_or_else(|| Problem::not_there(format!("{kind:?}")))?;
    let is_there = api.view(|reads| Ok(reads.place_of(kind, id)?.is_some()))?;
    if is_there {
        // Its number has been taken over, or nothing was forgotten.
        let hint = "Nothing needs to be done.";
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "this row is there",
            hint,
        ));
    }
    if !api.change(|store| store.write(|tx| tx.undo_forget(kind, id)))? {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "it cannot be brought back",
            "It was not forgotten, or too long ago.",
        ));
    }
    Ok(Done {
        restored: Some(true),
        ..Done::default()
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Judged {
    /// `#12`, `S3`, `P7`, `M9`.
    handle: String,
    signal: Judgement,
}

pub(super) fn feedback(api: &Api, _: &Params, judged: Judged) -> Result<Done, Problem> {
    let handle: Handle = judged
        .handle
        .parse()
        .map_err(|e| Problem::unfit(format!("{e}"), "Search shows the ids."))?;
    let from = From {
        place: "viewer",
        ..From::default()
    };
    let now = api.now();
    let (kind, id) = handle.key();
    if judged.signal == Judgement::Wrong && kind != RowKind::Observation {
        let what = format!("a {} cannot be marked as wrong", kind.as_str());
        return Err(Problem::unfit(what, "Forget it instead."));
    }
    api.change(|store| remember::mark(store, kind, id, judged.signal, &from, now))?;
    Ok(Done {
        recorded: Some(true),
        ..Done::default()
    })
}
