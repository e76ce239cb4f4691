//! Resolves a [`SearchRequest`] against the store: parses the text, applies filters and looks up
//! names.
//!
//! [`ResolvedQuery`] is the result. A filter that names nothing known is demoted to plain words and
//! reported in the response's notes, so that a typo never hides every row.

use super::complete::complete_last_word;
use super::query::{QueryFilter, SearchQuery};
use super::rank::SearchHit;
use super::stem::stem;
use crate::analyzer::fold;
use crate::date_arg;
use crate::project_lookup::{ProjectLookup, find_project, format_choices};
use crate::request::{AnswerScope, MatchQuality, ProjectScope, ResponseScope, ResultOrder, SearchRequest};
use crate::scope::AllowedRows;
use crate::time_expr::periods;
use claude_mem_core::agents::{AGENTS, CodingAgent};
use claude_mem_core::ids::MemberRowId;
use claude_mem_core::limits::{QUERY_FILTERS_MAX, QUERY_WORDS_MAX};
use claude_mem_core::memory::ObservationType;
use claude_mem_store::{
    FtsColumn, FtsQuery, MemberRow, MemberTrust, RowFilter, RowKind, RowOwner, StoreError, StoreReader,
};

/// A [`SearchRequest`] with its text parsed and its filters resolved.
pub(super) struct ResolvedQuery<'q> {
    pub(super) request: &'q SearchRequest,
    pub(super) query: SearchQuery,
    pub(super) must: Option<FtsQuery>,
    pub(super) answer_scope: AnswerScope,
    pub(super) project_scope: ProjectScope,
    pub(super) may_widen: bool,
    pub(super) project: Option<String>,
    pub(super) types: Vec<ObservationType>,
    pub(super) concepts: Vec<String>,
    pub(super) files: Vec<String>,
    /// The name of a coding agent.
    pub(super) client: Option<&'static str>,
    pub(super) who: Option<RowOwner>,
    pub(super) since: Option<claude_mem_core::clock::Millis>,
    pub(super) until: Option<claude_mem_core::clock::Millis>,
    pub(super) notes: Vec<String>,
}

impl<'q> ResolvedQuery<'q> {
    /// Parses the request's text and resolves its filters and project names.
    pub(super) fn resolve(reads: &StoreReader<'_>, ask: &'q SearchRequest) -> Result<Self, StoreError> {
        let mut query = SearchQuery::parse(&ask.text);
        if let Some(text) = &query.verbatim
            && is_verbatim_in_store(reads, text)?
        {
            query = SearchQuery::literal(&ask.text);
        }
        let mut asked = Self {
            must: query.must.clone(),
            query,
            answer_scope: AnswerScope::AllProjects,
            project_scope: ask.project_scope,
            may_widen: false,
            project: None,
            types: ask.types.clone(),
            concepts: ask.concepts.clone(),
            files: ask.files.clone(),
            client: None,
            who: None,
            since: ask.since,
            until: ask.until,
            notes: Vec::new(),
            request: ask,
        };
        asked.query.periods = periods(&asked.query.semantic_text, ask.now, &ask.zone);
        for filter in std::mem::take(&mut asked.query.filters) {
            asked.apply_filter(reads, filter)?;
        }
        match asked.project_scope {
            ProjectScope::ProjectFirst(id) | ProjectScope::ProjectOnly(id) => {
                asked.answer_scope = AnswerScope::Project;
                asked.may_widen = matches!(asked.project_scope, ProjectScope::ProjectFirst(_));
                asked.project = reads.project_name(id)?;
            }
            ProjectScope::UnknownProject => {
                asked.answer_scope = AnswerScope::Project;
                asked.may_widen = true;
            }
            ProjectScope::All => {}
        }
        if ask.is_incomplete {
            let scope = asked.word_scope(asked.project_scope);
            let query = std::mem::take(&mut asked.query);
            asked.query = complete_last_word(reads, &ask.text, &scope, query)?;
            asked.must.clone_from(&asked.query.must);
        }
        Ok(asked)
    }

