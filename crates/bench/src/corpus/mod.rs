//! Generates a deterministic synthetic history with any number of observations.
//!
//! The rows are the same every time, are written through the store's own calls, and have the
//! proportions of real use: a few large projects and many small ones, sessions of eight to
//! thirty-two observations, a prompt for every eight, and one summary and one last message per session.

pub(crate) mod rng;
mod words;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ClientSessionId, ProjectId, SessionId};
use claude_mem_core::memory::{
    NewObservation, NewSummary, ObservationText, ObservationType, Origin, SummaryText,
};
use claude_mem_store::{
    NewFinalMessage, NewPrompt, NewRowContext, NewSession, Store, StoreError, StoreWriter,
};

pub(crate) use rng::SplitMix64;
use words::SessionTopic;

/// Changes when the generated rows change, so that no cached database of an older generator is used.
const CORPUS_VERSION: u32 = 2;
/// The end of the synthetic history: 2026-11-15.
const END: i64 = 1_794_700_800_000;
const DAY_MS: i64 = 86_400_000;
const DAYS: i64 = 170;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Output file of the database
    out: PathBuf,
    /// Number of observations
    #[arg(long, default_value_t = 10_000)]
    observations: usize,
    /// Directory that caches generated databases
    #[arg(long, default_value = "target/bench")]
    cache: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let made = database(&args.cache, args.observations)?;
    std::fs::copy(made, &args.out).with_context(|| format!("copying it to {}", args.out.display()))?;
    Ok(())
}

/// The path of a database with this many observations, generated once per size and cached in `cache`.
pub(crate) fn database(cache: &Path, observations: usize) -> anyhow::Result<PathBuf> {
    let schema = claude_mem_store::SCHEMA_VERSION;
    let path = cache.join(format!("corpus{CORPUS_VERSION}-{observations}-schema{schema}.db"));
    if path.exists() {
        return Ok(path);
    }
    std::fs::create_dir_all(cache)?;
    let unfinished = cache.join(format!("corpus-{observations}.db.part"));
    for end in ["", "-wal", "-shm"] {
        let mut file = unfinished.clone().into_os_string();
        file.push(end);
        // Left by an interrupted run, if it exists.
        let _ = std::fs::remove_file(file);
    }
    let mut store = Store::open(&unfinished)?;
    fill(&mut store, observations)?;
    // Merge the full-text index, as the worker's maintenance does.
    while store.merge_index_step()? {}
    store.checkpoint()?;
    drop(store);
    std::fs::rename(&unfinished, &path).context("naming the finished corpus")?;
    Ok(path)
}

/// The project with the most rows.
pub(crate) const LARGEST: &str = words::PROJECTS[0];
/// The project with the fewest rows.
pub(crate) const SMALLEST: &str = words::PROJECTS[words::PROJECTS.len() - 1];

/// Sample queries about the history, each with a file path from it.
pub(crate) fn sample_questions(count: usize) -> Vec<(String, String)> {
    let mut rng = SplitMix64::new(0xA5CED);
    (0..count)
        .map(|_| {
            let scene = SessionTopic::new(&mut rng, LARGEST);
            (scene.prompt(&mut rng), scene.path(&mut rng))
        })
        .collect()
}

/// Inserts one more observation, as a session after the end of the history would.
pub(crate) fn insert_one_observation(w: &StoreWriter<'_>, number: usize) -> Result<(), StoreError> {
    let mut rng = SplitMix64::new(number as u64);
    let mut story = SessionGenerator::begin(w, &mut rng, number, END)?;
    story.observation(1)
}

/// Fills an empty store with the history.
pub(crate) fn fill(store: &mut Store, observations: usize) -> Result<(), StoreError> {
    let mut rng = SplitMix64::new(0x5EED_C0DE);
    let sessions = observations / 20 + 1;
    let mut left = observations;
    for number in 0.. {
        if left == 0 {
            break;
        }
        let here = left.min(8 + rng.below(25));
        left -= here;
        let share = number as i64 * DAYS * DAY_MS / sessions as i64;
        let at = (END - DAYS * DAY_MS + share).min(END - DAY_MS);
        store.write(|w| SessionGenerator::begin(w, &mut rng, number, at)?.generate(here))?;
    }
    Ok(())
}

/// Writes the rows of one session.
struct SessionGenerator<'a, 'w> {
    w: &'a StoreWriter<'w>,
    rng: &'a mut SplitMix64,
    scene: SessionTopic,
    project: ProjectId,
    session: SessionId,
    at: i64,
}

