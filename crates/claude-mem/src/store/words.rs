//! The full-text index: its query language, made safe by construction, and its answers.

use std::fmt::Write;

use rusqlite::{OptionalExtension, Row, params};

use super::passages::{USER_LEVEL, kind_token, project_token, type_token};
use super::{Reads, RowKind, StoreError};
use crate::clock::Millis;
use crate::ids::{ProjectId, SessionId};
use crate::memory::ObservationType;

/// Up to so many passages, words are counted in all of them;
const COUNTED_PASSAGES_MAX: u64 = 40_000;
/// beyond, in one of so many, the newest,
const SAMPLED_SHARE: u64 = 32;
/// unless that finds fewer than this: a rare word is counted quickly.
const SAMPLED_PASSAGES_MIN: u64 = 128;

/// What to match, as a tree. Words in it are only ever words: rendering quotes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// Several tokens (`session.rs`) match as a phrase.
    Term(String),
    Prefix(String),
    Column(Column, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// The first, and not the second.
    Not(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Title,
    Body,
    Tags,
}

impl Expr {
    /// Whether the beginning of a word is asked for anywhere in it.
    pub fn has_prefix(&self) -> bool {
        match self {
            Self::Term(_) => false,
            Self::Prefix(_) => true,
            Self::Column(_, inner) | Self::Not(inner, _) => inner.has_prefix(),
            Self::And(all) | Self::Or(all) => all.iter().any(Self::has_prefix),
        }
    }

    /// In FTS5's language. Whatever stands in a term is quoted, so an operator in it is
    /// searched for, not obeyed.
    fn render(&self, out: &mut String) {
        match self {
            Self::Term(word) => quote(word, out),
            Self::Prefix(word) => {
                quote(word, out);
                out.push('*');
            }
            Self::Column(column, inner) => {
                out.push_str(match column {
                    Column::Title => "title : ",
                    Column::Body => "body : ",
                    Column::Tags => "tags : ",
                });
                out.push('(');
                inner.render(out);
                out.push(')');
            }
            Self::And(all) => join(all, " AND ", out),
            Self::Or(any) => join(any, " OR ", out),
            Self::Not(keep, drop) => {
                out.push('(');
                keep.render(out);
                out.push_str(" NOT ");
                drop.render(out);
                out.push(')');
            }
        }
    }
}

fn join(parts: &[Expr], with: &str, out: &mut String) {
    out.push('(');
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push_str(with);
        }
        part.render(out);
    }
    out.push(')');
}

fn quote(word: &str, out: &mut String) {
    out.push('"');
    for c in word.chars().filter(|&c| c != '\0') {
        if c == '"' {
            out.push('"');
        }
        out.push(c);
    }
    out.push('"');
}

/// Which rows may answer.
#[derive(Clone, Debug, Default)]
pub struct WordScope {
    /// `None`: every project, and what is kept at user level.
    pub project: Option<ProjectId>,
    /// With a project: also observations that hold in all of them. Without one: those alone.
    pub user_level: bool,
    /// Empty: all kinds.
    pub kinds: Vec<RowKind>,
    /// Empty: all types. Otherwise only observations of these.
    pub types: Vec<ObservationType>,
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
}

impl WordScope {
    /// Whether a row of this project, or of this level, is within.
    pub fn takes(&self, project: Option<ProjectId>, at_user_level: bool) -> bool {
        let is_own = self.project.is_some() && self.project == project;
        let is_everybodys = self.user_level && at_user_level;
        let takes_all = self.project.is_none() && !self.user_level;
        is_own || is_everybodys || takes_all
    }

    /// The same as scopes of one owner each, every one of them with an index to be read by.
    pub(super) fn apart(&self) -> Vec<Self> {
        if self.project.is_none() || !self.user_level {
            return vec![self.clone()];
        }
        let (mut own, mut everybodys) = (self.clone(), self.clone());
        own.user_level = false;
        everybodys.project = None;
        vec![own, everybodys]
    }

