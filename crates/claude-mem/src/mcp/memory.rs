//! The memory tools, implemented on the database.

use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::arguments::{ForgetArgs, GetArgs, OpenItemsArgs, SaveArgs, SearchArgs, TimelineArgs};
use super::caller::McpCaller;
use super::details::details;
use super::fetched::FetchedRows;
use super::lines::{self, RowFormatter};
use super::open_items;
use super::row_lookup::{current_row, find_named_project, missing_row_text, store_error_text};
use super::tools::ToolOutput;
use super::{Toolbox, schema};
use claude_mem_capture::saved_text::SavedTextMask;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::memory::ObservationType;
use claude_mem_core::paths::DataDir;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_recall::manual_edits;
use claude_mem_recall::manual_edits::{ClientSession, FeedbackSource, ManualNote};
use claude_mem_recall::quote;
use claude_mem_search::timeline::{TimelineRequest, timeline};
use claude_mem_search::{
    ProjectScope, ResultOrder, SearchEngine, SearchRequest, SearchResponse, TextEncoder, date_arg,
};
use claude_mem_store::{
    FeedbackSignal, Inbox, NewFeedback, PageRequest, RowId, RowKind, Store, StoreError, StoreReader,
};

/// Default rows per search reply.
const ROWS: u32 = 10;
/// Maximum rows per search reply.
const ROWS_MAX: u32 = 50;
/// How long ago an agent must have been at work in a session that it calls from.
const CURRENT_SESSION_MS: i64 = 60 * 60 * 1_000;
/// The reply of all tools while there is no database.
const NOTHING_YET: &str = "No memories stored yet.";

/// The tools and their environment: data directory, project, session and settings.
#[allow(missing_debug_implementations, reason = "an encoder has nothing to print")]
pub(crate) struct MemoryTools<'a> {
    pub dir: DataDir,
    pub project: Option<ProjectHint>,
    /// The caller, for the feedback log and the session of a saved note.
    pub caller: McpCaller,
    pub zone: TimeZone,
    pub now: fn() -> Millis,
    pub encoder: &'static dyn TextEncoder,
    /// Whether vector search is enabled, read from the current settings.
    pub vectors: &'a dyn Fn() -> bool,
    /// Whether the agent is invited to save memories itself.
    pub agent_notes: &'a dyn Fn() -> bool,
    /// The vocabulary of types, read from the current settings.
    pub vocabulary: &'a dyn Fn() -> Vocabulary,
}

impl Toolbox for MemoryTools<'_> {
    fn instructions(&self) -> String {
        let invitation = if (self.agent_notes)() { schema::SAVE_INVITATION } else { "" };
        format!("{}{invitation}", schema::INSTRUCTIONS)
    }

    fn introduce(&mut self, params: &Value) {
        self.caller.introduce(params);
    }

    fn begin_call(&mut self, params: &Value) {
        self.caller.begin_call(params);
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<ToolOutput, String> {
        let said = self.dispatch(tool, arguments);
        match said {
            // An empty memory is not an error.
            Err(why) if why == NOTHING_YET => Ok(ToolOutput::text(why)),
            said => said,
        }
    }
}

impl MemoryTools<'_> {
    /// Runs one tool; an unknown name returns the instructions.
    fn dispatch(&self, tool: &str, arguments: &Value) -> Result<ToolOutput, String> {
        match tool {
            "search" => self.search(&parse_arguments(arguments)?),
            "timeline" => self.timeline(&parse_arguments(arguments)?),
            "get_observations" => self.get(&parse_arguments(arguments)?),
            "save_memory" => self.save(&parse_arguments(arguments)?),
            "forget" => self.forget(&parse_arguments(arguments)?),
            "open_items" => self.open_items(&parse_arguments(arguments)?),
            _ => Ok(ToolOutput::text(self.instructions())),
        }
    }
}

/// Deserializes a tool's arguments.
fn parse_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    serde_json::from_value(arguments.clone()).map_err(|e| format!("Invalid arguments: {e}."))
}