impl<'a, 'w> SessionGenerator<'a, 'w> {
    fn begin(
        w: &'a StoreWriter<'w>,
        rng: &'a mut SplitMix64,
        number: usize,
        at: i64,
    ) -> Result<Self, StoreError> {
        let name = words::project(rng);
        let hint = ProjectHint {
            name: name.to_owned(),
            // A remote alone does not tell which project it is: the directory does.
            keys: vec![format!("remote:example.org/team/{name}"), format!("path:/home/user/{name}")],
            root: format!("/home/user/{name}"),
            branch: Some("main".to_owned()),
        };
        let project = w.ensure_project(&hint, Millis(at))?;
        let client_session = ClientSessionId(format!("corpus-{number:06}"));
        let session = w.ensure_session(&NewSession {
            project: Some(project),
            branch: Some("main"),
            ..NewSession::new("claude-code", &client_session, Millis(at))
        })?;
        let scene = SessionTopic::new(rng, name);
        Ok(Self { w, rng, scene, project, session, at })
    }

    fn generate(mut self, observations: usize) -> Result<(), StoreError> {
        let mut prompt_number = 0;
        for n in 0..observations {
            if n % 8 == 0 {
                prompt_number = self.prompt()?;
            }
            self.observation(prompt_number)?;
        }
        self.summary(prompt_number)
    }

    fn advance_clock(&mut self, seconds_max: usize) -> Millis {
        self.at += 3_000 + 1_000 * self.rng.below(seconds_max) as i64;
        Millis(self.at)
    }

    fn prompt(&mut self) -> Result<u32, StoreError> {
        let text = self.scene.prompt(self.rng);
        let (_, number) = self.w.create_prompt(&NewPrompt {
            session: self.session,
            project: Some(self.project),
            prompt_id: None,
            text: &text,
            private: false,
            origin: Origin::User,
            import_run: None,
            at: self.advance_clock(120),
        })?;
        Ok(number)
    }

    fn observation(&mut self, prompt_number: u32) -> Result<(), StoreError> {
        let kind = words::kind(self.rng);
        let changes = !matches!(kind, "discovery" | "decision");
        let read = self.rng.below(4);
        let modified = if changes { self.rng.below(3) } else { 0 };
        let facts = 2 + self.rng.below(4);
        let concepts = 1 + self.rng.below(3);
        let new = NewObservation {
            text: ObservationText {
                kind: ObservationType::named(kind),
                title: self.scene.title(self.rng, kind),
                subtitle: self.scene.subtitle(self.rng),
                narrative: self.scene.narrative(self.rng, kind),
                facts: (0..facts).map(|_| self.scene.fact(self.rng)).collect(),
                concepts: (0..concepts).map(|_| words::concept(self.rng).to_owned()).collect(),
                files_read: (0..read).map(|_| self.scene.path(self.rng)).collect(),
                files_modified: (0..modified).map(|_| self.scene.path(self.rng)).collect(),
            },
            origin: Origin::Agent,
            created_at: self.advance_clock(60),
            discovery_tokens: 300 + self.rng.below(8_700) as u32,
        };
        let place = self.observation_meta(prompt_number);
        self.w.create_observation(&new, &place)?;
        Ok(())
    }

    fn summary(&mut self, prompt_number: u32) -> Result<(), StoreError> {
        let summary = NewSummary {
            text: SummaryText {
                request: self.scene.prompt(self.rng),
                investigated: self.scene.fact(self.rng),
                learned: self.scene.fact(self.rng),
                completed: self.scene.title(self.rng, "change"),
                next_steps: self.scene.subtitle(self.rng),
                ..SummaryText::default()
            },
            created_at: self.advance_clock(20),
            discovery_tokens: 300 + self.rng.below(8_700) as u32,
        };
        let place = self.observation_meta(prompt_number);
        self.w.create_summary(&summary, self.session, &place)?;
        let text = self.scene.narrative(self.rng, "change");
        self.w.create_final_message(&NewFinalMessage {
            session: self.session,
            project: Some(self.project),
            prompt_number,
            text: &text,
            agent_id: None,
            agent_type: None,
            origin: Origin::Agent,
            import_run: None,
            at: Millis(self.at),
        })?;
        Ok(())
    }

    fn observation_meta(&self, prompt_number: u32) -> NewRowContext<'static> {
        NewRowContext {
            session: Some(self.session),
            project: Some(self.project),
            prompt_number,
            branch: Some("main"),
            made_by: "local",
            read_tokens: 120,
            ..NewRowContext::default()
        }
    }
}
