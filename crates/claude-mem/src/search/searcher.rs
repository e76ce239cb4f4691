//! One question, answered: filters resolved, both legs asked, and where nothing is found, a
//! wider net, said as such.

use std::collections::{HashMap, HashSet};

use super::allowed::Allowed;
use super::ask::{Ask, Fit, Found, From, Item, Order, Scope, Whose};
use super::called::{Called, called, numbers};
use super::complete::complete;
use super::dates;
use super::handle::Handle;
use super::items::Items;
use super::query::{FilterWord, Query};
use super::rank::{Hit, Parts, Ranking, RowKey, rank};
use super::stem::stem;
use super::subject::{Subject, is_later};
use super::terms::fold;
use super::vectors::VectorLeg;
use super::when::periods;
use crate::ids::{ObservationId, SessionId};
use crate::limits::{QUERY_FILTERS_MAX, QUERY_WORDS_MAX};
use crate::memory::ObservationType;
use crate::store::{Column, Expr, Filter, Page, Reads, RowKind, StoreError, WordScope};

/// Rows that are looked at to fill one page of a filtered list.
const LISTED_ROWS_MAX: usize = 20_000;

/// The calls of search, over one view of the store.
#[derive(Debug)]
pub struct Searcher<'a> {
    reads: Reads<'a>,
    leg: Option<VectorLeg<'a>>,
    ranking: Ranking,
}

impl<'a> Searcher<'a> {
    /// Without a leg it works on words alone.
    pub fn new(reads: Reads<'a>, leg: Option<VectorLeg<'a>>) -> Self {
        Self {
            reads,
            leg,
            ranking: Ranking::default(),
        }
    }

    /// Never fails for what was typed, only for what became of the file.
    pub fn search(&mut self, ask: &Ask) -> Result<Found, StoreError> {
        let mut asked = Asked::resolve(&self.reads, ask)?;
        if asked.query.is_empty() {
            return self.list(&asked, Fit::Listed);
        }
        let mut nets = vec![(asked.from, asked.whose, Fit::Asked)];
        if asked.query.demand.is_some() {
            nets.push((asked.from, asked.whose, Fit::Broader));
        }
        if asked.may_widen {
            nets.push((From::OtherProjects, Whose::All, Fit::Asked));
            if asked.query.demand.is_some() {
                nets.push((From::OtherProjects, Whose::All, Fit::Broader));
            }
        }
        let mut failed = None;
        let mut faint = None;
        for (from, whose, fit) in nets {
            if fit == Fit::Broader {
                asked.query.demand = None;
            }
            let (mut hits, without_vectors) = self.ranked(&asked, whose)?;
            failed = without_vectors.or(failed);
            if let (Fit::Broader, Some(unwanted)) = (fit, &asked.query.unwanted) {
                hits = self.without(unwanted, hits)?;
            }
            let is_faint = asked.query.demand.is_none() && is_faint(&hits);
            asked.query.demand = asked.demand.clone();
            if hits.is_empty() {
                continue;
            }
            if from == From::OtherProjects {
                if faint.is_some() && !speaks_of_most(&hits, &asked.query) {
                    continue;
                }
            } else if is_faint && asked.may_widen {
                // Others may have the very words.
                faint.get_or_insert((from, fit, hits));
                continue;
            }
            let scope = asked.scope(from, fit, self.leg.is_some() && failed.is_none());
            return self.page(&asked, scope, &hits, failed);
        }
        if let Some((from, fit, hits)) = faint {
            let scope = asked.scope(from, fit, self.leg.is_some() && failed.is_none());
            return self.page(&asked, scope, &hits, failed);
        }
        if ask.fall_back {
            let mut found = self.list(&asked, Fit::Recent)?;
            found.without_vectors = failed;
            return Ok(found);
        }
        let scope = asked.scope(
            asked.from,
            Fit::Asked,
            self.leg.is_some() && failed.is_none(),
        );
        self.page(&asked, scope, &[], failed)
    }

    fn ranked(
        &mut self,
        asked: &Asked<'_>,
        whose: Whose,
    ) -> Result<(Vec<Hit>, Option<StoreError>), StoreError> {
        let scope = asked.word_scope(whose);
        let allowed = asked.allowed(&self.reads, whose)?;
        let ranked = rank(
            &self.reads,
            &asked.query,
            &scope,
            allowed.as_ref(),
            self.leg.as_mut(),
            &self.ranking,
        )?;
        let mut hits = ranked.hits;
        if asked.query.demand.is_some() {
            // All of them have what was demanded.
        } else if hits.iter().any(Hit::is_match) {
            hits.retain(|hit| hit.has_evidence(&self.ranking));
        } else {
            hits.clear();
        }
        Ok((self.judged(asked, hits)?, ranked.without_vectors))
    }

