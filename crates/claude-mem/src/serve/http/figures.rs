//! Figures that take a walk through whole tables: kept for a moment, so that many pages that ask
//! cost no more than one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::civil::Date;

use super::api::Api;
use super::problem::Problem;
use crate::clock::Millis;
use crate::ids::ProjectId;
use crate::limits::HTTP_FIGURES_MS;
use crate::search::dates;
use crate::store::{Activity, Counts, Economics, ProjectCounts};

/// Days that the charts go back.
const DAYS: i64 = 60;

#[derive(Debug)]
pub(super) struct Figures {
    pub(super) counts: Counts,
    /// Each day with what happened on it, today last.
    pub(super) days: Vec<(Date, Activity)>,
    pub(super) by_type: Vec<(String, u64)>,
    pub(super) by_project: BTreeMap<ProjectId, ProjectCounts>,
    pub(super) economics: Economics,
}

/// The last figures, with when they were taken and how much had been changed here until then.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Option<(Instant, u64, Arc<Figures>)>>);

fn is_fresh(at: Instant, then: u64, now: Instant, stirred: u64) -> bool {
    then == stirred && now.duration_since(at) < Duration::from_millis(HTTP_FIGURES_MS)
}

impl Api {
    /// At most a moment old, and never older than a change that was made through this server.
    pub(super) fn figures(&self) -> Result<Arc<Figures>, Problem> {
        // Held while counting: those who come meanwhile want the same.
        let mut kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, stirred) = (Instant::now(), *self.stirred.borrow());
        if let Some((at, then, figures)) = &*kept
            && is_fresh(*at, *then, now, stirred)
        {
            return Ok(Arc::clone(figures));
        }
        let figures = Arc::new(self.count()?);
        *kept = Some((now, stirred, Arc::clone(&figures)));
        Ok(figures)
    }

    /// What each project holds. Every page asks for it when it is opened, and for nothing else of
    /// the figures: so they are not all counted for it.
    pub(super) fn by_project(&self) -> Result<BTreeMap<ProjectId, ProjectCounts>, Problem> {
        let kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, then, figures)) = &*kept
            && is_fresh(*at, *then, Instant::now(), *self.stirred.borrow())
        {
            return Ok(figures.by_project.clone());
        }
        drop(kept);
        self.view(|reads| Ok(reads.counts_by_project()?))
    }

    fn count(&self) -> Result<Figures, Problem> {
        let days = dates::last_days(DAYS, self.now(), &self.zone);
        let bounds: Vec<Millis> = days.iter().map(|(_, at)| *at).collect();
        self.view(|reads| {
            let days = days.into_iter().map(|(day, _)| day);
            Ok(Figures {
                counts: reads.counts()?,
                days: days.zip(reads.activity(&bounds)?).collect(),
                by_type: reads.counts_by_type()?,
                by_project: reads.counts_by_project()?,
                economics: reads.economics()?,
            })
        })
    }
}
