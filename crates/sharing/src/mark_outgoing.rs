//! Finds own rows that are new or changed since the last round, and marks what is to be sent.
//!
//! New rows are found by their ids and changes by their numbers, which both follow the order of commits. Only
//! the mark is kept; the text is read when it is sent.

use crate::record_body::outgoing_body;
use crate::share_marks::{HIDDEN, KEEP_BACK};
use crate::share_rules::{ShareRules, ShareVerdict};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{PublicId, SpaceRowId};
use claude_mem_store::{
    RowChange, RowId, RowKind, ShareState, SharedRow, SpaceMode, SpaceRow, StoreError, StoreWriter,
};
use claude_mem_wire::RecordHash;

/// Maximum rows and changes per transaction, so that hooks do not wait longer.
const MARK_ROWS_MAX: u32 = 64;

/// Marks the next rows and changes of the space. True if there may be more.
pub(crate) fn mark_outgoing_rows(
    tx: &StoreWriter<'_>,
    space: SpaceRowId,
    rules: &ShareRules,
    now: Millis,
) -> Result<bool, StoreError> {
    let space = tx.space(space)?;
    let (mut observation, mut account, mut change) =
        (space.sealed_observation, space.sealed_account, space.sealed_change);
    let changes = tx.list_changes_after(change, MARK_ROWS_MAX as usize)?;
    let mut more = changes.len() == MARK_ROWS_MAX as usize;
    for (number, changed) in changes {
        if let RowChange::Row(row) = changed {
            mark_row(tx, &space, row, rules, now)?;
        }
        change = number;
    }
    if space.mode.sends() {
        let mut last = tx.change_cursor()?;
        for (kind, mark) in [(RowKind::Observation, &mut observation), (RowKind::Account, &mut account)] {
            let project = if space.own { None } else { space.project };
            if !space.own && project.is_none() {
                continue;
            }
            let ids = tx.own_row_ids_after(kind, project, *mark, MARK_ROWS_MAX)?;
            let is_last = ids.len() < MARK_ROWS_MAX as usize;
            more |= !is_last;
            for id in ids {
                mark_row(tx, &space, RowId::new(kind, id), rules, now)?;
                *mark = id;
            }
            if is_last {
                // Also past the rows of others, which would otherwise be read again in every transaction.
                *mark = (*mark).max(*last.last_seen_mut(kind));
            }
        }
    }
    tx.set_space_sealed(space.id, observation, account, change)?;
    Ok(more)
}

/// Marks one own row for sending, for removal, or as held back.
pub(crate) fn mark_row(
    tx: &StoreWriter<'_>,
    space: &SpaceRow,
    row: RowId,
    rules: &ShareRules,
    now: Millis,
) -> Result<(), StoreError> {
    if !matches!(row.kind, RowKind::Observation | RowKind::Account) {
        return Ok(());
    }
    let body = outgoing_body(tx, space, row, rules)?;
    let share = tx.share_in_space(space.id, row)?;
    match (share, body) {
        (Some(share), None) => mark_removed(tx, share, tx.member_of_row(row)?.is_some(), now),
        (Some(share), Some(body)) if share.member.is_none() => {
            let is_changed = share.local_hash != RecordHash::from_body(&body.json).0;
            let may_leave = body.verdict == ShareVerdict::MayLeave;
            let waits = matches!(share.state, ShareState::Held | ShareState::Kept) || share.why == KEEP_BACK;
            if waits || !space.mode.sends() || (may_leave && !is_changed && share.state == ShareState::Sent) {
                return Ok(());
            }
            // New text of a reviewed row waits for the user's approval again; a removal does not.
            let is_reviewed = space.mode == SpaceMode::Review && may_leave;
            let state = if is_reviewed { ShareState::Held } else { ShareState::Unsent };
            tx.put_shared_row(&SharedRow { state, why: String::new(), at: now, ..share })
        }
        // Another member's row was marked here; that stays here.
        (Some(_), Some(_)) => Ok(()),
        (None, None) => seal_restored(tx, space, row, now),
        (None, Some(body)) => {
            if body.verdict != ShareVerdict::MayLeave || !space.mode.sends() {
                return Ok(());
            }
            let state = if space.mode == SpaceMode::Review { ShareState::Held } else { ShareState::Unsent };
            let uid = free_public_id(tx, space, row, body.uid)?;
            let known = match tx.shared_row(space.id, uid)? {
                Some(known) => Some(known),
                None => take_from_own_space(tx, space, row)?,
            };
            let new = match known {
                // It was forgotten and restored before the server knew, or another machine of the user has it.
                Some(known) => SharedRow { row_id: Some(row.row_id), state, at: now, ..known },
                None => SharedRow::own(space.id, uid, row, state, now),
            };
            tx.put_shared_row(&new)
        }
    }
}

/// A row that is no longer here: an own one is taken back, another's is hidden here.
fn mark_removed(
    tx: &StoreWriter<'_>,
    share: SharedRow,
    still_here: bool,
    now: Millis,
) -> Result<(), StoreError> {
    if still_here {
        // A row of another member is not read for sending.
        return Ok(());
    }
    if share.member.is_some() {
        let why = if share.gone { "" } else { HIDDEN };
        return tx.put_shared_row(&SharedRow { row_id: None, why: why.to_owned(), at: now, ..share });
    }
    if share.gone {
        return tx.put_shared_row(&SharedRow { row_id: None, state: ShareState::Sent, at: now, ..share });
    }
    if share.rev == 0 && share.mark.is_none() && share.state != ShareState::Unsent {
        return tx.remove_shared_row(share.space, share.uid);
    }
    // Sent, or perhaps sent with a lost answer.
    tx.put_shared_row(&SharedRow { row_id: None, state: ShareState::Unsent, at: now, ..share })
}

/// Moves a row from the space of the user's own machines into the space of its project, with its version.
fn take_from_own_space(
    tx: &StoreWriter<'_>,
    space: &SpaceRow,
    row: RowId,
) -> Result<Option<SharedRow>, StoreError> {
    let Some(known) = tx.share_of_row(row)?.filter(|known| known.space != space.id && !known.gone) else {
        return Ok(None);
    };
    tx.remove_shared_row(known.space, known.uid)?;
    Ok(Some(SharedRow { space: space.id, mark: None, ..known }))
}

/// Another member's row that was hidden here and is shown again follows its record again.
fn seal_restored(tx: &StoreWriter<'_>, space: &SpaceRow, row: RowId, now: Millis) -> Result<(), StoreError> {
    let Some(member) = tx.member_of_row(row)? else { return Ok(()) };
    let known = tx.shared_row(space.id, tx.public_id_of(row)?)?;
    match known.filter(|known| known.member == Some(member)) {
        Some(known) if known.gone => tx.erase_team_row(row),
        Some(known) if known.row_id.is_none() => {
            let row_id = Some(row.row_id);
            tx.put_shared_row(&SharedRow { row_id, why: String::new(), at: now, ..known })
        }
        _ => Ok(()),
    }
}

/// The row's public id, or a new one if the old one was retracted for good or is another member's.
fn free_public_id(
    tx: &StoreWriter<'_>,
    space: &SpaceRow,
    row: RowId,
    uid: PublicId,
) -> Result<PublicId, StoreError> {
    let taken = tx.shared_row(space.id, uid)?.is_some_and(|known| known.gone || known.member.is_some());
    if taken { tx.renew_public_id(row) } else { Ok(uid) }
}