    /// A prompt, the summary of what was asked and the answer tell one story: beside a better row of
    /// their turn they say it again. What was observed in it stands for itself.
    fn say_once(&self, hits: &mut [Hit]) -> Result<(), StoreError> {
        if hits.iter().all(|hit| hit.kind == RowKind::Observation) {
            return Ok(());
        }
        let mut told: HashMap<(SessionId, i64), i32> = HashMap::new();
        for hit in hits.iter_mut().take(LOOKED_THROUGH) {
            let turn = self.reads.turn_of(hit.kind, hit.row_id)?;
            let (Some(session), Some(number)) = (hit.session, turn) else {
                continue;
            };
            let before = told.entry((session, number)).or_default();
            if *before > 0 && hit.kind != RowKind::Observation {
                hit.judge(hit.score * SAID_AGAIN_FACTOR.powi(*before));
            }
            *before += 1;
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }

    /// Those that do not have it.
    fn without(&self, unwanted: &Expr, hits: Vec<Hit>) -> Result<Vec<Hit>, StoreError> {
        let mut kept = Vec::with_capacity(hits.len());
        for hit in hits {
            if !self.reads.has_in_text(unwanted, (hit.kind, hit.row_id))? {
                kept.push(hit);
            }
        }
        Ok(kept)
    }

    /// What was marked as wrong goes, and what was replaced stands below its replacement, which
    /// has the place that the session of the replaced one has earned: whoever asks in the words
    /// of the old rule is to find the new one first.
    fn judged(&self, asked: &Asked<'_>, mut hits: Vec<Hit>) -> Result<Vec<Hit>, StoreError> {
        if asked.takes_any_observation() {
            self.add_replacements(&mut hits)?;
        }
        let ids: Vec<ObservationId> = hits
            .iter()
            .filter(|hit| hit.kind == RowKind::Observation)
            .map(|hit| ObservationId(hit.row_id))
            .collect();
        let verdicts = self.reads.verdicts(&ids)?;
        let scores: HashMap<i64, f64> = hits
            .iter()
            .filter(|hit| hit.kind == RowKind::Observation)
            .map(|hit| (hit.row_id, hit.score))
            .collect();
        let mut newer = self.later_of_their_subject(&hits)?;
        for (id, verdict) in &verdicts {
            if let Some(by) = verdict.replaced_by {
                newer.push((*id, self.in_place_of(by)?));
            }
        }
        let lifted = lifted(&hits, &newer);
        let mut kept = Vec::with_capacity(hits.len());
        for mut hit in hits {
            let verdict = match hit.kind {
                RowKind::Observation => verdicts.get(&ObservationId(hit.row_id)),
                _ => None,
            };
            if let Some(score) = lifted.get(&(hit.kind, hit.row_id)) {
                hit.judge(hit.score.max(*score));
            }
            if let Some(verdict) = verdict {
                if verdict.wrong && !asked.ask.with_wrong {
                    continue;
                }
                if let Some(newer) = verdict.replaced_by {
                    let below = scores.get(&newer.0).copied().unwrap_or(hit.score);
                    hit.judge(hit.score.min(below) * REPLACED_FACTOR);
                }
            }
            kept.push(hit);
        }
        kept.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.say_once(&mut kept)?;
        if asked.ask.order != Order::Relevance {
            // What is merely near is worth showing below a match, not in its place.
            kept.retain(Hit::is_match);
            kept.sort_by_key(|hit| (hit.created_at, hit.kind, hit.row_id));
        }
        if asked.ask.order == Order::NewestFirst {
            kept.reverse();
        }
        Ok(kept)
    }

    /// Whoever asks in the words of a replaced rule finds what replaced it, also where that
    /// shares none of them.
    fn add_replacements(&self, hits: &mut Vec<Hit>) -> Result<(), StoreError> {
        let found = observations(hits, LOOKED_THROUGH);
        let verdicts = self.reads.verdicts(&found)?;
        let mut known: HashSet<i64> = observations(hits, usize::MAX)
            .into_iter()
            .map(|id| id.0)
            .collect();
        let mut more = Vec::new();
        for hit in hits.iter().filter(|hit| hit.kind == RowKind::Observation) {
            let verdict = verdicts.get(&ObservationId(hit.row_id));
            let Some(newer) = verdict.and_then(|verdict| verdict.replaced_by) else {
                continue;
            };
            let newer = self.in_place_of(newer)?;
            if known.insert(newer.0) {
                let row = self.reads.observation(newer)?;
                more.push(Hit {
                    row_id: newer.0,
                    project: row.project,
                    session: row.session,
                    created_at: row.created_at,
                    ..hit.clone()
                });
            }
        }
        hits.extend(more);
        Ok(())
    }

    /// What stands in the place of a rule now, after however many replacements.
    fn in_place_of(&self, mut id: ObservationId) -> Result<ObservationId, StoreError> {
        for _ in 0..REPLACED_MAX {
            let verdicts = self.reads.verdicts(&[id])?;
            match verdicts.get(&id).and_then(|verdict| verdict.replaced_by) {
                Some(newer) => id = newer,
                None => break,
            }
        }
        Ok(id)
    }

    /// Pairs of decisions about one subject, the older one first. Nobody may have said that the
    /// newer one takes its place, and still it is the one to read first.
    fn later_of_their_subject(
        &self,
        hits: &[Hit],
    ) -> Result<Vec<(ObservationId, ObservationId)>, StoreError> {
        let mut decisions = Vec::new();
        for id in observations(hits, LOOKED_THROUGH) {
            let row = self.reads.observation(id)?;
            if row.kind == ObservationType::DECISION && !row.wrong && row.replaced_by.is_none() {
                let subject = Subject::of(&row);
                decisions.push((row, subject));
            }
        }
        let mut pairs = Vec::new();
        for (older, of_older) in &decisions {
            for (newer, of_newer) in &decisions {
                if is_later(newer, older) && of_newer.is_that_of(of_older) {
                    pairs.push((older.id, newer.id));
                }
            }
        }
        Ok(pairs)
    }

    fn page(
        &self,
        asked: &Asked<'_>,
        scope: Scope,
        hits: &[Hit],
        without_vectors: Option<StoreError>,
    ) -> Result<Found, StoreError> {
        let (offset, limit) = (
            asked.ask.page.offset as usize,
            asked.ask.page.rows() as usize,
        );
        let mut items = Items::new(&self.reads);
        let mut results = Vec::with_capacity(limit);
        let mut wanted = hits
            .iter()
            .filter(|hit| !asked.leaves_out(hit))
            .skip(offset);
        for hit in wanted.by_ref().take(limit) {
            results.extend(items.item((hit.kind, hit.row_id), hit.score, hit.parts.clone())?);
        }
        Ok(Found {
            scope,
            results,
            has_more: wanted.next().is_some(),
            without_vectors,
        })
    }

    /// Those that do not have it, as far as the page and one more.
    fn first_without(
        &self,
        unwanted: &Expr,
        keys: Vec<RowKey>,
        page: Page,
    ) -> Result<Vec<RowKey>, StoreError> {
        let most = page.offset as usize + page.rows() as usize + 1;
        let mut kept = Vec::new();
        for key in keys {
            if kept.len() == most {
                break;
            }
            if !self.reads.has_in_text(unwanted, key)? {
                kept.push(key);
            }
        }
        Ok(kept)
    }

    /// In the order of time, where there are no words to rank by or none that match.
    fn list(&self, asked: &Asked<'_>, fit: Fit) -> Result<Found, StoreError> {
        let scope = asked.scope(asked.from, fit, false);
        let words = asked.word_scope(asked.whose);
        let page = asked.ask.page;
        // More than the page: some may have been marked as wrong.
        let most = page.offset as usize + page.rows() as usize + 200;
        let most = match asked.query.unwanted {
            Some(_) => LISTED_ROWS_MAX,
            None => most.min(LISTED_ROWS_MAX),
        };
        let oldest_first = asked.ask.order == Order::OldestFirst;
        let mut keys = match asked.filter(&words) {
            Some(filter) => self.reads.first_passing(&filter, &words.kinds, most)?,
            None => self.reads.rows_in_time(&words, oldest_first, most)?,
        };
        let ids: Vec<ObservationId> = keys
            .iter()
            .filter(|key| key.0 == RowKind::Observation)
            .map(|key| ObservationId(key.1))
            .collect();
        let verdicts = self.reads.verdicts(&ids)?;
        keys.retain(|key| {
            let wrong = key.0 == RowKind::Observation
                && verdicts
                    .get(&ObservationId(key.1))
                    .is_some_and(|verdict| verdict.wrong);
            asked.ask.with_wrong || !wrong
        });
        if let Some(unwanted) = &asked.query.unwanted {
            keys = self.first_without(unwanted, keys, page)?;
        }
        let hits: Vec<Hit> = keys.into_iter().map(Hit::listed).collect();
        self.page(asked, scope, &hits, None)
    }
}

/// A question with its filters read and its names looked up.
struct Asked<'q> {
    ask: &'q Ask,
    query: Query,
    demand: Option<Expr>,
    from: From,
    whose: Whose,
    may_widen: bool,
    project: Option<String>,
    types: Vec<ObservationType>,
    concepts: Vec<String>,
    files: Vec<String>,
    since: Option<crate::clock::Millis>,
    until: Option<crate::clock::Millis>,
    notes: Vec<String>,
}

