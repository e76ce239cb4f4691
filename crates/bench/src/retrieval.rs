//! Loads each set's documents into a store through the store's own calls, searches every query
//! in its corpus as everybody does, and writes the runs for an independent evaluation.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use claude_mem::clock::Millis;
use claude_mem::hook::event::ProjectHint;
use claude_mem::ids::{ClientSessionId, ProjectId, SessionId};
use claude_mem::memory::{NewObservation, ObservationType, Origin};
use claude_mem::search::index::catch_up;
use claude_mem::search::{Ask, Encoder as _, Engine, Whose};
use claude_mem::store::{NewSession, Page, RowKind, Store, Stored, VectorStore};
use serde::Deserialize;

use crate::encoder::CachingEncoder;
use crate::features::Features;
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
pub(crate) struct Question {
    pub corpus: String,
    pub id: String,
    pub query: String,
    pub category: String,
    pub relevant: Vec<String>,
    pub now: i64,
    pub before: Option<i64>,
}

impl Question {
    /// What somebody would ask who stood there then.
    fn ask(&self, project: ProjectId) -> Ask {
        let now = Millis(self.now * 1_000);
        Ask {
            until: self.before.map(|seconds| Millis(seconds * 1_000)),
            fall_back: false,
            page: Page::first(RANKED),
            ..Ask::new(&self.query, now)
                .of(Whose::ProjectOnly(project))
                .kinds(&[RowKind::Observation])
        }
    }
}

/// Answers of a run that are kept for each query.
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
    let docs: Vec<Doc> = lines(&args.data.join(format!("{set}.docs.jsonl")))?;
    let questions: Vec<Question> = lines(&args.data.join(format!("{set}.queries.jsonl")))?;
    let dir = tempfile::tempdir()?;
    let (db, vectors_db) = (
        dir.path().join("claude-mem.db"),
        dir.path().join("vectors.db"),
    );
    let mut store = Store::open(&db)?;
    let loaded = load(&mut store, &docs)?;
    // An engine's encoder lives as long as the program; one per set is little.
    let encoder: &'static CachingEncoder =
        Box::leak(Box::new(CachingEncoder::open(args.vector_cache.as_deref())));
    if !args.no_vectors {
        let mut vectors = VectorStore::open(&vectors_db, encoder.id())?;
        catch_up(&mut store, &mut vectors, encoder, |_| false)?;
    }
    let reader = Store::open_read_only(&db)?;
    let mut engine = if args.no_vectors {
        Engine::of_words(reader, encoder)
    } else {
        Engine::open(reader, &vectors_db, encoder).staying()
    };
    let mut features = match &args.features {
        Some(path) => Some(Features::create(
            path,
            set,
            &engine,
            &loaded,
            &vectors_db,
            encoder,
        )?),
        None => None,
    };
    let started = std::time::Instant::now();
    let mut runs = BTreeMap::new();
    let mut by_category: BTreeMap<&str, Vec<Measures>> = BTreeMap::new();
    for question in &questions {
        let project = loaded.projects[&question.corpus];
        if let Some(features) = &mut features {
            features.dump(question, &mut engine, &loaded)?;
        }
        let found = engine.search(&question.ask(project))?;
        if let Some(why) = found.without_vectors {
            anyhow::bail!("vectors had no say: {why}");
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

pub(crate) struct Loaded {
    pub projects: HashMap<String, ProjectId>,
    /// Documents of one content share a row.
    pub docs: HashMap<i64, Vec<String>>,
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
