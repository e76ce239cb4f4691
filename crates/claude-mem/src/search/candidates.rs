//! What both legs bring, and what ranking needs to know of each row.

use std::collections::{HashMap, HashSet};

use super::Query;
use super::allowed::Allowed;
use super::coverage::{Coverage, Wanted};
use super::packed::Probe;
use super::rank::{Ranking, RowKey};
use super::stem::stem;
use super::vectors::{Similarities, VectorLeg};
use crate::clock::Millis;
use crate::ids::SessionId;
use crate::limits::{QUERY_LONE_POSTINGS_MAX, QUERY_POSTINGS_MAX};
use crate::store::{Document, Expr, Reads, StoreError, WordScope};

/// Rows before and rows after that a small row leans on.
const NEIGHBOURS_EACH_SIDE: u32 = 2;

/// One row that may be an answer.
#[derive(Debug)]
pub struct Candidate {
    pub document: Document,
    /// BM25 of the whole row, and of its best passage; a row of one passage is its own best.
    pub row_words: f64,
    pub part_words: f64,
    /// Nearness by vectors of the very text that stands there now.
    pub near: Option<f64>,
    pub coverage: Coverage,
    /// Words in its title and body.
    pub length: usize,
    /// What was said and done just before and after, where that may be a candidate too; of small
    /// rows alone.
    pub neighbours: Vec<RowKey>,
}

#[derive(Debug, Default)]
pub struct Candidates {
    pub rows: HashMap<RowKey, Candidate>,
    pub terms: Vec<String>,
    /// Why there are no vectors in it, where there should be.
    pub without_vectors: Option<StoreError>,
}

/// Both legs at once, each on its own file.
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
    std::thread::scope(|threads| {
        let vectors = leg.map(|leg| {
            threads.spawn(move || {
                let probe = leg.probe(text);
                let near = leg.nearest(&probe, scope, allowed);
                (leg, probe, near)
            })
        });
        let terms = Terms::choose(reads, query, ranking)?;
        let words = word_scores(reads, query, &terms, scope, allowed, ranking)?;
        let (mut near, mut without_vectors, mut later) = (Similarities::new(), None, None);
        if let Some(Ok((leg, probe, found))) = vectors.map(std::thread::ScopedJoinHandle::join) {
            match found {
                Ok(found) => {
                    near = found;
                    later = Some((&*leg, probe));
                }
                Err(e) => without_vectors = Some(e),
            }
        }
        let mut gathering = Gathering {
            reads,
            scope,
            allowed,
            wanted: Wanted::new(terms.stems),
            words,
            near,
            leg: later,
            demanding: query.demand.is_some(),
            rows: HashMap::new(),
        };
        gathering.take_best(ranking)?;
        let wanted = gathering.wanted.stems().iter();
        Ok(Candidates {
            terms: wanted.map(|(stem, _)| stem.clone()).collect(),
            rows: gathering.rows,
            without_vectors,
        })
    })
}

struct Gathering<'a> {
    reads: &'a Reads<'a>,
    scope: &'a WordScope,
    allowed: Option<&'a Allowed>,
    wanted: Wanted,
    words: HashMap<RowKey, (f64, f64)>,
    near: Similarities,
    leg: Option<(&'a VectorLeg<'a>, Probe)>,
    /// Operators or quotes said what must hold, and only words can tell.
    demanding: bool,
    rows: HashMap<RowKey, Candidate>,
}

