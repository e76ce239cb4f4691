//! What both legs bring, and what ranking needs to know of each row.

use std::collections::{HashMap, HashSet};

use super::Query;
use super::allowed::Allowed;
use super::coverage::{Reading, Wanted};
use super::holds::{holds, needs_reading};
use super::identifiers::{self, Identifier};
use super::leads::{Terms, leads};
use super::packed::Probe;
use super::rank::{Ranking, RowKey};
use super::vectors::{Similarities, VectorLeg};
use super::when::Period;
use crate::clock::Millis;
use crate::ids::SessionId;
use crate::store::{Document, Expr, Place, Reads, StoreError, WordScope};

/// Rows before and rows after that a small row leans on.
const NEIGHBOURS_EACH_SIDE: u32 = 2;

/// One row that may be an answer.
#[derive(Debug)]
pub struct Candidate {
    pub document: Document,
    /// What of the question stands in it.
    pub reading: Reading,
    /// Nearness by vectors of the very text that stands there now.
    pub near: Option<f64>,
    /// How many of the identifiers and paths that were typed stand in it, 0 to 1.
    pub named: f64,
    /// What was said and done just before and after, where that may be a candidate too; of small
    /// rows alone.
    pub neighbours: Vec<RowKey>,
}

impl Candidate {
    fn speaks_of_it(&self) -> bool {
        !self.reading.coverage.present.is_empty()
    }
}

#[derive(Debug, Default)]
pub struct Candidates {
    pub rows: HashMap<RowKey, Candidate>,
    /// The question's stems, and how telling each is.
    pub terms: Vec<String>,
    pub weights: Vec<f64>,
    /// The times that were named.
    pub when: Vec<Period>,
    /// Why there are no vectors in it, where there should be.
    pub without_vectors: Option<StoreError>,
}

/// Both legs, each on its own file: what words find is read while the question is still being turned into
/// a vector.
pub fn gather(
    reads: &Reads<'_>,
    query: &Query,
    scope: &WordScope,
    allowed: Option<&Allowed>,
    leg: Option<&mut VectorLeg<'_>>,
    ranking: &Ranking,
) -> Result<Candidates, StoreError> {
    let text = query.plain.as_str();
    let leg = leg.filter(|_| !text.trim().is_empty());
    let question = leg.as_ref().map(|leg| leg.ask(text));
    let reach = reads.reach(scope)?;
    let terms = Terms::choose(reads, query, &reach, ranking)?;
    let few = allowed.and_then(|rows| rows.few(2 * ranking.candidates));
    let few = few.filter(|_| query.demand.is_none());
    let leads = match few {
        // Reading them all is less work than looking for words.
        Some(_) => Vec::new(),
        None => leads(reads, query, &terms, scope, &reach, allowed, ranking)?,
    };
    let mut gathering = Gathering {
        reads,
        scope,
        allowed,
        wanted: Wanted::new(terms.into_stems()),
        names: &query.names,
        demand: query.demand.as_ref().filter(|demand| needs_reading(demand)),
        near: Similarities::new(),
        leg: None,
        demanding: query.demand.is_some(),
        rows: HashMap::new(),
    };
    if let Some(few) = few {
        gathering.add_keys(few.iter().copied(), ranking)?;
        gathering.rows.retain(|_, row| row.speaks_of_it());
    }
    gathering.follow(leads, ranking)?;
    let mut without_vectors = None;
    if let (Some(leg), Some(question)) = (leg, question) {
        let probe = leg.probe(question);
        match leg.nearest(&probe, scope, allowed) {
            Ok(near) => gathering.hear(near, leg, probe)?,
            Err(e) => without_vectors = Some(e),
        }
    }
    gathering.complete(ranking)?;
    let (terms, weights) = gathering.wanted.into_stems().into_iter().unzip();
    Ok(Candidates {
        rows: gathering.rows,
        terms,
        weights,
        when: query.when.clone(),
        without_vectors,
    })
}

struct Gathering<'a> {
    reads: &'a Reads<'a>,
    scope: &'a WordScope,
    allowed: Option<&'a Allowed>,
    wanted: Wanted,
    names: &'a [Identifier],
    /// What only the text can tell.
    demand: Option<&'a Expr>,
    near: Similarities,
    leg: Option<(&'a VectorLeg<'a>, Probe)>,
    /// Operators or quotes said what must hold, and only words can tell.
    demanding: bool,
    rows: HashMap<RowKey, Candidate>,
}

impl<'a> Gathering<'a> {
    /// Reads the best by words.
    fn follow(&mut self, leads: Vec<Place>, ranking: &Ranking) -> Result<(), StoreError> {
        let mut documents = Vec::with_capacity(leads.len());
        for place in leads {
            documents.extend(self.reads.document_at(place)?);
        }
        if let Some(demand) = self.demand {
            documents.retain(|document| holds(document, demand));
        }
        self.add(documents, ranking)
    }

    /// Learns what the other leg found, and how near the rows are that are here already.
    fn hear(
        &mut self,
        near: Similarities,
        leg: &'a VectorLeg<'a>,
        probe: Probe,
    ) -> Result<(), StoreError> {
        self.near = near;
        self.leg = Some((leg, probe));
        let here: Vec<RowKey> = self.rows.keys().copied().collect();
        self.measure(&here)
    }

    /// The best by vectors, then what stands beside the best of both.
    fn complete(&mut self, ranking: &Ranking) -> Result<(), StoreError> {
        if !self.demanding {
            let nearest = self.nearest(ranking)?;
            self.add_keys(nearest, ranking)?;
            let mut company = HashSet::new();
            for key in super::rank::leaders(&self.rows, &self.wanted.weights(), ranking) {
                company.extend(self.neighbours(key, &self.rows[&key])?);
            }
            self.add_keys(company, ranking)?;
        }
        self.acquaint(ranking)
    }