impl MemoryTools<'_> {
    fn open_items(&self, args: &OpenItemsArgs) -> Result<ToolOutput, String> {
        let mut text = open_items::change(&self.dir.db(), args, (self.now)())?;
        let store = self.open()?;
        let reads = store.read();
        let project = match args.project.as_deref() {
            Some("*") => None,
            Some(name) => Some(find_named_project(&reads, name)?),
            None => Some(self.own_project(&reads)?.ok_or("There is no current project; name one.")?),
        };
        text.push_str(&open_items::list(&reads, project, &self.zone)?);
        Ok(ToolOutput::text(text))
    }

    /// Opens the store for reading, migrating an older database.
    fn open(&self) -> Result<Store, String> {
        match Store::open_read_only(&self.dir.db()) {
            Err(StoreError::Older { .. }) => Store::open(&self.dir.db()).map_err(store_error_text),
            Err(StoreError::Missing) => Err(NOTHING_YET.to_owned()),
            store => store.map_err(store_error_text),
        }
    }

    fn engine(&self) -> Result<SearchEngine, String> {
        let store = self.open()?;
        Ok(if (self.vectors)() {
            SearchEngine::open(store, &self.dir.vectors_db(), self.encoder)
        } else {
            SearchEngine::lexical_only(store, self.encoder)
        })
    }

    /// The scope of a search: the named project, `*` for all, or the client's project first.
    fn project_scope(&self, reads: &StoreReader<'_>, named: Option<&str>) -> Result<ProjectScope, String> {
        match named {
            Some("*") => Ok(ProjectScope::All),
            Some(name) => Ok(ProjectScope::ProjectOnly(find_named_project(reads, name)?)),
            None => {
                Ok(self.own_project(reads)?.map_or(ProjectScope::UnknownProject, ProjectScope::ProjectFirst))
            }
        }
    }

    /// The client's session id. For an agent that does not tell it, the session in which it was last seen at
    /// work in this project; `None` also if that cannot be read.
    fn session(&self) -> Option<String> {
        if let Some(session) = self.caller.session() {
            return Some(session.to_owned());
        }
        let hint = self.project.as_ref().filter(|_| self.caller.is_known())?;
        let store = self.open().ok()?;
        let reads = store.read();
        let project = self.own_project(&reads).ok()?;
        let since = Millis((self.now)().0 - CURRENT_SESSION_MS);
        reads.current_session_of_client(self.caller.client(), hint, project, since).ok()?.map(|id| id.0)
    }

    fn own_project(&self, reads: &StoreReader<'_>) -> Result<Option<ProjectId>, String> {
        self.project
            .as_ref()
            .map_or(Ok(None), |hint| reads.project_by_keys(&hint.keys).map_err(store_error_text))
    }

    fn search(&self, args: &SearchArgs) -> Result<ToolOutput, String> {
        let mut engine = self.engine()?;
        let now = (self.now)();
        let read = |text: &Option<String>, as_person: date_arg::TimeParser| match text {
            None => Ok(None),
            Some(text) => as_person(text, now, &self.zone)
                .map(Some)
                .ok_or_else(|| format!("{text:?} is not a date; try 2026-11-15 or 3d.")),
        };
        let mut ask = SearchRequest::new(&args.query, now);
        ask.zone = self.zone.clone();
        ask.project_scope = self.project_scope(&engine.reads(), args.project.as_deref())?;
        ask.kinds = parse_kinds(args.r#type.as_deref())?;
        let types = args.obs_type.as_deref().unwrap_or_default().split(',').map(str::trim);
        ask.types = types.filter(|name| !name.is_empty()).map(ObservationType::named).collect();
        ask.since = read(&args.dateStart, date_arg::parse_time)?;
        ask.until = read(&args.dateEnd, date_arg::parse_time_end)?;
        ask.page =
            PageRequest { offset: args.offset.unwrap_or(0), limit: args.limit.unwrap_or(ROWS).min(ROWS_MAX) };
        ask.order = args.orderBy.map_or(ResultOrder::Relevance, ResultOrder::from);
        let found = engine.search(&ask).map_err(store_error_text)?;
        let lines = self.row_formatter(&engine.reads())?;
        let about = lines::scope_note(&found.scope, found.results.is_empty()) + &lexical_only_note(&found);
        let structure = json!({
            "results": lines.rows_json(&found.results), "hasMore": found.has_more, "note": about.trim_end(),
        });
        let text = lines.response_text(&found, args.offset.unwrap_or(0)) + &lexical_only_note(&found);
        Ok(ToolOutput::text(text).with_structure(structure))
    }

    fn row_formatter(&self, reads: &StoreReader<'_>) -> Result<RowFormatter<'_>, String> {
        Ok(RowFormatter { zone: &self.zone, own: self.own_project(reads)? })
    }

    fn timeline(&self, args: &TimelineArgs) -> Result<ToolOutput, String> {
        let (anchor, mut text) = match (&args.anchor, &args.query) {
            (Some(id), _) => (id.handle()?, String::new()),
            (None, Some(query)) => match self.best_match(query, args.project.as_deref())? {
                (Some(best), said) => (best, said),
                (None, said) => return Ok(ToolOutput::text(said)),
            },
            (None, None) => return Err("timeline needs an anchor (an id) or a query.".to_owned()),
        };
        let store = self.open()?;
        let (anchor, moved) = current_row(&store.read(), anchor)?;
        text.push_str(&moved);
        let around = TimelineRequest {
            anchor,
            before: args.depth_before.unwrap_or(5).min(50) as usize,
            after: args.depth_after.unwrap_or(5).min(50) as usize,
            kinds: Vec::new(),
            types: Vec::new(),
            since: None,
            until: None,
            all_projects: false,
            include_wrong: false,
        };
        let items = timeline(&store.read(), &around)
            .map_err(store_error_text)?
            .ok_or(format!("{anchor} does not exist."))?;
        let lines = self.row_formatter(&store.read())?;
        let foreign = items
            .iter()
            .find(|item| item.id == anchor)
            .filter(|item| !item.user_level && item.project_id != lines.own);
        if foreign.is_some() && text.is_empty() {
            text.push_str("From another project:\n");
        }
        for item in &items {
            text.push_str(if item.id == anchor { "> " } else { "  " });
            text.push_str(&lines.line(item));
        }
        let structure = json!({ "anchor": anchor.to_string(), "results": lines.rows_json(&items) });
        Ok(ToolOutput::text(text).with_structure(structure))
    }

    /// The best match for a query, and a note on how well it matches.
    fn best_match(&self, query: &str, project: Option<&str>) -> Result<(Option<RowId>, String), String> {
        let mut engine = self.engine()?;
        let mut ask = SearchRequest::new(query, (self.now)()).page(PageRequest::first(1));
        ask.project_scope = self.project_scope(&engine.reads(), project)?;
        ask.zone = self.zone.clone();
        let found = engine.search(&ask).map_err(store_error_text)?;
        let best = found.results.first().map(|item| item.id);
        let about = lines::scope_note(&found.scope, best.is_none()) + &lexical_only_note(&found);
        Ok((best, about))
    }

    fn get(&self, args: &GetArgs) -> Result<ToolOutput, String> {
        if args.ids.is_empty() {
            return Err("Pass the ids to fetch, as returned by search: [\"#12\", \"S3\"].".to_owned());
        }
        let store = self.open()?;
        let lines = self.row_formatter(&store.read())?;
        let mut told = FetchedRows::default();
        for id in &args.ids {
            match id.handle() {
                Ok(asked) => match current_row(&store.read(), asked) {
                    Ok((handle, _)) if told.is_repeat(handle) => {}
                    Ok((handle, moved)) => {
                        let details = details(&store.read(), handle, &lines).map_err(store_error_text)?;
                        told.add(handle, details.map(|text| moved + &text));
                    }
                    Err(withdrawn) => told.notices.push(withdrawn),
                },
                Err(_) => told.invalid_ids.push(quote::line(&id.to_string(), 40)),
            }
        }
        drop(store);
        if told.is_empty() {
            return Err(told.text());
        }
        self.record_fetched(&told.found);
        let structure = json!({
            "results": told.texts, "missing": told.missing, "left_out": told.left_out,
        });
        Ok(ToolOutput::text(told.text()).with_structure(structure))
    }

    /// Records that rows were fetched, which raises their rank a little. A failure is logged, not
    /// returned.
    fn record_fetched(&self, handles: &[RowId]) {
        if handles.is_empty() {
            return;
        }
        let at = (self.now)();
        let (client, session) = (self.caller.client(), self.session().unwrap_or_default());
        let noted = Inbox::open_short_wait(&self.dir.db()).and_then(|mut inbox| {
            inbox.write(|tx| {
                for (rank, handle) in handles.iter().enumerate() {
                    tx.record_feedback(&NewFeedback {
                        kind: handle.kind,
                        row_id: handle.row_id,
                        client,
                        session: &session,
                        agent_id: "",
                        signal: FeedbackSignal::Fetched,
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
            let line = format!("failed to record fetched rows: {e}");
            claude_mem_capture::hook_log::log_warning(&self.dir, at.micros(), &line);
        }
    }

    fn save(&self, args: &SaveArgs) -> Result<ToolOutput, String> {
        self.dir.create().map_err(|e| format!("Cannot create the data directory: {e}."))?;
        let (mut store, now) = (Store::open(&self.dir.db()).map_err(store_error_text)?, (self.now)());
        let project = match (&args.project, &self.project) {
            (Some(name), _) => Some(find_named_project(&store.read(), name)?),
            (None, Some(hint)) => {
                Some(store.write(|tx| tx.ensure_project(hint, now)).map_err(store_error_text)?)
            }
            (None, None) => None,
        };
        if project.is_none() && !args.global {
            return Err("There is no current project; name one, or set global.".to_owned());
        }
        let vocabulary = (self.vocabulary)();
        let session = self.session();
        let words = SavedTextMask::load(&self.dir)
            .map_err(|e| format!("Not saved: cannot read which words are private: {e}."))?;
        let (text, title) = (words.mask(&args.text), args.title.as_deref().map(|title| words.mask(title)));
        let note = ManualNote {
            text: &text,
            title: title.as_deref(),
            kind: args.r#type.as_deref(),
            project,
            global: args.global,
            by_agent: true,
            session: session.as_deref().map(|id| ClientSession { client: self.caller.client(), id }),
            vocabulary: Some(&vocabulary),
        };
        let id = manual_edits::save(&mut store, &note, now).map_err(|e| format!("Not saved: {e}."))?;
        let handle = RowId::new(RowKind::Observation, id.0);
        Ok(ToolOutput::text(if args.global {
            format!(
                "Saved as {handle} for this project and proposed for every project: \
                 it takes effect there once the user runs `claude-mem preferences --confirm '{handle}'`."
            )
        } else {
            format!("Saved as {handle}.")
        }))
    }

    fn forget(&self, args: &ForgetArgs) -> Result<ToolOutput, String> {
        let (handle, now) = (args.id.handle()?, (self.now)());
        let mut store = Store::open(&self.dir.db()).map_err(store_error_text)?;
        let (handle, moved) = current_row(&store.read(), handle)?;
        let said = match args.mark {
            Some(judgement) => {
                let session = self.session().unwrap_or_default();
                let from = FeedbackSource { client: self.caller.client(), session: &session, place: "mcp" };
                if !judgement.applies_to(handle.kind) {
                    let kind = handle.kind.as_str();
                    return Err(format!(
                        "{handle} is a {kind}, which cannot be marked as wrong; omit mark to forget it."
                    ));
                }
                let back = manual_edits::mark(&mut store, handle, judgement, &from, now)
                    .map_err(|e| missing_row_text(handle, e))?;
                let told = if back { " It is no longer marked as wrong." } else { "" };
                format!("Marked {handle} as {}.{told}", judgement.signal().as_str())
            }
            None => {
                let vectors = self.dir.vectors_db();
                let unswept = manual_edits::forget(&mut store, &vectors, &[handle], now)
                    .map_err(|e| missing_row_text(handle, e))?;
                let unswept = unswept
                    .map_or_else(String::new, |why| format!(" The worker will remove its vectors ({why})."));
                format!("Forgot {handle}. `claude-mem forget --undo '{handle}'` restores it.{unswept}")
            }
        };
        Ok(ToolOutput::text(moved + &said))
    }
}

/// A note that vector search failed, or an empty string.
fn lexical_only_note(found: &SearchResponse) -> String {
    let why = found.vectors_unavailable.as_ref();
    why.map_or_else(String::new, |why| format!("Keyword search only ({why}).\n"))
}

/// The row kinds behind the `type` argument.
fn parse_kinds(named: Option<&str>) -> Result<Vec<RowKind>, String> {
    Ok(match named {
        None | Some("") => Vec::new(),
        Some("observations") => vec![RowKind::Observation],
        Some("sessions") => vec![RowKind::Account, RowKind::Summary],
        Some("prompts") => vec![RowKind::Prompt, RowKind::Message],
        Some(other) => {
            return Err(format!("type must be observations, sessions or prompts, not {other:?}."));
        }
    })
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
