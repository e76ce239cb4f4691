//! What a search costs: each of its methods, in projects of all sizes, by words and by both legs,
//! in a process that stays and in one that starts anew.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use claude_mem::clock::Millis;
use claude_mem::ids::ProjectId;
use claude_mem::memory::ObservationType;
use claude_mem::search::{Ask, Engine, Whose};
use claude_mem::store::{RowKind, Store};
use serde::Serialize;

use crate::spawn::Program;
use crate::usage::cpu_time;
use crate::{corpus, made_up};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The executable whose fresh processes are measured
    #[arg(long)]
    exe: PathBuf,
    /// Database sizes, in observations
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    sizes: Vec<usize>,
    /// Questions per method and scope
    #[arg(long, default_value_t = 60)]
    questions: usize,
    /// Only these scopes: smallest, largest, all
    #[arg(long, value_delimiter = ',', default_value = "smallest,largest,all")]
    scopes: Vec<String>,
    /// Only methods whose names contain this
    #[arg(long, default_value = "")]
    method: String,
    /// Where made-up databases are kept between runs
    #[arg(long, default_value = "target/bench")]
    cache: PathBuf,
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
}

/// After the made-up history ends.
const NOW: Millis = Millis(1_794_787_200_000);
const INSERTED: usize = 200;
/// Fresh processes per scope.
const STARTS: usize = 15;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if !args.json {
        println!(
            "times in ms; vectors of all but a few hundred rows are real ones with noise, for time only"
        );
    }
    for &size in &args.sizes {
        let home = Home::new(args, size)?;
        home.sizes()?;
        for scope in &args.scopes {
            home.warm(scope)?;
            home.cold(scope)?;
        }
        home.inserts()?;
    }
    Ok(())
}

/// A data directory of one size.
struct Home<'a> {
    args: &'a Args,
    size: usize,
    data: tempfile::TempDir,
    questions: Vec<(String, String)>,
}

/// One line of the table.
#[derive(Serialize)]
struct Line<'a> {
    observations: usize,
    scope: &'a str,
    method: &'a str,
    p50_ms: f64,
    p95_ms: f64,
    cpu_p50_ms: f64,
    cpu_p95_ms: f64,
}

impl<'a> Home<'a> {
    fn new(args: &'a Args, size: usize) -> anyhow::Result<Self> {
        let made = corpus::database(&args.cache, size)?;
        let vectors = made_up::vectors(&made)?;
        let data = tempfile::tempdir_in(&args.cache)?;
        std::fs::copy(made, data.path().join("claude-mem.db"))?;
        std::fs::copy(vectors, data.path().join("vectors.db"))?;
        let questions = corpus::questions(args.questions);
        Ok(Self {
            args,
            size,
            data,
            questions,
        })
    }

    fn db(&self) -> PathBuf {
        self.data.path().join("claude-mem.db")
    }

    fn sizes(&self) -> anyhow::Result<()> {
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
        let found = Store::open_read_only(&self.db())?
            .read()
            .projects_named(name)?;
        Ok(Some(found.first().context("no such project")?.id))
    }

