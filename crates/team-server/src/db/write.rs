//! Writing of records in columns: one statement for a whole batch.

use claude_mem_wire::messages::SpaceState;
use claude_mem_wire::{MemberId, RecordBody, SpaceId, WireRecord};
use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use super::Caller;
use crate::error::ServiceError;

/// Records as one array per column.
#[derive(Debug, Default)]
pub(super) struct RecordColumns<'a> {
    uid: Vec<Uuid>,
    seq: Vec<i64>,
    kind: Vec<i16>,
    format: Vec<i16>,
    rev: Vec<i32>,
    hash: Vec<&'a [u8]>,
    gone: Vec<bool>,
    body: Vec<Option<&'a str>>,
    made_at: Vec<i64>,
}

impl<'a> RecordColumns<'a> {
    /// Adds a record that passed [`WireRecord::check`], so that its numbers fit.
    pub(super) fn add(&mut self, record: &'a WireRecord, seq: i64) {
        self.uid.push(record.uid.0);
        self.seq.push(seq);
        self.kind.push(record.kind.0);
        self.format.push(record.v.cast_signed());
        self.rev.push(record.rev.cast_signed());
        self.hash.push(&record.hash.0);
        self.gone.push(record.gone);
        self.body.push(record.body.as_ref().map(RecordBody::as_str));
        self.made_at.push(record.made_at);
    }
}

/// Inserts records. Returns those that were inserted: an id that exists where the member cannot see it is
/// skipped.
pub(super) async fn insert_records(
    transaction: &Transaction<'_>,
    caller: &Caller,
    space: SpaceId,
    owner: Option<MemberId>,
    columns: &RecordColumns<'_>,
    now: i64,
) -> Result<Vec<Uuid>, ServiceError> {
    const INSERT: &str = "INSERT INTO claude_mem.records (team, uid, space, owner, seq, kind, format, author, \
            device, rev, hash, gone, body, made_at, received_at) \
        SELECT $1, u.uid, $2, $3, u.seq, u.kind, u.format, $4, $5, u.rev, u.hash, u.gone, u.body, u.made_at, $6 \
        FROM unnest($7::uuid[], $8::bigint[], $9::smallint[], $10::smallint[], $11::integer[], $12::bytea[], \
            $13::boolean[], $14::text[], $15::bigint[]) \
            AS u(uid, seq, kind, format, rev, hash, gone, body, made_at) \
        ON CONFLICT (team, uid) DO NOTHING RETURNING uid";
    write_columns(transaction, INSERT, caller, space, owner, columns, now).await
}

/// Overwrites records, wherever the member could see them. Returns those that were written.
pub(super) async fn update_records(
    transaction: &Transaction<'_>,
    caller: &Caller,
    space: SpaceId,
    owner: Option<MemberId>,
    columns: &RecordColumns<'_>,
    now: i64,
) -> Result<Vec<Uuid>, ServiceError> {
    // $4, the author, stays what it is; the condition only gives the parameter its type.
    const UPDATE: &str = "UPDATE claude_mem.records r \
        SET space = $2, owner = $3, seq = u.seq, kind = u.kind, format = u.format, device = $5, rev = u.rev, \
            hash = u.hash, gone = u.gone, body = u.body, made_at = u.made_at, received_at = $6 \
        FROM unnest($7::uuid[], $8::bigint[], $9::smallint[], $10::smallint[], $11::integer[], $12::bytea[], \
            $13::boolean[], $14::text[], $15::bigint[]) \
            AS u(uid, seq, kind, format, rev, hash, gone, body, made_at) \
        WHERE r.team = $1 AND r.uid = u.uid AND $4::uuid IS NOT NULL RETURNING r.uid";
    write_columns(transaction, UPDATE, caller, space, owner, columns, now).await
}

async fn write_columns(
    transaction: &Transaction<'_>,
    statement: &str,
    caller: &Caller,
    space: SpaceId,
    owner: Option<MemberId>,
    columns: &RecordColumns<'_>,
    now: i64,
) -> Result<Vec<Uuid>, ServiceError> {
    if columns.uid.is_empty() {
        return Ok(Vec::new());
    }
    let owner = owner.map(|owner| owner.0);
    let parameters: [(&(dyn ToSql + Sync), Type); 15] = [
        (&caller.team.0, Type::UUID),
        (&space.0, Type::UUID),
        (&owner, Type::UUID),
        (&caller.member.0, Type::UUID),
        (&caller.device.0, Type::UUID),
        (&now, Type::INT8),
        (&columns.uid, Type::UUID_ARRAY),
        (&columns.seq, Type::INT8_ARRAY),
        (&columns.kind, Type::INT2_ARRAY),
        (&columns.format, Type::INT2_ARRAY),
        (&columns.rev, Type::INT4_ARRAY),
        (&columns.hash, Type::BYTEA_ARRAY),
        (&columns.gone, Type::BOOL_ARRAY),
        (&columns.body, Type::TEXT_ARRAY),
        (&columns.made_at, Type::INT8_ARRAY),
    ];
    let rows = transaction.query_typed(statement, &parameters).await?;
    rows.iter().map(|row: &Row| Ok(row.try_get(0)?)).collect()
}

/// Writes how far a space is.
pub(super) async fn write_state(
    transaction: &Transaction<'_>,
    caller: &Caller,
    space: SpaceId,
    state: &SpaceState,
) -> Result<(), ServiceError> {
    const UPDATE: &str =
        "UPDATE claude_mem.spaces SET head = $3, live = $4, digest = $5 WHERE team = $1 AND id = $2";
    let (live, digest) = (state.live.cast_signed(), state.digest.to_bits_signed());
    transaction
        .execute_typed(
            UPDATE,
            &[
                (&caller.team.0, Type::UUID),
                (&space.0, Type::UUID),
                (&state.head, Type::INT8),
                (&live, Type::INT8),
                (&digest, Type::INT8),
            ],
        )
        .await?;
    Ok(())
}
