//! Measures retrieval quality: loads each data set through the store's own calls, runs every query with
//! the production search engine, and writes the results for an independent evaluation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_search::index::catch_up;
use claude_mem_search::{ProjectScope, SearchEngine, SearchRequest, TextEncoder as _};
use claude_mem_store::{PageRequest, RowKind, Store, VectorStore};

use crate::data_set::{BenchDocument, BenchQuery, load, read_json_lines};
use crate::encoder::CachingEncoder;
use crate::features::FeatureDump;
use crate::metrics::RankingMetrics;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Directory with `SET.docs.jsonl` and `SET.queries.jsonl`
    #[arg(long)]
    data: PathBuf,
    /// Output directory for the results, as `SET.run.json`
    #[arg(long)]
    out: Option<PathBuf>,
    /// Search by words only
    #[arg(long)]
    no_vectors: bool,
    /// File that caches vectors between runs, keyed by text, for tuning. By default every text is
    /// encoded
    #[arg(long)]
    vector_cache: Option<PathBuf>,
    /// Output directory for the ranking features of each query's candidates
    #[arg(long)]
    features: Option<PathBuf>,
    /// Run only these data sets
    #[arg(long)]
    set: Vec<String>,
}

/// The search request, as of the time of the query.
fn search_request(query: &BenchQuery, project: ProjectId) -> SearchRequest {
    let now = Millis(query.now * 1_000);
    SearchRequest {
        until: query.before.map(|seconds| Millis(seconds * 1_000)),
        page: PageRequest::first(RANKED),
        ..SearchRequest::new(&query.query, now)
            .in_scope(ProjectScope::ProjectOnly(project))
            .kinds(&[RowKind::Observation])
    }
}

/// Number of results kept for each query.
const RANKED: u32 = 100;

pub(crate) fn run(args: &Args) -> Result<()> {
    println!(
        "{:24}{:>6}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "set", "n", "Hit@1", "Hit@5", "R@10", "nDCG@10", "ms/query"
    );
    for set in sets(&args.data)? {
        if args.set.is_empty() || args.set.contains(&set) {
            measure(args, &set).with_context(|| format!("set {set}"))?;
        }
    }
    Ok(())
}

fn sets(data: &Path) -> Result<Vec<String>> {
    let mut sets = Vec::new();
    for file in std::fs::read_dir(data).with_context(|| data.display().to_string())? {
        let name = file?.file_name().to_string_lossy().into_owned();
        sets.extend(name.strip_suffix(".docs.jsonl").map(str::to_owned));
    }
    sets.sort();
    Ok(sets)
}

fn measure(args: &Args, set: &str) -> Result<()> {
    let docs: Vec<BenchDocument> = read_json_lines(&args.data.join(format!("{set}.docs.jsonl")))?;
    let questions: Vec<BenchQuery> = read_json_lines(&args.data.join(format!("{set}.queries.jsonl")))?;
    let dir = tempfile::tempdir()?;
    let (db, vectors_db) = (dir.path().join("claude-mem.db"), dir.path().join("vectors.db"));
    let mut store = Store::open(&db)?;
    let loaded = load(&mut store, &docs)?;
    // An engine needs a `'static` encoder; leaking one per data set is negligible.
    let encoder: &'static CachingEncoder =
        Box::leak(Box::new(CachingEncoder::open(args.vector_cache.as_deref())));
    if !args.no_vectors {
        let mut vectors = VectorStore::open(&vectors_db, encoder.id())?;
        catch_up(&mut store, &mut vectors, encoder, |_| false)?;
    }
    let reader = Store::open_read_only(&db)?;
    let mut engine = if args.no_vectors {
        SearchEngine::lexical_only(reader, encoder)
    } else {
        SearchEngine::open(reader, &vectors_db, encoder).with_signature_cache()
    };
    let mut features = match &args.features {
        Some(path) => Some(FeatureDump::create(path, set, &engine, &loaded, &vectors_db, encoder)?),
        None => None,
    };
    let started = std::time::Instant::now();
    let mut runs = BTreeMap::new();
    let mut by_category: BTreeMap<&str, Vec<RankingMetrics>> = BTreeMap::new();
    for question in &questions {
        let project = loaded.projects[&question.corpus];
        if let Some(features) = &mut features {
            features.dump(question, &mut engine, &loaded)?;
        }
        let found = engine.search(&search_request(question, project))?;
        if let Some(why) = found.vectors_unavailable {
            anyhow::bail!("search ran without vectors: {why}");
        }
        let ranked: Vec<String> = found
            .results
            .iter()
            .flat_map(|item| loaded.docs[&item.id.row_id].iter().cloned())
            .take(RANKED as usize)
            .collect();
        by_category
            .entry(&question.category)
            .or_default()
            .push(RankingMetrics::compute(&question.relevant, &ranked));
        runs.insert(question.id.clone(), ranked);
    }
    let ms = started.elapsed().as_secs_f64() * 1_000.0 / questions.len() as f64;
    let all: Vec<RankingMetrics> = by_category.values().flatten().copied().collect();
    print_line(set, &all, Some(ms));
    if by_category.len() > 1 {
        for (category, measures) in &by_category {
            print_line(&format!("  {category}"), measures, None);
        }
    }
    if let Some(out) = &args.out {
        std::fs::create_dir_all(out)?;
        std::fs::write(out.join(format!("{set}.run.json")), serde_json::to_vec(&runs)?)?;
    }
    Ok(())
}

fn print_line(name: &str, measures: &[RankingMetrics], ms: Option<f64>) {
    let mean = RankingMetrics::mean(measures);
    let ms = ms.map(|ms| format!("{ms:>9.2}")).unwrap_or_default();
    println!(
        "{name:24}{:>6}{:>9.3}{:>9.3}{:>9.3}{:>9.3}{ms}",
        measures.len(),
        mean.hit_at_1,
        mean.hit_at_5,
        mean.recall_at_10,
        mean.ndcg_at_10
    );
}
