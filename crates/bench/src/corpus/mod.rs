//! A deterministic history of made-up work, for measuring at any size.
//!
//! In: a number of observations. Out: the same rows every time, through the store's own calls, in
//! the proportions of real use: a few large projects and many small ones, sessions of eight to
//! thirty-two observations, a prompt for every eight, a summary and a last message each.

pub(crate) mod rng;
mod words;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem::clock::Millis;
use claude_mem::hook::event::ProjectHint;
use claude_mem::ids::{ClientSessionId, ProjectId, SessionId};
use claude_mem::memory::{NewObservation, NewSummary, ObservationType, Origin};
use claude_mem::store::{
    NewFinalMessage, NewPrompt, NewSession, Store, StoreError, Stored, Writes,
};

pub(crate) use rng::Rng;
use words::Scene;

/// The end of the made-up history: 2026-11-15.
const END: i64 = 1_794_700_800_000;
const DAY_MS: i64 = 86_400_000;
const DAYS: i64 = 170;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to put the database
    out: PathBuf,
    #[arg(long, default_value_t = 10_000)]
    observations: usize,
    /// Where made-up databases are kept between runs
    #[arg(long, default_value = "target/bench")]
    cache: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let made = database(&args.cache, args.observations)?;
    std::fs::copy(made, &args.out)
        .with_context(|| format!("copying it to {}", args.out.display()))?;
    Ok(())
}

/// A database with so many observations. Made once per size and kept below `cache`.
pub(crate) fn database(cache: &Path, observations: usize) -> anyhow::Result<PathBuf> {
    let schema = claude_mem::store::SCHEMA_VERSION;
    let path = cache.join(format!("corpus-{observations}-schema{schema}.db"));
    if path.exists() {
        return Ok(path);
    }
    std::fs::create_dir_all(cache)?;
    let unfinished = cache.join(format!("corpus-{observations}.db.part"));
    for end in ["", "-wal", "-shm"] {
        let mut file = unfinished.clone().into_os_string();
        file.push(end);
        // What an interrupted run left; usually nothing.
        let _ = std::fs::remove_file(file);
    }
    let mut store = Store::open(&unfinished)?;
    fill(&mut store, observations)?;
    // As the worker's upkeep leaves it.
    while store.merge_index()? {}
    store.checkpoint()?;
    drop(store);
    std::fs::rename(&unfinished, &path).context("naming the finished corpus")?;
    Ok(path)
}

/// The project that most rows are of, and the one that fewest are of.
pub(crate) const LARGEST: &str = words::PROJECTS[0];
pub(crate) const SMALLEST: &str = words::PROJECTS[words::PROJECTS.len() - 1];

/// What somebody might ask about this work, and a file that it speaks of.
pub(crate) fn questions(count: usize) -> Vec<(String, String)> {
    let mut rng = Rng::new(0xA5CED);
    (0..count)
        .map(|_| {
            let scene = Scene::new(&mut rng, LARGEST);
            (scene.prompt(&mut rng), scene.path(&mut rng))
        })
        .collect()
}

/// One more row of this history, as it would be written today.
pub(crate) fn one_more(w: &Writes<'_>, number: usize) -> Result<(), StoreError> {
    let mut rng = Rng::new(number as u64);
    let mut story = Story::begin(w, &mut rng, number, END)?;
    story.observation(1)
}

/// Fills an empty store.
pub(crate) fn fill(store: &mut Store, observations: usize) -> Result<(), StoreError> {
    let mut rng = Rng::new(0x5EED_C0DE);
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
        store.write(|w| Story::begin(w, &mut rng, number, at)?.tell(here))?;
    }
    Ok(())
}

/// One session as it is written.
struct Story<'a, 'w> {
    w: &'a Writes<'w>,
    rng: &'a mut Rng,
    scene: Scene,
    project: ProjectId,
    session: SessionId,
    at: i64,
}

impl<'a, 'w> Story<'a, 'w> {
    fn begin(
        w: &'a Writes<'w>,
        rng: &'a mut Rng,
        number: usize,
        at: i64,
    ) -> Result<Self, StoreError> {
        let name = words::project(rng);
        let hint = ProjectHint {
            name: name.to_owned(),
            keys: vec![format!("remote:example.org/team/{name}")],
            root: format!("/home/user/{name}"),
            branch: Some("main".to_owned()),
        };
        let project = w.ensure_project(&hint, Millis(at))?;
        let client_session = ClientSessionId(format!("corpus-{number:06}"));
        let session = w.ensure_session(&NewSession {
            client: "claude-code",
            client_session: &client_session,
            project: Some(project),
            branch: Some("main"),
            transcript_path: None,
            origin: Origin::Agent,
            import_run: None,
            at: Millis(at),
        })?;
        let scene = Scene::new(rng, name);
        Ok(Self {
            w,
            rng,
            scene,
            project,
            session,
            at,
        })
    }

    fn tell(mut self, observations: usize) -> Result<(), StoreError> {
        let mut prompt_number = 0;
        for n in 0..observations {
            if n % 8 == 0 {
                prompt_number = self.prompt()?;
            }
            self.observation(prompt_number)?;
        }
        self.summary(prompt_number)
    }

    fn later(&mut self, seconds_max: usize) -> Millis {
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
            at: self.later(120),
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
            kind: ObservationType::named(kind),
            title: self.scene.title(self.rng, kind),
            subtitle: self.scene.subtitle(self.rng),
            narrative: self.scene.narrative(self.rng, kind),
            facts: (0..facts).map(|_| self.scene.fact(self.rng)).collect(),
            concepts: (0..concepts)
                .map(|_| words::concept(self.rng).to_owned())
                .collect(),
            files_read: (0..read).map(|_| self.scene.path(self.rng)).collect(),
            files_modified: (0..modified).map(|_| self.scene.path(self.rng)).collect(),
            origin: Origin::Agent,
            created_at: self.later(60),
            discovery_tokens: 300 + self.rng.below(8_700) as u32,
        };
        let place = self.place(prompt_number);
        self.w.create_observation(&new, &place)?;
        Ok(())
    }

    fn summary(&mut self, prompt_number: u32) -> Result<(), StoreError> {
        let summary = NewSummary {
            request: self.scene.prompt(self.rng),
            investigated: self.scene.fact(self.rng),
            learned: self.scene.fact(self.rng),
            completed: self.scene.title(self.rng, "change"),
            next_steps: self.scene.subtitle(self.rng),
            created_at: self.later(20),
            discovery_tokens: 300 + self.rng.below(8_700) as u32,
            ..NewSummary::default()
        };
        let place = self.place(prompt_number);
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

    fn place(&self, prompt_number: u32) -> Stored<'static> {
        Stored {
            session: Some(self.session),
            project: Some(self.project),
            prompt_number,
            branch: Some("main"),
            made_by: "local",
            read_tokens: 120,
            ..Stored::default()
        }
    }
}
