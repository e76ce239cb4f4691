//! [`TeamMembers`]: whether a row of another member may be offered at a place, and under which name.
//!
//! Invariant: no row of another member is offered without the member's name, and none that reads like an
//! instruction, was quoted from a tool or the web, or comes from a muted member.

use std::collections::HashMap;

use super::quote;
use claude_mem_core::ids::MemberRowId;
use claude_mem_core::memory::Origin;
use claude_mem_store::{MemberRow, MemberTrust, Observation, StoreError, StoreReader};

/// A name in a line that an agent reads.
const NAME_CHARS_MAX: usize = 40;

/// Where a row would be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfferPlace {
    Start,
    Prompt,
    File,
    Failure,
}

/// How a row may be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfferLimit {
    /// As one's own.
    Free,
    /// At most one beside one's own, on stronger evidence.
    Sparing,
    Never,
}

/// All members, by their row.
#[derive(Debug, Default)]
pub(crate) struct TeamMembers(HashMap<MemberRowId, MemberRow>);

impl TeamMembers {
    /// Without a team this reads one empty table.
    pub(crate) fn load(reads: &StoreReader<'_>) -> Result<Self, StoreError> {
        Ok(Self(reads.members()?.into_iter().map(|member| (member.id, member)).collect()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn ids(&self) -> Vec<MemberRowId> {
        self.0.keys().copied().collect()
    }

    /// Whether an observation may be offered here.
    pub(crate) fn limit_of(&self, row: &Observation, place: OfferPlace) -> OfferLimit {
        match row.member {
            None => OfferLimit::Free,
            Some(_) if row.held_back => OfferLimit::Never,
            Some(member) => self.limit_of_member(member, row.origin, place),
        }
    }

    /// Whether a member's row of this origin may be offered here.
    pub(crate) fn limit_of_member(
        &self,
        member: MemberRowId,
        origin: Origin,
        place: OfferPlace,
    ) -> OfferLimit {
        let Some(member) = self.0.get(&member) else { return OfferLimit::Never };
        let is_quoted = matches!(origin, Origin::Tool | Origin::Web | Origin::Import);
        match (member.trust, place) {
            (MemberTrust::Own, _) => OfferLimit::Free,
            (MemberTrust::Muted, _) => OfferLimit::Never,
            _ if is_quoted => OfferLimit::Never,
            (_, OfferPlace::Failure) => OfferLimit::Free,
            (_, OfferPlace::File) if member.is_bot() => OfferLimit::Sparing,
            _ if member.is_bot() => OfferLimit::Never,
            (MemberTrust::Trusted, _) => OfferLimit::Free,
            (MemberTrust::Member, _) => OfferLimit::Sparing,
        }
    }

    /// Members of whom nothing is offered at this place, whatever it is.
    pub(crate) fn never_offered_at(&self, place: OfferPlace) -> Vec<MemberRowId> {
        let is_silent =
            |member: &MemberRowId| self.limit_of_member(*member, Origin::User, place) == OfferLimit::Never;
        self.ids().into_iter().filter(is_silent).collect()
    }

    /// The member's name, harmless in a line; `None` for one's own rows.
    pub(crate) fn name(&self, member: Option<MemberRowId>) -> Option<String> {
        let member = self.0.get(&member?)?;
        let name = quote::line(member.label(), NAME_CHARS_MAX);
        Some(if member.is_bot() { format!("{name}, a program") } else { name })
    }
}

/// Whose words a row of another member is.
pub(crate) fn voice_of(name: &str, origin: Origin) -> String {
    match origin {
        Origin::User | Origin::Manual => format!("{name}'s words"),
        Origin::Agent => format!("noted by {name}'s agent"),
        Origin::Tool | Origin::Web | Origin::Import => format!("quoted by {name}'s agent"),
    }
}
