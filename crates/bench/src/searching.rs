//! Measures search latency: each method, in projects of all sizes, with and without vectors, in a warm
//! process and in a fresh one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::memory::ObservationType;
use claude_mem_search::{ProjectScope, SearchEngine, SearchRequest};
use claude_mem_store::{RowKind, Store};
use serde::Serialize;

use crate::spawn::MeasuredProgram;
use crate::usage::cpu_time;
use crate::{corpus, made_up};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The executable to measure in fresh processes
    #[arg(long)]
    exe: PathBuf,
    /// Database sizes, in observations
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    sizes: Vec<usize>,
    /// Queries per method and scope
    #[arg(long, default_value_t = 60)]
    questions: usize,
    /// Run only these scopes: smallest, largest, all
    #[arg(long, value_delimiter = ',', default_value = "smallest,largest,all")]
    scopes: Vec<String>,
    /// Run only methods whose names contain this
    #[arg(long, default_value = "")]
    method: String,
    /// Directory that caches generated databases
    #[arg(long, default_value = "target/bench")]
    cache: PathBuf,
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
}

/// The current time of the searches: after the end of the synthetic history.
const NOW: Millis = Millis(1_794_787_200_000);
const INSERTED: usize = 200;
/// Fresh processes per scope.
const STARTS: usize = 15;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if !args.json {
        println!("times in ms; all vectors but those of a few hundred rows are synthetic, for timing only");
    }
    for &size in &args.sizes {
        let home = SearchFixture::new(args, size)?;
        home.print_sizes()?;
        for scope in &args.scopes {
            home.measure_warm(scope)?;
            home.measure_cold(scope)?;
        }
        home.measure_inserts()?;
    }
    Ok(())
}

/// A data directory with a history of one size.
struct SearchFixture<'a> {
    args: &'a Args,
    size: usize,
    data: tempfile::TempDir,
    questions: Vec<(String, String)>,
}

/// One row of the report.
#[derive(Serialize)]
struct SearchTiming<'a> {
    observations: usize,
    scope: &'a str,
    method: &'a str,
    p50_ms: f64,
    p95_ms: f64,
    cpu_p50_ms: f64,
    cpu_p95_ms: f64,
}

impl<'a> SearchFixture<'a> {
    fn new(args: &'a Args, size: usize) -> anyhow::Result<Self> {
        let made = corpus::database(&args.cache, size)?;
        let vectors = made_up::vectors_database(&made)?;
        let data = tempfile::tempdir_in(&args.cache)?;
        std::fs::copy(made, data.path().join("claude-mem.db"))?;
        std::fs::copy(vectors, data.path().join("vectors.db"))?;
        let questions = corpus::sample_questions(args.questions);
        Ok(Self { args, size, data, questions })
    }

    fn db(&self) -> PathBuf {
        self.data.path().join("claude-mem.db")
    }

    fn print_sizes(&self) -> anyhow::Result<()> {
        let bytes = |name: &str| -> anyhow::Result<f64> {
            let path = self.data.path().join(name);
            Ok(std::fs::metadata(path)?.len() as f64)
        };
        let (db, vectors) = (bytes("claude-mem.db")?, bytes("vectors.db")?);
        let (per, mb) = (1.0 / self.size as f64 / 1e3, 1e-6);
        if self.args.json {
            let line = serde_json::json!({
                "observations": self.size, "database_bytes": db, "vectors_bytes": vectors,
            });
            println!("{line}");
        } else {
            println!(
                "\n{} observations: database {:.0} MB ({:.1} kB each, full text included), vectors {:.0} MB ({:.1} kB each)",
                self.size,
                db * mb,
                db * per,
                vectors * mb,
                vectors * per
            );
            println!(
                "{:10}{:24}{:>9}{:>9}{:>11}{:>11}",
                "scope", "method", "p50", "p95", "CPU p50", "CPU p95"
            );
        }
        Ok(())
    }

    fn project(&self, scope: &str) -> anyhow::Result<Option<ProjectId>> {
        let name = match scope {
            "smallest" => corpus::SMALLEST,
            "largest" => corpus::LARGEST,
            _ => return Ok(None),
        };
        let found = Store::open_read_only(&self.db())?.read().projects_named(name)?;
        Ok(Some(found.first().context("no such project")?.id))
    }

