//! The full-text index: its query language, made safe by construction, and its answers.

use rusqlite::{OptionalExtension, Row, params};

use super::place::{Place, Reach, Span};
use super::{Reads, RowKind, StoreError, split_unspaced};
use crate::clock::Millis;
use crate::ids::{ProjectId, SessionId};
use crate::memory::ObservationType;

/// Of a word that stands in more texts than this, the rest is guessed: an index counts by going
/// through all of them.
const COUNTED_TEXTS_MAX: u32 = 256;

/// What to match, as a tree. Words in it are only ever words: rendering quotes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// Several tokens (`session.rs`) match as a phrase.
    Term(String),
    /// Words that begin so: the index has stems, and the second names words whose stem is shorter.
    /// It may name too many, so whoever reads the text has the last word.
    Prefix(String, Vec<String>),
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
    /// In FTS5's language. Whatever stands in a term is quoted, so an operator in it is
    /// searched for, not obeyed.
    fn render(&self, out: &mut String) {
        match self {
            Self::Term(word) => term(word, out),
            Self::Prefix(word, shorter) => {
                out.push('(');
                quote(word, out);
                out.push('*');
                for word in shorter {
                    out.push_str(" OR ");
                    quote(word, out);
                }
                out.push(')');
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
                drop.narrowed().render(out);
                out.push(')');
            }
        }
    }
}

impl Expr {
    /// Without what it may name too much: nothing is ruled out by a guess.
    fn narrowed(&self) -> Self {
        let all = |each: &[Self]| each.iter().map(Self::narrowed).collect();
        match self {
            Self::Term(word) => Self::Term(word.clone()),
            Self::Prefix(word, _) => Self::Prefix(word.clone(), Vec::new()),
            Self::Column(column, inner) => Self::Column(*column, Box::new(inner.narrowed())),
            Self::And(each) => Self::And(all(each)),
            Self::Or(each) => Self::Or(all(each)),
            Self::Not(keep, drop) => Self::Not(Box::new(keep.narrowed()), drop.clone()),
        }
    }
}

/// What is written without spaces is one word to the index, which has each two characters of it
/// besides.
fn term(text: &str, out: &mut String) {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let cut = words
        .iter()
        .flat_map(|word| split_unspaced((*word).to_owned()));
    let cut: Vec<String> = cut.collect();
    if cut.len() == words.len() {
        return quote(text, out);
    }
    out.push('(');
    quote(text, out);
    out.push_str(" OR (");
    for (at, pair) in cut.iter().enumerate() {
        if at > 0 {
            out.push_str(" AND ");
        }
        quote(pair, out);
    }
    out.push_str("))");
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

    /// As far as its place tells.
    pub fn has(&self, place: Place) -> bool {
        let kind = place.kind();
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.project.is_none() && !self.user_level
                || !place.is_at_user_level()
                || kind == RowKind::Observation)
    }
}

/// What tells whether a row may come, without its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    pub kind: RowKind,
    pub row_id: i64,
    pub created_at: Millis,
}

/// The text of one row as the index has it, with what ranking needs beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub place: Place,
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
}

impl Document {
    /// Holds in every project, wherever it was said.
    pub fn is_at_user_level(&self) -> bool {
        self.kind == RowKind::Observation && self.place.is_at_user_level()
    }
}

const DOCUMENT: &str =
    "SELECT kind, row_id, project_id, session_id, created_at_epoch, title, body, tags, split,
    text_hash, id FROM texts";

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
        place: Place(row.get(10)?),
    })
}

/// The texts that a word stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub count: u64,
    /// In the order of the index, unless there are too many.
    pub all: Option<Vec<Place>>,
}

/// When a row was made, and which.
pub type Moment = (Millis, (RowKind, i64));

