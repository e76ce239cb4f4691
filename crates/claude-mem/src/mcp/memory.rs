//! The six tools, carried out on the database.

use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::details::details;
use super::tools::Said;
use super::{Toolbox, schema};
use crate::clock::Millis;
use crate::context::quote;
use crate::context::render::{TITLE_CHARS_MAX, day, mark};
use crate::hook::event::ProjectHint;
use crate::ids::ProjectId;
use crate::memory::ObservationType;
use crate::paths::DataDir;
use crate::remember::{self, From, Judgement, Note};
use crate::search::timeline::{Around, timeline};
use crate::search::{Ask, Encoder, Engine, Fit, Found, Handle, Item, Whose, dates};
use crate::store::{Feedback, Page, Reads, RowKind, Signal, Store, StoreError};

/// Rows of one answer, unless the agent says otherwise.
const ROWS: u32 = 10;
const ROWS_MAX: u32 = 50;
const DETAILS_MAX: usize = 25;

/// What surrounds the server: whose memory, in which project, for which session.
#[allow(
    missing_debug_implementations,
    reason = "an encoder has nothing to print"
)]
pub struct Memory {
    pub dir: DataDir,
    pub project: Option<ProjectHint>,
    /// The client's id of the session, for the ledger.
    pub session: String,
    pub zone: TimeZone,
    pub now: fn() -> Millis,
    pub encoder: &'static dyn Encoder,
}

impl Toolbox for Memory {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Said, String> {
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

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[allow(
    non_snake_case,
    reason = "the names that agents know these parameters by"
)]
struct SearchArgs {
    query: String,
    limit: Option<u32>,
    offset: u32,
    project: Option<String>,
    r#type: Option<String>,
    obs_type: Option<String>,
    dateStart: Option<String>,
    dateEnd: Option<String>,
    orderBy: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TimelineArgs {
    anchor: Option<Id>,
    query: Option<String>,
    depth_before: Option<usize>,
    depth_after: Option<usize>,
    project: Option<String>,
}

#[derive(Debug, Deserialize)]
struct GetArgs {
    ids: Vec<Id>,
}

#[derive(Debug, Deserialize)]
struct SaveArgs {
    text: String,
    title: Option<String>,
    project: Option<String>,
    r#type: Option<String>,
    #[serde(default)]
    global: bool,
}

#[derive(Debug, Deserialize)]
struct ForgetArgs {
    id: Id,
    mark: Option<Judgement>,
}

/// `12`, `"12"`, `"#12"`, `"S3"`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

impl Id {
    fn handle(&self) -> Result<Handle, String> {
        let text = match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        };
        text.parse().map_err(|e| format!("{e}."))
    }
}

impl Memory {
    fn open(&self) -> Result<Store, String> {
        match Store::open_read_only(&self.dir.db()) {
            Err(StoreError::Older { .. }) => Store::open(&self.dir.db()).map_err(trouble),
            Err(StoreError::Missing) => Err("Nothing is remembered yet.".to_owned()),
            store => store.map_err(trouble),
        }
    }

    fn engine(&self) -> Result<Engine, String> {
        Ok(Engine::open(
            self.open()?,
            &self.dir.vectors_db(),
            self.encoder,
        ))
    }

