//! The list of checks, and the function that runs them.

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use super::{agents, client, directory, flow, program, provider, store, team, worker};

/// One check.
type CheckFn = fn(&DoctorContext<'_>) -> Vec<DoctorFinding>;

/// All checks, ordered so that causes come before their consequences.
const CHECKS: &[CheckFn] = &[
    program::executable,
    program::versions,
    directory::access,
    directory::privacy,
    directory::space,
    directory::settings,
    store::database,
    store::full_text,
    store::vectors,
    worker::running,
    worker::port,
    client::client_presence,
    client::hooks,
    client::hooks_disabled,
    client::alias_directories,
    client::tools,
    client::legacy,
    agents::agents,
    flow::hooks_firing,
    flow::spool,
    flow::dead_events,
    flow::paused,
    provider::reachable,
    team::in_step,
];

/// Runs all checks and returns their findings in order.
pub fn run_checks(patient: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    CHECKS.iter().flat_map(|check| check(patient)).collect()
}
