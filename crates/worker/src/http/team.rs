//! The team of this machine: who belongs to it, what is shared and whether it is in step.

use schemars::JsonSchema;
use serde::Serialize;

use super::api::ApiState;
use super::handler_request::PathParams;
use super::problem::Problem;
use super::route::NoParams;
use claude_mem_store::{MemberRow, RowId, ShareState, SpaceHealth};

/// Rows of the review queue that are listed.
const REVIEW_ROWS_MAX: u32 = 200;

/// The team of this machine.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Team")]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct TeamView {
    /// Whether this machine belongs to a team.
    joined: bool,
    name: String,
    handle: String,
    is_admin: bool,
    in_step: bool,
    /// Why the last round failed; empty if it did not.
    error: String,
    revoked: bool,
    last_ok: Option<i64>,
    last_change: Option<i64>,
    members: Vec<TeamMemberView>,
    spaces: Vec<TeamSpaceView>,
    /// Memories that wait for the user's word.
    review: Vec<ReviewRowView>,
}

/// A member of the team.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TeamMember")]
struct TeamMemberView {
    handle: String,
    name: String,
    role: String,
    /// own, trusted, member or muted
    trust: &'static str,
    gone: bool,
}

/// A shared space.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TeamSpace")]
struct TeamSpaceView {
    project: String,
    /// One's own machines only.
    own: bool,
    /// auto, review, receive or off
    mode: &'static str,
    sent: u64,
    received: u64,
    unsent: u64,
    held: u64,
    refused: u64,
    aside: u64,
    held_back: u64,
    walking: bool,
}

/// A memory that waits for the user's word.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TeamReviewRow")]
struct ReviewRowView {
    id: String,
    title: String,
}

/// Handles `GET /api/team`.
pub(super) fn team(api: &ApiState, _: &PathParams, _: NoParams) -> Result<TeamView, Problem> {
    let is_joined = api.worker.store.dir().team().exists();
    api.view(|reads| {
        let health = reads.team_health()?;
        let mut review = Vec::new();
        for space in reads.spaces()? {
            for share in reads.shared_rows_in(space.id, ShareState::Held, None, REVIEW_ROWS_MAX)? {
                let Some(row) = share.row() else { continue };
                let Some(document) = reads.document(row)? else { continue };
                let title = if document.title.is_empty() { document.body } else { document.title };
                review.push(ReviewRowView { id: RowId::to_string(&row), title });
            }
        }
        Ok(TeamView {
            joined: is_joined || (health.last_ok.is_some() && !health.revoked),
            name: health.team,
            handle: health.handle,
            is_admin: health.is_admin,
            in_step: health.in_step,
            error: health.error,
            revoked: health.revoked,
            last_ok: health.last_ok.map(|at| at.0),
            last_change: health.last_change.map(|at| at.0),
            members: reads.members()?.into_iter().map(member_view).collect(),
            spaces: reads.space_healths()?.into_iter().map(space_view).collect(),
            review,
        })
    })
}

fn member_view(member: MemberRow) -> TeamMemberView {
    TeamMemberView {
        handle: member.handle,
        name: member.name,
        role: member.role,
        trust: member.trust.as_str(),
        gone: member.gone,
    }
}

fn space_view(space: SpaceHealth) -> TeamSpaceView {
    let counts = space.counts;
    TeamSpaceView {
        project: space.project,
        own: space.own,
        mode: space.mode.as_str(),
        sent: counts.sent,
        received: counts.received,
        unsent: counts.unsent,
        held: counts.held,
        refused: counts.refused,
        aside: counts.aside,
        held_back: counts.held_back,
        walking: space.is_walking,
    }
}
