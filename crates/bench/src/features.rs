//! What every candidate of every query brings to its ranking, one line per query, for those who
//! tune.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use claude_mem::clock::Millis;
use claude_mem::ids::ProjectId;
use claude_mem::search::candidates::{Candidates, gather};
use claude_mem::search::packed::{Probe, packed_bytes};
use claude_mem::search::stem::stem;
use claude_mem::search::terms::words;
use claude_mem::search::{Encoder as _, Engine, Query, Ranking};
use claude_mem::store::{Document, RowKind, VectorStore, WordScope};

use crate::encoder::CachingEncoder;
use crate::retrieval::{Loaded, Question};

type Counts = HashMap<String, u32>;

/// The file of one set.
pub(crate) struct Features {
    out: std::io::BufWriter<std::fs::File>,
    vectors: VectorStore,
    encoder: &'static CachingEncoder,
    fields: HashMap<i64, [Counts; 4]>,
    /// In how many documents of a project a stem stands.
    standing_in: HashMap<(Option<ProjectId>, String), u32>,
}

impl Features {
    pub(crate) fn create(
        folder: &Path,
        set: &str,
        engine: &Engine,
        loaded: &Loaded,
        vectors: &Path,
        encoder: &'static CachingEncoder,
    ) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let file = std::fs::File::create(folder.join(format!("{set}.features.jsonl")))?;
        let (mut fields, mut standing_in) = (HashMap::new(), HashMap::new());
        for &row_id in loaded.docs.keys() {
            if let Some(document) = engine.reads().document(RowKind::Observation, row_id)? {
                let counted = counted(&document);
                let stems: HashSet<_> = counted.iter().flat_map(HashMap::keys).collect();
                for stem in stems {
                    let key = (document.project, stem.clone());
                    *standing_in.entry(key).or_default() += 1;
                }
                fields.insert(row_id, counted);
            }
        }
        Ok(Self {
            out: std::io::BufWriter::new(file),
            vectors: VectorStore::open(vectors, encoder.id())?,
            encoder,
            fields,
            standing_in,
        })
    }

    pub(crate) fn dump(
        &mut self,
        question: &Question,
        engine: &mut Engine,
        loaded: &Loaded,
    ) -> Result<()> {
        let project = loaded.projects.get(&question.corpus).copied();
        let scope = WordScope {
            project,
            kinds: vec![RowKind::Observation],
            until: question.before.map(|seconds| Millis(seconds * 1_000)),
            ..WordScope::default()
        };
        let query = Query::parse(&question.query);
        let ranking = Ranking::default();
        let gathered = engine
            .view(|reads, mut leg| gather(&reads, &query, &scope, None, leg.as_mut(), &ranking))?;
        let rows = self.rows(question, &gathered, loaded)?;
        let standing_in: Vec<u32> = gathered
            .terms
            .iter()
            .map(|term| {
                let key = (project, term.clone());
                self.standing_in.get(&key).copied().unwrap_or(0)
            })
            .collect();
        let line = serde_json::json!({
            "id": question.id, "corpus": question.corpus, "category": question.category,
            "relevant": question.relevant, "terms": gathered.terms, "standing_in": standing_in, "rows": rows,
        });
        serde_json::to_writer(&mut self.out, &line)?;
        writeln!(self.out)?;
        Ok(())
    }

    fn rows(
        &self,
        question: &Question,
        gathered: &Candidates,
        loaded: &Loaded,
    ) -> Result<Vec<serde_json::Value>> {
        let probe = Probe::new(&self.encoder.query(&question.query));
        let mut rows = Vec::new();
        for (key, row) in &gathered.rows {
            let mut cosines = Vec::new();
            self.vectors.vectors_of(key.0, key.1, |_, parts| {
                let each = packed_bytes(probe.width());
                let parts = parts.chunks_exact(each);
                cosines.extend(parts.filter_map(|part| probe.nearness(part)));
            })?;
            let fields = &self.fields[&key.1];
            let counts: Vec<[u32; 4]> = gathered
                .terms
                .iter()
                .map(|term| std::array::from_fn(|at| fields[at].get(term).copied().unwrap_or(0)))
                .collect();
            rows.push(serde_json::json!({
                "docs": loaded.docs[&key.1], "id": key.1,
                "near": row.near,
                "share": row.reading.coverage.share, "close": row.reading.coverage.closeness,
                "together": row.reading.coverage.together,
                "passages": row.reading.passages.iter().map(|part| (&part.times, part.words)).collect::<Vec<_>>(),
                "length": row.reading.length, "cos": cosines, "tf": counts,
                "lengths": fields.each_ref().map(|field| field.values().sum::<u32>()),
                "session": row.document.session.map(|id| id.0), "at": row.document.created_at.0,
                "neighbours": row.neighbours.iter().map(|near| near.1).collect::<Vec<_>>(),
            }));
        }
        Ok(rows)
    }
}

/// How often each stem stands in title, body, tags and split identifiers.
fn counted(document: &Document) -> [Counts; 4] {
    let Document {
        title,
        body,
        tags,
        split,
        ..
    } = document;
    [title, body, tags, split].map(|text| {
        let mut counts = Counts::new();
        for word in words(text) {
            *counts.entry(stem(&word)).or_default() += 1;
        }
        counts
    })
}