impl Gathering<'_> {
    /// The best of each leg, then what stands beside the best of them.
    fn take_best(&mut self, ranking: &Ranking) -> Result<(), StoreError> {
        if self.demanding {
            self.add(self.words.keys().copied().collect())?;
            return self.acquaint(ranking);
        }
        let mut by_nearness: Vec<(RowKey, f64)> = self
            .near
            .iter()
            .map(|(key, near)| (*key, near.score))
            .collect();
        by_nearness.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let by_nearness = first_allowed(self.reads, self.allowed, by_nearness, ranking)?;
        let keys: HashSet<RowKey> = self
            .words
            .keys()
            .copied()
            .chain(by_nearness.into_iter().map(|(key, _)| key))
            .collect();
        self.add(keys)?;
        let mut company = HashSet::new();
        for key in super::rank::leaders(&self.rows, ranking) {
            company.extend(self.neighbours(key, &self.rows[&key])?);
        }
        company.retain(|key| !self.rows.contains_key(key));
        self.add(company)?;
        self.acquaint(ranking)
    }

    fn add(&mut self, keys: HashSet<RowKey>) -> Result<(), StoreError> {
        if let Some((leg, probe)) = &self.leg {
            let unknown = keys
                .iter()
                .copied()
                .filter(|key| !self.near.contains_key(key));
            let found = leg.nearness_of(probe, unknown)?;
            self.near.extend(found);
        }
        for key in keys {
            if let Some(document) = self.reads.document(key.0, key.1)?
                && self.is_in_scope(&document)?
            {
                self.rows.insert(key, self.candidate(key, document));
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
                if row.length < ranking.small_words[1] as usize {
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
            types,
            since,
            until,
            ..
        } = self.scope;
        let key = (document.kind, document.row_id);
        let is_inside = self
            .scope
            .takes(document.project, document.is_at_user_level())
            && (kinds.is_empty() || kinds.contains(&document.kind))
            && (types.is_empty() || document.is_of_type(types))
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

    fn candidate(&self, key: RowKey, document: Document) -> Candidate {
        let (row_words, part_words) = self.words.get(&key).copied().unwrap_or_default();
        let near = self.near.get(&key);
        let near = near.filter(|near| near.text_hash == document.text_hash);
        let Document {
            title,
            body,
            tags,
            split,
            ..
        } = &document;
        let coverage =
            self.wanted
                .covered_by([title.as_str(), body.as_str(), tags.as_str(), split.as_str()]);
        let length = title.split_whitespace().count() + body.split_whitespace().count();
        Candidate {
            row_words,
            part_words,
            near: near.map(|near| near.score),
            coverage,
            length,
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

/// The query's terms with how telling each is.
struct Terms {
    /// What the index is asked for.
    words: Vec<String>,
    /// Only passages after this one: a word that stands everywhere is asked for among the newest.
    after: i64,
    stems: Vec<(String, f64)>,
}

impl Terms {
    fn choose(reads: &Reads<'_>, query: &Query, ranking: &Ranking) -> Result<Self, StoreError> {
        let words: Vec<(String, String)> = query
            .words
            .iter()
            .map(|word| (word.clone(), stem(word)))
            .collect();
        let (counts, all) = reads.document_counts(&words)?;
        let mut chosen: Vec<((String, String), u64)> = words.into_iter().zip(counts).collect();
        if chosen.len() > ranking.terms_max {
            chosen.sort_by_key(|(_, count)| *count);
            chosen.truncate(ranking.terms_max);
        }
        let (words, postings) = asked_for(&chosen);
        let most = match chosen.len() {
            1 => QUERY_LONE_POSTINGS_MAX,
            _ => QUERY_POSTINGS_MAX,
        };
        let after = if postings > most {
            all - (all as f64 * most as f64 / postings as f64) as u64
        } else {
            0
        };
        let idf = |count: u64| {
            ((all as f64 + ranking.imagined) / (count as f64 + 0.5))
                .ln()
                .max(0.05)
        };
        let mut seen = HashSet::new();
        let stems = chosen
            .into_iter()
            .filter(|((_, stem), _)| seen.insert(stem.clone()))
            .map(|((_, stem), count)| (stem, idf(count)))
            .collect();
        Ok(Self {
            words,
            after: after as i64,
            stems,
        })
    }

    fn expr(&self, query: &Query) -> Option<Expr> {
        let any = (!self.words.is_empty())
            .then(|| Expr::Or(self.words.iter().cloned().map(Expr::Term).collect()));
        match (&query.demand, any) {
            // The beginning of a word is found without any of the words, which only rank.
            (Some(demand), Some(any)) if demand.has_prefix() => {
                let any = Expr::Or(vec![any, demand.clone()]);
                Some(Expr::And(vec![demand.clone(), any]))
            }
            (Some(demand), Some(any)) => Some(Expr::And(vec![demand.clone(), any])),
            (Some(demand), None) => Some(demand.clone()),
            (None, any) => any,
        }
    }
}

/// The rarest words, as many as the index can be asked for in a moment, and how often they stand
/// there together.
fn asked_for(chosen: &[((String, String), u64)]) -> (Vec<String>, u64) {
    let mut rarest: Vec<_> = chosen.iter().collect();
    rarest.sort_by_key(|(_, count)| *count);
    let mut postings = 0;
    let mut words = Vec::new();
    for ((word, _), count) in rarest {
        if postings + count > QUERY_POSTINGS_MAX && !words.is_empty() {
            break;
        }
        postings += count;
        words.push(word.clone());
    }
    (words, postings)
}

/// As many as ranking looks at.
fn best_rows(
    reads: &Reads<'_>,
    allowed: Option<&Allowed>,
    scores: HashMap<RowKey, (f64, f64)>,
    ranking: &Ranking,
) -> Result<HashMap<RowKey, (f64, f64)>, StoreError> {
    let mut rows: Vec<_> = scores.into_iter().collect();
    let of = |(row, part): (f64, f64)| row + part;
    rows.sort_by(|a, b| of(b.1).total_cmp(&of(a.1)).then(a.0.cmp(&b.0)));
    let best = first_allowed(reads, allowed, rows, ranking)?;
    Ok(best.into_iter().collect())
}

/// The best that may come, as many as ranking looks at; no more are tested than that takes.
fn first_allowed<T>(
    reads: &Reads<'_>,
    allowed: Option<&Allowed>,
    mut rows: Vec<(RowKey, T)>,
    ranking: &Ranking,
) -> Result<Vec<(RowKey, T)>, StoreError> {
    let Some(allowed) = allowed else {
        rows.truncate(ranking.candidates);
        return Ok(rows);
    };
    let mut best = Vec::new();
    for row in rows {
        if best.len() == ranking.candidates {
            break;
        }
        if allowed.has(reads, row.0)? {
            best.push(row);
        }
    }
    Ok(best)
}

/// BM25 of each row and of its best passage.
fn word_scores(
    reads: &Reads<'_>,
    query: &Query,
    terms: &Terms,
    scope: &WordScope,
    allowed: Option<&Allowed>,
    ranking: &Ranking,
) -> Result<HashMap<RowKey, (f64, f64)>, StoreError> {
    let Some(what) = terms.expr(query) else {
        return Ok(HashMap::new());
    };
    // Rows that are not allowed must not crowd out those that are.
    let most = match allowed {
        None => 4,
        Some(allowed) if allowed.is_named() => 20,
        // Too many are allowed to be crowded out.
        Some(_) => 8,
    };
    let most = most * ranking.candidates;
    let mut scores: HashMap<RowKey, (f64, f64)> = HashMap::new();
    // A project, or rows that are named, are few of those in which a word stands.
    let is_narrow = scope.project.is_some() || allowed.is_some_and(Allowed::is_named);
    let after = if is_narrow || query.demand.is_some() {
        0
    } else {
        terms.after
    };
    for hit in reads.match_words(&what, scope, ranking.columns, after, most)? {
        let key = (hit.kind, hit.row_id);
        if allowed.is_some_and(|rows| !rows.may_have(key)) {
            continue;
        }
        let (row, part) = scores.entry(key).or_default();
        if hit.is_part {
            *part = part.max(hit.score);
        } else {
            *row = hit.score;
        }
    }
    match query.demand {
        // What was demanded is all of it an answer; what of it may come is seen when it is read.
        Some(_) => Ok(scores),
        None => best_rows(reads, allowed, scores, ranking),
    }
}
