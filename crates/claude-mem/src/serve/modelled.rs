//! A model as the worker calls it: asked within its budget, and where it fails the distiller is
//! there already.
//!
//! Invariant: an episode always comes out as memories, made by the model or by the distiller; the
//! queue never sees a model's failure. Every call has its row in the books.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::drain::{Compressor, Verdict};
use super::local;
use super::shared::SharedStore;
use super::work::{Made, Work};
use crate::clock::{self, Millis};
use crate::compress::batch::{Batch, Rules};
use crate::compress::budget::{self, Limits, Spend, Standing};
use crate::compress::driver::{Around, Denied, Driven, Purse, drive};
use crate::compress::ladder::Ladder;
use crate::compress::model::{Choice, Edge, Pool};
use crate::compress::rolling::Rolling;
use crate::ids::SessionId;
use crate::limits::ANSWER_TOKENS_MAX;
use crate::log::{Level, Log};
use crate::store::{SpendReport, StoreError};
use crate::vocabulary::Vocabulary;

/// What a spend row says the tokens were for.
const PURPOSE: &str = "compress";

/// What the settings say about making memories with a model.
#[derive(Clone, Debug)]
pub struct Plan {
    pub choice: Choice,
    pub vocabulary: Vocabulary,
    /// Empty follows the conversation.
    pub language: String,
    pub limits: Limits,
    /// How long one call may take.
    pub call_max: Duration,
}

pub struct Modelled {
    store: Arc<SharedStore>,
    plan: Plan,
    edge: Edge,
    /// Something in the settings that has no effect.
    notice: Option<String>,
    log: Log,
    ladder: Mutex<Ladder>,
    pool: Mutex<Pool>,
    stopping: Mutex<bool>,
    stopped: Condvar,
}

impl std::fmt::Debug for Modelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Modelled")
            .field("choice", &self.plan.choice)
            .finish_non_exhaustive()
    }
}

impl Modelled {
    pub fn new(
        store: Arc<SharedStore>,
        plan: Plan,
        edge: Edge,
        notice: Option<String>,
        log: Log,
    ) -> Self {
        Self {
            store,
            plan,
            edge,
            notice,
            log,
            ladder: Mutex::default(),
            pool: Mutex::default(),
            stopping: Mutex::new(false),
            stopped: Condvar::new(),
        }
    }

    fn say(&self, what: &'static str, why: &dyn std::fmt::Display) {
        self.log
            .line(self.now(), Level::Warn, what, &[("why", why)]);
    }

    fn ask(&self, work: &Work, rolling: &Rolling) -> Driven {
        let so_far = rolling.text();
        let language = Some(self.plan.language.trim()).filter(|language| !language.is_empty());
        let rules = Rules {
            vocabulary: &self.plan.vocabulary,
            language,
            answer_tokens_max: ANSWER_TOKENS_MAX,
        };
        let batch = Batch::new(&work.episode, &so_far, rules);
        let warm = lock(&self.pool).take(work.session);
        let mut model = match warm.map_or_else(|| self.plan.choice.open(&self.edge), Ok) {
            Ok(model) => model,
            Err(error) => {
                lock(&self.ladder).failed(&error, self.now(), self.random());
                return Driven::HandOver {
                    why: error.to_string(),
                };
            }
        };
        let books = Books {
            of: self,
            session: work.session,
        };
        let driven = drive(&batch, &mut *model, &self.ladder, &books, self);
        lock(&self.pool).give_back(work.session, model, self.now());
        driven
    }
}

impl Compressor for Modelled {
    /// The distiller works along: it costs nothing, keeps its own thread of the session, and its
    /// account stands in where the model gives none.
    fn make(&self, work: &Work) -> Verdict {
        let mut made = local::made(work, &self.plan.vocabulary);
        let mut rolling = Rolling::read(work.rolling_summary.as_deref());
        match self.ask(work, &rolling) {
            Driven::Interrupted => return Verdict::GivenBack,
            Driven::HandOver { why } => {
                self.say("an episode was left to the distiller", &why);
            }
            Driven::Made(mut distilled) => {
                if distilled.summary.is_none() && work.episode.finished {
                    distilled.summary = made.distilled.summary.take();
                }
                let by = self.plan.choice.model().to_owned();
                made = Made {
                    distilled: *distilled,
                    by,
                    ..made
                };
            }
        }
        rolling.add(&made.distilled);
        made.rolling_summary = rolling.to_json();
        Verdict::Made(Box::new(made))
    }

    /// Ends the children that nobody has asked for a while.
    fn rest(&self, now: Millis) {
        let swept = lock(&self.pool).sweep(now);
        // Ending a child takes a moment, in which others may want the pool: it is free by now.
        drop(swept);
    }

    fn stop(&self) {
        *lock(&self.stopping) = true;
        self.stopped.notify_all();
    }

    fn trouble(&self, now: Millis) -> Option<String> {
        let ladder = lock(&self.ladder);
        let Some((why, until)) = ladder.trouble(now) else {
            return self.notice.clone();
        };
        Some(match until {
            Some(until) => format!("{why}; asked again at {}", clock::local_time(until)),
            None => format!("{why}; asked again when there is new work"),
        })
    }
}

impl Around for Modelled {
    fn now(&self) -> Millis {
        clock::now().millis()
    }

    fn random(&self) -> u8 {
        let mut byte = [0];
        // Without chance all wait equally long, which is what chance is to avoid and no more.
        getrandom::fill(&mut byte).map_or(0, |()| byte[0])
    }

    fn call_max(&self) -> Duration {
        self.plan.call_max
    }

    fn wait(&self, pause: Duration) -> bool {
        let stopping = lock(&self.stopping);
        let goes_on = |stopping: &mut bool| !*stopping;
        let waited = self.stopped.wait_timeout_while(stopping, pause, goes_on);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The books, for the calls of one session.
struct Books<'a> {
    of: &'a Modelled,
    session: SessionId,
}

impl Purse for Books<'_> {
    fn reserve(&self, tokens: u64) -> Result<i64, Denied> {
        let plan = &self.of.plan;
        let now = self.of.now();
        let day = clock::local_day(now);
        let reserved = self.of.store.with(|store| {
            store.write(|tx| {
                let today = standing(tx.spend_on(&day)?);
                let session = standing(tx.spend_of_session(self.session)?);
                if let Err(not_now) = budget::admit(plan.limits, today, session, tokens) {
                    return Ok(Err(Denied::Budget(not_now)));
                }
                let (provider, model) = (plan.choice.provider(), plan.choice.model());
                let session = Some(self.session);
                tx.reserve_spend(&day, session, provider, model, PURPOSE, tokens, now)
                    .map(Ok)
            })
        });
        reserved.unwrap_or_else(|error: StoreError| Err(Denied::Books(error.to_string())))
    }

    fn settle(&self, reservation: i64, spend: Spend, word: &'static str) {
        let settled = self.of.store.with(|store| {
            store.write(|tx| {
                tx.settle_spend(
                    reservation,
                    spend.input,
                    spend.output,
                    spend.estimated,
                    word,
                )
            })
        });
        // A row that stays reserved counts as spent: the budget errs on the safe side.
        if let Err(error) = settled {
            self.of.say("a call could not be settled", &error);
        }
    }
}

const fn standing(report: SpendReport) -> Standing {
    Standing {
        tokens: report.tokens,
        open_tokens: report.open_tokens,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "modelled_tests.rs"]
mod tests;
