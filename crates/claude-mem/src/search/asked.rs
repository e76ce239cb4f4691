//! A question with its filters read and its names looked up.

use super::allowed::Allowed;
use super::ask::{Ask, Fit, From, Order, Scope, Whose};
use super::called::{Called, called, numbers};
use super::complete::complete;
use super::dates;
use super::query::{FilterWord, Query};
use super::rank::Hit;
use super::stem::stem;
use super::terms::fold;
use super::when::periods;
use crate::limits::{QUERY_FILTERS_MAX, QUERY_WORDS_MAX};
use crate::memory::ObservationType;
use crate::store::{Column, Expr, Filter, Reads, RowKind, StoreError, WordScope};

pub(super) struct Asked<'q> {
    pub(super) ask: &'q Ask,
    pub(super) query: Query,
    pub(super) demand: Option<Expr>,
    pub(super) from: From,
    pub(super) whose: Whose,
    pub(super) may_widen: bool,
    pub(super) project: Option<String>,
    pub(super) types: Vec<ObservationType>,
    pub(super) concepts: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) since: Option<crate::clock::Millis>,
    pub(super) until: Option<crate::clock::Millis>,
    pub(super) notes: Vec<String>,
}

impl<'q> Asked<'q> {
    pub(super) fn resolve(reads: &Reads<'_>, ask: &'q Ask) -> Result<Self, StoreError> {
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

    pub(super) fn scope(&self, from: From, fit: Fit, vectors: bool) -> Scope {
        Scope {
            from,
            project: self.project.clone(),
            fit,
            vectors,
            notes: self.notes.clone(),
        }
    }

    /// What is kept at user level holds in every project, also in one that is not known yet.
    pub(super) fn word_scope(&self, whose: Whose) -> WordScope {
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

    pub(super) fn allowed(
        &self,
        reads: &Reads<'_>,
        whose: Whose,
    ) -> Result<Option<Allowed>, StoreError> {
        let filter = self.filter(&self.word_scope(whose));
        filter.map(|filter| Allowed::of(reads, filter)).transpose()
    }

    /// What only columns can tell, if anything was asked that they must.
    pub(super) fn filter(&self, scope: &WordScope) -> Option<Filter> {
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
    pub(super) fn takes_any_observation(&self) -> bool {
        let kinds = &self.ask.kinds;
        self.types.is_empty()
            && self.concepts.is_empty()
            && self.files.is_empty()
            && self.since.is_none()
            && self.until.is_none()
            && self.query.demand.is_none()
            && (kinds.is_empty() || kinds.contains(&RowKind::Observation))
    }

    pub(super) fn leaves_out(&self, hit: &Hit) -> bool {
        self.ask.not_of.is_some() && hit.session == self.ask.not_of
    }
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