    /// Applies one filter, or demotes it to words if its value is unknown.
    fn apply_filter(&mut self, reads: &StoreReader<'_>, filter: QueryFilter) -> Result<(), StoreError> {
        match filter {
            QueryFilter::Type(names) => self.apply_type_filter(reads, &names)?,
            QueryFilter::Concept(name) => {
                let what = FtsQuery::Column(FtsColumn::Tags, Box::new(FtsQuery::Term(name.clone())));
                let mut is_known = false;
                let everywhere = reads.corpus(&RowFilter::default())?.doc_id_ranges();
                reads.for_each_match(&what, &everywhere, 1, |_| is_known = true)?;
                if is_known {
                    self.concepts.push(name);
                } else {
                    let why = format!("no memory has the concept {name:?}");
                    self.demote_to_words(why, &name);
                }
            }
            QueryFilter::File(path) => {
                if reads.has_file_refs(&path)? {
                    self.files.push(path);
                } else {
                    let why = format!("no memory is about the file {path:?}");
                    self.demote_to_words(why, &path);
                }
            }
            QueryFilter::Project(name) => match find_project(reads, &name)? {
                ProjectLookup::One(id) => self.project_scope = ProjectScope::ProjectOnly(id),
                ProjectLookup::Ambiguous(several) => self.notes.push(format!(
                    "several projects are named {name:?}; use project: with an id: {}",
                    format_choices(&several)
                )),
                ProjectLookup::NotFound => {
                    self.demote_to_words(format!("no project is named {name:?}"), &name);
                }
            },
            QueryFilter::Agent(name) => match find_agent(&name) {
                Some(agent) => self.client = Some(agent),
                None => {
                    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
                    let why = format!("no agent is named {name:?}; known are {}", names.join(", "));
                    self.demote_to_words(why, &name);
                }
            },
            QueryFilter::Who(name) => match name.as_str() {
                "me" => self.who = Some(RowOwner::Own),
                _ => match reads.member_by_handle(&name)? {
                    Some(member) => self.who = Some(RowOwner::Member(member.id)),
                    None => self.demote_to_words(format!("no member is called {name:?}"), &name),
                },
            },
            QueryFilter::Before(text) => match self.parse_time(&text) {
                Some(at) => self.until = Some(self.until.map_or(at, |until| until.min(at))),
                None => self.demote_to_words(format!("before:{text} is not a date"), &text),
            },
            QueryFilter::After(text) => match self.parse_time(&text) {
                Some(at) => self.since = Some(self.since.map_or(at, |since| since.max(at))),
                None => self.demote_to_words(format!("after:{text} is not a date"), &text),
            },
        }
        Ok(())
    }

    /// Parses a date or a relative time.
    fn parse_time(&self, text: &str) -> Option<claude_mem_core::clock::Millis> {
        date_arg::parse_time(text, self.request.now, &self.request.zone)
    }

