//! Routes of session accounts and open items.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::list_params::{MessageListParams, ObservationListParams};
use super::lookup;
use super::memory::{MemoryActionResponse, forget};
use super::paging::{ListPage, map_page, page};
use super::problem::Problem;
use super::route::NoParams;
use super::rows::AccountView;
use super::view_builder::ViewBuilder;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, OpenItemId, SessionId};
use claude_mem_recall::open_item_edits;
use claude_mem_store::{ItemCloser, OpenItemFilter, OpenItemRow, RowKind, StoreReader};

/// Handles `GET /api/accounts`.
pub(super) fn accounts(
    api: &ApiState,
    _: &PathParams,
    asked: MessageListParams,
) -> Result<ListPage<AccountView>, Problem> {
    let which = ObservationListParams::from(asked);
    api.view(|reads| {
        let (page, mut views) = (which.page(), ViewBuilder::new(reads));
        let rows = reads.accounts(&which.filter(api, reads)?, page)?;
        map_page(page, rows, |row| views.account(row))
    })
}

/// Handles `GET /api/accounts/{id}`.
pub(super) fn account(api: &ApiState, params: &PathParams, _: NoParams) -> Result<AccountView, Problem> {
    let id = AccountId(params.id()?);
    api.view(|reads| ViewBuilder::new(reads).account(reads.account(id)?))
}

/// Handles `DELETE /api/accounts/{id}`.
pub(super) fn forget_account(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<MemoryActionResponse, Problem> {
    forget(api, RowKind::Account, params)
}

/// Filters and page of the list of open items.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct OpenItemListParams {
    offset: u32,
    limit: Option<u32>,
    /// Project id or name.
    project: Option<String>,
    /// Our session id, or the client's.
    session: Option<String>,
    /// Include closed items.
    all: bool,
}

/// Remaining work that a session named.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenItemView {
    id: OpenItemId,
    text: String,
    session: SessionId,
    project: Option<String>,
    branch: Option<String>,
    opened_at: Millis,
    closed_at: Option<Millis>,
    closed_by: Option<ItemCloser>,
    closed_by_session: Option<SessionId>,
    reason: String,
}

fn item_view(reads: &StoreReader<'_>, row: OpenItemRow) -> Result<OpenItemView, Problem> {
    Ok(OpenItemView {
        id: row.id,
        text: row.text,
        session: row.session,
        project: row.project.map(|id| reads.project_name(id)).transpose()?.flatten(),
        branch: row.branch,
        opened_at: row.opened_at,
        closed_at: row.closed_at,
        closed_by: row.closed_by,
        closed_by_session: row.closed_by_session,
        reason: row.reason,
    })
}

/// Handles `GET /api/open-items`.
pub(super) fn open_items(
    api: &ApiState,
    _: &PathParams,
    which: OpenItemListParams,
) -> Result<ListPage<OpenItemView>, Problem> {
    let page = page(which.offset, which.limit);
    api.view(|reads| {
        let session = which.session.as_deref().map(|text| lookup::find_session(reads, text)).transpose()?;
        let filter = OpenItemFilter {
            project: lookup::resolve_project(reads, which.project.as_deref())?,
            session: session.map(|session| session.id),
            with_closed: which.all,
        };
        map_page(page, reads.list_open_items(&filter, page)?, |row| item_view(reads, row))
    })
}

/// Why an item is closed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CloseItemRequest {
    reason: String,
}

/// Handles `POST /api/open-items/{id}/close`.
pub(super) fn close_item(
    api: &ApiState,
    params: &PathParams,
    asked: CloseItemRequest,
) -> Result<OpenItemView, Problem> {
    let (id, now) = (OpenItemId(params.id()?), api.now());
    api.change(|store| open_item_edits::close(store, id, &asked.reason, now))?;
    api.view(|reads| item_view(reads, reads.open_item(id)?))
}

/// Handles `POST /api/open-items/{id}/reopen`.
pub(super) fn reopen_item(api: &ApiState, params: &PathParams, _: NoParams) -> Result<OpenItemView, Problem> {
    let id = OpenItemId(params.id()?);
    api.change(|store| open_item_edits::reopen(store, id))?;
    api.view(|reads| item_view(reads, reads.open_item(id)?))
}