impl<'q> Asked<'q> {
    fn resolve(reads: &Reads<'_>, ask: &'q Ask) -> Result<Self, StoreError> {
        let mut query = Query::parse(&ask.text);
        if let Some(text) = &query.quotation
            && is_quoted(reads, text)?
        {
            query = Query::literal(&ask.text);
        }
        let mut asked = Self {
            demand: query.demand.clone(),
            query,
            from: From::AllProjects,
            whose: ask.whose,
            may_widen: false,
            project: None,
            types: ask.types.clone(),
            concepts: ask.concepts.clone(),
            files: ask.files.clone(),
            since: ask.since,
            until: ask.until,
            notes: Vec::new(),
            ask,
        };
        asked.query.when = periods(&asked.query.plain, ask.now, &ask.zone);
        for filter in std::mem::take(&mut asked.query.filters) {
            asked.apply(reads, filter)?;
        }
        match asked.whose {
            Whose::ProjectFirst(id) | Whose::ProjectOnly(id) => {
                asked.from = From::Project;
                asked.may_widen = matches!(asked.whose, Whose::ProjectFirst(_));
                asked.project = reads.project_name(id)?;
            }
            Whose::Nobody => {
                asked.from = From::Project;
                asked.may_widen = true;
            }
            Whose::All => {}
        }
        if ask.typing {
            let scope = asked.word_scope(asked.whose);
            let query = std::mem::take(&mut asked.query);
            asked.query = complete(reads, &ask.text, &scope, query)?;
            asked.demand.clone_from(&asked.query.demand);
        }
        Ok(asked)
    }

