//! The query lexer: typed text becomes [`QueryLexeme`]s, then [`QueryFilter`]s and [`QueryToken`]s.
//!
//! `query` combines the tokens into a query.

use claude_mem_core::limits::QUERY_DEMANDING_WORDS_MAX;
use claude_mem_store::FtsColumn;

/// A `name:value` filter, value as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryFilter {
    Type(String),
    Concept(String),
    File(String),
    Project(String),
    Agent(String),
    /// The handle of a member, or `me`.
    Who(String),
    /// A date as typed, parsed later by the resolver.
    Before(String),
    After(String),
}

/// One unit of the query grammar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum QueryToken {
    Word(String),
    Phrase(String),
    Prefix(String),
    Column(FtsColumn, String),
    /// A prefix within a column: `title:auth*`.
    ColumnPrefix(FtsColumn, String),
    And,
    Or,
    Not,
}

impl QueryToken {
    /// The token's text; operators have none.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text)
            | Self::Phrase(text)
            | Self::Prefix(text)
            | Self::Column(_, text)
            | Self::ColumnPrefix(_, text) => Some(text),
            Self::And | Self::Or | Self::Not => None,
        }
    }

    pub(super) fn is_prefix(&self) -> bool {
        matches!(self, Self::Prefix(_) | Self::ColumnPrefix(..))
    }
}

/// A run without whitespace or a quoted string; `name:"a b"` is one lexeme.
#[derive(Debug)]
pub(super) struct QueryLexeme {
    name: Option<String>,
    text: String,
    quoted: bool,
}

/// Splits typed text into lexemes. An unclosed quote extends to the end.
pub(super) fn split_lexemes(typed: &str) -> Vec<QueryLexeme> {
    let mut pieces = Vec::new();
    let mut rest = typed.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
        let (head, tail) = rest.split_at(end);
        // Only a `name:` directly before the quote belongs to it.
        if let Some(after) = tail.strip_prefix('"').filter(|_| head.is_empty() || head.ends_with(':')) {
            let close = after.find('"').unwrap_or(after.len());
            let name = head.strip_suffix(':').map(str::to_owned);
            pieces.push(QueryLexeme { name, text: after[..close].to_owned(), quoted: true });
            rest = after.get(close + 1..).unwrap_or("").trim_start();
            continue;
        }
        if !head.is_empty() {
            pieces.push(unquoted_lexeme(head));
        }
        rest = tail.trim_start_matches('"').trim_start();
    }
    pieces
}

/// A lexeme without quotes, split at its first colon.
fn unquoted_lexeme(text: &str) -> QueryLexeme {
    let named = text.split_once(':').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    match named {
        Some((name, value)) => {
            QueryLexeme { name: Some(name.to_owned()), text: value.to_owned(), quoted: false }
        }
        None => QueryLexeme { name: None, text: text.to_owned(), quoted: false },
    }
}

/// The lexemes of a long pasted text in which filters are plain text: everything between its first
/// and last word.
pub(super) fn pasted_range(pieces: &[QueryLexeme]) -> std::ops::Range<usize> {
    if pieces.len() <= QUERY_DEMANDING_WORDS_MAX {
        return 0..0;
    }
    let is_word = |piece: &QueryLexeme| parse_filter(piece).is_none();
    let first = pieces.iter().position(is_word);
    let last = pieces.iter().rposition(is_word);
    first.unwrap_or(0)..last.map_or(0, |last| last + 1)
}

/// The filter this lexeme spells, if any.
pub(super) fn parse_filter(piece: &QueryLexeme) -> Option<QueryFilter> {
    let value = piece.text.clone();
    // `file:///srv/app.mjs:10` is a URL, not a filter.
    if value.starts_with("//") {
        return None;
    }
    Some(match piece.name.as_deref()?.to_ascii_lowercase().as_str() {
        "type" => QueryFilter::Type(value),
        "concept" => QueryFilter::Concept(value),
        "file" => QueryFilter::File(value),
        "project" => QueryFilter::Project(value),
        "agent" => QueryFilter::Agent(value),
        "who" => QueryFilter::Who(value),
        "before" => QueryFilter::Before(value),
        "after" | "since" => QueryFilter::After(value),
        _ => return None,
    })
}

/// The token this lexeme spells; `None` if it has no letters or digits.
pub(super) fn parse_token(piece: QueryLexeme) -> Option<QueryToken> {
    let column = piece.name.as_deref().and_then(|name| match name.to_ascii_lowercase().as_str() {
        "title" => Some(FtsColumn::Title),
        "body" | "text" | "narrative" | "facts" => Some(FtsColumn::Body),
        "tags" | "concepts" | "files" => Some(FtsColumn::Tags),
        _ => None,
    });
    if let Some(column) = column {
        let prefix = prefix_stem(&piece).map(str::to_owned);
        return match prefix {
            Some(stem) => has_word_chars(&stem).then_some(QueryToken::ColumnPrefix(column, stem)),
            None => has_word_chars(&piece.text).then_some(QueryToken::Column(column, piece.text)),
        };
    }
    let prefix = prefix_stem(&piece).filter(|_| piece.name.is_none());
    if let Some(stem) = prefix {
        return has_word_chars(stem).then(|| QueryToken::Prefix(stem.to_owned()));
    }
    // An unknown name is part of the text: `std::sync`, `error:`.
    let text = match piece.name {
        Some(name) => format!("{name}:{}", piece.text),
        None => piece.text,
    };
    if piece.quoted {
        return has_word_chars(&text).then_some(QueryToken::Phrase(text));
    }
    match text.as_str() {
        "AND" => return Some(QueryToken::And),
        "OR" => return Some(QueryToken::Or),
        "NOT" => return Some(QueryToken::Not),
        _ => {}
    }
    has_word_chars(&text).then_some(QueryToken::Word(text))
}

/// The text before a trailing `*`, if it is a single unquoted word.
fn prefix_stem(piece: &QueryLexeme) -> Option<&str> {
    let stem = piece.text.strip_suffix('*').filter(|_| !piece.quoted)?;
    let is_one_word = stem.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_one_word.then_some(stem)
}

fn has_word_chars(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}