    /// The client's project, or the one that is named; `*` is all.
    fn whose(&self, reads: &Reads<'_>, named: Option<&str>) -> Result<Whose, String> {
        match named {
            Some("*") => Ok(Whose::All),
            Some(name) => match reads.projects_named(name).map_err(trouble)?.first() {
                Some(project) => Ok(Whose::ProjectOnly(project.id)),
                None => Err(format!(
                    "There is no project called {name}; leave it out for this one, or say * for all."
                )),
            },
            None => Ok(self
                .own_project(reads)?
                .map_or(Whose::All, Whose::ProjectFirst)),
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
        type Read = fn(&str, Millis, &TimeZone) -> Option<Millis>;
        let read = |text: &Option<String>, as_person: Read| match text {
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
        let mut found = engine.search(&ask).map_err(trouble)?;
        match args.orderBy.as_deref() {
            Some("date_desc") => found
                .results
                .sort_by_key(|item| std::cmp::Reverse(item.created_at)),
            Some("date_asc") => found.results.sort_by_key(|item| item.created_at),
            _ => {}
        }
        Ok(self.index(&found, args.offset))
    }

    fn index(&self, found: &Found, offset: u32) -> Said {
        let data =
            json!({ "scope": found.scope, "results": found.results, "hasMore": found.has_more });
        if found.results.is_empty() {
            return Said::with("Nothing is remembered that fits.".to_owned(), data);
        }
        let mut text = match (found.scope.fit, &found.scope.project) {
            (Fit::Recent, _) => "Nothing matches; the latest memories instead:\n".to_owned(),
            (Fit::Broader, _) => "Nothing matches all of it; these match a part:\n".to_owned(),
            _ if found.scope.from == crate::search::ask::From::OtherProjects => {
                "Nothing in this project; from other projects:\n".to_owned()
            }
            _ => String::new(),
        };
        for item in &found.results {
            text.push_str(&self.line(item));
        }
        if found.has_more {
            let next = offset + found.results.len() as u32;
            text.push_str(&format!("More with offset {next}.\n"));
        }
        Said::with(text, data)
    }

    fn line(&self, item: &Item) -> String {
        let kind = item
            .observation_type
            .as_ref()
            .map_or("", |kind| kind.as_str());
        let files: Vec<&str> = item.files.iter().take(2).map(String::as_str).collect();
        let mut line = format!(
            "{} {} {} {} (~{})",
            item.id,
            day(item.created_at, &self.zone),
            mark(item.kind, kind),
            quote::line(&item.title, TITLE_CHARS_MAX),
            item.read_tokens
        );
        if !files.is_empty() {
            line.push_str(&format!(" [{}]", quote::line(&files.join(", "), 80)));
        }
        if let Some(newer) = item.replaced_by {
            line.push_str(&format!(" replaced by {newer}"));
        }
        line.push('\n');
        line
    }

    fn timeline(&self, args: &TimelineArgs) -> Result<Said, String> {
        let anchor = match (&args.anchor, &args.query) {
            (Some(id), _) => id.handle()?,
            (None, Some(query)) => {
                let mut engine = self.engine()?;
                let mut ask = Ask::new(query, (self.now)()).page(Page::first(1));
                ask.whose = self.whose(&engine.reads(), args.project.as_deref())?;
                let found = engine.search(&ask).map_err(trouble)?;
                found
                    .results
                    .first()
                    .map(|item| item.id)
                    .ok_or("Nothing is remembered that fits.")?
            }
            (None, None) => return Err("timeline needs an anchor (an id) or a query.".to_owned()),
        };
        let store = self.open()?;
        let around = Around {
            anchor,
            before: args.depth_before.unwrap_or(5).min(50),
            after: args.depth_after.unwrap_or(5).min(50),
            kinds: Vec::new(),
        };
        let items = timeline(&store.read(), &around)
            .map_err(trouble)?
            .ok_or(format!("There is no {anchor}."))?;
        let mut text = String::new();
        for item in &items {
            text.push_str(if item.id == anchor { "> " } else { "  " });
            text.push_str(&self.line(item));
        }
        Ok(Said::with(
            text,
            json!({ "anchor": anchor, "items": items }),
        ))
    }

    fn get(&self, args: &GetArgs) -> Result<Said, String> {
        if args.ids.is_empty() {
            return Err(
                "Name the ids to fetch, as search gives them: [\"#12\", \"S3\"].".to_owned(),
            );
        }
        let store = self.open()?;
        let (mut text, mut found, mut missing) = (String::new(), Vec::new(), Vec::new());
        for id in args.ids.iter().take(DETAILS_MAX) {
            let handle = id.handle()?;
            match details(&store.read(), handle.kind, handle.row_id, &self.zone).map_err(trouble)? {
                Some(details) => {
                    text.push_str(&details);
                    text.push('\n');
                    found.push(handle);
                }
                None => missing.push(handle.to_string()),
            }
        }
        if !missing.is_empty() {
            text.push_str(&format!("Not there: {}.\n", missing.join(", ")));
        }
        if args.ids.len() > DETAILS_MAX {
            text.push_str(&format!("Only the first {DETAILS_MAX} are shown.\n"));
        }
        drop(store);
        self.note_fetched(&found)?;
        Ok(Said::text(text))
    }

    /// What was fetched was worth fetching: it counts a little from now on.
    fn note_fetched(&self, handles: &[Handle]) -> Result<(), String> {
        if handles.is_empty() {
            return Ok(());
        }
        let (mut store, at) = (Store::open(&self.dir.db()).map_err(trouble)?, (self.now)());
        let noted = store.write(|tx| {
            for (rank, handle) in handles.iter().enumerate() {
                tx.record_feedback(&Feedback {
                    kind: handle.kind,
                    row_id: handle.row_id,
                    client: "claude-code",
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
        });
        noted.map_err(trouble)
    }

    fn save(&self, args: &SaveArgs) -> Result<Said, String> {
        self.dir
            .create()
            .map_err(|e| format!("The data directory cannot be made: {e}."))?;
        let (mut store, now) = (Store::open(&self.dir.db()).map_err(trouble)?, (self.now)());
        let project = match (&args.project, &self.project) {
            (Some(name), _) => store
                .read()
                .projects_named(name)
                .map_err(trouble)?
                .first()
                .map(|project| project.id),
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
        let note = Note {
            text: &args.text,
            title: args.title.as_deref(),
            kind: args.r#type.as_deref(),
            project,
            global: args.global,
            by_agent: true,
        };
        let id = remember::save(&mut store, &note, now).map_err(|e| format!("Not saved: {e}."))?;
        let handle = Handle {
            kind: RowKind::Observation,
            row_id: id.0,
        };
        Ok(Said::with(
            format!("Saved as {handle}."),
            json!({ "id": handle }),
        ))
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
                remember::mark(&mut store, kind, id, judgement, &from, now).map_err(trouble)?;
                format!("Marked {handle} as {}.", judgement.signal().as_str())
            }
            None => {
                // What is left of its vectors goes with the worker's next round.
                remember::forget(&mut store, &self.dir.vectors_db(), &[handle.key()], now)
                    .map_err(trouble)?;
                format!("Forgot {handle}. `claude-mem forget --undo {handle}` brings it back.")
            }
        };
        Ok(Said::text(said))
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

/// What is wrong with the store, as a sentence for the agent.
#[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn trouble(error: StoreError) -> String {
    format!("Memory cannot be read: {error}. `claude-mem doctor` finds out why.")
}
