//! A data set of documents and queries ([`BenchDocument`], [`BenchQuery`]), and its load into a store.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ClientSessionId, ProjectId, SessionId};
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::{NewRowContext, NewSession, Store};
use serde::Deserialize;

/// One document of a data set.
#[derive(Deserialize)]
pub(crate) struct BenchDocument {
    corpus: String,
    id: String,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    subtitle: String,
    narrative: String,
    facts: Vec<String>,
    concepts: Vec<String>,
    files_read: Vec<String>,
    files_modified: Vec<String>,
    session_id: String,
    created_at_epoch: i64,
}

/// One query of a data set, with the ids of its relevant documents.
#[derive(Deserialize)]
pub(crate) struct BenchQuery {
    pub corpus: String,
    pub id: String,
    pub query: String,
    pub category: String,
    pub relevant: Vec<String>,
    pub now: i64,
    pub before: Option<i64>,
}

/// A data set in the store.
pub(crate) struct LoadedCorpus {
    pub projects: HashMap<String, ProjectId>,
    /// Document ids by row; documents with equal content share a row.
    pub docs: HashMap<i64, Vec<String>>,
}

pub(crate) fn load(store: &mut Store, docs: &[BenchDocument]) -> Result<LoadedCorpus> {
    let mut loaded = LoadedCorpus { projects: HashMap::new(), docs: HashMap::new() };
    let mut sessions: HashMap<&str, SessionId> = HashMap::new();
    Ok(store.write(|tx| {
        for doc in docs {
            let at = Millis(doc.created_at_epoch * 1_000);
            let hint = ProjectHint {
                name: doc.corpus.clone(),
                keys: vec![format!("path:/{}", doc.corpus)],
                ..ProjectHint::default()
            };
            let project = tx.ensure_project(&hint, at)?;
            loaded.projects.insert(doc.corpus.clone(), project);
            let mut session = None;
            if !doc.session_id.is_empty() {
                let id = tx.ensure_session(&NewSession {
                    project: Some(project),
                    origin: Origin::Import,
                    ..NewSession::new("claude-code", &ClientSessionId(doc.session_id.clone()), at)
                })?;
                session = Some(*sessions.entry(&doc.session_id).or_insert(id));
            }
            let new = NewObservation {
                text: ObservationText {
                    kind: ObservationType::named(&doc.kind),
                    title: doc.title.clone(),
                    subtitle: doc.subtitle.clone(),
                    narrative: doc.narrative.clone(),
                    facts: doc.facts.clone(),
                    concepts: doc.concepts.clone(),
                    files_read: doc.files_read.clone(),
                    files_modified: doc.files_modified.clone(),
                },
                origin: Origin::Import,
                created_at: at,
                discovery_tokens: 0,
            };
            let place = NewRowContext {
                project: Some(project),
                session,
                made_by: "bench",
                ..NewRowContext::default()
            };
            let id = tx.create_observation(&new, &place)?;
            loaded.docs.entry(id.0).or_default().push(doc.id.clone());
        }
        Ok(loaded)
    })?)
}

pub(crate) fn read_json_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| path.display().to_string())).collect()
}
