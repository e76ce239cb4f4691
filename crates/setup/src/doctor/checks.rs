//! The list of checks, and the function that runs them.

use super::context::DoctorContext;
use super::finding::{DoctorFinding, FindingLevel};
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

/// The checks that a running worker can repeat every few seconds: no search path, no other process, no network
/// and no scan of the database. [`crate::notices`] cover the spool, the queue, the pause and the model.
const LOCAL_CHECKS: &[CheckFn] = &[
    program::versions,
    directory::access,
    directory::privacy,
    directory::space,
    directory::settings,
    store::vectors,
    worker::port,
    client::hooks,
    client::hooks_disabled,
    client::tools,
    client::legacy,
    agents::agents,
    flow::hooks_firing,
    team::in_step,
];

/// The checks that compare the registration and the worker with this version, offline.
const UPDATE_CHECKS: &[CheckFn] = &[
    program::versions,
    worker::running,
    client::hooks,
    client::hooks_disabled,
    client::tools,
    client::legacy,
    agents::agents,
];

/// Names of the checks that only `claude-mem doctor` runs.
pub const DOCTOR_ONLY_CHECKS: &[&str] = &["executable", "client", "database", "words", "worker", "provider"];

/// Runs the checks that are quick and local, and returns what needs attention.
pub fn run_local_checks(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let found = LOCAL_CHECKS.iter().flat_map(|check| check(context));
    found.filter(|finding| finding.level > FindingLevel::Ok).collect()
}

/// Runs the checks of `claude-mem update-check`, and returns what has to be done after an update: every problem, and
/// every note that `doctor --fix` would act on.
pub fn run_update_checks(patient: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let found = UPDATE_CHECKS.iter().flat_map(|check| check(patient));
    found.filter(|finding| finding.level == FindingLevel::Problem || finding.auto_fix.is_some()).collect()
}

/// Runs all checks and returns their findings in order.
pub fn run_checks(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    CHECKS.iter().flat_map(|check| check(context)).collect()
}
