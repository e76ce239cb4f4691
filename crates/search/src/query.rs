//! The query parser: typed text becomes a [`SearchQuery`].
//!
//! Plain words are the default. The grammar adds `"a phrase"`, `AND`, `OR`, `NOT`, `title:x`,
//! `foo*` and the filters `type:`, `concept:`, `file:`, `project:`, `agent:`, `who:`, `before:`, `after:`.
//! Anything
//! outside the grammar is taken as words, so no input is an error.

use super::identifiers::QueryIdentifier;
use super::prefix::prefix_expansions;
use crate::analyzer::{is_stop_word, words};
pub use crate::lexer::QueryFilter;
use crate::lexer::{QueryToken, parse_filter, parse_token, pasted_range, split_lexemes};
use crate::time_expr::TimePeriod;
use claude_mem_core::limits::{
    QUERY_CHARS_MAX, QUERY_DEMANDING_WORDS_MAX, QUERY_FILTERS_MAX, QUERY_WORDS_MAX,
};
use claude_mem_store::{FtsQuery, split_unspaced};

/// Maximum identifiers and paths of one query that are looked up as such.
const QUERY_NAMES_MAX: usize = 8;

/// Plain words beside a phrase up to which the phrase is required. With more, the query is a
/// sentence that quotes something.
const QUERY_QUOTING_WORDS_MAX: usize = 2;

/// A parsed query: ranking words, boolean clauses, filters and identifiers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchQuery {
    /// Ranking words in typed order, without duplicates; stop words only if there is nothing else.
    pub words: Vec<String>,
    /// The clause every result must match, from operators, quotes, columns and prefixes.
    pub must: Option<FtsQuery>,
    /// The clause no result may match, also when the search is broadened.
    pub must_not: Option<FtsQuery>,
    /// The text to embed: the typed text without filters and excluded terms.
    pub semantic_text: String,
    /// Filters in typed order, not yet resolved.
    pub filters: Vec<QueryFilter>,
    /// The text with its operators, if it may be a verbatim quote: `x IS NOT NULL`.
    pub verbatim: Option<String>,
    /// Code identifiers and paths in the text.
    pub identifiers: Vec<QueryIdentifier>,
    /// Periods named in the text; filled in by the resolver, which knows the date.
    pub periods: Vec<TimePeriod>,
}

impl SearchQuery {
    /// Parses typed text.
    pub fn parse(typed: &str) -> Self {
        Self::build(typed, true)
    }

    /// Parses text whose operators are to be taken as words.
    pub fn literal(typed: &str) -> Self {
        Self::build(typed, false)
    }

    fn build(typed: &str, may_demand: bool) -> Self {
        let typed: String = typed.chars().take(QUERY_CHARS_MAX).collect();
        let mut query = Self::default();
        let mut tokens = Vec::new();
        let pieces = split_lexemes(&typed);
        let inside = pasted_range(&pieces);
        for (at, piece) in pieces.into_iter().enumerate() {
            match parse_filter(&piece).filter(|_| !inside.contains(&at)) {
                Some(filter) if query.filters.len() < QUERY_FILTERS_MAX => {
                    query.filters.push(filter);
                }
                _ => tokens.extend(parse_token(piece)),
            }
        }
        let may_demand = may_demand && tokens.len() <= QUERY_DEMANDING_WORDS_MAX;
        let tokens = resolve_operators(tokens, may_demand);
        let wanted = positive_tokens(&tokens);
        query.semantic_text = join_texts(&wanted);
        query.identifiers = collect_identifiers(&wanted);
        query.words = ranking_words(&wanted, &query.identifiers);
        if may_demand {
            query.must = must_expr(&tokens);
            query.must_not = must_not_expr(&tokens);
            query.verbatim = verbatim_text(&tokens);
        }
        query
    }

    /// A query from a prompt, not parsed: `words` are ranked, the whole prompt is embedded.
    pub fn from_prompt(said: &str, words: Vec<String>) -> Self {
        Self { words, semantic_text: said.chars().take(QUERY_CHARS_MAX).collect(), ..Self::default() }
    }

