//! Loads each set's documents into a store through the store's own calls, searches every query
//! in its corpus, and writes the runs for an independent evaluation.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use anyhow::{Context, Result};
use claude_mem::clock::Millis;
use claude_mem::hook::event::ProjectHint;
use claude_mem::ids::{ClientSessionId, ProjectId, SessionId};
use claude_mem::memory::{NewObservation, ObservationType, Origin};
use claude_mem::search::candidates::{Candidates, gather};
use claude_mem::search::index::catch_up;
use claude_mem::search::packed::{Probe, packed_bytes};
use claude_mem::search::rank::order;
use claude_mem::search::stem::stem;
use claude_mem::search::terms::words;
use claude_mem::search::{Encoder as _, Query, Ranking, Shelves, VectorLeg};
use claude_mem::store::{Document, NewSession, RowKind, Store, Stored, VectorStore, WordScope};
use serde::Deserialize;

use crate::encoder::CachingEncoder;
use crate::metrics::Measures;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Directory with `SET.docs.jsonl` and `SET.queries.jsonl`
    #[arg(long)]
    data: PathBuf,
    /// Where the runs go, as `SET.run.json`
    #[arg(long)]
    out: Option<PathBuf>,
    /// Words only
    #[arg(long)]
    no_vectors: bool,
    /// Where vectors are kept from run to run, keyed by text, for those who tune. By default
    /// every text is really encoded
    #[arg(long)]
    vector_cache: Option<PathBuf>,
    /// Where each query's candidates go, with all that ranking knows of them
    #[arg(long)]
    features: Option<PathBuf>,
    /// Only these sets
    #[arg(long)]
    set: Vec<String>,
}

#[derive(Deserialize)]
struct Doc {
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

#[derive(Deserialize)]
struct Question {
    corpus: String,
    id: String,
    query: String,
    category: String,
    relevant: Vec<String>,
    before: Option<i64>,
}

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
    let docs: Vec<Doc> = lines(&args.data.join(format!("{set}.docs.jsonl")))?;
    let questions: Vec<Question> = lines(&args.data.join(format!("{set}.queries.jsonl")))?;
    let dir = tempfile::tempdir()?;
    let mut store = Store::open(&dir.path().join("claude-mem.db"))?;
    let loaded = load(&mut store, &docs)?;
    let encoder = CachingEncoder::open(args.vector_cache.as_deref());
    let mut vectors = VectorStore::open(&dir.path().join("vectors.db"), encoder.id())?;
    if !args.no_vectors {
        catch_up(&mut store, &mut vectors, &encoder, |_| false)?;
    }
    let shelves = RwLock::new(Shelves::default());
    let mut features = match &args.features {
        Some(path) => {
            std::fs::create_dir_all(path)?;
            let file = std::fs::File::create(path.join(format!("{set}.features.jsonl")))?;
            Some(std::io::BufWriter::new(file))
        }
        None => None,
    };
    let (mut fields, mut standing_in) = (HashMap::new(), HashMap::new());
    if features.is_some() {
        for &row_id in loaded.docs.keys() {
            if let Some(document) = store.read().document(RowKind::Observation, row_id)? {
                let counted = counted(&document);
                for stem in counted
                    .iter()
                    .flat_map(HashMap::keys)
                    .collect::<HashSet<_>>()
                {
                    let key = (document.project, stem.clone());
                    *standing_in.entry(key).or_default() += 1;
                }
                fields.insert(row_id, counted);
            }
        }
    }
    let started = std::time::Instant::now();
    let mut runs = BTreeMap::new();
    let mut by_category: BTreeMap<&str, Vec<Measures>> = BTreeMap::new();
    for question in &questions {
        let project = loaded.projects[&question.corpus];
        let until = question.before.map(|seconds| Millis(seconds * 1_000));
        let scope = WordScope {
            project: Some(project),
            kinds: vec![RowKind::Observation],
            until,
            ..WordScope::default()
        };
        let query = Query::parse(&question.query);
        let mut leg = VectorLeg::warm(&mut vectors, &shelves, &encoder);
        let leg = (!args.no_vectors).then_some(&mut leg);
        let ranking = Ranking::default();
        let gathered = gather(&store.read(), &query, &scope, None, leg, &ranking)?;
        if let Some(out) = &mut features {
            let corpus = Corpus {
                vectors: &vectors,
                encoder: &encoder,
                fields: &fields,
                standing_in: &standing_in,
            };
            dump(out, question, &gathered, &loaded, &corpus)?;
        }
        let hits = order(&gathered.rows, &gathered.terms, &ranking);
        let ranked: Vec<String> = hits
            .iter()
            .flat_map(|hit| loaded.docs[&hit.row_id].iter().cloned())
            .take(100)
            .collect();
        by_category
            .entry(&question.category)
            .or_default()
            .push(Measures::of(&question.relevant, &ranked));
        runs.insert(question.id.clone(), ranked);
    }
    let ms = started.elapsed().as_secs_f64() * 1_000.0 / questions.len() as f64;
    let all: Vec<Measures> = by_category.values().flatten().copied().collect();
    line(set, &all, Some(ms));
    if by_category.len() > 1 {
        for (category, measures) in &by_category {
            line(&format!("  {category}"), measures, None);
        }
    }
    if let Some(out) = &args.out {
        std::fs::create_dir_all(out)?;
        std::fs::write(
            out.join(format!("{set}.run.json")),
            serde_json::to_vec(&runs)?,
        )?;
    }
    Ok(())
}