    fn apply(&mut self, reads: &Reads<'_>, filter: FilterWord) -> Result<(), StoreError> {
        match filter {
            FilterWord::Type(names) => self.apply_types(reads, &names)?,
            FilterWord::Concept(name) => {
                let what = Expr::Column(Column::Tags, Box::new(Expr::Term(name.clone())));
                let mut is_known = false;
                let everywhere = reads.reach(&WordScope::default())?.spans();
                reads.places_with(&what, &everywhere, 1, |_| is_known = true)?;
                if is_known {
                    self.concepts.push(name);
                } else {
                    let why = format!("no memory has the concept {name:?}");
                    self.put_back(why, &name);
                }
            }
            FilterWord::File(path) => {
                if reads.knows_file(&path)? {
                    self.files.push(path);
                } else {
                    let why = format!("no memory is about the file {path:?}");
                    self.put_back(why, &path);
                }
            }
            FilterWord::Project(name) => match called(reads, &name)? {
                Called::One(id) => self.whose = Whose::ProjectOnly(id),
                Called::Several(several) => self.notes.push(format!(
                    "several projects are called {name:?}, say project: with a number: {}",
                    numbers(&several)
                )),
                Called::Nobody => self.put_back(format!("there is no project {name:?}"), &name),
            },
            FilterWord::Before(text) => match self.moment(&text) {
                Some(at) => self.until = Some(self.until.map_or(at, |until| until.min(at))),
                None => self.put_back(format!("before:{text} is not a date"), &text),
            },
            FilterWord::After(text) => match self.moment(&text) {
                Some(at) => self.since = Some(self.since.map_or(at, |since| since.max(at))),
                None => self.put_back(format!("after:{text} is not a date"), &text),
            },
        }
        Ok(())
    }

    fn moment(&self, text: &str) -> Option<crate::clock::Millis> {
        dates::moment(text, self.ask.now, &self.ask.zone)
    }

