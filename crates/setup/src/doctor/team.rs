//! Check of sharing with a team. Uses no network: the worker's last round says how it went.

use super::{DoctorContext, DoctorFinding};
use crate::team_notice::team_notices;
use claude_mem_store::Store;

/// Whether this machine and its team are in step; nothing without a team.
pub(super) fn in_step(patient: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    // Without a readable store, the checks of the store say so.
    let Ok(store) = Store::open_read_only(&patient.data.db()) else { return Vec::new() };
    let (Ok(notices), Ok(health)) = (team_notices(&store.read(), patient.now), store.read().team_health())
    else {
        return Vec::new();
    };
    let is_joined = health.last_ok.is_some() || patient.data.team().exists();
    if notices.is_empty() {
        let state = if health.in_step { "in step" } else { "not in step yet" };
        let what = format!("{}: {state}, {} people", health.team, health.members);
        return if is_joined { vec![DoctorFinding::ok("team", what)] } else { Vec::new() };
    }
    notices.into_iter().map(|notice| DoctorFinding::note("team", notice.what, notice.fix)).collect()
}
