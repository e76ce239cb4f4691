//! What a person typed, as a query.
//!
//! Plain words by default. `"a phrase"`, `AND`, `OR`, `NOT`, `title:x`, `foo*` and the filters
//! `type:`, `concept:`, `file:`, `project:`, `before:`, `after:` are understood; whatever is not
//! this grammar is words. Nothing that can be typed is an error.

use super::identifiers::Identifier;
use super::prefix::beginnings;
use super::terms::{is_stop_word, words};
pub use super::typed::FilterWord;
use super::typed::{Token, filter_word, inside, pieces, token};
use super::when::Period;
use crate::limits::{
    QUERY_CHARS_MAX, QUERY_DEMANDING_WORDS_MAX, QUERY_FILTERS_MAX, QUERY_NAMES_MAX,
    QUERY_QUOTING_WORDS_MAX, QUERY_WORDS_MAX,
};
use crate::store::{Expr, split_unspaced};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The words that rank, in order, each once, stop words left out unless there is nothing else.
    pub words: Vec<String>,
    /// What must hold, where operators or quotes said so.
    pub demand: Option<Expr>,
    /// What must not, and is never shown, however wide the net.
    pub unwanted: Option<Expr>,
    /// What the vector leg encodes: the text less its filters and what was ruled out.
    pub plain: String,
    pub filters: Vec<FilterWord>,
    /// The text with its operators, where it may as well be a quotation: `x IS NOT NULL`.
    pub quotation: Option<String>,
    /// Identifiers and paths as they were typed.
    pub names: Vec<Identifier>,
    /// The times that were named, for whoever has a calendar to fill in.
    pub when: Vec<Period>,
}

impl Query {
    pub fn parse(typed: &str) -> Self {
        Self::read(typed, true)
    }

    /// A text that has operators in it and means none of them.
    pub fn literal(typed: &str) -> Self {
        Self::read(typed, false)
    }

    fn read(typed: &str, may_demand: bool) -> Self {
        let typed: String = typed.chars().take(QUERY_CHARS_MAX).collect();
        let mut query = Self::default();
        let mut tokens = Vec::new();
        let pieces = pieces(&typed);
        let inside = inside(&pieces);
        for (at, piece) in pieces.into_iter().enumerate() {
            match filter_word(&piece).filter(|_| !inside.contains(&at)) {
                Some(filter) if query.filters.len() < QUERY_FILTERS_MAX => {
                    query.filters.push(filter);
                }
                _ => tokens.extend(token(piece)),
            }
        }
        let may_demand = may_demand && tokens.len() <= QUERY_DEMANDING_WORDS_MAX;
        let tokens = operators_read(tokens, may_demand);
        let wanted = wanted(&tokens);
        query.plain = plain(&wanted);
        query.names = names(&wanted);
        query.words = ranking_words(&wanted, &query.names);
        if may_demand {
            query.demand = demand(&tokens);
            query.unwanted = ruled_out(&tokens);
            query.quotation = quotation(&tokens);
        }
        query
    }

    /// What somebody said to somebody else, and the words of it that are asked for: whatever it
    /// looks like, it is no query.
    pub fn plain(said: &str, words: Vec<String>) -> Self {
        Self {
            words,
            plain: said.chars().take(QUERY_CHARS_MAX).collect(),
            ..Self::default()
        }
    }

    /// What a word is made of, if it is an identifier.
    pub fn parts_of(&self, word: &str) -> Option<&[String]> {
        let mut joined = self.names.iter().flat_map(|name| &name.joined);
        let (_, parts) = joined.find(|(whole, _)| whole == word)?;
        Some(parts)
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.demand.is_none()
    }
}

/// Operators that are none become words: all of them in a pasted text, and a NOT that stands
/// first with more than one word behind it (`NOT NULL constraint failed`).
fn operators_read(mut tokens: Vec<Token>, may_demand: bool) -> Vec<Token> {
    let is_operator = |token: &Token| matches!(token, Token::And | Token::Or | Token::Not);
    let behind_first = tokens
        .iter()
        .skip(1)
        .take_while(|token| !is_operator(token));
    let until = match tokens.first() {
        _ if !may_demand => tokens.len(),
        Some(Token::Not) if behind_first.count() > 1 => 1,
        _ => 0,
    };
    for token in &mut tokens[..until] {
        let word = match token {
            Token::And => "AND",
            Token::Or => "OR",
            Token::Not => "NOT",
            _ => continue,
        };
        *token = Token::Word(word.to_owned());
    }
    tokens
}

/// The texts of a query less its operators and what was ruled out.
fn wanted(tokens: &[Token]) -> Vec<&Token> {
    let mut ruled_out = false;
    let mut wanted = Vec::with_capacity(tokens.len());
    for token in tokens {
        match token {
            Token::Not => ruled_out = true,
            Token::And | Token::Or => {}
            _ if std::mem::take(&mut ruled_out) => {}
            token => wanted.push(token),
        }
    }
    wanted
}

