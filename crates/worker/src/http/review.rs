//! Memories that need a decision: suggested as preferences, contradictory, replaced, repeated, about missing files,
//! or unused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::decision_conflicts::conflicting_pairs;
use super::handler_request::PathParams;
use super::lookup;
use super::missing_files::rows_with_missing_files;
use super::problem::Problem;
use super::provenance::{TitledRow, titled};
use super::rows::ObservationView;
use super::view_builder::ViewBuilder;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_store::{KeptPair, MemoryLevel, Observation, ReviewReason, RowId, RowKind, StoreReader};

/// Rows listed of one group, unless more are asked for.
const GROUP_ROWS_DEFAULT: usize = 25;
const GROUP_ROWS_MAX: usize = 200;
const _: () = assert!(GROUP_ROWS_DEFAULT < GROUP_ROWS_MAX);
/// Decisions of one project that are compared with each other, newest first.
const DECISIONS_MAX: u32 = 2_000;
/// Days without use after which a memory is listed.
const UNUSED_DAYS: i64 = 90;
const DAY_SECONDS: i64 = 86_400;

/// Filter of the review.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ReviewParams {
    /// Project id or name.
    project: Option<String>,
    /// Days without use, instead of 90.
    days: Option<u32>,
    /// Reasons, separated by commas; all if omitted.
    groups: Option<String>,
    /// Rows of each group, at most 200; 25 if omitted.
    limit: Option<usize>,
}

/// Memories that need a decision, by reason.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReviewView {
    groups: Vec<ReviewGroup>,
}

/// The memories with one reason.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReviewGroup {
    name: ReviewReason,
    items: Vec<ReviewItem>,
    has_more: bool,
}

/// A memory, with the one that it is compared to.
#[derive(Debug, Serialize, JsonSchema)]
struct ReviewItem {
    row: ObservationView,
    /// The memory that replaced it, contradicts it, or says the same.
    other: Option<TitledRow>,
    /// The files that are gone.
    files: Vec<String>,
}

/// Handles `GET /api/review`.
pub(super) fn review(api: &ApiState, _: &PathParams, asked: ReviewParams) -> Result<ReviewView, Problem> {
    let days = asked.days.map_or(UNUSED_DAYS, i64::from);
    let before = api.now().plus_seconds(-days * DAY_SECONDS);
    let limit = asked.limit.unwrap_or(GROUP_ROWS_DEFAULT).clamp(1, GROUP_ROWS_MAX);
    let wanted = parse_reasons(asked.groups.as_deref())?;
    api.view(|reads| {
        let project = lookup::resolve_project(reads, asked.project.as_deref())?;
        let scan = ReviewScan { api, reads, project, before, limit };
        let mut views = ViewBuilder::new(reads);
        let mut groups = Vec::new();
        for reason in wanted {
            let rows = scan.candidates(reason)?;
            let has_more = rows.len() > limit;
            let mut items = Vec::new();
            for (row, other) in rows.into_iter().take(limit) {
                let files = match reason {
                    ReviewReason::Missing => row.text.files_modified.clone(),
                    _ => Vec::new(),
                };
                let other = other.map(|id| titled(reads, id)).transpose()?.flatten();
                items.push(ReviewItem { row: views.observation(row)?, other, files });
            }
            groups.push(ReviewGroup { name: reason, items, has_more });
        }
        Ok(ReviewView { groups })
    })
}

fn parse_reasons(text: Option<&str>) -> Result<Vec<ReviewReason>, Problem> {
    let Some(text) = text else { return Ok(ReviewReason::ALL.to_vec()) };
    let find = |name: &str| {
        let found = ReviewReason::ALL.into_iter().find(|reason| reason.as_str() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = ReviewReason::ALL.into_iter().map(ReviewReason::as_str).collect();
            Problem::bad_request(format!("{name:?} is not a group"), format!("Use {}.", names.join(", ")))
        })
    };
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(find).collect()
}

/// A listed memory, and the id of the one it is compared to.
type ReviewEntry = (Observation, Option<ObservationId>);

/// Finds the memories of each group, one more than are listed.
struct ReviewScan<'r> {
    api: &'r ApiState,
    reads: &'r StoreReader<'r>,
    project: Option<ProjectId>,
    before: Millis,
    limit: usize,
}

