//! What was typed, cut into pieces, filters and tokens. What they mean together, `query` says.

use crate::limits::QUERY_DEMANDING_WORDS_MAX;
use crate::store::Column;

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
pub(super) enum Token {
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

impl Token {
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

/// A run without spaces, or a quoted text; `name:"a b"` keeps together.
#[derive(Debug)]
pub(super) struct Piece {
    name: Option<String>,
    text: String,
    quoted: bool,
}

pub(super) fn pieces(typed: &str) -> Vec<Piece> {
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

/// The places of a pasted text where a filter is part of the text: all but those before its first
/// word and behind its last.
pub(super) fn inside(pieces: &[Piece]) -> std::ops::Range<usize> {
    if pieces.len() <= QUERY_DEMANDING_WORDS_MAX {
        return 0..0;
    }
    let is_word = |piece: &Piece| filter_word(piece).is_none();
    let first = pieces.iter().position(is_word);
    let last = pieces.iter().rposition(is_word);
    first.unwrap_or(0)..last.map_or(0, |last| last + 1)
}

pub(super) fn filter_word(piece: &Piece) -> Option<FilterWord> {
    let value = piece.text.clone();
    // `file:///srv/app.mjs:10` is an address.
    if value.starts_with("//") {
        return None;
    }
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

pub(super) fn token(piece: Piece) -> Option<Token> {
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
