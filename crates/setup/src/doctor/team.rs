//! Check of sharing with a team. Uses no network: the worker's last round says how it went.

use super::{DoctorContext, DoctorFinding};
use crate::team_notice::{shared_row_notices, team_notices};
use claude_mem_store::Store;

/// Whether this machine and its team are in step; nothing without a team.
pub(super) fn in_step(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    // Without a readable store, the checks of the store say so.
    let Ok(store) = Store::open_read_only(&context.data.db()) else { return Vec::new() };
    let reads = store.read();
    let found = team_notices(&reads, context.now).and_then(|mut found| {
        found.extend(shared_row_notices(&reads)?);
        Ok((found, reads.team_health()?))
    });
    let (notices, health) = match found {
        Ok(found) => found,
        Err(error) => return vec![DoctorFinding::unknown("team", &error)],
    };
    let is_joined = health.last_ok.is_some() || context.data.team().exists();
    if notices.is_empty() {
        let state = if health.in_step { "in step" } else { "not in step yet" };
        let what = format!("{}: {state}, {} people", health.team, health.members);
        return if is_joined { vec![DoctorFinding::ok("team", what)] } else { Vec::new() };
    }
    notices.into_iter().map(|notice| DoctorFinding::note("team", notice.what, notice.fix)).collect()
}
