//! Writes the ranking features of every candidate of every query, one JSON line per query, for tuning.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_search::analyzer::words;
use claude_mem_search::candidates::{CandidateSet, collect_candidates};
use claude_mem_search::quantize::{QuantizedQuery, packed_bytes};
use claude_mem_search::stem::stem;
use claude_mem_search::{RankingConfig, SearchEngine, SearchQuery, TextEncoder as _};
use claude_mem_store::{IndexedDocument, RowFilter, RowId, RowKind, VectorStore};

use crate::data_set::{BenchQuery, LoadedCorpus};
use crate::encoder::CachingEncoder;

type StemCounts = HashMap<String, u32>;

/// The feature file of one data set.
pub(crate) struct FeatureDump {
    out: std::io::BufWriter<std::fs::File>,
    vectors: VectorStore,
    encoder: &'static CachingEncoder,
    fields: HashMap<i64, [StemCounts; 4]>,
    /// Document frequency of a stem in a project.
    doc_freqs: HashMap<(Option<ProjectId>, String), u32>,
}

impl FeatureDump {
    pub(crate) fn create(
        folder: &Path,
        set: &str,
        engine: &SearchEngine,
        loaded: &LoadedCorpus,
        vectors: &Path,
        encoder: &'static CachingEncoder,
    ) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let file = std::fs::File::create(folder.join(format!("{set}.features.jsonl")))?;
        let (mut fields, mut standing_in) = (HashMap::new(), HashMap::new());
        for &row_id in loaded.docs.keys() {
            if let Some(document) = engine.reads().document(RowId::new(RowKind::Observation, row_id))? {
                let counted = stem_counts(&document);
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
            doc_freqs: standing_in,
        })
    }

    pub(crate) fn dump(
        &mut self,
        question: &BenchQuery,
        engine: &mut SearchEngine,
        loaded: &LoadedCorpus,
    ) -> Result<()> {
        let project = loaded.projects.get(&question.corpus).copied();
        let scope = RowFilter {
            project,
            kinds: vec![RowKind::Observation],
            until: question.before.map(|seconds| Millis(seconds * 1_000)),
            ..RowFilter::default()
        };
        let query = SearchQuery::parse(&question.query);
        let ranking = RankingConfig::default();
        let gathered = engine.view(|reads, mut retriever| {
            collect_candidates(&reads, &query, &scope, None, retriever.as_mut(), &ranking)
        })?;
        let rows = self.rows(question, &gathered, loaded)?;
        let standing_in: Vec<u32> = gathered
            .terms
            .iter()
            .map(|term| {
                let key = (project, term.clone());
                self.doc_freqs.get(&key).copied().unwrap_or(0)
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
        question: &BenchQuery,
        gathered: &CandidateSet,
        loaded: &LoadedCorpus,
    ) -> Result<Vec<serde_json::Value>> {
        let probe = QuantizedQuery::new(&self.encoder.embed_query(&question.query));
        let mut rows = Vec::new();
        for (key, row) in &gathered.rows {
            let mut cosines = Vec::new();
            self.vectors.read_row_vectors(*key, |_, parts| {
                let each = packed_bytes(probe.width());
                let parts = parts.chunks_exact(each);
                cosines.extend(parts.filter_map(|part| probe.similarity(part)));
            })?;
            let fields = &self.fields[&key.row_id];
            let counts: Vec<[u32; 4]> = gathered
                .terms
                .iter()
                .map(|term| std::array::from_fn(|at| fields[at].get(term).copied().unwrap_or(0)))
                .collect();
            rows.push(serde_json::json!({
                "docs": loaded.docs[&key.row_id], "id": key.row_id,
                "near": row.cosine,
                "share": row.stats.coverage.share, "close": row.stats.coverage.adjacency,
                "together": row.stats.coverage.proximity,
                "passages": row.stats.passages.iter().map(|part| (&part.freqs, part.words)).collect::<Vec<_>>(),
                "length": row.stats.length, "cos": cosines, "tf": counts,
                "lengths": fields.each_ref().map(|field| field.values().sum::<u32>()),
                "session": row.document.session.map(|id| id.0), "at": row.document.created_at.0,
                "neighbours": row.neighbours.iter().map(|near| near.row_id).collect::<Vec<_>>(),
            }));
        }
        Ok(rows)
    }
}

/// Term frequency of each stem in title, body, tags and split identifiers.
fn stem_counts(document: &IndexedDocument) -> [StemCounts; 4] {
    let IndexedDocument { title, body, tags, split, .. } = document;
    [title, body, tags, split].map(|text| {
        let mut counts = StemCounts::new();
        for word in words(text) {
            *counts.entry(stem(&word)).or_default() += 1;
        }
        counts
    })
}
