//! [`FtsQuery`]: a query of the full-text index that cannot be injected.

use super::split_unspaced;

/// A full-text query as a tree. Rendering quotes every term, so user input is never syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FtsQuery {
    /// One term. Several tokens (`session.rs`) match as a phrase.
    Term(String),
    /// Words with this prefix. The index holds stems, so the second field lists words whose stem is
    /// shorter than the prefix. These may match too much: the caller verifies against the stored
    /// text.
    Prefix(String, Vec<String>),
    Column(FtsColumn, Box<FtsQuery>),
    And(Vec<FtsQuery>),
    Or(Vec<FtsQuery>),
    /// Matches the first and not the second.
    Not(Box<FtsQuery>, Box<FtsQuery>),
}

/// A column of the full-text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FtsColumn {
    Title,
    Body,
    Tags,
}

impl FtsQuery {
    /// The query in FTS5's syntax.
    pub(super) fn to_fts5(&self) -> String {
        let mut query = String::new();
        self.render(&mut query);
        query
    }

    /// Renders in FTS5's syntax. Terms are quoted, so an operator in one is searched for and not
    /// executed.
    fn render(&self, out: &mut String) {
        match self {
            Self::Term(word) => push_term(word, out),
            Self::Prefix(word, shorter) => {
                out.push('(');
                push_quoted(word, out);
                out.push('*');
                for word in shorter {
                    out.push_str(" OR ");
                    push_quoted(word, out);
                }
                out.push(')');
            }
            Self::Column(column, inner) => {
                out.push_str(match column {
                    FtsColumn::Title => "title : ",
                    FtsColumn::Body => "body : ",
                    FtsColumn::Tags => "tags : ",
                });
                out.push('(');
                inner.render(out);
                out.push(')');
            }
            Self::And(all) => push_joined(all, " AND ", out),
            Self::Or(any) => push_joined(any, " OR ", out),
            Self::Not(keep, drop) => {
                out.push('(');
                keep.render(out);
                out.push_str(" NOT ");
                drop.without_stem_variants().render(out);
                out.push(')');
            }
        }
    }

    /// Drops the additional words of prefixes: a `NOT` must not exclude by approximation.
    fn without_stem_variants(&self) -> Self {
        let all = |each: &[Self]| each.iter().map(Self::without_stem_variants).collect();
        match self {
            Self::Term(word) => Self::Term(word.clone()),
            Self::Prefix(word, _) => Self::Prefix(word.clone(), Vec::new()),
            Self::Column(column, inner) => Self::Column(*column, Box::new(inner.without_stem_variants())),
            Self::And(each) => Self::And(all(each)),
            Self::Or(each) => Self::Or(all(each)),
            Self::Not(keep, drop) => Self::Not(Box::new(keep.without_stem_variants()), drop.clone()),
        }
    }
}

/// Unspaced scripts: the index holds a run as one token and, in the `split` column, all its
/// bigrams. So the term matches as a whole or by its bigrams.
fn push_term(text: &str, out: &mut String) {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let cut = words.iter().flat_map(|word| split_unspaced((*word).to_owned()));
    let cut: Vec<String> = cut.collect();
    if cut.len() == words.len() {
        return push_quoted(text, out);
    }
    out.push('(');
    push_quoted(text, out);
    out.push_str(" OR (");
    for (at, pair) in cut.iter().enumerate() {
        if at > 0 {
            out.push_str(" AND ");
        }
        push_quoted(pair, out);
    }
    out.push_str("))");
}

fn push_joined(parts: &[FtsQuery], with: &str, out: &mut String) {
    out.push('(');
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push_str(with);
        }
        part.render(out);
    }
    out.push(')');
}

fn push_quoted(word: &str, out: &mut String) {
    out.push('"');
    for c in word.chars().filter(|&c| c != '\0') {
        if c == '"' {
            out.push('"');
        }
        out.push(c);
    }
    out.push('"');
}
