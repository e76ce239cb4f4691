//! [`ListPage`], the response of every list, and the functions that cut one.

use schemars::JsonSchema;
use serde::Serialize;

use super::problem::Problem;
use claude_mem_core::limits::{HTTP_ROWS, HTTP_ROWS_MAX};
use claude_mem_store::{PageRequest, RowPage};

/// One page of a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Listed")]
pub(super) struct ListPage<T> {
    pub(super) items: Vec<T>,
    pub(super) offset: u32,
    pub(super) limit: u32,
    pub(super) has_more: bool,
}

/// The requested page, with the limit clamped to what the API allows.
pub(super) fn page(offset: u32, limit: Option<u32>) -> PageRequest {
    PageRequest { offset, limit: limit.unwrap_or(HTTP_ROWS).clamp(1, HTTP_ROWS_MAX) }
}

/// Cuts one page out of all items.
pub(super) fn paginate<T>(page: PageRequest, all: impl Iterator<Item = T>) -> ListPage<T> {
    let mut items: Vec<T> = all.skip(page.offset as usize).take(page.limit as usize + 1).collect();
    let has_more = items.len() > page.limit as usize;
    items.truncate(page.limit as usize);
    ListPage { items, offset: page.offset, limit: page.limit, has_more }
}

/// Maps a page of rows to a page of views.
pub(super) fn map_page<T, V>(
    page: PageRequest,
    rows: RowPage<T>,
    mut view: impl FnMut(T) -> Result<V, Problem>,
) -> Result<ListPage<V>, Problem> {
    let has_more = rows.has_more;
    let items = rows.items.into_iter().map(&mut view);
    Ok(ListPage { items: items.collect::<Result<_, _>>()?, offset: page.offset, limit: page.limit, has_more })
}
