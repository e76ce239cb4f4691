//! Applies one record of the server to the rows here.

use crate::instruction_shape::reads_like_instruction;
use crate::record_body::{BODY_FORMAT, IncomingBody, incoming_body, outgoing_body, place_of_body};
use crate::share_marks::{HIDDEN, NEWER_FORMAT, NEWER_KIND};
use crate::share_rules::ShareRules;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, MemberRowId, ObservationId, ProjectId, PublicId};
use claude_mem_store::{
    NewMember, ProjectRecord, RowId, RowKind, ShareState, SharedRow, SpaceRow, StoreError, StoreWriter,
    TeamPlace,
};
use claude_mem_wire::{
    MemberId, PulledRecord, RecordHash, RecordKind, RecordUid, RecordVersion, SpaceDigest, rev_after,
};

/// The mark of a version in the digest of its space; `None` for a removed record.
pub(crate) fn mark_of(uid: RecordUid, version: RecordVersion) -> Option<i64> {
    (!version.gone).then(|| SpaceDigest::default().after_change(uid, None, Some(version)).to_bits_signed())
}

/// The receiver of records, and its rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApplyContext<'a> {
    pub me: MemberId,
    pub rules: &'a ShareRules,
    pub now: Millis,
    /// Take the server's version of others' records even if it is older: the server was restored. Take also what was
    /// not understood before.
    pub is_forced: bool,
}

/// The outcome of applying one received record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApplyOutcome {
    Unchanged,
    Stored,
    Erased,
    Aside,
}

pub(crate) fn apply_record(
    tx: &StoreWriter<'_>,
    space: &SpaceRow,
    pulled: &PulledRecord,
    context: ApplyContext<'_>,
) -> Result<ApplyOutcome, StoreError> {
    let uid = PublicId(pulled.record.uid.0);
    let is_own = pulled.author == context.me;
    let member = if is_own { None } else { Some(member_of(tx, pulled.author)?) };
    let mut known = tx.shared_row(space.id, uid)?;
    if let Some(old) = known.take_if(|known| known.member != member && !known.gone) {
        release_id(tx, old, context.now)?;
    }
    let arrival = IncomingRecord { space, pulled, uid, member, context };
    match known {
        Some(known) if is_settled(&known, pulled.record.version(), &arrival) => {
            let mark = mark_of(pulled.record.uid, pulled.record.version());
            if known.mark != mark {
                tx.put_shared_row(&SharedRow { mark, ..known })?;
            }
            Ok(ApplyOutcome::Unchanged)
        }
        known if is_own => arrival.apply_own(tx, known),
        known => arrival.apply_others(tx, known),
    }
}

/// Another member uses the id of a row that has not been sent, or of a record that a restored server had lost: an own
/// row gets a new id; another's row goes, since its author sends it again under a new one.
fn release_id(tx: &StoreWriter<'_>, old: SharedRow, now: Millis) -> Result<(), StoreError> {
    tx.remove_shared_row(old.space, old.uid)?;
    let Some(row) = old.row() else { return Ok(()) };
    if old.member.is_some() {
        return tx.erase_team_row(row);
    }
    let new = SharedRow::own(old.space, tx.renew_public_id(row)?, row, ShareState::Unsent, now);
    let state = if old.state == ShareState::Sent { ShareState::Unsent } else { old.state };
    tx.put_shared_row(&SharedRow { state, why: old.why, ..new })
}

/// Whether the version that is known here is at least as new. What was taken back stays taken back, even if a
/// restored server does not know it any more.
fn is_settled(known: &SharedRow, version: RecordVersion, arrival: &IncomingRecord<'_>) -> bool {
    if known.rev == 0 {
        return false;
    }
    let here = version_of(known);
    let is_forced = known.member.is_some() && !here.gone && here != version;
    here >= version && !(arrival.context.is_forced && (is_forced || was_not_understood(known)))
}

/// Whether the record was set aside because this program was too old for it.
pub(crate) fn was_not_understood(known: &SharedRow) -> bool {
    known.state == ShareState::Aside && matches!(known.why.as_str(), NEWER_KIND | NEWER_FORMAT)
}

pub(crate) fn version_of(share: &SharedRow) -> RecordVersion {
    let mut hash = [0; 16];
    if share.hash.len() == hash.len() {
        hash.copy_from_slice(&share.hash);
    }
    RecordVersion { gone: share.gone, rev: share.rev, hash: RecordHash(hash) }
}

/// A record of an author who is not in the list of members yet gets a name with the next list.
fn member_of(tx: &StoreWriter<'_>, author: MemberId) -> Result<MemberRowId, StoreError> {
    let uid = PublicId(author.0);
    if let Some(known) = tx.member_by_uid(uid)? {
        return Ok(known.id);
    }
    let handle: String = author.to_string().chars().take(8).collect();
    tx.put_member(&NewMember { uid, handle: &handle, name: "", role: "member", gone: false })
}