impl Reads<'_> {
    /// The places of the texts with `what` in these spans, in the order of the index, at most
    /// `limit` of them.
    pub fn places_with(
        &self,
        what: &Expr,
        spans: &[Span],
        limit: u32,
        mut take: impl FnMut(Place),
    ) -> Result<(), StoreError> {
        let query = rendered(what);
        let mut found = self.0.prepare_cached(
            "SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3 LIMIT ?4",
        )?;
        let mut left = limit;
        for Span { first, last } in spans {
            let mut rows = found.query(params![query, first, last, left])?;
            while let Some(row) = rows.next()? {
                take(Place(row.get(0)?));
                left -= 1;
            }
        }
        Ok(())
    }

    /// The newest places of a span with `what`, newest first.
    pub fn newest_places_with(
        &self,
        what: &Expr,
        Span { first, last }: Span,
        limit: u32,
    ) -> Result<Vec<Place>, StoreError> {
        let mut found = self.0.prepare_cached(
            "SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1 AND rowid BETWEEN ?2 AND ?3
             ORDER BY rowid DESC LIMIT ?4",
        )?;
        let places = found.query_map(params![rendered(what), first, last, limit], |row| {
            row.get(0).map(Place)
        })?;
        Ok(places.collect::<Result<_, _>>()?)
    }

    /// Whether the text of a row has `what`.
    pub fn has_in_text(
        &self,
        what: &Expr,
        (kind, row_id): (RowKind, i64),
    ) -> Result<bool, StoreError> {
        let mut found = self.0.prepare_cached(
            "SELECT 1 FROM texts_fts WHERE texts_fts MATCH ?1
             AND rowid = (SELECT id FROM texts WHERE kind = ?2 AND row_id = ?3)",
        )?;
        Ok(found.exists(params![rendered(what), kind, row_id])?)
    }

    pub fn document(&self, kind: RowKind, row_id: i64) -> Result<Option<Document>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{DOCUMENT} WHERE kind = ?1 AND row_id = ?2"))?
            .query_row(params![kind, row_id], document)
            .optional()?)
    }

    pub fn document_at(&self, place: Place) -> Result<Option<Document>, StoreError> {
        Ok(self
            .0
            .prepare_cached(&format!("{DOCUMENT} WHERE id = ?1"))?
            .query_row([place.0], document)
            .optional()?)
    }

    pub fn label_at(&self, place: Place) -> Result<Option<Label>, StoreError> {
        let mut label = self
            .0
            .prepare_cached("SELECT kind, row_id, created_at_epoch FROM texts WHERE id = ?1")?;
        let label = label.query_row([place.0], |row| {
            Ok(Label {
                kind: row.get(0)?,
                row_id: row.get(1)?,
                created_at: row.get(2)?,
            })
        });
        Ok(label.optional()?)
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
            "SELECT kind, row_id FROM texts WHERE session_id = ?1 AND created_at_epoch < ?2
             ORDER BY created_at_epoch DESC LIMIT ?3",
            "SELECT kind, row_id FROM texts WHERE session_id = ?1 AND created_at_epoch > ?2
             ORDER BY created_at_epoch ASC LIMIT ?3",
        ] {
            let mut rows = self.0.prepare_cached(sql)?;
            for row in rows.query_map(params![session, at, each_side], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })? {
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
            "SELECT created_at_epoch, kind, row_id FROM texts
             WHERE session_id = ?1 AND created_at_epoch BETWEEN ?2 AND ?3
             ORDER BY created_at_epoch, kind, row_id",
        )?;
        let rows = rows.query_map(params![session, from, to], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Where a word stands within reach. A common one is only counted, nearly.
    pub fn listed_with(&self, word: &str, reach: &Reach) -> Result<Listed, StoreError> {
        let what = Expr::Term(word.to_owned());
        let mut places = Vec::new();
        self.places_with(&what, &reach.spans(), COUNTED_TEXTS_MAX, |place| {
            places.push(place);
        })?;
        let count = places.len() as u64;
        match places.last() {
            Some(&furthest) if count == u64::from(COUNTED_TEXTS_MAX) => {
                let looked_at = reach.texts_until(furthest).max(1);
                let count = count as f64 * reach.texts() as f64 / looked_at as f64;
                Ok(Listed {
                    count: count as u64,
                    all: None,
                })
            }
            _ => Ok(Listed {
                count,
                all: Some(places),
            }),
        }
    }
}

fn rendered(what: &Expr) -> String {
    let mut query = String::new();
    what.render(&mut query);
    query
}