    fn measure_warm(&self, scope: &str) -> anyhow::Result<()> {
        let whose = self.project(scope)?.map_or(ProjectScope::All, ProjectScope::ProjectOnly);
        let model = embed::EmbeddingModel::built_in();
        let open = || Store::open_read_only(&self.db());
        let vectors = self.data.path().join("vectors.db");
        let mut both = SearchEngine::open(open()?, &vectors, model).with_signature_cache();
        let mut words = SearchEngine::lexical_only(open()?, model);
        self.measure(scope, "search, words", &mut words, |text, _| {
            SearchRequest::new(text, NOW).in_scope(whose)
        })?;
        self.measure(scope, "search, words+vectors", &mut both, |text, _| {
            SearchRequest::new(text, NOW).in_scope(whose)
        })?;
        for (name, kind) in [
            ("observations", RowKind::Observation),
            ("summaries", RowKind::Summary),
            ("prompts", RowKind::Prompt),
        ] {
            self.measure(scope, name, &mut both, |text, _| {
                SearchRequest::new(text, NOW).in_scope(whose).kinds(&[kind])
            })?;
        }
        self.measure(scope, "by concept", &mut both, |_, _| {
            SearchRequest::by_concept("gotcha", NOW).in_scope(whose)
        })?;
        self.measure(scope, "by file", &mut both, |_, file| {
            SearchRequest::by_file(file, NOW).in_scope(whose)
        })?;
        self.measure(scope, "by folder", &mut both, |_, file| {
            let folder = file.rsplit_once('/').map_or(file, |(folder, _)| folder);
            SearchRequest::by_file(&format!("{folder}/"), NOW).in_scope(whose)
        })?;
        self.measure(scope, "by type", &mut both, |_, _| {
            SearchRequest::by_type(ObservationType::named("decision"), NOW).in_scope(whose)
        })?;
        self.measure(scope, "recent", &mut both, |_, _| SearchRequest::recent(whose, NOW))?;
        self.measure(scope, "advanced", &mut both, |text, _| SearchRequest {
            types: vec![ObservationType::BUGFIX],
            since: Some(Millis(NOW.0 - 60 * 86_400_000)),
            ..SearchRequest::new(text, NOW).in_scope(whose)
        })
    }

    fn measure(
        &self,
        scope: &str,
        method: &str,
        engine: &mut SearchEngine,
        ask: impl Fn(&str, &str) -> SearchRequest,
    ) -> anyhow::Result<()> {
        if !self.is_wanted(method) {
            return Ok(());
        }
        let (text, file) = &self.questions[0];
        // The first search of a process loads signatures and pages.
        engine.search(&ask(text, file))?;
        let mut times = Vec::with_capacity(self.questions.len());
        for (text, file) in &self.questions {
            let ask = ask(text, file);
            let (cpu, wall) = (cpu_time(), Instant::now());
            let found = engine.search(&ask)?;
            times.push((wall.elapsed(), cpu_time().saturating_sub(cpu)));
            anyhow::ensure!(found.vectors_unavailable.is_none(), "search ran without vectors");
        }
        self.print_timing(scope, method, &times);
        Ok(())
    }

    fn is_wanted(&self, method: &str) -> bool {
        method.contains(&self.args.method)
    }

    /// Measures a fresh process for every query, as a person would start it.
    fn measure_cold(&self, scope: &str) -> anyhow::Result<()> {
        if !self.is_wanted("search, fresh process") {
            return Ok(());
        }
        let whose = match scope {
            "smallest" => vec!["--project".to_owned(), corpus::SMALLEST.to_owned()],
            "largest" => vec!["--project".to_owned(), corpus::LARGEST.to_owned()],
            _ => vec!["--all-projects".to_owned()],
        };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut times = Vec::new();
        for (question, _) in self.questions.iter().take(STARTS + 1) {
            let mut args = vec!["search".to_owned(), "--json".to_owned()];
            args.extend(whose.clone());
            args.extend(["--".to_owned(), question.clone()]);
            let program = MeasuredProgram {
                exe: self.args.exe.clone(),
                args,
                env: vec![
                    ("HOME".to_owned(), text(self.data.path())),
                    ("CLAUDE_MEM_DATA_DIR".to_owned(), text(self.data.path())),
                ],
            };
            let shot = program.measure(b"")?;
            times.push((shot.wall, shot.cpu));
        }
        // The first one only warms the file system cache.
        self.print_timing(scope, "search, fresh process", &times[1..]);
        Ok(())
    }

    /// Measures inserts, one observation per transaction: row, full text, files, backlog.
    fn measure_inserts(&self) -> anyhow::Result<()> {
        if !self.is_wanted("insert an observation") {
            return Ok(());
        }
        let mut store = Store::open(&self.db())?;
        let mut times = Vec::with_capacity(INSERTED);
        for number in 0..INSERTED {
            let (cpu, wall) = (cpu_time(), Instant::now());
            store.write(|tx| corpus::insert_one_observation(tx, 10_000_000 + number))?;
            times.push((wall.elapsed(), cpu_time().saturating_sub(cpu)));
        }
        self.print_timing("", "insert an observation", &times);
        Ok(())
    }

    fn print_timing(&self, scope: &str, method: &str, times: &[(Duration, Duration)]) {
        let line = SearchTiming {
            observations: self.size,
            scope,
            method,
            p50_ms: quantile(times.iter().map(|time| time.0), 0.5),
            p95_ms: quantile(times.iter().map(|time| time.0), 0.95),
            cpu_p50_ms: quantile(times.iter().map(|time| time.1), 0.5),
            cpu_p95_ms: quantile(times.iter().map(|time| time.1), 0.95),
        };
        if self.args.json {
            // A struct of numbers and strings always serialises.
            println!("{}", serde_json::to_string(&line).unwrap_or_default());
        } else {
            println!(
                "{scope:10}{method:24}{:>9.2}{:>9.2}{:>11.2}{:>11.2}",
                line.p50_ms, line.p95_ms, line.cpu_p50_ms, line.cpu_p95_ms
            );
        }
    }
}

fn quantile(times: impl Iterator<Item = Duration>, share: f64) -> f64 {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    let at = (times.len().saturating_sub(1) as f64 * share).round() as usize;
    times.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}