    /// Restricts to the known types in a comma-separated list. An unknown type is noted; if no
    /// known type remains, it is searched for as a word.
    fn apply_type_filter(&mut self, reads: &StoreReader<'_>, names: &str) -> Result<(), StoreError> {
        let lower = names.to_lowercase();
        let names = lower.split(',').take(QUERY_FILTERS_MAX);
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
            let why = format!("no memory has the type {name:?}; known types: {used}");
            if known.is_empty() {
                self.demote_to_words(why, name);
            } else {
                self.notes.push(why);
            }
        }
        self.types.extend(known);
        Ok(())
    }

    /// Records a note and treats the filter's value as query words.
    fn demote_to_words(&mut self, why: String, text: &str) {
        self.notes.push(why);
        let words = SearchQuery::literal(&text.replace(':', " "));
        self.query.words.extend(words.words);
        self.query.words.truncate(QUERY_WORDS_MAX);
        if !self.query.semantic_text.is_empty() {
            self.query.semantic_text.push(' ');
        }
        self.query.semantic_text.push_str(&words.semantic_text);
    }

    /// The scope to report with the results.
    pub(super) fn response_scope(
        &self,
        from: AnswerScope,
        fit: MatchQuality,
        vectors: bool,
    ) -> ResponseScope {
        ResponseScope {
            from,
            project: self.project.clone(),
            quality: fit,
            vectors,
            notes: self.notes.clone(),
        }
    }

    /// The index scope for these projects. User-level memories are in scope of every project,
    /// including one that is not known yet.
    pub(super) fn word_scope(&self, whose: ProjectScope) -> RowFilter {
        let (project, user_level) = match whose {
            ProjectScope::All => (None, false),
            ProjectScope::ProjectFirst(id) | ProjectScope::ProjectOnly(id) => (Some(id), true),
            ProjectScope::UnknownProject => (None, true),
        };
        let mut kinds = self.request.kinds.clone();
        if !self.types.is_empty() || !self.concepts.is_empty() {
            kinds = vec![RowKind::Observation];
        }
        RowFilter {
            project,
            user_level,
            kinds,
            types: self.types.clone(),
            since: self.since,
            until: self.until,
            oldest_first: self.request.order == ResultOrder::OldestFirst,
            who: self.who,
            ..RowFilter::default()
        }
    }

    /// The rows that pass the column filters, or `None` if there are no such filters.
    pub(super) fn allowed_rows(
        &self,
        reads: &StoreReader<'_>,
        whose: ProjectScope,
    ) -> Result<Option<AllowedRows>, StoreError> {
        // The scope of the search checks the kinds.
        let scope = RowFilter { kinds: Vec::new(), ..self.word_scope(whose) };
        let filter = self.filter(&scope);
        let hidden = self.hidden_members(reads)?;
        if filter.is_none() && hidden.is_empty() {
            return Ok(None);
        }
        AllowedRows::resolve(reads, filter, &hidden).map(Some)
    }

    /// Members whose rows are left out: all for `who:me`, otherwise those that are muted and not asked for.
    fn hidden_members(&self, reads: &StoreReader<'_>) -> Result<Vec<MemberRowId>, StoreError> {
        if matches!(self.who, Some(RowOwner::Member(_))) {
            return Ok(Vec::new());
        }
        let is_hidden =
            |member: &MemberRow| self.who == Some(RowOwner::Own) || member.trust == MemberTrust::Muted;
        Ok(reads.members()?.into_iter().filter(is_hidden).map(|member| member.id).collect())
    }

    /// The column filter for types, concepts, files and agents, or `None` if the request has none.
    pub(super) fn filter(&self, scope: &RowFilter) -> Option<RowFilter> {
        let by_columns = !(self.types.is_empty() && self.concepts.is_empty() && self.files.is_empty());
        let is_member = matches!(self.who, Some(RowOwner::Member(_)));
        if !by_columns && self.client.is_none() && !is_member {
            return None;
        }
        Some(RowFilter {
            concepts: self.concepts.clone(),
            files: self.files.clone(),
            client: self.client.map(str::to_owned),
            ..scope.clone()
        })
    }

    /// Whether any observation may be returned: no filter, no required clause, and the kinds allow
    /// it.
    pub(super) fn admits_any_observation(&self) -> bool {
        let kinds = &self.request.kinds;
        self.who.is_none()
            && self.types.is_empty()
            && self.concepts.is_empty()
            && self.files.is_empty()
            && self.client.is_none()
            && self.since.is_none()
            && self.until.is_none()
            && self.query.must.is_none()
            && (kinds.is_empty() || kinds.contains(&RowKind::Observation))
    }

    /// Whether the hit belongs to the excluded session.
    pub(super) fn excludes(&self, hit: &SearchHit) -> bool {
        self.request.exclude_session.is_some() && hit.session == self.request.exclude_session
    }
}

/// The agent of this name. The first word of a name suffices: `claude`, `gemini`.
fn find_agent(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let is_meant = |agent: &&&CodingAgent| {
        agent.name == name || agent.name.split('-').next().is_some_and(|first| first == name)
    };
    AGENTS.iter().find(is_meant).map(|agent| agent.name)
}

/// Whether some row contains this text verbatim, its upper-case AND/OR/NOT included.
fn is_verbatim_in_store(reads: &StoreReader<'_>, text: &str) -> Result<bool, StoreError> {
    let mut places = Vec::new();
    let everything = reads.corpus(&RowFilter::default())?.doc_id_ranges();
    let what = FtsQuery::Term(text.to_owned());
    reads.for_each_match(&what, &everything, VERBATIM_DOCS_MAX, |place| {
        places.push(place);
    })?;
    let runs = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let typed = runs(text);
    let is_operator = |word: &str| matches!(word, "AND" | "OR" | "NOT");
    let same = |(a, b): (&String, &String)| a == b || !is_operator(a);
    for place in places {
        let Some(row) = reads.document_by_id(place)? else {
            continue;
        };
        for field in [&row.title, &row.body] {
            let found = runs(field);
            let mut inside = found.windows(typed.len());
            if inside.any(|run| {
                typed.iter().zip(run).all(same)
                    && typed.iter().zip(run).all(|(a, b)| stem(&fold(a)) == stem(&fold(b)))
            }) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Documents checked for a verbatim match.
const VERBATIM_DOCS_MAX: u32 = 8;