    fn warm(&self, scope: &str) -> anyhow::Result<()> {
        let whose = self.project(scope)?.map_or(Whose::All, Whose::ProjectOnly);
        let model = embed::Model::built_in();
        let open = || Store::open_read_only(&self.db());
        let vectors = self.data.path().join("vectors.db");
        let mut both = Engine::open(open()?, &vectors, model).staying();
        let mut words = Engine::of_words(open()?, model);
        self.measure(scope, "search, words", &mut words, |text, _| {
            Ask::new(text, NOW).of(whose)
        })?;
        self.measure(scope, "search, words+vectors", &mut both, |text, _| {
            Ask::new(text, NOW).of(whose)
        })?;
        for (name, kind) in [
            ("observations", RowKind::Observation),
            ("summaries", RowKind::Summary),
            ("prompts", RowKind::Prompt),
        ] {
            self.measure(scope, name, &mut both, |text, _| {
                Ask::new(text, NOW).of(whose).kinds(&[kind])
            })?;
        }
        self.measure(scope, "by concept", &mut both, |_, _| {
            Ask::by_concept("gotcha", NOW).of(whose)
        })?;
        self.measure(scope, "by file", &mut both, |_, file| {
            Ask::by_file(file, NOW).of(whose)
        })?;
        self.measure(scope, "by folder", &mut both, |_, file| {
            let folder = file.rsplit_once('/').map_or(file, |(folder, _)| folder);
            Ask::by_file(&format!("{folder}/"), NOW).of(whose)
        })?;
        self.measure(scope, "by type", &mut both, |_, _| {
            Ask::by_type(ObservationType::named("decision"), NOW).of(whose)
        })?;
        self.measure(scope, "recent", &mut both, |_, _| Ask::recent(whose, NOW))?;
        self.measure(scope, "advanced", &mut both, |text, _| Ask {
            types: vec![ObservationType::BUGFIX],
            since: Some(Millis(NOW.0 - 60 * 86_400_000)),
            ..Ask::new(text, NOW).of(whose)
        })
    }

    fn measure(
        &self,
        scope: &str,
        method: &str,
        engine: &mut Engine,
        ask: impl Fn(&str, &str) -> Ask,
    ) -> anyhow::Result<()> {
        if !self.is_wanted(method) {
            return Ok(());
        }
        let (text, file) = &self.questions[0];
        // The first one of a process takes signatures and pages in.
        engine.search(&ask(text, file))?;
        let mut times = Vec::with_capacity(self.questions.len());
        for (text, file) in &self.questions {
            let ask = ask(text, file);
            let (cpu, wall) = (cpu_time(), Instant::now());
            let found = engine.search(&ask)?;
            times.push((wall.elapsed(), cpu_time().saturating_sub(cpu)));
            anyhow::ensure!(found.without_vectors.is_none(), "vectors had no say");
        }
        self.say(scope, method, &times);
        Ok(())
    }

    fn is_wanted(&self, method: &str) -> bool {
        method.contains(&self.args.method)
    }

    /// A fresh process for every question, as a person starts it.
    fn cold(&self, scope: &str) -> anyhow::Result<()> {
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
            let program = Program {
                exe: self.args.exe.clone(),
                args,
                env: vec![
                    ("HOME".to_owned(), text(self.data.path())),
                    ("CLAUDE_MEM_DATA_DIR".to_owned(), text(self.data.path())),
                ],
            };
            let shot = program.shoot(b"")?;
            times.push((shot.wall, shot.cpu));
        }
        // The first one warms the file system's cache, not ours.
        self.say(scope, "search, fresh process", &times[1..]);
        Ok(())
    }

    /// One observation per transaction: text, full text, files, backlog.
    fn inserts(&self) -> anyhow::Result<()> {
        if !self.is_wanted("insert an observation") {
            return Ok(());
        }
        let mut store = Store::open(&self.db())?;
        let mut times = Vec::with_capacity(INSERTED);
        for number in 0..INSERTED {
            let (cpu, wall) = (cpu_time(), Instant::now());
            store.write(|tx| corpus::one_more(tx, 10_000_000 + number))?;
            times.push((wall.elapsed(), cpu_time().saturating_sub(cpu)));
        }
        self.say("", "insert an observation", &times);
        Ok(())
    }

    fn say(&self, scope: &str, method: &str, times: &[(Duration, Duration)]) {
        let line = Line {
            observations: self.size,
            scope,
            method,
            p50_ms: quantile(times.iter().map(|time| time.0), 0.5),
            p95_ms: quantile(times.iter().map(|time| time.0), 0.95),
            cpu_p50_ms: quantile(times.iter().map(|time| time.1), 0.5),
            cpu_p95_ms: quantile(times.iter().map(|time| time.1), 0.95),
        };
        if self.args.json {
            // A struct of numbers and names is always JSON.
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
    times
        .get(at)
        .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}
