//! [`SyncEngine`]: one round of bringing this machine and the team's server in step.

use crate::apply::ApplyContext;
use crate::mark_outgoing::mark_outgoing_rows;
use crate::member_names::display_names;
use crate::pull::{PullCounts, pull_new, walk_back};
use crate::push::{PushCounts, push_space};
use crate::reconcile::{reconcile_space, retry_not_understood};
use crate::server::TeamServer;
use crate::share_rules::ShareRules;
use crate::sharing_error::SharingError;
use crate::store_access::StoreAccess;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{PublicId, SpaceRowId};
use claude_mem_store::{NewMember, SpaceMode, SpaceRow, StoreError};
use claude_mem_wire::messages::{MeReply, SpaceInfo, SpaceState};
use claude_mem_wire::{MemberRole, SpaceDigest, tidy_name};

/// Transactions that mark rows before the rest waits for the next round.
const SEAL_STEPS_MAX: usize = 4_000;
/// Members of a team; more are not believed.
const MEMBERS_MAX: usize = 100_000;
/// Digests that must differ in a row before all names are compared.
const UNEQUAL_MAX: i64 = 2;

/// The inputs of a sync round.
#[derive(Clone, Debug, Default)]
pub struct SyncOptions {
    pub rules: ShareRules,
    /// Take only so many records of a space that was never walked.
    pub recent: Option<i64>,
    /// Compare all names, whatever the digests say.
    pub check: bool,
    /// Fetch again what was not understood: this program may have been updated since.
    pub is_first: bool,
    pub now: Millis,
}

/// The result of a sync round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct SyncReport {
    pub sent: u64,
    pub refused: u64,
    pub received: u64,
    pub erased: u64,
    pub aside: u64,
    /// Records that reconciling fetched, queued or set aside.
    pub mended: u64,
    /// All spaces equal the server.
    pub in_step: bool,
    /// Spaces whose first walk is not done or was cut on purpose.
    pub partial: bool,
    pub quota_exceeded: bool,
    /// How far the server's clock is ahead of this machine's.
    pub skew_ms: i64,
    pub team: String,
    pub handle: String,
    pub is_admin: bool,
    pub members: u64,
    /// The heads to wait for.
    pub heads: Vec<(claude_mem_wire::SpaceId, i64)>,
    /// Spaces that this machine shares and the server does not know.
    pub unknown_spaces: u64,
}

/// Brings this machine and a server in step.
#[derive(Debug)]
pub struct SyncEngine<'a, A, S> {
    pub access: &'a A,
    pub server: &'a S,
}

