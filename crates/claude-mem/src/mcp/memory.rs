//! The six tools, carried out on the database.

use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::arguments::{ForgetArgs, GetArgs, SaveArgs, SearchArgs, TimelineArgs};
use super::details::details;
use super::fetched::Fetched;
use super::lines::{self, Lines};
use super::tools::Said;
use super::{Toolbox, schema};
use crate::clock::Millis;
use crate::context::quote;
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::event::ProjectHint;
use crate::ids::ProjectId;
use crate::memory::ObservationType;
use crate::paths::DataDir;
use crate::remember::{self, ClientSession, From, Note};
use crate::search::called::{Called, called, numbers};
use crate::search::timeline::{Around, timeline};
use crate::search::{Ask, Encoder, Engine, Found, Handle, Order, Whose, dates};
use crate::store::{Feedback, Inbox, Page, Reads, RowKind, Signal, Store, StoreError};
use crate::vocabulary::Vocabulary;

/// Rows of one answer, unless the agent says otherwise.
const ROWS: u32 = 10;
const ROWS_MAX: u32 = 50;
const NOTHING_YET: &str = "Nothing is remembered yet.";

/// What surrounds the server: whose memory, in which project, for which session.
#[allow(
    missing_debug_implementations,
    reason = "an encoder has nothing to print"
)]
pub struct Memory<'a> {
    pub dir: DataDir,
    pub project: Option<ProjectHint>,
    /// The client's id of the session, for the ledger.
    pub session: String,
    pub zone: TimeZone,
    pub now: fn() -> Millis,
    pub encoder: &'static dyn Encoder,
    /// Whether meaning may have a say: the setting as it is now.
    pub vectors: &'a dyn Fn() -> bool,
    /// The words that types are called by, as the settings are now.
    pub vocabulary: &'a dyn Fn() -> Vocabulary,
}

impl Toolbox for Memory<'_> {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Said, String> {
        let said = self.carry_out(tool, arguments);
        match said {
            // An empty memory is no error.
            Err(why) if why == NOTHING_YET => Ok(Said::text(why)),
            said => said,
        }
    }
}

impl Memory<'_> {
    fn carry_out(&self, tool: &str, arguments: &Value) -> Result<Said, String> {
        match tool {
            "search" => self.search(&read(arguments)?),
            "timeline" => self.timeline(&read(arguments)?),
            "get_observations" => self.get(&read(arguments)?),
            "save_memory" => self.save(&read(arguments)?),
            "forget" => self.forget(&read(arguments)?),
            _ => Ok(Said::text(schema::INSTRUCTIONS)),
        }
    }
}

fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    serde_json::from_value(arguments.clone())
        .map_err(|e| format!("These arguments do not fit: {e}."))
}