fn plain(wanted: &[&Token]) -> String {
    let texts: Vec<&str> = wanted.iter().filter_map(|token| token.text()).collect();
    texts.join(" ")
}

/// Words and operators alone may be a text that somebody found so.
fn quotation(tokens: &[Token]) -> Option<String> {
    let mut text = String::new();
    let mut operators = 0;
    for token in tokens {
        let word = match token {
            Token::Word(word) => word,
            Token::And => "AND",
            Token::Or => "OR",
            Token::Not => "NOT",
            _ => return None,
        };
        operators += usize::from(!matches!(token, Token::Word(_)));
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    (operators > 0 && tokens.len() >= QUOTATION_WORDS_MIN).then_some(text)
}

/// Of a text that may be quoted with its operators.
const QUOTATION_WORDS_MIN: usize = 3;

/// Every whole word that was typed counts for ranking.
fn ranking_words(wanted: &[&Token], names: &[Identifier]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for token in wanted {
        // The beginning of a word is no word; none would be found by it.
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
        // `get_user_by_id` is not about users and ids.
        .filter(|word| !is_stop_word(word) || names.iter().any(|name| name.has(word)))
        .cloned()
        .collect();
    let mut kept = if telling.is_empty() { all } else { telling };
    kept.truncate(QUERY_WORDS_MAX);
    kept
}

fn names(wanted: &[&Token]) -> Vec<Identifier> {
    let texts = wanted.iter().filter(|token| !token.is_prefix());
    let names = texts
        .filter_map(|token| token.text())
        .flat_map(Identifier::all);
    let mut found: Vec<Identifier> = Vec::new();
    for name in names {
        if found.len() < QUERY_NAMES_MAX && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// What operators, quotes, columns and stars ask for. Plain words between operators are
/// alternatives. `None`: plain words only.
fn demand(tokens: &[Token]) -> Option<Expr> {
    let operators = tokens
        .iter()
        .any(|token| matches!(token, Token::And | Token::Or | Token::Not));
    let special = tokens.iter().any(|token| !matches!(token, Token::Word(_)));
    if !special {
        return None;
    }
    if !operators {
        // `"exact phrase" more words`: the phrase is demanded, the words rank. In a sentence it is
        // a quotation, and ranks with the rest.
        let named = |t: &Token| matches!(t, Token::Column(..) | Token::ColumnPrefix(..));
        let columns = tokens.iter().any(named);
        let plain = tokens.iter().filter(|t| matches!(t, Token::Word(_)));
        if !columns && plain.count() > QUERY_QUOTING_WORDS_MAX {
            return None;
        }
        let demands: Vec<Expr> = tokens
            .iter()
            .filter(|t| !matches!(t, Token::Word(_)))
            .filter_map(expr)
            .collect();
        return all_of(demands);
    }
    // OR binds loosest, then AND; NOT rules out from the side it stands on.
    let mut alternatives = Vec::new();
    for side in tokens.split(|token| *token == Token::Or) {
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        for group in side.split(|token| *token == Token::And) {
            let mut ruled_out = false;
            let mut any = Vec::new();
            for token in group {
                if *token == Token::Not {
                    ruled_out = true;
                } else if let Some(expr) = expr(token) {
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
                Some(unwanted) => Expr::Not(Box::new(wanted), Box::new(unwanted)),
                None => wanted,
            });
        }
    }
    any_of(alternatives)
}

/// What stands behind each NOT.
fn ruled_out(tokens: &[Token]) -> Option<Expr> {
    let pairs = tokens.windows(2);
    let behind = pairs.filter(|pair| pair[0] == Token::Not);
    any_of(behind.filter_map(|pair| expr(&pair[1])).collect())
}

fn expr(token: &Token) -> Option<Expr> {
    Some(match token {
        Token::Word(text) | Token::Phrase(text) => Expr::Term(text.clone()),
        Token::Prefix(text) => prefix(text),
        Token::Column(column, text) => Expr::Column(*column, Box::new(Expr::Term(text.clone()))),
        Token::ColumnPrefix(column, text) => Expr::Column(*column, Box::new(prefix(text))),
        Token::And | Token::Or | Token::Not => return None,
    })
}

fn prefix(text: &str) -> Expr {
    Expr::Prefix(text.to_owned(), beginnings(text))
}

fn any_of(mut any: Vec<Expr>) -> Option<Expr> {
    if any.len() > 1 {
        Some(Expr::Or(any))
    } else {
        any.pop()
    }
}

fn all_of(mut all: Vec<Expr>) -> Option<Expr> {
    if all.len() > 1 {
        Some(Expr::And(all))
    } else {
        all.pop()
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