impl ReviewScan<'_> {
    fn candidates(&self, reason: ReviewReason) -> Result<Vec<ReviewEntry>, Problem> {
        let limit = self.limit as u32 + 1;
        let alone = |rows: Vec<Observation>| rows.into_iter().map(|row| (row, None)).collect();
        Ok(match reason {
            ReviewReason::Suggested => {
                let mut rows = self.reads.observations_at_level(MemoryLevel::Proposed)?;
                let is_open = |row: &Observation| !row.wrong && row.replaced_by.is_none();
                rows.retain(|row| is_open(row) && (self.project.is_none() || row.project == self.project));
                alone(rows)
            }
            ReviewReason::Contradiction => self.contradictions()?,
            ReviewReason::Replaced => {
                let ids = self.reads.replaced_observations(self.project, limit)?;
                let rows = self.reads.observations_by_id(&ids)?.into_iter();
                rows.map(|row| (row.replaced_by, row)).map(|(by, row)| (row, by)).collect()
            }
            ReviewReason::Duplicate => self.duplicates()?,
            ReviewReason::Missing => {
                let kept = self.reads.kept_in_review(reason)?;
                let is_kept = |id| kept.contains(&(id, None));
                alone(rows_with_missing_files(self.reads, self.project, limit as usize, is_kept)?)
            }
            ReviewReason::Unused => {
                let ids = self.reads.unused_observations(self.project, self.before, limit)?;
                alone(self.reads.observations_by_id(&ids)?)
            }
        })
    }

    fn contradictions(&self) -> Result<Vec<ReviewEntry>, Problem> {
        let kept = self.reads.kept_in_review(ReviewReason::Contradiction)?;
        let projects = match self.project {
            Some(id) => vec![id],
            None => self.reads.projects()?.into_iter().map(|project| project.id).collect(),
        };
        let (mut found, mut left) = (Vec::new(), DECISIONS_MAX);
        for project in projects {
            let rows = self.reads.standing_decisions(project, left)?;
            left = left.saturating_sub(u32::try_from(rows.len()).unwrap_or(left));
            let pairs =
                conflicting_pairs(&rows).into_iter().map(|(older, newer)| (&rows[older], rows[newer].id));
            let open = pairs.filter(|(older, newer)| !kept.contains(&(older.id, Some(*newer))));
            found.extend(open.map(|(older, newer)| (older.clone(), Some(newer))));
            if left == 0 || found.len() > self.limit {
                break;
            }
        }
        Ok(found)
    }

    fn duplicates(&self) -> Result<Vec<ReviewEntry>, Problem> {
        let kept = self.reads.kept_in_review(ReviewReason::Duplicate)?;
        let pairs = self.api.duplicates.get_or_find(self.reads)?;
        let mine = pairs.iter().filter(|pair| self.project.is_none() || pair.project == self.project);
        let open = mine.filter(|pair| !kept.contains(&(pair.older, Some(pair.newer))));
        let mut found = Vec::new();
        for pair in open {
            let rows = self.reads.observations_by_id(&[pair.older, pair.newer])?;
            let do_stand = rows.iter().all(|row| !row.wrong && row.replaced_by.is_none());
            if let [older, newer] = &rows[..]
                && do_stand
            {
                found.push((older.clone(), Some(newer.id)));
            }
            if found.len() > self.limit {
                break;
            }
        }
        Ok(found)
    }
}

/// A decision on a listed memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KeepRequest {
    /// `#12`.
    handle: String,
    reason: ReviewReason,
    /// The memory that it is compared with, if any.
    #[serde(default)]
    other: Option<String>,
    /// Lists it again.
    #[serde(default)]
    undo: bool,
}

/// Whether the memory is kept now.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KeepResponse {
    kept: bool,
}

/// Handles `POST /api/review/keep`.
pub(super) fn keep(api: &ApiState, _: &PathParams, asked: KeepRequest) -> Result<KeepResponse, Problem> {
    if !asked.reason.can_be_kept() {
        let what = format!("a {} memory cannot be kept as it is", asked.reason.as_str());
        return Err(Problem::unprocessable(what, "Change its level, or keep both by the route replace."));
    }
    let pair = api.view(|reads| -> Result<KeptPair, Problem> {
        let other = asked.other.as_deref().map(|other| observation_id(reads, other)).transpose()?;
        Ok((observation_id(reads, &asked.handle)?, other))
    })?;
    let now = api.now();
    api.change(|store| {
        store.write(|tx| {
            if asked.undo {
                tx.list_in_review_again(pair, asked.reason).map(drop)
            } else {
                tx.keep_in_review(pair, asked.reason, now)
            }
        })
    })?;
    Ok(KeepResponse { kept: !asked.undo })
}

fn observation_id(reads: &StoreReader<'_>, handle: &str) -> Result<ObservationId, Problem> {
    let hint = "Pass the id of a memory, such as #12.";
    let row: RowId = handle.parse().map_err(|e| Problem::unprocessable(format!("{e}"), hint))?;
    let row = lookup::current_row(reads, row)?;
    if row.kind != RowKind::Observation {
        return Err(Problem::unprocessable(format!("{handle} is not a memory"), hint));
    }
    Ok(ObservationId(row.row_id))
}
