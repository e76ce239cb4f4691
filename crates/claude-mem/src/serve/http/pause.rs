//! Looking away for a while.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::problem::Problem;
use super::route::Nothing;
use crate::clock::Millis;
use crate::pause as file;

/// A year: longer is for ever.
const MINUTES_MAX: u32 = 366 * 24 * 60;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct For {
    /// Without it, until resumed.
    minutes: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Paused {
    paused: bool,
    until: Option<Millis>,
}

pub(super) fn pause(api: &Api, _: &Params, asked: For) -> Result<Paused, Problem> {
    let now = api.now();
    if asked
        .minutes
        .is_some_and(|minutes| !(1..=MINUTES_MAX).contains(&minutes))
    {
        let hint = format!("1 to {MINUTES_MAX}, or nothing for until resumed.");
        return Err(Problem::unfit("this is no time to pause for", hint));
    }
    let until = asked
        .minutes
        .map(|minutes| now.plus_seconds(i64::from(minutes) * 60));
    let since = Some(now);
    file::begin(&api.dir().paused(), file::Pause { since, until })?;
    api.stir();
    Ok(Paused {
        paused: true,
        until,
    })
}

pub(super) fn resume(api: &Api, _: &Params, _: Nothing) -> Result<Paused, Problem> {
    file::end(&api.dir().paused())?;
    api.stir();
    Ok(Paused {
        paused: false,
        until: None,
    })
}
