//! Findings for the dashboard: the notices of `claude-mem status`, and what those checks of
//! `claude-mem doctor` find that are quick enough to repeat ([`doctor::run_local_checks`]).

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Serialize;

use super::api::ApiState;
use super::problem::Problem;
use claude_mem_core::config::LoadedSettings;
use claude_mem_setup::doctor;
use claude_mem_setup::doctor::{AutoFix, DoctorContext, DoctorFinding, FindingLevel, WorkerProbe};
use claude_mem_setup::notices;
use claude_mem_setup::notices::UserNotice;
use claude_mem_store::StoreReader;

/// Something that needs the user's attention.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Trouble")]
pub(super) struct HealthNoticeView {
    problem: String,
    fix: String,
    level: HealthLevel,
}

/// How serious it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum HealthLevel {
    /// Memory does not work as intended.
    Problem,
    /// Worth knowing.
    Note,
}

/// The notices, most important first, then the findings that no notice tells.
pub(super) fn health_notices(
    api: &ApiState,
    reads: &StoreReader<'_>,
    settings: &LoadedSettings,
) -> Result<Vec<HealthNoticeView>, Problem> {
    let env = |name: &str| (api.env)(name).map(OsString::from);
    let mut told = notices::directory_notices(api.dir(), settings);
    told.extend(notices::store_notices(reads, &settings.settings, api.now())?);
    let trouble = api.worker.status().trouble;
    told.extend(trouble.as_deref().map(notices::worker_notice));
    told.extend(notices::spool_notices(api.dir()));
    let missing_hooks = notices::missing_hooks_notice(api.dir(), &env);
    let are_hooks_missing = missing_hooks.is_some();
    told.extend(missing_hooks);
    told.extend(notices::pause_notice(api.dir(), api.now()));
    let mut found = api.findings.get_or_make(|| local_findings(api, settings));
    // Findings with the same fix are shown once.
    found.retain(|finding| !(are_hooks_missing && finding.auto_fix == Some(AutoFix::Registration)));
    found.retain(|finding| !is_told(finding, &told));
    found.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    let findings = found.into_iter().map(|finding| HealthNoticeView {
        problem: finding.what,
        fix: finding.fix.unwrap_or_default(),
        level: if finding.level == FindingLevel::Problem { HealthLevel::Problem } else { HealthLevel::Note },
    });
    let notices = told.into_iter().map(|notice| HealthNoticeView {
        problem: notice.what,
        fix: notice.fix,
        level: HealthLevel::Problem,
    });
    Ok(notices.chain(findings).collect())
}

/// Whether a notice says the same. A fix is listed once; the team's command is no fix, it only shows the state.
fn is_told(finding: &DoctorFinding, notices: &[UserNotice]) -> bool {
    let fix = finding.fix.as_deref().unwrap_or_default();
    let has_same_fix = |notice: &UserNotice| {
        fix.strip_prefix(&notice.fix).is_some_and(|rest| rest.is_empty() || rest.starts_with(';'))
    };
    let is_same = |notice: &UserNotice| {
        notice.what == finding.what || (finding.check != "team" && has_same_fix(notice))
    };
    notices.iter().any(is_same)
}

/// The findings of the quick checks.
fn local_findings(api: &ApiState, settings: &LoadedSettings) -> Vec<DoctorFinding> {
    let env = |name: &str| (api.env)(name).map(OsString::from);
    let status = api.worker.status();
    // `notices::worker_notice` tells its trouble.
    let worker =
        WorkerProbe { running: true, version: Some(status.version), port: Some(api.port), trouble: None };
    let context = DoctorContext::from_manifest(api.dir(), api.now(), settings, worker, &env);
    context.map_or_else(Vec::new, |context| doctor::run_local_checks(&context))
}
