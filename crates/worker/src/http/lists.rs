//! Routes of summaries, prompts and messages.

use super::api::ApiState;
use super::handler_request::PathParams;
use super::list_params::{MessageListParams, ObservationListParams, SummaryListParams};
use super::memory::{MemoryActionResponse, forget};
use super::paging::{ListPage, map_page};
use super::problem::Problem;
use super::route::NoParams;
use super::rows::{MessageView, PromptView, SummaryView};
use super::view_builder::ViewBuilder;
use claude_mem_core::ids::{FinalMessageId, PromptId, SummaryId};
use claude_mem_store::RowKind;

/// Handles `GET /api/summaries`.
pub(super) fn summaries(
    api: &ApiState,
    _: &PathParams,
    asked: SummaryListParams,
) -> Result<ListPage<SummaryView>, Problem> {
    let which = ObservationListParams::from(asked);
    api.view(|reads| {
        let (page, mut views) = (which.page(), ViewBuilder::new(reads));
        let rows = reads.summaries(&which.filter(api, reads)?, page)?;
        map_page(page, rows, |row| views.summary(row))
    })
}

/// Handles `GET /api/prompts`.
pub(super) fn prompts(
    api: &ApiState,
    _: &PathParams,
    asked: MessageListParams,
) -> Result<ListPage<PromptView>, Problem> {
    let which = ObservationListParams::from(asked);
    api.view(|reads| {
        let (page, mut views) = (which.page(), ViewBuilder::new(reads));
        let rows = reads.prompts(&which.filter(api, reads)?, page)?;
        map_page(page, rows, |row| views.prompt(row))
    })
}

/// Handles `GET /api/messages`.
pub(super) fn messages(
    api: &ApiState,
    _: &PathParams,
    asked: MessageListParams,
) -> Result<ListPage<MessageView>, Problem> {
    let which = ObservationListParams::from(asked);
    api.view(|reads| {
        let (page, mut views) = (which.page(), ViewBuilder::new(reads));
        let rows = reads.final_messages(&which.filter(api, reads)?, page)?;
        map_page(page, rows, |row| views.message(row))
    })
}

/// Handles `GET /api/summaries/{id}`.
pub(super) fn summary(api: &ApiState, params: &PathParams, _: NoParams) -> Result<SummaryView, Problem> {
    let id = SummaryId(params.id()?);
    api.view(|reads| ViewBuilder::new(reads).summary(reads.summary(id)?))
}

/// Handles `GET /api/prompts/{id}`.
pub(super) fn prompt(api: &ApiState, params: &PathParams, _: NoParams) -> Result<PromptView, Problem> {
    let id = PromptId(params.id()?);
    api.view(|reads| ViewBuilder::new(reads).prompt(reads.prompt(id)?))
}

/// Handles `GET /api/messages/{id}`.
pub(super) fn message(api: &ApiState, params: &PathParams, _: NoParams) -> Result<MessageView, Problem> {
    let id = FinalMessageId(params.id()?);
    api.view(|reads| ViewBuilder::new(reads).message(reads.final_message(id)?))
}

/// Handles `DELETE /api/summaries/{id}`.
pub(super) fn forget_summary(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<MemoryActionResponse, Problem> {
    forget(api, RowKind::Summary, params)
}

/// Handles `DELETE /api/prompts/{id}`.
pub(super) fn forget_prompt(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<MemoryActionResponse, Problem> {
    forget(api, RowKind::Prompt, params)
}

/// Handles `DELETE /api/messages/{id}`.
pub(super) fn forget_message(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<MemoryActionResponse, Problem> {
    forget(api, RowKind::Message, params)
}