    fn render(&self, out: &mut String) {
        let mut groups: Vec<Vec<String>> = Vec::new();
        let own = self.project.map(|project| project_token(Some(project)));
        let observation = kind_token(RowKind::Observation);
        let everybodys = self
            .user_level
            .then(|| format!("({USER_LEVEL} AND {observation})"));
        let owners: Vec<String> = own.into_iter().chain(everybodys).collect();
        if !owners.is_empty() {
            groups.push(owners);
        }
        if !self.kinds.is_empty() && self.kinds.len() < RowKind::ALL.len() {
            groups.push(self.kinds.iter().map(|&kind| kind_token(kind)).collect());
        }
        if !self.types.is_empty() {
            groups.push(
                self.types
                    .iter()
                    .map(|ty| type_token(ty.as_str()))
                    .collect(),
            );
        }
        for group in groups {
            // Our own tokens: letters and digits alone.
            let _ = write!(out, " AND scope : ({})", group.join(" OR "));
        }
    }
}

/// One passage that matched, best first. Higher is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WordHit {
    pub kind: RowKind,
    pub row_id: i64,
    /// Of a passage of a long row, not of the whole.
    pub is_part: bool,
    pub score: f64,
}

/// The text of one row as the index has it, with what ranking needs beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub kind: RowKind,
    pub row_id: i64,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    pub created_at: Millis,
    /// Which text this is; a vector of another text has another.
    pub text_hash: i64,
    pub title: String,
    pub body: String,
    pub tags: String,
    pub split: String,
    scope: String,
}

impl Document {
    /// Holds in every project, wherever it was said.
    pub fn is_at_user_level(&self) -> bool {
        let mut tokens = self.scope.split(' ');
        self.kind == RowKind::Observation && tokens.any(|token| token == USER_LEVEL)
    }

    pub fn is_of_type(&self, types: &[ObservationType]) -> bool {
        let mut tokens = self.scope.split(' ');
        tokens.any(|token| types.iter().any(|ty| type_token(ty.as_str()) == token))
    }
}

const DOCUMENT: &str =
    "SELECT kind, row_id, project_id, session_id, created_at_epoch, title, body, tags, split,
    text_hash, scope FROM passages";

fn document(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        kind: row.get(0)?,
        row_id: row.get(1)?,
        project: row.get(2)?,
        session: row.get(3)?,
        created_at: row.get(4)?,
        title: row.get(5)?,
        body: row.get(6)?,
        tags: row.get(7)?,
        split: row.get(8)?,
        text_hash: row.get(9)?,
        scope: row.get(10)?,
    })
}

/// When a row was made, and which.
pub type Moment = (Millis, (RowKind, i64));

