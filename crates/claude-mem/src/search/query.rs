//! What a person typed, as a query.
//!
//! Plain words by default. `"a phrase"`, `AND`, `OR`, `NOT`, `title:x`, `foo*` and the filters
//! `type:`, `concept:`, `file:`, `project:`, `before:`, `after:` are understood; whatever is not
//! this grammar is words. Nothing that can be typed is an error.

use super::terms::{is_stop_word, words};
use super::when::Period;
use crate::limits::{
    QUERY_CHARS_MAX, QUERY_DEMANDING_WORDS_MAX, QUERY_FILTERS_MAX, QUERY_QUOTING_WORDS_MAX,
    QUERY_WORDS_MAX,
};
use crate::store::{Column, Expr};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The words that rank, in order, each once, stop words left out unless there is nothing else.
    pub words: Vec<String>,
    /// What must hold, where operators or quotes said so.
    pub demand: Option<Expr>,
    /// What must not, where nothing else was asked for that it could be taken from.
    pub unwanted: Option<Expr>,
    /// What the vector leg encodes: the text less its filters.
    pub plain: String,
    pub filters: Vec<FilterWord>,
    /// The times that were named, for whoever has a calendar to fill in.
    pub when: Vec<Period>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterWord {
    Type(String),
    Concept(String),
    File(String),
    Project(String),
    /// A date as typed; whoever has a calendar reads it.
    Before(String),
    After(String),
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Phrase(String),
    Prefix(String),
    Column(Column, String),
    /// `title:auth*`
    ColumnPrefix(Column, String),
    And,
    Or,
    Not,
}

impl Query {
    pub fn parse(typed: &str) -> Self {
        let typed: String = typed.chars().take(QUERY_CHARS_MAX).collect();
        let mut query = Self::default();
        let mut tokens = Vec::new();
        for piece in pieces(&typed) {
            match filter_word(&piece) {
                Some(filter) if query.filters.len() < QUERY_FILTERS_MAX => {
                    query.filters.push(filter);
                }
                _ => tokens.extend(token(piece)),
            }
        }
        query.plain = plain(&tokens);
        query.words = ranking_words(&tokens);
        query.demand = demand(&tokens);
        if query.is_empty() {
            query.unwanted = ruled_out(&tokens);
        }
        query
    }

    /// What somebody said to somebody else: words alone, whatever they look like.
    pub fn plain(said: &str) -> Self {
        let plain: String = said.chars().take(QUERY_CHARS_MAX).collect();
        let words = ranking_words(&[Token::Word(plain.clone())]);
        Self {
            words,
            plain,
            ..Self::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.demand.is_none()
    }
}

/// A run without spaces, or a quoted text; `name:"a b"` keeps together.
#[derive(Debug)]
struct Piece {
    name: Option<String>,
    text: String,
    quoted: bool,
}

fn pieces(typed: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = typed.trim_start();
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c.is_whitespace() || c == '"')
            .unwrap_or(rest.len());
        let (head, tail) = rest.split_at(end);
        // Only a name directly before the quote belongs to it.
        if let Some(after) = tail
            .strip_prefix('"')
            .filter(|_| head.is_empty() || head.ends_with(':'))
        {
            let close = after.find('"').unwrap_or(after.len());
            let name = head.strip_suffix(':').map(str::to_owned);
            pieces.push(Piece {
                name,
                text: after[..close].to_owned(),
                quoted: true,
            });
            rest = after.get(close + 1..).unwrap_or("").trim_start();
            continue;
        }
        if !head.is_empty() {
            pieces.push(bare(head));
        }
        rest = tail.trim_start_matches('"').trim_start();
    }
    pieces
}

fn bare(text: &str) -> Piece {
    let named = text
        .split_once(':')
        .filter(|(name, value)| !name.is_empty() && !value.is_empty());
    match named {
        Some((name, value)) => Piece {
            name: Some(name.to_owned()),
            text: value.to_owned(),
            quoted: false,
        },
        None => Piece {
            name: None,
            text: text.to_owned(),
            quoted: false,
        },
    }
}

fn filter_word(piece: &Piece) -> Option<FilterWord> {
    let value = piece.text.clone();
    Some(match piece.name.as_deref()?.to_ascii_lowercase().as_str() {
        "type" => FilterWord::Type(value),
        "concept" => FilterWord::Concept(value),
        "file" => FilterWord::File(value),
        "project" => FilterWord::Project(value),
        "before" => FilterWord::Before(value),
        "after" | "since" => FilterWord::After(value),
        _ => return None,
    })
}

