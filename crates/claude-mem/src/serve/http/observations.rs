//! Observations: looked at, corrected, forgotten.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::lists::{Which, listed};
use super::memory::{Done, forget as forget_row};
use super::problem::Problem;
use super::route::Nothing;
use super::rows::{Listed, ObservationView, Views};
use crate::ids::ObservationId;
use crate::limits::HTTP_BATCH_MAX;
use crate::remember::{self, CannotSave};
use crate::store::{Level, ObservationEdit, RowKind};

pub(super) fn list(
    api: &Api,
    _: &Params,
    which: Which,
) -> Result<Listed<ObservationView>, Problem> {
    api.view(|reads| {
        let (page, mut views) = (which.page(), Views::new(reads));
        let rows = reads.observations(&which.filter(api, reads)?, page)?;
        listed(page, rows, |row| views.observation(row))
    })
}

pub(super) fn one(api: &Api, params: &Params, _: Nothing) -> Result<ObservationView, Problem> {
    let id = ObservationId(params.id()?);
    api.view(|reads| Views::new(reads).observation(reads.observation(id)?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ids {
    ids: Vec<ObservationId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Batch {
    /// Those that exist, in the order asked for.
    items: Vec<ObservationView>,
}

pub(super) fn batch(api: &Api, _: &Params, asked: Ids) -> Result<Batch, Problem> {
    if asked.ids.len() > HTTP_BATCH_MAX {
        let hint = format!("Ask for at most {HTTP_BATCH_MAX} at a time.");
        return Err(Problem::unfit("these are too many ids", hint));
    }
    api.view(|reads| {
        let mut views = Views::new(reads);
        let rows = reads.observations_by_id(&asked.ids)?.into_iter();
        let items = rows.map(|row| views.observation(row));
        Ok(Batch {
            items: items.collect::<Result<_, _>>()?,
        })
    })
}

pub(super) fn edit(
    api: &Api,
    params: &Params,
    edit: ObservationEdit,
) -> Result<ObservationView, Problem> {
    let id = ObservationId(params.id()?);
    let now = api.now();
    let own = api.view(|reads| Ok(reads.observation(id)?))?;
    // A memory of no project can only be everybody's.
    if edit.level.is_some_and(|level| level != Level::User) && own.project.is_none() {
        let hint = "It was saved for every project.";
        return Err(Problem::unfit("this memory belongs to no project", hint));
    }
    let words = api.vocabulary();
    let corrected = api.change(
        |store| match remember::correct(store, id, &edit, &words, now) {
            Err(CannotSave::Store(error)) => Err(error),
            told => Ok(told),
        },
    )?;
    corrected.map_err(|e| Problem::unfit(e.to_string(), "Nothing was changed."))?;
    one_view(api, id)
}

pub(super) fn one_view(api: &Api, id: ObservationId) -> Result<ObservationView, Problem> {
    api.view(|reads| Views::new(reads).observation(reads.observation(id)?))
}

pub(super) fn forget(api: &Api, params: &Params, _: Nothing) -> Result<Done, Problem> {
    forget_row(api, RowKind::Observation, params)
}