impl<A: StoreAccess, S: TeamServer> SyncEngine<'_, A, S> {
    /// One round over all spaces: mark, push, pull, compare.
    pub fn round(&self, options: &SyncOptions) -> Result<SyncReport, SharingError> {
        let me = self.server.me()?;
        self.store_members(&me)?;
        let handle = me.members.iter().find(|member| member.id == me.member);
        let mut report = SyncReport {
            in_step: true,
            skew_ms: me.now.saturating_sub(options.now.0),
            team: tidy_name(&me.team.name).unwrap_or_default(),
            handle: handle.map(|member| member.handle.clone()).unwrap_or_default(),
            is_admin: me.role == MemberRole::Admin,
            members: me.members.iter().filter(|member| member.left_at.is_none()).count() as u64,
            ..SyncReport::default()
        };
        let context =
            ApplyContext { me: me.member, rules: &options.rules, now: options.now, is_forced: false };
        let mut failed = None;
        for space in self.access.with_store(|store| store.read().spaces())? {
            if !space.own && space.project.is_none() {
                continue;
            }
            let Some(info) = me.spaces.iter().find(|info| info.id.0 == space.uid.0) else {
                report.unknown_spaces += 1;
                report.in_step = false;
                continue;
            };
            let synced = if space.mode == SpaceMode::Off {
                self.send_removals(&space, me.role, options, &mut report)
            } else {
                self.sync_space(&space, info, me.role, context, options, &mut report)
            };
            match synced {
                Ok(()) => {}
                // What is wrong with one space, such as a damaged record, holds up no other.
                Err(error @ (SharingError::InvalidAnswer(_) | SharingError::Refused { .. })) => {
                    failed.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        failed.map_or(Ok(report), Err)
    }

    /// A space that is not shared any more: what is forgotten here still goes from everybody.
    fn send_removals(
        &self,
        space: &SpaceRow,
        role: MemberRole,
        options: &SyncOptions,
        report: &mut SyncReport,
    ) -> Result<(), SharingError> {
        self.mark_outgoing(space.id, options)?;
        report.sent += self.push(space.id, role, options)?.sent;
        Ok(())
    }

    /// Sends what is unsent. Somebody who was made a reader keeps it, and still receives.
    fn push(
        &self,
        space: SpaceRowId,
        role: MemberRole,
        options: &SyncOptions,
    ) -> Result<PushCounts, SharingError> {
        if !role.may_write() {
            return Ok(PushCounts::default());
        }
        push_space(self.access, self.server, space, &options.rules, options.now)
    }

    fn sync_space(
        &self,
        space: &SpaceRow,
        info: &SpaceInfo,
        role: MemberRole,
        context: ApplyContext<'_>,
        options: &SyncOptions,
        report: &mut SyncReport,
    ) -> Result<(), SharingError> {
        let id = space.id;
        if space.generation.is_empty() {
            self.begin_walk(id, info.state, options.recent)?;
        }
        self.mark_outgoing(id, options)?;
        let pushed = self.push(id, role, options)?;
        report.sent += pushed.sent;
        report.refused += pushed.refused;
        report.quota_exceeded |= pushed.quota_exceeded;
        let mut counts = PullCounts::default();
        let reached = pull_new(self.access, self.server, id, context, &mut counts)?;
        let is_walked = walk_back(self.access, self.server, id, context, &mut counts)?;
        if options.is_first || options.check {
            retry_not_understood(self.access, self.server, id, context, &mut counts)?;
        }
        report.count(counts);
        let Some((state, generation)) = reached.filter(|_| is_walked) else {
            report.in_step = false;
            report.partial = true;
            return Ok(());
        };
        report.heads.push((info.id, state.head));
        // What was not taken may be older than a version that was never seen here, for example after a restore.
        let is_stuck = pushed.sent == 0;
        self.compare(id, state, &generation, role, is_stuck, context, options, report)
    }

    /// The first meeting with a space: everything above the head comes by number, everything below it by
    /// walking back.
    fn begin_walk(&self, id: SpaceRowId, state: SpaceState, recent: Option<i64>) -> Result<(), SharingError> {
        let head = state.head.max(0);
        Ok(self.access.with_store(|store| {
            store.write(|tx| {
                tx.set_space_pulled(id, head, Some(head.saturating_add(1)), recent)?;
                // A later page names the real one.
                tx.set_space_compared(id, 0, NEVER_COMPARED)
            })
        })?)
    }

    fn mark_outgoing(&self, id: SpaceRowId, options: &SyncOptions) -> Result<(), SharingError> {
        for _ in 0..SEAL_STEPS_MAX {
            let more = self.access.with_store(|store| {
                store.write(|tx| mark_outgoing_rows(tx, id, &options.rules, options.now))
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Compares digests; after two that differ, or when asked to, all names.
    #[allow(clippy::too_many_arguments, reason = "the facts of one round")]
    fn compare(
        &self,
        id: SpaceRowId,
        state: SpaceState,
        generation: &str,
        role: MemberRole,
        is_stuck: bool,
        context: ApplyContext<'_>,
        options: &SyncOptions,
        report: &mut SyncReport,
    ) -> Result<(), SharingError> {
        let (space, has_unsent) =
            self.access.with_store(|store| Ok((store.read().space(id)?, store.read().has_unsent(id)?)))?;
        // What a reader may not send stays, and keeps nobody busy.
        let has_unsent = has_unsent && role.may_write();
        if space.window.is_some() {
            // Cut on purpose: the digest is of all records.
            report.partial = true;
            report.in_step &= !has_unsent;
            return Ok(());
        }
        let is_equal = i64::try_from(state.live) == Ok(space.live)
            && state.digest == SpaceDigest::from_bits_signed(space.digest);
        let is_restored =
            state.head < space.high || (space.generation != generation && space.generation != NEVER_COMPARED);
        if has_unsent {
            report.in_step = false;
        }
        let unequal = if is_equal { 0 } else { space.unequal + i64::from(!has_unsent || is_stuck) };
        if !(options.check || is_restored || unequal >= UNEQUAL_MAX) {
            report.in_step &= is_equal;
            let seen = if is_equal { generation } else { &space.generation };
            return Ok(self
                .access
                .with_store(|store| store.write(|tx| tx.set_space_compared(id, unequal, seen)))?);
        }
        let mended = reconcile_space(self.access, self.server, id, context)?;
        report.mended += mended.fetched + mended.to_send + mended.set_aside;
        report.count(mended.pulled);
        let pushed = self.push(id, role, options)?;
        report.sent += pushed.sent;
        report.quota_exceeded |= pushed.quota_exceeded;
        report.in_step &= is_equal && mended.fetched + mended.to_send + mended.set_aside == 0 && !has_unsent;
        Ok(())
    }

    /// Stores what the server says of the members, under names that agents can read safely.
    fn store_members(&self, me: &MeReply) -> Result<(), SharingError> {
        if me.members.len() > MEMBERS_MAX {
            return Err(SharingError::InvalidAnswer("the team has too many members"));
        }
        let names = display_names(&me.members);
        Ok(self.access.with_store(|store| {
            let known = store.read().members()?;
            let is_new = me.members.iter().zip(&names).any(|(member, name)| {
                let same = known.iter().find(|row| row.uid.0 == member.id.0);
                same.is_none_or(|row| {
                    row.handle != member.handle
                        || row.role != member.role.as_str()
                        || row.gone != member.left_at.is_some()
                        || row.name != *name
                })
            });
            if !is_new {
                return Ok(());
            }
            store.write(|tx| {
                for (member, name) in me.members.iter().zip(&names) {
                    let handle = tidy_name(&member.handle).unwrap_or_default();
                    let id = tx.put_member(&NewMember {
                        uid: PublicId(member.id.0),
                        handle: &handle,
                        name,
                        role: member.role.as_str(),
                        gone: member.left_at.is_some(),
                    })?;
                    if member.id == me.member {
                        tx.set_member_trust(id, claude_mem_store::MemberTrust::Own)?;
                    }
                }
                Ok::<_, StoreError>(())
            })
        })?)
    }
}

/// The generation of a space that was met and not compared yet.
const NEVER_COMPARED: &str = "-";

impl SyncReport {
    const fn count(&mut self, counts: PullCounts) {
        self.received += counts.stored;
        self.erased += counts.erased;
        self.aside += counts.aside;
    }
}