    /// Types that exist narrow; a name that nothing is of was a slip, or a word.
    fn apply_types(&mut self, reads: &Reads<'_>, names: &str) -> Result<(), StoreError> {
        let names = names.to_lowercase();
        let names = names.split(',').take(QUERY_FILTERS_MAX);
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        let mut used: Option<Vec<String>> = None;
        for name in names.filter(|name| !name.is_empty()) {
            let is_ours = ObservationType::ALL.iter().any(|one| one.as_str() == name);
            if !is_ours && used.is_none() {
                let counts = reads.counts_by_type()?.into_iter();
                used = Some(counts.map(|(name, _)| name).collect());
            }
            let is_used = || used.iter().flatten().any(|one| one == name);
            if is_ours || is_used() {
                known.push(ObservationType::named(name));
            } else {
                unknown.push(name);
            }
        }
        for name in unknown {
            let used = used.as_deref().unwrap_or_default().join(", ");
            let why = format!("no memory is of the type {name:?}; there are {used}");
            if known.is_empty() {
                self.put_back(why, name);
            } else {
                self.notes.push(why);
            }
        }
        self.types.extend(known);
        Ok(())
    }

    /// What names nothing was meant as words.
    fn put_back(&mut self, why: String, text: &str) {
        self.notes.push(why);
        let words = Query::literal(&text.replace(':', " "));
        self.query.words.extend(words.words);
        self.query.words.truncate(QUERY_WORDS_MAX);
        if !self.query.plain.is_empty() {
            self.query.plain.push(' ');
        }
        self.query.plain.push_str(&words.plain);
    }

    fn scope(&self, from: From, fit: Fit, vectors: bool) -> Scope {
        Scope {
            from,
            project: self.project.clone(),
            fit,
            vectors,
            notes: self.notes.clone(),
        }
    }

    /// What is kept at user level holds in every project, also in one that is not known yet.
    fn word_scope(&self, whose: Whose) -> WordScope {
        let (project, user_level) = match whose {
            Whose::All => (None, false),
            Whose::ProjectFirst(id) | Whose::ProjectOnly(id) => (Some(id), true),
            Whose::Nobody => (None, true),
        };
        let mut kinds = self.ask.kinds.clone();
        if !self.types.is_empty() || !self.concepts.is_empty() {
            kinds = vec![RowKind::Observation];
        }
        WordScope {
            project,
            user_level,
            kinds,
            types: self.types.clone(),
            since: self.since,
            until: self.until,
        }
    }

    fn allowed(&self, reads: &Reads<'_>, whose: Whose) -> Result<Option<Allowed>, StoreError> {
        let filter = self.filter(&self.word_scope(whose));
        filter.map(|filter| Allowed::of(reads, filter)).transpose()
    }

    /// What only columns can tell, if anything was asked that they must.
    fn filter(&self, scope: &WordScope) -> Option<Filter> {
        if self.types.is_empty() && self.concepts.is_empty() && self.files.is_empty() {
            return None;
        }
        Some(Filter {
            project: scope.project,
            user_level: scope.user_level,
            oldest_first: self.ask.order == Order::OldestFirst,
            types: self.types.clone(),
            concepts: self.concepts.clone(),
            files: self.files.clone(),
            since: self.since,
            until: self.until,
            ..Filter::default()
        })
    }

    /// Whether nothing but words was asked for that an observation would have to meet.
    fn takes_any_observation(&self) -> bool {
        let kinds = &self.ask.kinds;
        self.types.is_empty()
            && self.concepts.is_empty()
            && self.files.is_empty()
            && self.since.is_none()
            && self.until.is_none()
            && self.query.demand.is_none()
            && (kinds.is_empty() || kinds.contains(&RowKind::Observation))
    }

    fn leaves_out(&self, hit: &Hit) -> bool {
        self.ask.not_of.is_some() && hit.session == self.ask.not_of
    }
}

impl Hit {
    /// By words or by meaning; the nearest of all is not always near.
    fn is_match(&self) -> bool {
        const NEAR: f64 = 0.4;
        !self.parts.matched.is_empty() || self.parts.cosine.is_some_and(|cosine| cosine >= NEAR)
    }

    /// Some word, or some of the meaning: less than a match, and worth showing below one.
    fn has_evidence(&self, ranking: &Ranking) -> bool {
        let is_near = |cosine| cosine >= ranking.evidence;
        !self.parts.matched.is_empty() || self.parts.cosine.is_some_and(is_near)
    }