/// Erases the user's own row that the user or an administrator retracted.
pub(crate) fn erase_taken_back(
    tx: &StoreWriter<'_>,
    share: SharedRow,
    version: RecordVersion,
    now: Millis,
) -> Result<(), StoreError> {
    if let Some(row) = share.row() {
        tx.erase_own_row(row, now)?;
    }
    tx.put_shared_row(&SharedRow {
        row_id: None,
        rev: version.rev,
        hash: version.hash.0.to_vec(),
        gone: true,
        mark: None,
        state: ShareState::Sent,
        at: now,
        ..share
    })
}

/// One record on its way into the store.
struct IncomingRecord<'a> {
    space: &'a SpaceRow,
    pulled: &'a PulledRecord,
    uid: PublicId,
    /// `None`: from another machine of the user.
    member: Option<MemberRowId>,
    context: ApplyContext<'a>,
}

impl IncomingRecord<'_> {
    fn version(&self) -> RecordVersion {
        self.pulled.record.version()
    }

    fn row_kind(&self) -> Option<RowKind> {
        match self.pulled.record.kind {
            RecordKind::OBSERVATION => Some(RowKind::Observation),
            RecordKind::ACCOUNT => Some(RowKind::Account),
            _ => None,
        }
    }

    /// The entry after this record was taken.
    fn entry(&self, row: Option<RowId>, state: ShareState, why: &str) -> SharedRow {
        let version = self.version();
        SharedRow {
            space: self.space.id,
            uid: self.uid,
            kind: self.row_kind().unwrap_or(RowKind::Observation),
            row_id: row.map(|row| row.row_id),
            member: self.member,
            rev: version.rev,
            hash: version.hash.0.to_vec(),
            gone: version.gone,
            mark: mark_of(self.pulled.record.uid, version),
            local_hash: Vec::new(),
            state,
            why: why.to_owned(),
            at: self.context.now,
        }
    }

    fn apply_own(&self, tx: &StoreWriter<'_>, known: Option<SharedRow>) -> Result<ApplyOutcome, StoreError> {
        let version = self.version();
        if version.gone {
            let known = known.unwrap_or_else(|| self.entry(None, ShareState::Sent, ""));
            let by_uid = self.row_kind().map_or(Ok(None), |kind| tx.row_by_uid(kind, self.uid))?;
            let row_id = known.row_id.or(by_uid.map(|row| row.row_id));
            erase_taken_back(tx, SharedRow { row_id, ..known }, version, self.context.now)?;
            return Ok(ApplyOutcome::Erased);
        }
        if known.is_none() && tx.has_forgotten_copy(self.uid)? {
            // Forgotten here without knowing that it was shared, for example after a backup was restored: the
            // next round takes it back.
            tx.put_shared_row(&self.entry(None, ShareState::Unsent, ""))?;
            return Ok(ApplyOutcome::Unchanged);
        }
        if let Some(known) = &known {
            let is_pending = matches!(known.state, ShareState::Unsent | ShareState::Held);
            let is_removed_here = known.row_id.is_none() && is_pending;
            if is_removed_here || (is_pending && self.is_newer_here(tx, known)?) {
                let entry = self.entry(known.row(), known.state, "");
                tx.put_shared_row(&SharedRow { local_hash: known.local_hash.clone(), ..entry })?;
                return Ok(ApplyOutcome::Unchanged);
            }
        }
        let Some(kind) = self.row_kind() else { return self.set_aside(tx, None, NEWER_KIND) };
        let here = known.as_ref().and_then(SharedRow::row);
        let here = match here {
            Some(row) => Some(row),
            None => tx.row_by_uid(kind, self.uid)?,
        };
        if let Some(row) = here
            && tx.member_of_row(row)?.is_some()
        {
            return self.set_aside(tx, None, "the id belongs to another row");
        }
        let row = match self.store_body(tx, here)? {
            Ok(row) => row,
            Err(why) => return self.set_aside(tx, here, &why),
        };
        let rendered = outgoing_body(tx, self.space, row, self.context.rules)?;
        let local_hash =
            rendered.map(|body| RecordHash::from_body(&body.json).0.to_vec()).unwrap_or_default();
        tx.put_shared_row(&SharedRow { local_hash, ..self.entry(Some(row), ShareState::Sent, "") })?;
        Ok(ApplyOutcome::Stored)
    }

    /// Whether the change that is to be sent from here is newer than this version.
    fn is_newer_here(&self, tx: &StoreWriter<'_>, known: &SharedRow) -> Result<bool, StoreError> {
        let Some(row) = known.row() else { return Ok(true) };
        let body = outgoing_body(tx, self.space, row, self.context.rules)?;
        let Some(body) = body else { return Ok(true) };
        let hash = RecordHash::from_body(&body.json);
        let rev =
            if known.rev > 0 && hash.0[..] == known.hash[..] { known.rev } else { rev_after(known.rev) };
        Ok(RecordVersion { gone: false, rev, hash } > self.version())
    }

    fn apply_others(
        &self,
        tx: &StoreWriter<'_>,
        known: Option<SharedRow>,
    ) -> Result<ApplyOutcome, StoreError> {
        let here = known.as_ref().and_then(SharedRow::row);
        if self.version().gone {
            if let Some(row) = here {
                // An own row is erased only by its own record.
                if known.as_ref().is_some_and(|known| known.member.is_some()) {
                    tx.erase_team_row(row)?;
                }
            }
            tx.drop_forgotten_copy(self.uid)?;
            tx.put_shared_row(&self.entry(None, ShareState::Received, ""))?;
            return Ok(if here.is_some() { ApplyOutcome::Erased } else { ApplyOutcome::Unchanged });
        }
        if known.as_ref().is_some_and(|known| known.row_id.is_none() && known.why == HIDDEN) {
            tx.put_shared_row(&self.entry(None, ShareState::Received, HIDDEN))?;
            return Ok(ApplyOutcome::Unchanged);
        }
        let Some(kind) = self.row_kind() else { return self.set_aside(tx, None, NEWER_KIND) };
        let taken = tx.row_by_uid(kind, self.uid)?;
        let is_theirs = match taken {
            Some(row) => tx.member_of_row(row)? == self.member,
            None => true,
        };
        if !is_theirs {
            return self.set_aside(tx, None, "the id belongs to another row");
        }
        match self.store_body(tx, here.or(taken))? {
            Ok(row) => {
                tx.put_shared_row(&self.entry(Some(row), ShareState::Received, ""))?;
                Ok(ApplyOutcome::Stored)
            }
            Err(why) => self.set_aside(tx, here, &why),
        }
    }

    /// Records that a received record is not stored, and removes its older text.
    fn set_aside(
        &self,
        tx: &StoreWriter<'_>,
        here: Option<RowId>,
        why: &str,
    ) -> Result<ApplyOutcome, StoreError> {
        if let Some(row) = here.filter(|_| self.member.is_some()) {
            tx.erase_team_row(row)?;
        }
        let row = here.filter(|_| self.member.is_none());
        tx.put_shared_row(&self.entry(row, ShareState::Aside, why))?;
        Ok(ApplyOutcome::Aside)
    }

    /// Stores the record's text as a new row, or in the row that is here; or says why it cannot be stored.
    fn store_body(
        &self,
        tx: &StoreWriter<'_>,
        here: Option<RowId>,
    ) -> Result<Result<RowId, String>, StoreError> {
        let record = &self.pulled.record;
        let Some(json) = &record.body else { return Ok(Err("without a text".to_owned())) };
        if record.v > BODY_FORMAT {
            return Ok(Err(NEWER_FORMAT.to_owned()));
        }
        // The server's clock bounds the author's.
        let at_most = Millis(self.pulled.received_at.min(self.context.now.0.saturating_add(CLOCK_SKEW_MS)));
        let body = match incoming_body(record.kind, self.uid, json.as_str(), at_most) {
            Ok(body) => body,
            Err(why) => return Ok(Err(why.to_string())),
        };
        let Some(project) = self.project(tx, json.as_str())? else {
            return Ok(Err("of a project that is not known here".to_owned()));
        };
        let session = match body.session() {
            Some(session) => Some(tx.ensure_team_session(
                session,
                self.member,
                Some(project),
                body.branch(),
                body.created_at(),
            )?),
            None => None,
        };
        let held_back = self.member.is_some() && reads_like_instruction(body.texts());
        let place = TeamPlace { member: self.member, session, project: Some(project), held_back };
        match (body, session) {
            (IncomingBody::Observation(record), _) => {
                let known = here.map(|row| ObservationId(row.row_id));
                let id = tx.put_team_observation(&record, known, place)?;
                let row = id.map(|id| RowId::new(RowKind::Observation, id.0));
                Ok(row.ok_or_else(|| "forgotten here".to_owned()))
            }
            (IncomingBody::Account(record), Some(session)) => {
                let known = here.map(|row| AccountId(row.row_id));
                let id = tx.put_team_account(&record, known, session, place)?;
                let row = id.map(|id| RowId::new(RowKind::Account, id.0));
                Ok(row.ok_or_else(|| "the session has another account, or it was forgotten here".to_owned()))
            }
            (IncomingBody::Account(_), None) => Ok(Err("without a session".to_owned())),
        }
    }

    /// The project of the record; between the user's own machines the record names it.
    fn project(&self, tx: &StoreWriter<'_>, json: &str) -> Result<Option<ProjectId>, StoreError> {
        if !self.space.own {
            return Ok(self.space.project);
        }
        if self.member.is_some() {
            return Ok(None);
        }
        let Some(place) = place_of_body(json) else { return Ok(None) };
        let record = ProjectRecord {
            uid: place.uid,
            name: place.name,
            keys: place.keys,
            last_active: Millis(0),
            created_at: self.context.now,
            root: String::new(),
        };
        tx.import_project(&record).map(Some)
    }
}

/// How far a server's clock may be ahead of ours before we stop believing it.
const CLOCK_SKEW_MS: i64 = 10 * 60 * 1_000;