impl Memory<'_> {
    fn open(&self) -> Result<Store, String> {
        match Store::open_read_only(&self.dir.db()) {
            Err(StoreError::Older { .. }) => Store::open(&self.dir.db()).map_err(trouble),
            Err(StoreError::Missing) => Err(NOTHING_YET.to_owned()),
            store => store.map_err(trouble),
        }
    }

    fn engine(&self) -> Result<Engine, String> {
        let store = self.open()?;
        Ok(if (self.vectors)() {
            Engine::open(store, &self.dir.vectors_db(), self.encoder)
        } else {
            Engine::of_words(store, self.encoder)
        })
    }

    /// The client's project, or the one that is named; `*` is all.
    fn whose(&self, reads: &Reads<'_>, named: Option<&str>) -> Result<Whose, String> {
        match named {
            Some("*") => Ok(Whose::All),
            Some(name) => Ok(Whose::ProjectOnly(named_project(reads, name)?)),
            None => Ok(self
                .own_project(reads)?
                .map_or(Whose::Nobody, Whose::ProjectFirst)),
        }
    }

    fn own_project(&self, reads: &Reads<'_>) -> Result<Option<ProjectId>, String> {
        self.project.as_ref().map_or(Ok(None), |hint| {
            reads.project_by_keys(&hint.keys).map_err(trouble)
        })
    }

    fn search(&self, args: &SearchArgs) -> Result<Said, String> {
        let mut engine = self.engine()?;
        let now = (self.now)();
        let read = |text: &Option<String>, as_person: dates::Read| match text {
            None => Ok(None),
            Some(text) => as_person(text, now, &self.zone)
                .map(Some)
                .ok_or_else(|| format!("{text:?} is not a date; try 2026-11-15 or 3d.")),
        };
        let mut ask = Ask::new(&args.query, now);
        ask.zone = self.zone.clone();
        ask.whose = self.whose(&engine.reads(), args.project.as_deref())?;
        ask.kinds = kinds(args.r#type.as_deref())?;
        let types = args
            .obs_type
            .as_deref()
            .unwrap_or_default()
            .split(',')
            .map(str::trim);
        ask.types = types
            .filter(|name| !name.is_empty())
            .map(ObservationType::named)
            .collect();
        ask.since = read(&args.dateStart, dates::moment)?;
        ask.until = read(&args.dateEnd, dates::end)?;
        ask.page = Page {
            offset: args.offset,
            limit: args.limit.unwrap_or(ROWS).min(ROWS_MAX),
        };
        ask.order = args.orderBy.map_or(Order::Relevance, Order::from);
        let found = engine.search(&ask).map_err(trouble)?;
        let lines = self.lines(&engine.reads())?;
        let about = lines::scope(&found.scope, found.results.is_empty());
        let about = about + &by_words_alone(&found);
        let structure = json!({
            "results": lines.rows(&found.results), "hasMore": found.has_more, "note": about.trim_end(),
        });
        let text = lines.found(&found, args.offset) + &by_words_alone(&found);
        Ok(Said::text(text).with(structure))
    }

    fn lines(&self, reads: &Reads<'_>) -> Result<Lines<'_>, String> {
        Ok(Lines {
            zone: &self.zone,
            own: self.own_project(reads)?,
        })
    }

    fn timeline(&self, args: &TimelineArgs) -> Result<Said, String> {
        let (anchor, mut text) = match (&args.anchor, &args.query) {
            (Some(id), _) => (id.handle()?, String::new()),
            (None, Some(query)) => match self.best(query, args.project.as_deref())? {
                (Some(best), said) => (best, said),
                (None, said) => return Ok(Said::text(said)),
            },
            (None, None) => return Err("timeline needs an anchor (an id) or a query.".to_owned()),
        };
        let store = self.open()?;
        let around = Around {
            anchor,
            before: args.depth_before.unwrap_or(5).min(50),
            after: args.depth_after.unwrap_or(5).min(50),
            kinds: Vec::new(),
            types: Vec::new(),
            since: None,
            until: None,
            all_projects: false,
            with_wrong: false,
        };
        let items = timeline(&store.read(), &around)
            .map_err(trouble)?
            .ok_or(format!("There is no {anchor}."))?;
        let lines = self.lines(&store.read())?;
        let foreign = items
            .iter()
            .find(|item| item.id == anchor)
            .filter(|item| !item.user_level && item.project_id != lines.own);
        if foreign.is_some() && text.is_empty() {
            text.push_str("This is of another project:\n");
        }
        for item in &items {
            text.push_str(if item.id == anchor { "> " } else { "  " });
            text.push_str(&lines.line(item));
        }
        let structure = json!({ "anchor": anchor.to_string(), "results": lines.rows(&items) });
        Ok(Said::text(text).with(structure))
    }

    /// The best answer to a question, and what has to be said about how it fits.
    fn best(&self, query: &str, project: Option<&str>) -> Result<(Option<Handle>, String), String> {
        let mut engine = self.engine()?;
        let mut ask = Ask::new(query, (self.now)()).page(Page::first(1));
        ask.whose = self.whose(&engine.reads(), project)?;
        ask.zone = self.zone.clone();
        ask.fall_back = false;
        let found = engine.search(&ask).map_err(trouble)?;
        let best = found.results.first().map(|item| item.id);
        let about = lines::scope(&found.scope, best.is_none()) + &by_words_alone(&found);
        Ok((best, about))
    }

    fn get(&self, args: &GetArgs) -> Result<Said, String> {
        if args.ids.is_empty() {
            return Err(
                "Name the ids to fetch, as search gives them: [\"#12\", \"S3\"].".to_owned(),
            );
        }
        let store = self.open()?;
        let lines = self.lines(&store.read())?;
        let mut told = Fetched::default();
        for id in &args.ids {
            match id.handle() {
                Ok(handle) if told.knows(handle) => {}
                Ok(handle) => {
                    let details = details(&store.read(), handle, &lines).map_err(trouble)?;
                    told.take(handle, details);
                }
                Err(_) => told.no_ids.push(quote::line(&id.to_string(), 40)),
            }
        }
        drop(store);
        if told.is_nothing() {
            return Err(told.text());
        }
        self.note_fetched(&told.found);
        let structure = json!({
            "results": told.texts, "missing": told.missing, "left_out": told.left_out,
        });
        Ok(Said::text(told.text()).with(structure))
    }

    /// What was fetched was worth fetching: it counts a little from now on. What cannot be noted
    /// now is told all the same.
    fn note_fetched(&self, handles: &[Handle]) {
        if handles.is_empty() {
            return;
        }
        let at = (self.now)();
        let noted = Inbox::open_to_note(&self.dir.db()).and_then(|mut inbox| {
            inbox.write(|tx| {
                for (rank, handle) in handles.iter().enumerate() {
                    tx.record_feedback(&Feedback {
                        kind: handle.kind,
                        row_id: handle.row_id,
                        client: CLAUDE_CODE.name,
                        session: &self.session,
                        agent_id: "",
                        signal: Signal::Fetched,
                        place: "mcp",
                        score: None,
                        rank: u32::try_from(rank).ok(),
                        tokens: 0,
                        reason: "",
                        at,
                    })?;
                }
                Ok(())
            })?;
            inbox.close()
        });
        if let Err(e) = noted {
            let line = format!("what was fetched is not noted: {e}");
            crate::hook::log::line(&self.dir, at.micros(), &line);
        }
    }

    fn save(&self, args: &SaveArgs) -> Result<Said, String> {
        self.dir
            .create()
            .map_err(|e| format!("The data directory cannot be made: {e}."))?;
        let (mut store, now) = (Store::open(&self.dir.db()).map_err(trouble)?, (self.now)());
        let project = match (&args.project, &self.project) {
            (Some(name), _) => Some(named_project(&store.read(), name)?),
            (None, Some(hint)) => Some(
                store
                    .write(|tx| tx.ensure_project(hint, now))
                    .map_err(trouble)?,
            ),
            (None, None) => None,
        };
        if project.is_none() && !args.global {
            return Err("There is no such project; leave it out, or say global.".to_owned());
        }
        let vocabulary = (self.vocabulary)();
        let note = Note {
            text: &args.text,
            title: args.title.as_deref(),
            kind: args.r#type.as_deref(),
            project,
            global: args.global,
            by_agent: true,
            session: (!self.session.is_empty()).then_some(ClientSession {
                client: CLAUDE_CODE.name,
                id: &self.session,
            }),
            vocabulary: Some(&vocabulary),
        };
        let id = remember::save(&mut store, &note, now).map_err(|e| format!("Not saved: {e}."))?;
        let handle = Handle {
            kind: RowKind::Observation,
            row_id: id.0,
        };
        Ok(Said::text(if args.global {
            format!(
                "Saved as {handle} for this project and proposed for every project: \
                 it holds there once the user says `claude-mem preferences --confirm '{handle}'`."
            )
        } else {
            format!("Saved as {handle}.")
        }))
    }

    fn forget(&self, args: &ForgetArgs) -> Result<Said, String> {
        let (handle, now) = (args.id.handle()?, (self.now)());
        let mut store = Store::open(&self.dir.db()).map_err(trouble)?;
        let said = match args.mark {
            Some(judgement) => {
                let from = From {
                    client: "claude-code",
                    session: &self.session,
                    place: "mcp",
                };
                let (kind, id) = handle.key();
                if !judgement.fits(kind) {
                    let kind = kind.as_str();
                    return Err(format!(
                        "{handle} is a {kind}, which cannot be marked as wrong; leave mark out to forget it."
                    ));
                }
                let back = remember::mark(&mut store, kind, id, judgement, &from, now)
                    .map_err(|e| not_there(handle, e))?;
                let told = if back { " It is no longer wrong." } else { "" };
                format!("Marked {handle} as {}.{told}", judgement.signal().as_str())
            }
            None => {
                let vectors = self.dir.vectors_db();
                let unswept = remember::forget(&mut store, &vectors, &[handle.key()], now)
                    .map_err(|e| not_there(handle, e))?;
                let unswept = unswept.map_or_else(String::new, |why| {
                    format!(" Its vectors go with the worker's next round ({why}).")
                });
                format!(
                    "Forgot {handle}. `claude-mem forget --undo '{handle}'` brings it back.{unswept}"
                )
            }
        };
        Ok(Said::text(said))
    }
}

/// That meaning had no say, where it should have had.
fn by_words_alone(found: &Found) -> String {
    let why = found.without_vectors.as_ref();
    why.map_or_else(String::new, |why| {
        format!("Searched by words alone ({why}).\n")
    })
}

/// The one project that is called so.
fn named_project(reads: &Reads<'_>, name: &str) -> Result<ProjectId, String> {
    match called(reads, name).map_err(trouble)? {
        Called::One(id) => Ok(id),
        Called::Several(several) => Err(format!(
            "Several projects are called {}; say which by its number: {}.",
            quote::line(name, 60),
            quote::line(&numbers(&several), 600)
        )),
        Called::Nobody => Err(format!(
            "There is no project called {}; leave it out for this one, or say * to search all.",
            quote::line(name, 60)
        )),
    }
}

fn kinds(named: Option<&str>) -> Result<Vec<RowKind>, String> {
    Ok(match named {
        None | Some("") => Vec::new(),
        Some("observations") => vec![RowKind::Observation],
        Some("sessions") => vec![RowKind::Summary],
        Some("prompts") => vec![RowKind::Prompt, RowKind::Message],
        Some(other) => {
            return Err(format!(
                "type is observations, sessions or prompts, not {other:?}."
            ));
        }
    })
}

fn not_there(handle: Handle, error: StoreError) -> String {
    match error {
        StoreError::NoSuchRow { .. } => format!("There is no {handle}."),
        error => trouble(error),
    }
}

/// What is wrong with the store, as a sentence for the agent.
#[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn trouble(error: StoreError) -> String {
    format!("Memory cannot be read: {error}. `claude-mem doctor` finds out why.")
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