    /// Gives it another score than its parts have, and says so.
    fn judge(&mut self, score: f64) {
        self.parts.judged += score - self.score;
        self.score = score;
    }

    fn listed((kind, row_id): RowKey) -> Self {
        Self {
            kind,
            row_id,
            project: None,
            session: None,
            score: 0.0,
            parts: Parts::default(),
            created_at: crate::clock::Millis(0),
        }
    }
}

/// By meaning alone, and not by much: in a large store something always is.
fn is_faint(hits: &[Hit]) -> bool {
    const NEAR: f64 = 0.45;
    hits.iter().all(|hit| {
        hit.parts.matched.is_empty() && hit.parts.cosine.is_none_or(|cosine| cosine < NEAR)
    })
}

/// Whether one of them has half of the words.
fn speaks_of_most(hits: &[Hit], query: &Query) -> bool {
    let most = query.words.len().div_ceil(2).max(1);
    hits.iter().any(|hit| hit.parts.matched.len() >= most)
}

/// Whether some row has these words as they were typed, its operators in capitals too.
fn is_quoted(reads: &Reads<'_>, text: &str) -> Result<bool, StoreError> {
    let mut places = Vec::new();
    let everything = reads.reach(&WordScope::default())?.spans();
    let what = Expr::Term(text.to_owned());
    reads.places_with(&what, &everything, QUOTING_TEXTS_MAX, |place| {
        places.push(place);
    })?;
    let runs = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
        words.collect()
    };
    let typed = runs(text);
    let is_operator = |word: &str| matches!(word, "AND" | "OR" | "NOT");
    let same = |(a, b): (&String, &String)| a == b || !is_operator(a);
    for place in places {
        let Some(row) = reads.document_at(place)? else {
            continue;
        };
        for field in [&row.title, &row.body] {
            let found = runs(field);
            let mut inside = found.windows(typed.len());
            if inside.any(|run| {
                typed.iter().zip(run).all(same)
                    && typed
                        .iter()
                        .zip(run)
                        .all(|(a, b)| stem(&fold(a)) == stem(&fold(b)))
            }) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Rows that are asked whether they are what was quoted.
const QUOTING_TEXTS_MAX: u32 = 8;

/// Rows by what they are called, in the order asked for; those that are gone are left out.
pub fn items(reads: &Reads<'_>, handles: &[Handle]) -> Result<Vec<Item>, StoreError> {
    let mut items = Items::new(reads);
    let mut found = Vec::with_capacity(handles.len());
    for handle in handles {
        found.extend(items.item(handle.key(), 0.0, Parts::default())?);
    }
    Ok(found)
}

/// What is left of the score of what was told above, each time.
const SAID_AGAIN_FACTOR: f64 = 0.6;
/// What is left of a replaced rule's score.
const REPLACED_FACTOR: f64 = 0.7;
/// A replaced rule speaks for its session if it comes this near to the best of it.
const SPEAKS_FOR_SESSION: f64 = 0.5;

/// Observations, best first, that are looked at for newer ones.
const LOOKED_THROUGH: usize = 24;
/// Rules that replaced each other, one after another.
const REPLACED_MAX: usize = 16;

/// What stands above an equal.
const ABOVE: f64 = 1e-6;

/// The first observations among the hits.
fn observations(hits: &[Hit], most: usize) -> Vec<ObservationId> {
    hits.iter()
        .filter(|hit| hit.kind == RowKind::Observation)
        .take(most)
        .map(|hit| ObservationId(hit.row_id))
        .collect()
}

/// The scores that newer rules have earned by the older ones they go before.
fn lifted(hits: &[Hit], newer: &[(ObservationId, ObservationId)]) -> HashMap<RowKey, f64> {
    let mut lifted = HashMap::new();
    for (older, newer) in newer {
        let is_older = |hit: &&Hit| hit.kind == RowKind::Observation && hit.row_id == older.0;
        let Some(hit) = hits.iter().find(is_older) else {
            continue;
        };
        let of_session = hits
            .iter()
            .filter(|other| other.session.is_some() && other.session == hit.session);
        let best = of_session
            .map(|other| other.score)
            .fold(hit.score, f64::max);
        if hit.score >= best * SPEAKS_FOR_SESSION {
            let key = (RowKind::Observation, newer.0);
            let score = lifted.entry(key).or_insert(0.0);
            *score = f64::max(*score, best + ABOVE);
        }
    }
    lifted
}

#[cfg(test)]
#[path = "searcher_tests.rs"]
mod tests;