    /// The parts of a compound identifier, e.g. `get`, `user` for `getuser`.
    pub fn compound_parts(&self, word: &str) -> Option<&[String]> {
        let mut joined = self.identifiers.iter().flat_map(|name| &name.compounds);
        let (_, parts) = joined.find(|(whole, _)| whole == word)?;
        Some(parts)
    }

    /// Whether there is nothing to match or rank by.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.must.is_none()
    }
}

/// Turns operators into words where they are not meant as operators: all of them in pasted text,
/// and a leading NOT followed by more than one word (`NOT NULL constraint failed`).
fn resolve_operators(mut tokens: Vec<QueryToken>, may_demand: bool) -> Vec<QueryToken> {
    let is_operator =
        |token: &QueryToken| matches!(token, QueryToken::And | QueryToken::Or | QueryToken::Not);
    let behind_first = tokens.iter().skip(1).take_while(|token| !is_operator(token));
    let until = match tokens.first() {
        _ if !may_demand => tokens.len(),
        Some(QueryToken::Not) if behind_first.count() > 1 => 1,
        _ => 0,
    };
    for token in &mut tokens[..until] {
        let word = match token {
            QueryToken::And => "AND",
            QueryToken::Or => "OR",
            QueryToken::Not => "NOT",
            _ => continue,
        };
        *token = QueryToken::Word(word.to_owned());
    }
    tokens
}

/// The tokens that should match: no operators, and no token after NOT.
fn positive_tokens(tokens: &[QueryToken]) -> Vec<&QueryToken> {
    let mut ruled_out = false;
    let mut wanted = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            QueryToken::Not => ruled_out = true,
            QueryToken::And | QueryToken::Or => {}
            _ if std::mem::take(&mut ruled_out) => {}
            token => wanted.push(token),
        }
    }
    wanted
}

fn join_texts(wanted: &[&QueryToken]) -> String {
    let texts: Vec<&str> = wanted.iter().filter_map(|token| token.text()).collect();
    texts.join(" ")
}