fn line(name: &str, measures: &[Measures], ms: Option<f64>) {
    let mean = Measures::mean(measures);
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

/// One line per query: what every candidate brings.
fn dump(
    out: &mut impl std::io::Write,
    question: &Question,
    gathered: &Candidates,
    loaded: &Loaded,
    corpus: &Corpus<'_>,
) -> Result<()> {
    let probe = Probe::new(&corpus.encoder.query(&question.query));
    let mut rows = Vec::new();
    for (key, row) in &gathered.rows {
        let mut cosines = Vec::new();
        corpus.vectors.vectors_of(key.0, key.1, |_, parts| {
            let each = packed_bytes(probe.width());
            cosines.extend(
                parts
                    .chunks_exact(each)
                    .filter_map(|part| probe.nearness(part)),
            );
        })?;
        let fields = &corpus.fields[&key.1];
        let counts: Vec<[u32; 4]> = gathered
            .terms
            .iter()
            .map(|term| std::array::from_fn(|at| fields[at].get(term).copied().unwrap_or(0)))
            .collect();
        rows.push(serde_json::json!({
            "docs": loaded.docs[&key.1], "id": key.1,
            "row": row.row_words, "part": row.part_words, "near": row.near,
            "share": row.coverage.share, "close": row.coverage.closeness,
            "together": row.coverage.together,
            "length": row.length, "cos": cosines, "tf": counts,
            "lengths": fields.each_ref().map(|field| field.values().sum::<u32>()),
            "session": row.document.session.map(|id| id.0), "at": row.document.created_at.0,
            "neighbours": row.neighbours.iter().map(|near| near.1).collect::<Vec<_>>(),
        }));
    }
    let project = loaded.projects.get(&question.corpus).copied();
    let standing_in: Vec<u32> = gathered
        .terms
        .iter()
        .map(|term| {
            corpus
                .standing_in
                .get(&(project, term.clone()))
                .copied()
                .unwrap_or(0)
        })
        .collect();
    let line = serde_json::json!({
        "id": question.id, "corpus": question.corpus, "category": question.category,
        "relevant": question.relevant, "terms": gathered.terms, "standing_in": standing_in, "rows": rows,
    });
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)?;
    Ok(())
}

type Counts = HashMap<String, u32>;

/// What a dump needs beside the candidates.
struct Corpus<'a> {
    vectors: &'a VectorStore,
    encoder: &'a CachingEncoder,
    fields: &'a HashMap<i64, [Counts; 4]>,
    /// In how many documents of a project a stem stands.
    standing_in: &'a HashMap<(Option<ProjectId>, String), u32>,
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

struct Loaded {
    projects: HashMap<String, ProjectId>,
    /// Documents of one content share a row.
    docs: HashMap<i64, Vec<String>>,
}

fn load(store: &mut Store, docs: &[Doc]) -> Result<Loaded> {
    let mut loaded = Loaded {
        projects: HashMap::new(),
        docs: HashMap::new(),
    };
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
                    client: "claude-code",
                    client_session: &ClientSessionId(doc.session_id.clone()),
                    project: Some(project),
                    branch: None,
                    transcript_path: None,
                    origin: Origin::Import,
                    import_run: None,
                    at,
                })?;
                session = Some(*sessions.entry(&doc.session_id).or_insert(id));
            }
            let new = NewObservation {
                kind: ObservationType::named(&doc.kind),
                title: doc.title.clone(),
                subtitle: doc.subtitle.clone(),
                narrative: doc.narrative.clone(),
                facts: doc.facts.clone(),
                concepts: doc.concepts.clone(),
                files_read: doc.files_read.clone(),
                files_modified: doc.files_modified.clone(),
                origin: Origin::Import,
                created_at: at,
                discovery_tokens: 0,
            };
            let place = Stored {
                project: Some(project),
                session,
                made_by: "bench",
                ..Stored::default()
            };
            let id = tx.create_observation(&new, &place)?;
            loaded.docs.entry(id.0).or_default().push(doc.id.clone());
        }
        Ok(loaded)
    })?)
}

fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| path.display().to_string()))
        .collect()
}
