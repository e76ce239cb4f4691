//! Rows that are shared with a team: who wrote them, in which space, and in which version.
//!
//! [`MemberRow`] is a person or program that shares memory, [`SpaceRow`] what is shared, [`SharedRow`] one
//! record of a space with the version that the server is known to hold. Others' rows stand in the tables of
//! the user's own, distinguished by their `member`.
//!
//! Invariant: texts stand only in their rows. What is to be sent is derived from rows and their changes.

mod member_rows;
mod shared_rows;
mod spaces;
mod team_health;
mod team_rows;

pub use member_rows::{MemberRow, MemberTrust, NewMember};
pub use shared_rows::{ShareCounts, ShareState, SharedRow};
pub use spaces::{NewSpace, SpaceMode, SpaceRow};
pub use team_health::{SpaceHealth, TeamHealth};
pub use team_rows::TeamPlace;

#[cfg(test)]
mod team_tests;
