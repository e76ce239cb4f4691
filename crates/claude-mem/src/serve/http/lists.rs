//! Lists of rows of one kind, with the filters that they share; summaries, prompts, messages.

use schemars::JsonSchema;
use serde::Deserialize;

use super::api::Api;
use super::call::Params;
use super::memory::{Done, forget};
use super::problem::Problem;
use super::projects;
use super::route::Nothing;
use super::rows::{Listed, MessageView, PromptView, SummaryView, Views};
use crate::clock::Millis;
use crate::ids::{FinalMessageId, PromptId, SummaryId};
use crate::limits::{HTTP_ROWS, HTTP_ROWS_MAX};
use crate::memory::ObservationType;
use crate::search::dates;
use crate::store::{Filter, Page, Paged, Reads, RowKind};

/// Which observations, and which page of them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    pub(super) offset: u32,
    pub(super) limit: Option<u32>,
    /// An id, or a name.
    pub(super) project: Option<String>,
    /// Our number of a session, or its client's id.
    pub(super) session: Option<String>,
    /// Types of observations, separated by commas.
    pub(super) r#type: Option<String>,
    pub(super) concept: Option<String>,
    /// A path, the end of one, or a folder.
    pub(super) file: Option<String>,
    /// Those alone that are pinned.
    pub(super) pinned: bool,
    /// Those alone that were marked as wrong.
    pub(super) wrong: bool,
    /// Milliseconds, a day, a moment, or so long ago as `3d`.
    pub(super) since: Option<String>,
    /// The same; a day is meant to its end.
    pub(super) until: Option<String>,
}

/// Which summaries: they have files, but neither a type nor concepts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Summaries {
    offset: u32,
    limit: Option<u32>,
    /// An id, or a name.
    project: Option<String>,
    /// Our number of a session, or its client's id.
    session: Option<String>,
    /// A path, the end of one, or a folder.
    file: Option<String>,
    /// Milliseconds, a day, a moment, or so long ago as `3d`.
    since: Option<String>,
    /// The same; a day is meant to its end.
    until: Option<String>,
}

/// Which of what was said: a prompt or an answer has no files of its own either.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Said {
    offset: u32,
    limit: Option<u32>,
    /// An id, or a name.
    project: Option<String>,
    /// Our number of a session, or its client's id.
    session: Option<String>,
    /// Milliseconds, a day, a moment, or so long ago as `3d`.
    since: Option<String>,
    /// The same; a day is meant to its end.
    until: Option<String>,
}

impl From<Summaries> for Which {
    fn from(asked: Summaries) -> Self {
        Self {
            offset: asked.offset,
            limit: asked.limit,
            project: asked.project,
            session: asked.session,
            file: asked.file,
            since: asked.since,
            until: asked.until,
            ..Self::default()
        }
    }
}

impl From<Said> for Which {
    fn from(asked: Said) -> Self {
        Self {
            offset: asked.offset,
            limit: asked.limit,
            project: asked.project,
            session: asked.session,
            since: asked.since,
            until: asked.until,
            ..Self::default()
        }
    }
}

impl Which {
    pub(super) fn page(&self) -> Page {
        page(self.offset, self.limit)
    }

