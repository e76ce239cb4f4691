//! Hybrid search over stored memories: lexical (FTS5 + BM25) and vector retrieval, one ranking.
//!
//! A [`SearchRequest`] goes in; a [`SearchResponse`] with ranked [`SearchItem`]s comes out, each
//! with its score broken down in [`ScoreParts`]. [`SearchEngine`] owns the open files, [`Searcher`]
//! answers one request over one snapshot, [`SearchQuery`] is the parsed text, and
//! [`VectorRetriever`] finds rows by meaning. Retrieval ([`candidates`]) reads the store; ranking
//! ([`rank`]) is a pure function of the candidates.
//!
//! Invariants: no input is an error, every text yields a response; a row outside the requested
//! scope is returned only if the response says so. SQL stays in `store`, formatting in the callers,
//! and the current time is a parameter.

pub mod analyzer;
mod candidate;
pub mod candidates;
mod complete;
pub mod coverage;
pub mod date_arg;
mod elsewhere;
mod encoder;
mod encoder_thread;
mod engine;
mod identifiers;
pub mod index;
mod items;
mod lexer;
mod lexical;
pub mod names;
mod parallel_encoder;
pub mod passages;
mod postings;
mod prefix;
pub mod project_lookup;
pub mod quantize;
pub mod query;
mod query_terms;
pub mod rank;
mod ranking_config;
pub mod request;
mod rerank;
mod resolve;
pub mod restated_rows;
mod scope;
mod searcher;
pub mod statement;
pub mod stem;
pub mod subject;
mod time_expr;
pub mod timeline;
mod vectors;
mod verify;

pub use encoder::TextEncoder;
pub use engine::SearchEngine;
pub use parallel_encoder::ParallelEncoder;
pub use query::SearchQuery;
pub use rank::{ScoreParts, SearchHit};
pub use ranking_config::RankingConfig;
pub use request::{
    MatchQuality, ProjectScope, ResponseScope, ResultOrder, SearchItem, SearchRequest, SearchResponse,
};
pub use scope::AllowedRows;
pub use searcher::{Searcher, load_items};
pub use vectors::{SignatureCache, VectorRetriever};

#[cfg(test)]
mod testing;
