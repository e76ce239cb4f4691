//! Who makes the memories: what the settings say, as far as it can be had.
//!
//! Invariant: there is always a compressor. Where the one that the user wants cannot be had, the
//! distiller works in its place and says so in `status`.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::drain::{Compressor, Verdict};
use super::local::Local;
use super::modelled::{Modelled, Plan};
use super::shared::SharedStore;
use super::work::Work;
use crate::child::{Register, Spawner};
use crate::clock::{self, Millis};
use crate::compress::budget::Limits;
use crate::compress::model::{
    Choice, Edge, Launch, Network, proxy_from_environment, refused_proxy,
};
use crate::config::{Provider, Settings};
use crate::limits::VOCABULARY_BYTES_MAX;
use crate::log::{Level, Log};
use crate::paths;
use crate::vocabulary::Vocabulary;

/// What `status` and the log say when the model that was asked for is not used.
const NOT_TO_BE_HAD: &str = "memories are made without a model";

/// What the edge of the program knows of the process.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub env: Vec<(OsString, OsString)>,
    /// This program, for its `child` command.
    pub executable: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Self {
        Self {
            env: std::env::vars_os().collect(),
            // The running program itself, also after an update has replaced its file.
            executable: "/proc/self/exe".into(),
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        let found = self.env.iter().find(|(known, _)| known == name);
        found
            .and_then(|(_, value)| value.to_str())
            .map(str::to_owned)
    }
}

/// The compressor that the settings ask for, or the distiller with the reason.
pub fn choose(
    store: &Arc<SharedStore>,
    settings: &Settings,
    around: &Surroundings,
    log: &Log,
) -> Arc<dyn Compressor> {
    let (vocabulary, mut trouble) = match vocabulary(store.dir().root(), settings) {
        Ok(vocabulary) => (vocabulary, None),
        Err(why) => {
            let (now, what) = (clock::now().millis(), "the vocabulary could not be read");
            log.line(now, Level::Warn, what, &[("why", &why)]);
            (Vocabulary::default(), Some(why))
        }
    };
    // `auto` does not ask a model by itself: who enables one at install has it by name.
    if let Some(choice) = Choice::of(settings, false, &|name| around.value(name)) {
        let plan = Plan {
            choice,
            vocabulary: vocabulary.clone(),
            language: settings.language.clone(),
            limits: Limits {
                day_tokens: settings.budget_tokens_per_day,
                session_tokens: settings.budget_tokens_per_session,
            },
            call_max: Duration::from_secs(settings.model_seconds.into()),
        };
        match edge(store, settings, around).and_then(|edge| usable(&plan.choice, edge)) {
            Ok(edge) => {
                let (store, log) = (Arc::clone(store), log.clone());
                return Arc::new(Modelled::new(store, plan, edge, trouble, log));
            }
            Err(why) => {
                let now = clock::now().millis();
                log.line(now, Level::Warn, NOT_TO_BE_HAD, &[("why", &why)]);
                let and = trouble.map_or_else(String::new, |first| format!("{first}; "));
                trouble = Some(format!("{and}{NOT_TO_BE_HAD}: {why}"));
            }
        }
    }
    Arc::new(Distiller {
        local: Local { vocabulary },
        trouble,
    })
}

/// What the user wrote instead of the standard words. A path is taken from the data directory.
pub fn vocabulary(root: &Path, settings: &Settings) -> Result<Vocabulary, String> {
    if settings.vocabulary.trim().is_empty() {
        return Ok(Vocabulary::default());
    }
    let path = root.join(settings.vocabulary.trim());
    let mut text = String::new();
    let bytes_max = VOCABULARY_BYTES_MAX as u64 + 1;
    let read = File::open(&path).and_then(|file| file.take(bytes_max).read_to_string(&mut text));
    let wrong = |why: String| {
        let path = path.display();
        format!("the vocabulary {path}: {why}; the standard words are used")
    };
    read.map_err(|error| wrong(error.to_string()))?;
    Vocabulary::from_json(&text).map_err(|error| wrong(error.to_string()))
}

fn edge(store: &SharedStore, settings: &Settings, around: &Surroundings) -> Result<Edge, String> {
    let dir = store.dir();
    let said = |error: std::io::Error| format!("children cannot be started: {error}");
    let register = Register::open(&dir.root().join("children")).map_err(said)?;
    let spawner = Spawner::start(around.executable.clone(), register).map_err(said)?;
    let launch = if settings.provider == Provider::Claude {
        paths::create_dir(&dir.compressor()).map_err(said)?;
        Launch::find(
            around.env.clone(),
            dir.compressor(),
            std::path::Path::is_file,
        )
        .map_err(|error| error.to_string())?
    } else {
        Launch::none()
    };
    let network = Network {
        proxy: proxy_from_environment(),
        proxy_refused: refused_proxy(|name| around.value(name)),
        roots: around.value("SSL_CERT_FILE").map(PathBuf::from),
    };
    Ok(Edge {
        network,
        spawner,
        launch,
    })
}

/// A choice that cannot even be opened is not kept for later.
fn usable(choice: &Choice, edge: Edge) -> Result<Edge, String> {
    match choice.open(&edge) {
        Ok(_) => Ok(edge),
        Err(error) => Err(error.to_string()),
    }
}

/// The distiller, and why it is not what the user wanted.
#[derive(Debug)]
struct Distiller {
    local: Local,
    trouble: Option<String>,
}

impl Compressor for Distiller {
    fn make(&self, work: &Work) -> Verdict {
        self.local.make(work)
    }

    fn trouble(&self, _now: Millis) -> Option<String> {
        self.trouble.clone()
    }
}

#[cfg(test)]
#[path = "compressor_tests.rs"]
mod tests;