    pub(super) fn filter(&self, api: &Api, reads: &Reads<'_>) -> Result<Filter, Problem> {
        let session = self.session.as_deref();
        Ok(Filter {
            project: projects::named(reads, self.project.as_deref())?,
            session: session
                .map(|text| super::sessions::find(reads, text))
                .transpose()?
                .map(|session| session.id),
            types: types(self.r#type.as_deref()),
            concepts: self.concept.clone().into_iter().collect(),
            files: self.file.clone().into_iter().collect(),
            pinned: self.pinned,
            wrong: self.wrong,
            since: since(api, self.since.as_deref())?,
            until: until(api, self.until.as_deref())?,
            ..Filter::default()
        })
    }
}

pub(super) fn page(offset: u32, limit: Option<u32>) -> Page {
    Page {
        offset,
        limit: limit.unwrap_or(HTTP_ROWS).clamp(1, HTTP_ROWS_MAX),
    }
}

pub(super) fn types(text: Option<&str>) -> Vec<ObservationType> {
    let names = text.unwrap_or_default().split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(|name| ObservationType::named(name.to_lowercase()))
        .collect()
}

pub(super) fn since(api: &Api, text: Option<&str>) -> Result<Option<Millis>, Problem> {
    text.map(|text| read(api, text, dates::moment)).transpose()
}

pub(super) fn until(api: &Api, text: Option<&str>) -> Result<Option<Millis>, Problem> {
    text.map(|text| read(api, text, dates::end)).transpose()
}

fn read(api: &Api, text: &str, as_person: dates::Read) -> Result<Millis, Problem> {
    let as_millis = || text.trim().parse().ok().map(Millis);
    as_person(text, api.now(), &api.zone)
        .or_else(as_millis)
        .ok_or_else(|| {
            let hint = "Say milliseconds since 1970, a day as 2026-11-15, or 3d.";
            Problem::bad(format!("{text:?} is not a time"), hint)
        })
}

/// All that there is, as one page of it.
pub(super) fn cut<T>(page: Page, all: impl Iterator<Item = T>) -> Listed<T> {
    let mut items: Vec<T> = all
        .skip(page.offset as usize)
        .take(page.limit as usize + 1)
        .collect();
    let has_more = items.len() > page.limit as usize;
    items.truncate(page.limit as usize);
    Listed {
        items,
        offset: page.offset,
        limit: page.limit,
        has_more,
    }
}

/// A page of rows as a page of views.
pub(super) fn listed<T, V>(
    page: Page,
    rows: Paged<T>,
    mut view: impl FnMut(T) -> Result<V, Problem>,
) -> Result<Listed<V>, Problem> {
    let has_more = rows.has_more;
    let items = rows.items.into_iter().map(&mut view);
    Ok(Listed {
        items: items.collect::<Result<_, _>>()?,
        offset: page.offset,
        limit: page.limit,
        has_more,
    })
}

pub(super) fn summaries(
    api: &Api,
    _: &Params,
    asked: Summaries,
) -> Result<Listed<SummaryView>, Problem> {
    let which = Which::from(asked);
    api.view(|reads| {
        let (page, mut views) = (which.page(), Views::new(reads));
        let rows = reads.summaries(&which.filter(api, reads)?, page)?;
        listed(page, rows, |row| views.summary(row))
    })
}

pub(super) fn prompts(api: &Api, _: &Params, asked: Said) -> Result<Listed<PromptView>, Problem> {
    let which = Which::from(asked);
    api.view(|reads| {
        let (page, mut views) = (which.page(), Views::new(reads));
        let rows = reads.prompts(&which.filter(api, reads)?, page)?;
        listed(page, rows, |row| views.prompt(row))
    })
}

pub(super) fn messages(api: &Api, _: &Params, asked: Said) -> Result<Listed<MessageView>, Problem> {
    let which = Which::from(asked);
    api.view(|reads| {
        let (page, mut views) = (which.page(), Views::new(reads));
        let rows = reads.final_messages(&which.filter(api, reads)?, page)?;
        listed(page, rows, |row| views.message(row))
    })
}

pub(super) fn summary(api: &Api, params: &Params, _: Nothing) -> Result<SummaryView, Problem> {
    let id = SummaryId(params.id()?);
    api.view(|reads| Views::new(reads).summary(reads.summary(id)?))
}

pub(super) fn prompt(api: &Api, params: &Params, _: Nothing) -> Result<PromptView, Problem> {
    let id = PromptId(params.id()?);
    api.view(|reads| Views::new(reads).prompt(reads.prompt(id)?))
}

pub(super) fn message(api: &Api, params: &Params, _: Nothing) -> Result<MessageView, Problem> {
    let id = FinalMessageId(params.id()?);
    api.view(|reads| Views::new(reads).message(reads.final_message(id)?))
}

pub(super) fn forget_summary(api: &Api, params: &Params, _: Nothing) -> Result<Done, Problem> {
    forget(api, RowKind::Summary, params)
}

pub(super) fn forget_prompt(api: &Api, params: &Params, _: Nothing) -> Result<Done, Problem> {
    forget(api, RowKind::Prompt, params)
}

pub(super) fn forget_message(api: &Api, params: &Params, _: Nothing) -> Result<Done, Problem> {
    forget(api, RowKind::Message, params)
}