impl Reads<'_> {
    /// The best `limit` rows and passages for `what` within `scope`, of those `after` a passage.
    pub fn match_words(
        &self,
        what: &Expr,
        scope: &WordScope,
        weights: [f64; 4],
        after: i64,
        limit: usize,
    ) -> Result<Vec<WordHit>, StoreError> {
        let mut query = String::from("{title body tags split} : (");
        what.render(&mut query);
        query.push(')');
        scope.render(&mut query);
        let [title, body, tags, split] = weights;
        // Times are not in the index: with them, every match has to be looked up.
        let timed = scope.since.is_some() || scope.until.is_some();
        let sql = if timed {
            "SELECT p.kind, p.row_id, p.part > 0, -bm25(passages_fts, ?2, ?3, ?4, ?5, 0.0) AS score
             FROM passages_fts JOIN passages AS p ON p.id = passages_fts.rowid
             WHERE passages_fts MATCH ?1 AND passages_fts.rowid > ?9 AND p.created_at_epoch >= ?7 AND p.created_at_epoch < ?8
             ORDER BY score DESC LIMIT ?6"
        } else {
            "SELECT p.kind, p.row_id, p.part > 0, m.score FROM
               (SELECT rowid AS id, -bm25(passages_fts, ?2, ?3, ?4, ?5, 0.0) AS score FROM passages_fts
                WHERE passages_fts MATCH ?1 AND rowid > ?9 AND ?7 IS NOT NULL AND ?8 IS NOT NULL ORDER BY score DESC LIMIT ?6) AS m
             JOIN passages AS p ON p.id = m.id ORDER BY m.score DESC"
        };
        let since = scope.since.unwrap_or(Millis(i64::MIN));
        let until = scope.until.unwrap_or(Millis(i64::MAX));
        let mut rows = self.0.prepare_cached(sql)?;
        let rows = rows.query_map(
            params![query, title, body, tags, split, limit, since, until, after],
            |row| {
                Ok(WordHit {
                    kind: row.get(0)?,
                    row_id: row.get(1)?,
                    is_part: row.get(2)?,
                    score: row.get(3)?,
                })
            },
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn document(&self, kind: RowKind, row_id: i64) -> Result<Option<Document>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!(
                "{DOCUMENT} WHERE kind = ?1 AND row_id = ?2 AND part = 0"
            ))?
            .query_row(params![kind, row_id], document)
            .optional()?)
    }

    /// The rows of a session just before and after a moment, nearest first, the row itself left
    /// out by the caller.
    pub fn neighbours(
        &self,
        session: SessionId,
        at: Millis,
        each_side: u32,
    ) -> Result<Vec<(RowKind, i64)>, StoreError> {
        let mut found = Vec::new();
        for sql in [
            "SELECT kind, row_id FROM passages WHERE part = 0 AND session_id = ?1 AND created_at_epoch < ?2
             ORDER BY created_at_epoch DESC LIMIT ?3",
            "SELECT kind, row_id FROM passages WHERE part = 0 AND session_id = ?1 AND created_at_epoch > ?2
             ORDER BY created_at_epoch ASC LIMIT ?3",
        ] {
            let mut rows = self.0.prepare_cached(sql)?;
            for row in rows.query_map(params![session, at, each_side], |row| Ok((row.get(0)?, row.get(1)?)))? {
                found.push(row?);
            }
        }
        Ok(found)
    }

    /// The rows of a session between two moments, both included, in the order of time.
    pub fn session_between(
        &self,
        session: SessionId,
        from: Millis,
        to: Millis,
    ) -> Result<Vec<Moment>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT created_at_epoch, kind, row_id FROM passages
             WHERE part = 0 AND session_id = ?1 AND created_at_epoch BETWEEN ?2 AND ?3
             ORDER BY created_at_epoch, kind, row_id",
        )?;
        let rows = rows.query_map(params![session, from, to], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// In how many passages each word stands, given with its stem, and how many passages there
    /// are. The index counts by going through all of them, so in a large one the count of a common
    /// word is taken from a part of it.
    pub fn document_counts(
        &self,
        words: &[(String, String)],
    ) -> Result<(Vec<u64>, u64), StoreError> {
        let all: u64 = self
            .0
            .prepare_cached("SELECT coalesce(max(id), 0) FROM passages")?
            .query_row([], |row| row.get(0))?;
        let mut sampled = self.0.prepare_cached(
            "SELECT count(*) FROM passages_fts WHERE passages_fts MATCH ?1 AND rowid > ?2",
        )?;
        let mut exact = self
            .0
            .prepare_cached("SELECT doc FROM passages_vocab WHERE term = ?1")?;
        let mut counts = Vec::with_capacity(words.len());
        for (word, stem) in words {
            if all > COUNTED_PASSAGES_MAX {
                let mut what = String::from("{title body tags split} : ");
                quote(word, &mut what);
                let after = all - all / SAMPLED_SHARE;
                let found: u64 = sampled.query_row(params![what, after], |row| row.get(0))?;
                if found >= SAMPLED_PASSAGES_MIN {
                    counts.push(found * SAMPLED_SHARE);
                    continue;
                }
            }
            let found = exact.query_row([stem], |row| row.get(0)).optional()?;
            counts.push(found.unwrap_or(0));
        }
        Ok((counts, all))
    }
}