    /// The nearest by vectors that may come.
    fn nearest(&self, ranking: &Ranking) -> Result<Vec<RowKey>, StoreError> {
        let near = self.near.iter().map(|(key, near)| (*key, near.score));
        let mut near: Vec<(RowKey, f64)> = near.collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut best = Vec::with_capacity(ranking.nearest);
        for (key, _) in near {
            if best.len() == ranking.nearest {
                break;
            }
            let may_come = match self.allowed {
                Some(allowed) => allowed.has(self.reads, key)?,
                None => true,
            };
            if may_come {
                best.push(key);
            }
        }
        Ok(best)
    }

    fn add_keys(
        &mut self,
        keys: impl IntoIterator<Item = RowKey>,
        ranking: &Ranking,
    ) -> Result<(), StoreError> {
        let mut documents = Vec::new();
        for (kind, row_id) in keys {
            if !self.rows.contains_key(&(kind, row_id)) {
                documents.extend(self.reads.document(kind, row_id)?);
            }
        }
        self.add(documents, ranking)
    }

    fn add(&mut self, documents: Vec<Document>, ranking: &Ranking) -> Result<(), StoreError> {
        let mut added = Vec::with_capacity(documents.len());
        for document in documents {
            if self.is_in_scope(&document)? {
                let key = (document.kind, document.row_id);
                self.rows.insert(key, self.candidate(document, ranking));
                added.push(key);
            }
        }
        self.measure(&added)
    }

    /// How near rows are, by vectors of the very text that stands there now.
    fn measure(&mut self, keys: &[RowKey]) -> Result<(), StoreError> {
        let Some((leg, probe)) = &self.leg else {
            return Ok(());
        };
        let unknown = keys.iter().filter(|key| !self.near.contains_key(key));
        let found = leg.nearness_of(probe, unknown.copied())?;
        self.near.extend(found);
        for key in keys {
            if let (Some(row), Some(near)) = (self.rows.get_mut(key), self.near.get(key)) {
                row.near = (near.text_hash == row.document.text_hash).then_some(near.score);
            }
        }
        Ok(())
    }

    /// Tells small rows who stands beside them. Only candidates lend anything, so a session is
    /// read from its first to its last one, and not at all if it has no two.
    fn acquaint(&mut self, ranking: &Ranking) -> Result<(), StoreError> {
        let mut sessions: HashMap<SessionId, Vec<(Millis, RowKey)>> = HashMap::new();
        for (&key, row) in &self.rows {
            if let Some(session) = row.document.session {
                let at = row.document.created_at;
                sessions.entry(session).or_default().push((at, key));
            }
        }
        for (session, members) in sessions {
            let times = || members.iter().map(|(at, _)| *at);
            let (Some(first), Some(last)) = (times().min(), times().max()) else {
                continue;
            };
            if members.len() < 2 {
                continue;
            }
            let order = self.reads.session_between(session, first, last)?;
            for (at, key) in members {
                let Some(row) = self.rows.get_mut(&key) else {
                    continue;
                };
                // Others stand on their own.
                if row.reading.length < ranking.small_words[1] as usize {
                    row.neighbours = around(&order, at, key);
                }
            }
        }
        Ok(())
    }

    /// Whatever led here, only rows of the scope come out.
    fn is_in_scope(&self, document: &Document) -> Result<bool, StoreError> {
        let WordScope {
            kinds,
            since,
            until,
            ..
        } = self.scope;
        let key = (document.kind, document.row_id);
        let is_inside = self
            .scope
            .takes(document.project, document.is_at_user_level())
            && (kinds.is_empty() || kinds.contains(&document.kind))
            && since.is_none_or(|since| document.created_at >= since)
            && until.is_none_or(|until| document.created_at < until);
        match self.allowed {
            Some(allowed) if is_inside => allowed.has(self.reads, key),
            _ => Ok(is_inside),
        }
    }

    fn neighbours(&self, key: RowKey, row: &Candidate) -> Result<Vec<RowKey>, StoreError> {
        let Some(session) = row.document.session else {
            return Ok(Vec::new());
        };
        let at = row.document.created_at;
        let around = self.reads.neighbours(session, at, NEIGHBOURS_EACH_SIDE)?;
        Ok(around.into_iter().filter(|near| *near != key).collect())
    }

    fn candidate(&self, document: Document, ranking: &Ranking) -> Candidate {
        let Document {
            title,
            body,
            tags,
            split,
            ..
        } = &document;
        let fields = [title, body, tags, split].map(String::as_str);
        Candidate {
            reading: self.wanted.read(fields, ranking.columns),
            near: None,
            named: identifiers::share(self.names, [title, body, tags]),
            neighbours: Vec::new(),
            document,
        }
    }
}

/// The nearest before and after a moment, the row itself left out.
fn around(order: &[(Millis, RowKey)], at: Millis, own: RowKey) -> Vec<RowKey> {
    let each_side = NEIGHBOURS_EACH_SIDE as usize;
    let before = order.partition_point(|(time, _)| *time < at);
    let after = order.partition_point(|(time, _)| *time <= at);
    let earlier = order[..before].iter().rev().take(each_side);
    let later = order[after..].iter().take(each_side);
    let keys = earlier.chain(later).map(|(_, key)| *key);
    keys.filter(|key| *key != own).collect()
}