/// The text of a query of words and operators only, which may be a verbatim quote.
fn verbatim_text(tokens: &[QueryToken]) -> Option<String> {
    let mut text = String::new();
    let mut operators = 0;
    for token in tokens {
        let word = match token {
            QueryToken::Word(word) => word,
            QueryToken::And => "AND",
            QueryToken::Or => "OR",
            QueryToken::Not => "NOT",
            _ => return None,
        };
        operators += usize::from(!matches!(token, QueryToken::Word(_)));
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    (operators > 0 && tokens.len() >= QUOTATION_WORDS_MIN).then_some(text)
}

/// Minimum tokens of a verbatim quote that contains operators.
const QUOTATION_WORDS_MIN: usize = 3;

/// The words to rank by: all whole words, without stop words if others remain.
fn ranking_words(wanted: &[&QueryToken], names: &[QueryIdentifier]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for token in wanted {
        // A prefix is not a word, so BM25 cannot score it.
        if let Some(text) = token.text().filter(|_| !token.is_prefix()) {
            let words = words(text).flat_map(split_unspaced);
            all.extend(words.filter(|word| seen.insert(word.clone())));
        }
        if all.len() >= QUERY_WORDS_MAX {
            break;
        }
    }
    let telling: Vec<String> = all
        .iter()
        // Stop words count inside an identifier: `get_user_by_id` is not about users and ids.
        .filter(|word| !is_stop_word(word) || names.iter().any(|name| name.has_part(word)))
        .cloned()
        .collect();
    let mut kept = if telling.is_empty() { all } else { telling };
    kept.truncate(QUERY_WORDS_MAX);
    kept
}

/// The distinct identifiers of the tokens, up to `QUERY_NAMES_MAX`.
fn collect_identifiers(wanted: &[&QueryToken]) -> Vec<QueryIdentifier> {
    let texts = wanted.iter().filter(|token| !token.is_prefix());
    let names = texts.filter_map(|token| token.text()).flat_map(QueryIdentifier::find_all);
    let mut found: Vec<QueryIdentifier> = Vec::new();
    for name in names {
        if found.len() < QUERY_NAMES_MAX && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The clause that operators, quotes, columns and prefixes require. Adjacent plain words between
/// operators are alternatives. `None` if there are only plain words.
fn must_expr(tokens: &[QueryToken]) -> Option<FtsQuery> {
    let operators =
        tokens.iter().any(|token| matches!(token, QueryToken::And | QueryToken::Or | QueryToken::Not));
    let special = tokens.iter().any(|token| !matches!(token, QueryToken::Word(_)));
    if !special {
        return None;
    }
    if !operators {
        // `"exact phrase" more words`: the phrase is required, the words only rank. Inside a
        // sentence of many words, a phrase is a quotation and only ranks, too.
        let named = |t: &QueryToken| matches!(t, QueryToken::Column(..) | QueryToken::ColumnPrefix(..));
        let columns = tokens.iter().any(named);
        let plain = tokens.iter().filter(|t| matches!(t, QueryToken::Word(_)));
        if !columns && plain.count() > QUERY_QUOTING_WORDS_MAX {
            return None;
        }
        let demands: Vec<FtsQuery> =
            tokens.iter().filter(|t| !matches!(t, QueryToken::Word(_))).filter_map(token_expr).collect();
        return all_of(demands);
    }
    // Precedence: OR binds loosest, then AND; NOT excludes within its OR branch.
    let mut alternatives = Vec::new();
    for side in tokens.split(|token| *token == QueryToken::Or) {
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        for group in side.split(|token| *token == QueryToken::And) {
            let mut ruled_out = false;
            let mut any = Vec::new();
            for token in group {
                if *token == QueryToken::Not {
                    ruled_out = true;
                } else if let Some(expr) = token_expr(token) {
                    if std::mem::take(&mut ruled_out) {
                        unwanted.push(expr);
                    } else {
                        any.push(expr);
                    }
                }
            }
            wanted.extend(any_of(any));
        }
        if let Some(wanted) = all_of(wanted) {
            alternatives.push(match any_of(unwanted) {
                Some(unwanted) => FtsQuery::Not(Box::new(wanted), Box::new(unwanted)),
                None => wanted,
            });
        }
    }
    any_of(alternatives)
}

/// The clause of all tokens that follow a NOT.
fn must_not_expr(tokens: &[QueryToken]) -> Option<FtsQuery> {
    let pairs = tokens.windows(2);
    let behind = pairs.filter(|pair| pair[0] == QueryToken::Not);
    any_of(behind.filter_map(|pair| token_expr(&pair[1])).collect())
}

fn token_expr(token: &QueryToken) -> Option<FtsQuery> {
    Some(match token {
        QueryToken::Word(text) | QueryToken::Phrase(text) => FtsQuery::Term(text.clone()),
        QueryToken::Prefix(text) => prefix_expr(text),
        QueryToken::Column(column, text) => FtsQuery::Column(*column, Box::new(FtsQuery::Term(text.clone()))),
        QueryToken::ColumnPrefix(column, text) => FtsQuery::Column(*column, Box::new(prefix_expr(text))),
        QueryToken::And | QueryToken::Or | QueryToken::Not => return None,
    })
}

fn prefix_expr(text: &str) -> FtsQuery {
    FtsQuery::Prefix(text.to_owned(), prefix_expansions(text))
}

fn any_of(mut any: Vec<FtsQuery>) -> Option<FtsQuery> {
    if any.len() > 1 { Some(FtsQuery::Or(any)) } else { any.pop() }
}

fn all_of(mut all: Vec<FtsQuery>) -> Option<FtsQuery> {
    if all.len() > 1 { Some(FtsQuery::And(all)) } else { all.pop() }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
