//! Pages of records and of names.

use std::pin::pin;

use claude_mem_wire::limits::PAGE_BODY_BYTES_MAX;
use claude_mem_wire::messages::{NamesPage, RecordsPage, SpaceState};
use claude_mem_wire::{
    DeviceId, MemberId, PulledRecord, RecordBody, RecordKind, RecordName, RecordUid, SpaceId, WireRecord,
};
use deadpool_postgres::Transaction;
use futures_util::TryStreamExt as _;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use super::Caller;
use super::push::record_version;
use super::spaces::space_states;
use crate::error::ServiceError;

/// Selects records of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PageCursor {
    /// Changes after this number, oldest first, tombstones included.
    After(i64),
    /// Live records before this number, newest first.
    Before(i64),
    /// These records.
    Named(Vec<RecordUid>),
}

async fn require_state(
    transaction: &Transaction<'_>,
    caller: &Caller,
    space: SpaceId,
) -> Result<SpaceState, ServiceError> {
    let states = space_states(transaction, caller, &[space]).await?;
    states.get(&space).copied().ok_or(ServiceError::not_found("no such space"))
}

/// One page of records, as of one moment.
pub(crate) async fn records_page(
    transaction: &Transaction<'_>,
    caller: &Caller,
    space: SpaceId,
    cursor: &PageCursor,
    limit: usize,
) -> Result<RecordsPage, ServiceError> {
    const AFTER: &str = "SELECT seq, author, device, received_at, uid, kind, format, made_at, gone, rev, hash, body \
        FROM claude_mem.records WHERE team = $1 AND space = $2 AND seq > $3 ORDER BY seq LIMIT $4";
    const BEFORE: &str = "SELECT seq, author, device, received_at, uid, kind, format, made_at, gone, rev, hash, body \
        FROM claude_mem.records WHERE team = $1 AND space = $2 AND seq < $3 AND NOT gone \
        ORDER BY seq DESC LIMIT $4";
    const NAMED: &str = "SELECT seq, author, device, received_at, uid, kind, format, made_at, gone, rev, hash, body \
        FROM claude_mem.records WHERE team = $1 AND space = $2 AND uid = ANY($3) ORDER BY seq LIMIT $4";
    let state = require_state(transaction, caller, space).await?;
    let one_more = limit as i64 + 1;
    let uids: Vec<Uuid>;
    let (statement, from): (&str, (&(dyn ToSql + Sync), Type)) = match cursor {
        PageCursor::After(seq) => (AFTER, (seq, Type::INT8)),
        PageCursor::Before(seq) => (BEFORE, (seq, Type::INT8)),
        PageCursor::Named(named) => {
            uids = named.iter().map(|uid| uid.0).collect();
            (NAMED, (&uids, Type::UUID_ARRAY))
        }
    };
    let parameters: [(&(dyn ToSql + Sync), Type); 4] =
        [(&caller.team.0, Type::UUID), (&space.0, Type::UUID), from, (&one_more, Type::INT8)];
    let mut rows = pin!(transaction.query_typed_raw(statement, parameters).await?);
    let (mut records, mut bytes, mut more) = (Vec::new(), 0, false);
    while let Some(row) = rows.try_next().await? {
        if records.len() == limit || bytes > PAGE_BODY_BYTES_MAX {
            more = true;
            break;
        }
        let record = pulled_record(&row)?;
        bytes += record.record.body.as_ref().map_or(0, |body| body.as_str().len());
        records.push(record);
    }
    Ok(RecordsPage { records, more, state, generation: caller.generation })
}

fn pulled_record(row: &Row) -> Result<PulledRecord, ServiceError> {
    let version = record_version(row, 8)?;
    let body: Option<String> = row.try_get(11)?;
    // Bodies were JSON when they were accepted.
    let body = body.map(RecordBody::from_json).transpose();
    let body = body.map_err(|_| ServiceError::bad_request("a stored record is damaged"))?;
    let record = WireRecord {
        uid: RecordUid(row.try_get(4)?),
        kind: RecordKind(row.try_get(5)?),
        rev: version.rev,
        hash: version.hash,
        gone: version.gone,
        made_at: row.try_get(7)?,
        v: row.try_get::<_, i16>(6)?.cast_unsigned(),
        body,
    };
    Ok(PulledRecord {
        seq: row.try_get(0)?,
        author: MemberId(row.try_get(1)?),
        device: DeviceId(row.try_get(2)?),
        received_at: row.try_get(3)?,
        record,
    })
}

/// One page of names and versions, by id.
pub(crate) async fn names_page(
    transaction: &Transaction<'_>,
    caller: &Caller,
    space: SpaceId,
    after: Option<RecordUid>,
    limit: usize,
) -> Result<NamesPage, ServiceError> {
    const PAGE: &str = "SELECT uid, author, gone, rev, hash FROM claude_mem.records \
        WHERE team = $1 AND space = $2 AND uid > $3 ORDER BY uid LIMIT $4";
    let state = require_state(transaction, caller, space).await?;
    let after = after.map_or(Uuid::nil(), |uid| uid.0);
    let one_more = limit as i64 + 1;
    let rows = transaction
        .query_typed(
            PAGE,
            &[
                (&caller.team.0, Type::UUID),
                (&space.0, Type::UUID),
                (&after, Type::UUID),
                (&one_more, Type::INT8),
            ],
        )
        .await?;
    let name = |row: &Row| -> Result<RecordName, ServiceError> {
        let version = record_version(row, 2)?;
        Ok(RecordName {
            uid: RecordUid(row.try_get(0)?),
            author: MemberId(row.try_get(1)?),
            rev: version.rev,
            hash: version.hash,
            gone: version.gone,
        })
    };
    let names = rows.iter().take(limit).map(name).collect::<Result<_, _>>()?;
    Ok(NamesPage { names, more: rows.len() > limit, state, generation: caller.generation })
}