fn token(piece: Piece) -> Option<Token> {
    let column = piece
        .name
        .as_deref()
        .and_then(|name| match name.to_ascii_lowercase().as_str() {
            "title" => Some(Column::Title),
            "body" | "text" | "narrative" | "facts" => Some(Column::Body),
            "tags" | "concepts" | "files" => Some(Column::Tags),
            _ => None,
        });
    if let Some(column) = column {
        let prefix = prefix_of(&piece).map(str::to_owned);
        return match prefix {
            Some(stem) => has_words(&stem).then_some(Token::ColumnPrefix(column, stem)),
            None => has_words(&piece.text).then_some(Token::Column(column, piece.text)),
        };
    }
    let prefix = prefix_of(&piece).filter(|_| piece.name.is_none());
    if let Some(stem) = prefix {
        return has_words(stem).then(|| Token::Prefix(stem.to_owned()));
    }
    // A name that means nothing to us is part of the text: `std::sync`, `error:`.
    let text = match piece.name {
        Some(name) => format!("{name}:{}", piece.text),
        None => piece.text,
    };
    if piece.quoted {
        return has_words(&text).then_some(Token::Phrase(text));
    }
    match text.as_str() {
        "AND" => return Some(Token::And),
        "OR" => return Some(Token::Or),
        "NOT" => return Some(Token::Not),
        _ => {}
    }
    has_words(&text).then_some(Token::Word(text))
}

/// What stands before a star, where it is the beginning of one word.
fn prefix_of(piece: &Piece) -> Option<&str> {
    let stem = piece.text.strip_suffix('*').filter(|_| !piece.quoted)?;
    let is_one_word = stem.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_one_word.then_some(stem)
}

fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn plain(tokens: &[Token]) -> String {
    let mut plain = String::new();
    for token in tokens {
        let (Token::Word(text)
        | Token::Phrase(text)
        | Token::Prefix(text)
        | Token::Column(_, text)
        | Token::ColumnPrefix(_, text)) = token
        else {
            continue;
        };
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(text);
    }
    plain
}

/// Every whole word that was typed counts for ranking, but for what was ruled out with NOT.
fn ranking_words(tokens: &[Token]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut ruled_out = false;
    for token in tokens {
        match token {
            Token::Not => ruled_out = true,
            Token::And | Token::Or => {}
            // The beginning of a word is no word; none would be found by it.
            Token::Prefix(_) | Token::ColumnPrefix(..) => ruled_out = false,
            Token::Word(text) | Token::Phrase(text) | Token::Column(_, text) => {
                if !std::mem::take(&mut ruled_out) {
                    all.extend(words(text).filter(|word| seen.insert(word.clone())));
                }
            }
        }
        if all.len() >= QUERY_WORDS_MAX {
            break;
        }
    }
    let telling: Vec<String> = all
        .iter()
        .filter(|word| !is_stop_word(word))
        .cloned()
        .collect();
    let mut kept = if telling.is_empty() { all } else { telling };
    kept.truncate(QUERY_WORDS_MAX);
    kept
}

/// What operators, quotes, columns and stars ask for. Plain words between operators are
/// alternatives. `None`: plain words only.
fn demand(tokens: &[Token]) -> Option<Expr> {
    let operators = tokens
        .iter()
        .any(|token| matches!(token, Token::And | Token::Or | Token::Not));
    let special = tokens.iter().any(|token| !matches!(token, Token::Word(_)));
    if !special || tokens.len() > QUERY_DEMANDING_WORDS_MAX {
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
    let pairs = tokens.windows(2).take(QUERY_DEMANDING_WORDS_MAX);
    let behind = pairs.filter(|pair| pair[0] == Token::Not);
    any_of(behind.filter_map(|pair| expr(&pair[1])).collect())
}

fn expr(token: &Token) -> Option<Expr> {
    Some(match token {
        Token::Word(text) | Token::Phrase(text) => Expr::Term(text.clone()),
        Token::Prefix(text) => Expr::Prefix(text.clone()),
        Token::Column(column, text) => Expr::Column(*column, Box::new(Expr::Term(text.clone()))),
        Token::ColumnPrefix(column, text) => {
            Expr::Column(*column, Box::new(Expr::Prefix(text.clone())))
        }
        Token::And | Token::Or | Token::Not => return None,
    })
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
