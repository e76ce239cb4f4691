//! What happened around a moment: the rows before and after one, in order.

use super::ask::Item;
use super::handle::Handle;
use super::items::Items;
use super::rank::Parts;
use crate::clock::Millis;
use crate::store::{Reads, RowKind, StoreError, WordScope};

/// What to show around the anchor.
#[derive(Clone, Debug)]
pub struct Around {
    pub anchor: Handle,
    pub before: usize,
    pub after: usize,
    /// Empty: all kinds.
    pub kinds: Vec<RowKind>,
}

/// Oldest first, the anchor among them. `None` if there is no such row.
pub fn timeline(reads: &Reads<'_>, around: &Around) -> Result<Option<Vec<Item>>, StoreError> {
    let Some((project, at)) = reads.place_of(around.anchor.kind, around.anchor.row_id)? else {
        return Ok(None);
    };
    let scope = |since: Option<Millis>, until: Option<Millis>| WordScope {
        project,
        kinds: around.kinds.clone(),
        since,
        until,
        ..WordScope::default()
    };
    let key = around.anchor.key();
    // Rows of the same moment count as before; the anchor itself is put between.
    let next = Some(Millis(at.0 + 1));
    let earlier = reads.rows_in_time(&scope(None, next), false, around.before + 1)?;
    let mut keys: Vec<_> = earlier.into_iter().filter(|row| *row != key).collect();
    keys.truncate(around.before);
    keys.reverse();
    keys.push(key);
    keys.extend(reads.rows_in_time(&scope(next, None), true, around.after)?);
    let mut items = Items::new(reads);
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        found.extend(items.item(key, 0.0, Parts::default())?);
    }
    Ok(Some(found))
}
