//! Every bound in one place, unit last, relations checked when it compiles.

/// Stdin of one hook. Longer input is cut, and the event is marked as cut.
pub const HOOK_INPUT_BYTES_MAX: usize = 16 << 20;
/// What we keep of one tool result, before the head-and-tail cut says otherwise.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 64 << 10;
/// What we keep of one tool's input.
pub const TOOL_INPUT_BYTES_MAX: usize = 64 << 10;
/// What we keep of one prompt or one assistant message.
pub const MESSAGE_BYTES_MAX: usize = 128 << 10;
/// How far beyond a cut secrets are looked for, so that none is cut in two.
pub const REDACT_MARGIN_BYTES: usize = 8 << 10;
/// Room for the words that say how much was left out.
pub const ELISION_BYTES_MAX: usize = 64;
/// Clients cut hook output at 10,000 characters; this is our wall.
pub const CONTEXT_CHARS_MAX: usize = 9_500;

/// Parts of a tool's input or output: numbers, strings, lists, objects.
pub const TOOL_VALUES_MAX: usize = 4_096;
/// How deep a tool's input or output may be nested. The readers of the queue and the spool go
/// deeper than this and the event around it.
pub const TOOL_DEPTH_MAX: usize = 64;
/// One string of a tool's input or output.
pub const TOOL_STRING_BYTES_MAX: usize = 16 << 10;
/// The name of one of its fields.
pub const TOOL_NAME_BYTES_MAX: usize = 256;
/// A short field of a payload: an id, a name, a path. A longer one is none.
pub const FIELD_BYTES_MAX: usize = 4 << 10;
/// How long a hook waits for the next byte of its input,
pub const STDIN_IDLE_MS: u64 = 2_000;
/// for all of it,
pub const STDIN_MS: u64 = 5_000;
/// for the first byte where a person may have meant the everyday command of that name,
pub const STDIN_MAYBE_MS: u64 = 300;
/// and for a client that does not take its answer.
pub const STDOUT_MS: u64 = 1_000;
/// How much of a transcript's end is read for an agent's last words.
pub const TRANSCRIPT_TAIL_BYTES: u64 = 256 << 10;
/// How much of its beginning is read for what an agent was asked.
pub const TRANSCRIPT_FIRST_BYTES: u64 = 4 << 10;
/// One spooled event.
pub const SPOOL_FILE_BYTES_MAX: u64 = 4 << 20;
/// Spooled events that go into the queue in one transaction,
pub const SPOOL_BATCH_MAX: usize = 64;
/// and how long a hook may go on with that.
pub const SPOOL_PER_HOOK_MS: u64 = 20;
/// Spooled events that are sorted at once.
pub const SPOOL_LIST_MAX: usize = 1_024;
/// Directories above the working one in which a repository is looked for.
pub const GIT_PARENTS_MAX: usize = 64;
/// `config`, `HEAD` and the like.
pub const GIT_FILE_BYTES_MAX: u64 = 64 << 10;
/// What the kernel takes of a socket's path, and some room.
pub const SOCKET_PATH_BYTES_MAX: usize = 100;
/// One value of a log line.
pub const LOG_VALUE_BYTES_MAX: usize = 300;
/// All logs, unless a setting says otherwise.
pub const LOG_BYTES_MAX: u64 = 32 << 20;
/// Days that logs are kept, unless a setting says otherwise.
pub const LOG_DAYS_MAX: u32 = 14;

/// How long a worker may hold an event before another may take it.
pub const LEASE_SECONDS: i64 = 120;
/// Failures after which an event is dead: kept, listed, retried only by hand.
pub const ATTEMPTS_MAX: u32 = 3;
/// Leases that may run out over one event before it counts as the cause.
pub const CRASHES_MAX: u32 = 20;
/// Workers that may die over an event before its episode is not shown to a model any more,
pub const CRASHES_MODEL_MAX: u32 = 3;
/// and before it is not made anything of: then the words that were said are all that is kept.
pub const CRASHES_DISTIL_MAX: u32 = 6;
const _: () = assert!(CRASHES_MODEL_MAX < CRASHES_DISTIL_MAX && CRASHES_DISTIL_MAX < CRASHES_MAX);
/// The longest that a failed event waits for its next try.
pub const BACKOFF_SECONDS_MAX: i64 = 300;

/// Events of one episode. A longer turn is told in several.
pub const EPISODE_EVENTS_MAX: usize = 60;
/// What one episode's events take in the queue.
pub const EPISODE_BYTES_MAX: u64 = 512 << 10;
/// How long the first event of an open turn waits for its end.
pub const EPISODE_SECONDS_MAX: i64 = 600;
/// How long the end of a turn waits for stragglers: hooks that were started before it, and the
/// last lines of the transcript.
pub const STOP_GRACE_MS: i64 = 500;

/// The worker looks for work at least so often, should a wake-up get lost.
pub const POLL_SECONDS: u64 = 30;
/// A moment: before a busy store is asked again.
pub const BUSY_PAUSE_MS: u64 = 100;
/// How long the worker waits for writers to end before it replaces a damaged store.
pub const GATE_SECONDS: u64 = 10;
/// Rows of a damaged store that go into the next one together.
pub const SALVAGE_BATCH_ROWS: usize = 64;
/// How often what grows slowly is swept.
pub const SWEEP_SECONDS: u64 = 86_400;
/// How long marks of turns and sessions stay at least, and where transcripts were left that are
/// gone; a resumed session is rarely older.
pub const MARK_DAYS_MAX: i64 = 90;
/// How long it is known what was shown to whom,
pub const LEDGER_DAYS_MAX: i64 = 365;
/// and what single calls of a model have cost.
pub const SPEND_DAYS_MAX: i64 = 400;
/// How long a database that was replaced is kept, and how many of them.
pub const SET_ASIDE_DAYS_MAX: i64 = 30;
pub const SET_ASIDE_MAX: usize = 4;
/// How long what a process was making may stand still before it counts as left behind.
pub const LEFT_BEHIND_SECONDS: i64 = 3_600;
/// Rows that are swept away between two commits: hooks wait no longer.
pub const SWEEP_ROWS: u32 = 64;

/// One request to the worker over its socket,
pub const REQUEST_BYTES_MAX: u64 = 64 << 10;
/// and the answer to a hook.
pub const REPLY_BYTES_MAX: usize = 64 << 10;
/// What of a prompt is asked about: escaped, it fits into one request.
pub const RECALL_CHARS_MAX: usize = 8_000;
/// Of a longer one this much of its beginning; the rest is its end.
pub const RECALL_HEAD_CHARS: usize = 2_500;
/// How long a hook waits for the worker's answer before it looks for itself.
pub const RECALL_WORKER_MS: u64 = 60;
/// and until that is noted.
pub const RECALL_NOTED_MS: u64 = 90;
/// how long it may take to say it,
pub const REQUEST_SECONDS_MAX: u64 = 5;
/// and how many are answered at once.
pub const REQUESTS_AT_ONCE_MAX: usize = 64;
/// How long each step of an orderly end may take, and all of it before it is forced.
pub const END_STEP_SECONDS: u64 = 4;
pub const END_SECONDS: u64 = 12;
/// How long whoever starts a worker waits for it to be ready,
pub const READY_SECONDS: u64 = 20;
/// and to be ready after a migration: one of 100,000 observations took longer than that.
pub const MIGRATED_SECONDS: u64 = 900;

/// How long hooks wait before one starts a worker again.
pub const START_AGAIN_SECONDS: u64 = 10;
/// Rounds of the worker's upkeep,
pub const UPKEEP_SECONDS: u64 = 60;
/// How long what was opened to look something up stays open.
pub const WARM_SECONDS: u64 = 30;
/// How many of them stay open; who finds none opens one for the moment.
pub const WARM_ENGINES_MAX: usize = 3;
/// of which some do more: ending children that lost their worker,
pub const REAP_SECONDS: u64 = 300;
/// looking at every page of the store,
pub const CHECK_SECONDS: u64 = 86_400;
/// a backup, if something changed.
pub const BACKUP_SECONDS: i64 = 3_600;
/// How long settled events stay in the queue, for those who look.
pub const DONE_SECONDS_MAX: i64 = 3_600;
/// A session that was not heard of for so long, and did not end, was interrupted.
pub const SESSION_SILENT_SECONDS_MAX: i64 = 86_400;
/// How long what was forgotten can be brought back.
pub const FORGOTTEN_DAYS_MAX: i64 = 30;
/// How long nobody must have come before the store is rewritten to be smaller,
pub const VACUUM_IDLE_SECONDS: u64 = 600;
/// and how much of it must be unused.
pub const VACUUM_BYTES_MIN: u64 = 16 << 20;
pub const VACUUM_PERCENT_MIN: u64 = 25;

/// What is read of a transcript at once,
pub const TRANSCRIPT_BUFFER_BYTES: usize = 64 << 10;
/// and its longest line of use.
pub const TRANSCRIPT_LINE_BYTES_MAX: usize = 16 << 20;
/// Lines in which a transcript must say whose it is.
pub const TRANSCRIPT_HEAD_LINES_MAX: usize = 64;
/// Calls of one turn that wait for their results.
pub const TRANSCRIPT_CALLS_MAX: usize = 256;
/// Private turns of one session that are remembered one by one.
pub const TRANSCRIPT_PRIVATE_MAX: usize = 64;
/// Events from a transcript that go into the queue together.
pub const WITNESS_BATCH_MAX: usize = 32;
/// How long a session whose transcript cannot be read is not given up.
pub const UNHEARD_SECONDS_MAX: i64 = 7 * 86_400;
/// Sessions without an end that are looked at when another one begins.
pub const WITNESS_SESSIONS_MAX: usize = 16;
/// How far a session's first hook may lag behind its first line.
pub const WITNESS_MARGIN_SECONDS: i64 = 5;

/// Memories of a session that a new one of it is compared with.
pub const SIMILAR_ROWS_MAX: u32 = 100;
/// Decisions of a project that a new one may take the place of.
pub const REPLACEABLE_ROWS_MAX: u32 = 300;

/// Rows of another store that are taken in between two commits: hooks wait no longer.
pub const IMPORT_BATCH_ROWS: usize = 16;
/// Episodes of a transcript that wait to be stored together; one is the rule.
pub const IMPORT_EPISODES_MAX: usize = 16;
/// What readers of transcripts may be ahead of the store.
pub const IMPORT_AHEAD_MAX: usize = 8;
/// Episodes of transcripts, of one session or of several, that are stored in one transaction, and
/// places up to which transcripts were read.
pub const IMPORT_BATCH_EPISODES: usize = 12;
pub const IMPORT_BATCH_PARTS: usize = 64;
/// Rows of the full-text index that one statement brings: a power of two.
pub const TEXTS_AT_ONCE_MAX: usize = 64;
const _: () = assert!(TEXTS_AT_ONCE_MAX.is_power_of_two());
/// Pages of the write-ahead log (16 MB) while much is written.
pub const BULK_LOG_PAGES: u32 = 4_096;
/// Sessions that wait for or are with each thread that reads.
pub const IMPORT_SESSIONS_PER_THREAD: usize = 4;
/// Threads that read transcripts.
pub const IMPORT_THREADS_MAX: usize = 4;
/// How deep transcripts may lie below the folder that was named.
pub const IMPORT_DEPTH_MAX: usize = 6;
/// A transcript whose last line is younger than this may still be written to.
pub const IMPORT_LIVE_SECONDS: i64 = 600;
/// What is read of a transcript's end for the time of its last line.
pub const TRANSCRIPT_END_BYTES: u64 = 1 << 20;
/// The same of rows that are taken back.
pub const UNDO_BATCH_ROWS: u32 = 32;

/// Hooks leave the write-ahead log alone below this size; the worker checkpoints it.
pub const WAL_LEFT_BYTES_MAX: u64 = 512 << 10;
/// How long a hook waits for another writer where there is no other place for an event,
pub const HOOK_BUSY_MS: u64 = 250;
/// to note what it has shown, or to take in what waits,
pub const HOOK_NOTE_BUSY_MS: u64 = 30;
/// and until it may read: in a database with a log that is hardly ever denied.
pub const HOOK_READ_BUSY_MS: u64 = 20;
/// What looking something up may cost a hook, in time of its own: before a tool,
pub const HOOK_FILE_MS: u64 = 50;
/// with a prompt or after a failure,
pub const HOOK_MOMENT_MS: u64 = 150;
/// and at the start of a session.
pub const HOOK_START_MS: u64 = 400;
/// On a busy machine time of one's own comes slowly. This many times as long is the end.
pub const HOOK_TIMES_MAX: u32 = 10;
/// How long any other process waits for a writer.
pub const BUSY_MS: u64 = 5_000;

/// `settings.json`. A longer file is not one that a person wrote.
pub const SETTINGS_BYTES_MAX: usize = 1 << 20;
/// How long a change of it waits for another one to end.
pub const SETTINGS_LOCK_SECONDS_MAX: u64 = 5;

/// The body of an ordinary HTTP request.
pub const HTTP_BODY_BYTES_MAX: usize = 1 << 20;
/// and of one that brings an export.
pub const HTTP_IMPORT_BYTES_MAX: usize = 64 << 20;
/// How long a body may take to arrive.
pub const HTTP_BODY_SECONDS_MAX: u64 = 20;
/// Bodies beyond the ordinary that are held at a time.
pub const HTTP_LONG_BODIES_MAX: usize = 2;
/// From a request's first byte, or from the connection, to the end of its head.
pub const HTTP_HEAD_SECONDS_MAX: u64 = 10;
/// Connections to the HTTP server at a time; more wait in the kernel's line.
pub const HTTP_CONNECTIONS_MAX: usize = 128;
/// A connection on which nothing is said is closed. Streams say something before.
pub const HTTP_SILENCE_SECONDS_MAX: u64 = 120;
/// Requests that are worked on at a time; more wait their turn.
pub const HTTP_REQUESTS_AT_ONCE_MAX: usize = 8;
/// Of these, searches: they take the processor for longer, and what is quick must not wait for them.
pub const HTTP_SEARCHES_AT_ONCE_MAX: usize = 2;
/// Pages that look on at a time. Each holds a connection to the database.
pub const HTTP_STREAMS_MAX: usize = 16;
/// Rows of one kind that a stream tells one by one. Of more, the newest: the page looks them up.
pub const HTTP_STREAM_ROWS_MAX: usize = 200;
/// Rows of a kind that are read at a time for a page; the next when it has taken these.
pub const HTTP_STREAM_BATCH_ROWS: usize = 25;
/// So many of the last changes of rows are kept, for those who look on.
pub const ROW_CHANGES_MAX: i64 = 10_000;
/// How old the figures of the dashboard's charts may be. Less than a page waits before it asks again.
pub const HTTP_FIGURES_MS: u64 = 400;
/// How often a stream looks for what other processes have changed.
pub const HTTP_STREAM_LOOK_MS: u64 = 1_000;
/// A stream that has nothing to say says so this often, so that a dead reader is noticed.
pub const HTTP_STREAM_QUIET_SECONDS: u64 = 15;
/// How long one reader may take for what it was sent before it is let go.
pub const HTTP_STREAM_PATIENCE_SECONDS: u64 = 30;
/// How long a link of `claude-mem open` is good for.
pub const HTTP_LINK_SECONDS: u64 = 10 * 60;
/// Links that wait to be used, and pages that have a token. The oldest give way.
pub const HTTP_LINKS_MAX: usize = 16;
pub const HTTP_PAGES_MAX: usize = 64;
/// Rows of one answer where the caller says nothing.
pub const HTTP_ROWS: u32 = 50;
/// Rows of one answer at the most.
pub const HTTP_ROWS_MAX: u32 = 200;
/// Ids of one batch.
pub const HTTP_BATCH_MAX: usize = 200;
/// Rows of each kind in the account of one session.
pub const HTTP_SESSION_ROWS_MAX: u32 = 500;

const _: () = assert!(HTTP_ROWS <= HTTP_ROWS_MAX && HTTP_ROWS_MAX <= PAGE_ROWS_MAX);
const _: () = assert!(2 * HTTP_STREAM_QUIET_SECONDS < HTTP_SILENCE_SECONDS_MAX);
const _: () = assert!(HTTP_STREAM_BATCH_ROWS < HTTP_STREAM_ROWS_MAX);
const _: () = assert!(10 * HTTP_STREAM_ROWS_MAX as i64 <= ROW_CHANGES_MAX);
const _: () = assert!(HTTP_LONG_BODIES_MAX < HTTP_REQUESTS_AT_ONCE_MAX);
const _: () = assert!(HTTP_HEAD_SECONDS_MAX < HTTP_SILENCE_SECONDS_MAX);
const _: () = assert!(HTTP_STREAMS_MAX < HTTP_CONNECTIONS_MAX);
const _: () = assert!(2 * HTTP_SEARCHES_AT_ONCE_MAX <= HTTP_REQUESTS_AT_ONCE_MAX);
const _: () = assert!(HTTP_SESSION_ROWS_MAX <= PAGE_ROWS_MAX);

/// A client's settings; longer ones are nobody's,
pub const CLIENT_SETTINGS_BYTES_MAX: u64 = 4 << 20;
/// and its own state, which grows with every project.
pub const CLIENT_STATE_BYTES_MAX: u64 = 64 << 20;
/// How often a file that the client is writing is read again,
pub const CLIENT_FILE_TRIES: u32 = 10;
/// how long a client may take to say its version,
pub const CLIENT_VERSION_SECONDS_MAX: u64 = 10;
/// to install or remove a plugin,
pub const CLIENT_PLUGIN_SECONDS_MAX: u64 = 60;
/// and to wait for one of our hooks, which needs a hundredth of it.
pub const HOOK_SECONDS_MAX: u64 = 10;
/// Less room than this on the disk is a problem.
pub const DISK_FREE_BYTES_MIN: u64 = 200 << 20;
/// An event that lies outside the database for so long is stuck.
pub const LETTER_STUCK_SECONDS: u64 = 600;
/// How long the client may have been used without a hook being heard of: a pause in the talk.
pub const SILENCE_SECONDS: u64 = 600;
/// How long a provider may take to be reached.
pub const REACH_SECONDS_MAX: u64 = 3;
/// How long each step of the check after installing may take.
pub const CHECK_STEP_SECONDS_MAX: u64 = 30;

/// One message of an MCP client.
pub const MCP_LINE_BYTES_MAX: usize = 8 << 20;

/// Identical content within this window is the same observation.
pub const DEDUP_WINDOW_SECONDS: i64 = 30;
/// Rows of one page, whatever the caller asks for.
pub const PAGE_ROWS_MAX: u32 = 500;
/// A passage is what one vector speaks for, and what a long text is ranked by beside its whole.
pub const PASSAGE_WORDS_MAX: usize = 90;
/// Vectors of one row besides that of its whole text. A longer text is told by its beginning.
pub const VECTOR_PARTS_MAX: usize = 24;
/// What somebody looks for. Longer input is cut before it is looked at.
pub const QUERY_CHARS_MAX: usize = 20_000;
/// More distinct words than this are a pasted text; the telling ones are chosen later.
pub const QUERY_WORDS_MAX: usize = 256;
/// Quotes and operators are obeyed only in a query of so few words: a pasted error message is full
/// of quotes that mean nothing.
pub const QUERY_DEMANDING_WORDS_MAX: usize = 12;
/// Plain words beside a phrase that is demanded. With more it is a sentence that quotes something.
pub const QUERY_QUOTING_WORDS_MAX: usize = 2;
/// Identifiers and paths of one query that are looked for as such.
pub const QUERY_NAMES_MAX: usize = 8;
/// Places in the index that the words of one query may name together. The rarest words go first,
/// and at least one does; words that stand everywhere only count where something was found.
pub const QUERY_POSTINGS_MAX: u64 = 4_000;
/// Filters of one query, and values of one filter; what comes after them is words.
pub const QUERY_FILTERS_MAX: usize = 16;
/// What of a query is encoded: time is proportional.
pub const VECTOR_QUERY_TOKENS_MAX: usize = 64;
/// and what is looked at to find them.
pub const VECTOR_QUERY_CHARS_MAX: usize = 2_000;
/// Rows whose vectors are compared in full after their signs have been.
pub const VECTOR_RESCORED_ROWS: usize = 150;
/// Rows that are embedded between two commits.
pub const INDEX_BATCH_ROWS: usize = 16;

/// A vocabulary file.
pub const VOCABULARY_BYTES_MAX: usize = 64 << 10;
/// Types, and concepts, of a vocabulary: each is told to the model in every prompt.
pub const VOCABULARY_TERMS_MAX: usize = 64;

/// A model's answer. A longer one is a model that does not stop.
pub const ANSWER_BYTES_MAX: usize = 256 << 10;
/// Observations taken from one answer.
pub const ANSWER_ITEMS_MAX: usize = 64;
/// Tags of an answer inside one another; an honest one needs three.
pub const ANSWER_DEPTH_MAX: usize = 8;
/// What may stand between a tag's name and its end.
pub const ANSWER_ATTRIBUTES_BYTES_MAX: usize = 1 << 10;
/// A title or subtitle that a model wrote.
pub const TITLE_CHARS_MAX: usize = 200;
/// The name of a type of observations.
pub const TYPE_BYTES_MAX: usize = 32;
/// A narrative, or a field of a summary.
pub const FIELD_CHARS_MAX: usize = 6_000;
/// One fact, concept or path.
pub const FACT_CHARS_MAX: usize = 600;
/// Entries of one list of an observation.
pub const LIST_ENTRIES_MAX: usize = 48;

/// One message to a model: about nine thousand tokens of source text.
pub const PROMPT_BYTES_MAX: usize = 32 << 10;
/// What a prompt, a last message or a compact summary may take of it.
pub const PROMPT_TEXT_BYTES_MAX: usize = 5 << 10;
/// What one tool call may take of it.
pub const PROMPT_STEP_BYTES_MAX: usize = 4 << 10;
/// A tool call that would get less is left out.
pub const PROMPT_STEP_BYTES_MIN: usize = 200;
/// What is said of the session before the episode.
pub const SO_FAR_BYTES_MAX: usize = 4 << 10;
/// Titles of what was kept already, so that a model does not tell it again.
pub const SO_FAR_TITLES_MAX: usize = 24;

/// The body of a provider's answer: the text, escaped, and what stands around it.
pub const MODEL_BODY_BYTES_MAX: u64 = 2 << 20;
/// How long a connection to a provider may take to come about.
pub const MODEL_CONNECT_SECONDS_MAX: u64 = 10;
/// Whatever a provider says, we ask again after a day.
pub const MODEL_WAIT_SECONDS_MAX: u64 = 24 * 60 * 60;
/// A longer wait than this is a quota that is used up, not a rate that is exceeded.
pub const MODEL_WAIT_SHORT_SECONDS_MAX: u64 = 120;
/// What is kept of a child's complaints.
pub const MODEL_STDERR_BYTES_MAX: u64 = 4 << 10;
/// How long a child may take to end by itself once it is told to.
pub const MODEL_CHILD_GRACE_MS: u64 = 1_000;
/// A conversation that carries more than this starts anew: each turn pays for all before it.
pub const CONVERSATION_TOKENS_MAX: u64 = 16_000;
/// Turns after which it starts anew in any case.
pub const CONVERSATION_TURNS_MAX: u32 = 12;
/// A model that nobody asked for this long is let go: a child holds some 200 MB.
pub const MODEL_IDLE_SECONDS_MAX: i64 = 60;
/// Models that are kept between episodes.
pub const MODELS_WARM_MAX: usize = 4;
/// How long one call may take. A model on the user's own processor needs its time.
pub const MODEL_CALL_SECONDS_MAX: u64 = 90;
/// How long a model may be asked about one episode, waits included; then the local distiller
/// takes it. The lease on its events must not run out meanwhile.
pub const MODEL_EPISODE_SECONDS_MAX: u64 = 110;
/// A call is not begun with less time than this.
pub const MODEL_CALL_SECONDS_MIN: u64 = 10;
/// How long a session waits for another one's call when the budget is nearly used up.
pub const BUDGET_WAIT_MS: u64 = 500;
/// What an answer may cost: observations and a summary, with room.
pub const ANSWER_TOKENS_MAX: u32 = 4_096;
/// Failures of models at one episode, after which the local distiller takes it.
pub const MODEL_ATTEMPTS_MAX: u32 = 3;
/// Waits after a provider's first, second and third failure in a row; then it is given up until
/// there is new work.
pub const LADDER_SECONDS: [u64; 3] = [1, 2, 4];
/// How long a provider is left alone whose quota is used up, unless it says until when.
pub const PAUSE_QUOTA_SECONDS: u64 = 60 * 60;
/// How long one is left alone that does not let us in: a new login comes without telling us.
pub const PAUSE_AUTH_SECONDS: u64 = 30 * 60;
/// Work waits for a pause no longer than this.
pub const PAUSE_WAITED_SECONDS_MAX: i64 = 10 * 60;

const _: () = assert!(MODEL_WAIT_SHORT_SECONDS_MAX < PAUSE_WAITED_SECONDS_MAX as u64);
const _: () = assert!(MODEL_EPISODE_SECONDS_MAX < LEASE_SECONDS as u64);
const _: () = assert!(MODEL_CALL_SECONDS_MAX < MODEL_EPISODE_SECONDS_MAX);
const _: () = assert!(MODEL_BODY_BYTES_MAX > 6 * ANSWER_BYTES_MAX as u64);
const _: () = assert!(3 * PROMPT_TEXT_BYTES_MAX < PROMPT_BYTES_MAX);
const _: () = assert!(PROMPT_STEP_BYTES_MIN < PROMPT_STEP_BYTES_MAX);
const _: () = assert!(TOOL_OUTPUT_BYTES_MAX < HOOK_INPUT_BYTES_MAX);
const _: () = assert!(TOOL_INPUT_BYTES_MAX < HOOK_INPUT_BYTES_MAX);
const _: () = assert!(REDACT_MARGIN_BYTES < TOOL_OUTPUT_BYTES_MAX);
const _: () = assert!(ELISION_BYTES_MAX < REDACT_MARGIN_BYTES);
const _: () = assert!(CONTEXT_CHARS_MAX < 10_000);
const _: () = assert!(HOOK_BUSY_MS < BUSY_MS);
const _: () = assert!(HOOK_READ_BUSY_MS + HOOK_NOTE_BUSY_MS <= HOOK_FILE_MS);
const _: () = assert!(TOOL_STRING_BYTES_MAX <= TOOL_OUTPUT_BYTES_MAX);
const _: () = assert!(TOOL_DEPTH_MAX + 8 < 128, "serde_json reads 128 levels");
const _: () = assert!(STDIN_IDLE_MS <= STDIN_MS);
// JSON escapes can make six bytes of one.
const _: () = assert!(
    6 * (TOOL_INPUT_BYTES_MAX + TOOL_OUTPUT_BYTES_MAX + MESSAGE_BYTES_MAX)
        < SPOOL_FILE_BYTES_MAX as usize
);

/// An observation's title: one line of an index.
pub const OBSERVATION_TITLE_CHARS_MAX: usize = 120;
pub const OBSERVATION_SUBTITLE_CHARS_MAX: usize = 180;
/// What the distiller writes of a turn; a commit's own message may be longer.
pub const DISTIL_NARRATIVE_CHARS_MAX: usize = 900;
pub const OBSERVATION_NARRATIVE_CHARS_MAX: usize = 2_400;
pub const OBSERVATION_FACTS_MAX: usize = 12;
pub const OBSERVATION_FACT_CHARS_MAX: usize = 300;
pub const OBSERVATION_CONCEPTS_MAX: usize = 5;
pub const OBSERVATION_FILES_MAX: usize = 40;
/// Each field of a summary.
pub const SUMMARY_FIELD_CHARS_MAX: usize = 700;
/// What the distiller reads of one prompt, message, output or piece of code.
pub const DISTIL_TEXT_BYTES_MAX: usize = 64 << 10;
pub const DISTIL_SENTENCES_MAX: usize = 400;
/// Observations of one episode. More than this in one turn is a log, not memory.
pub const DISTIL_OBSERVATIONS_MAX: usize = 24;
/// Places of one change to a file.
pub const DISTIL_HUNKS_MAX: usize = 64;
/// Decisions of one turn.
pub const DISTIL_DECISIONS_MAX: usize = 4;

/// What one session carries from episode to episode.
pub const CARRY_TEXT_CHARS_MAX: usize = 500;
pub const CARRY_RULES_MAX: usize = 16;
pub const CARRY_RULE_CHARS_MAX: usize = 300;
pub const CARRY_FAILURES_MAX: usize = 6;
pub const CARRY_FILES_MAX: usize = 12;
pub const CARRY_EFFECTS_MAX: usize = 6;
pub const CARRY_TITLES_MAX: usize = 48;

const _: () = assert!(DISTIL_NARRATIVE_CHARS_MAX < OBSERVATION_NARRATIVE_CHARS_MAX);

/// Where glibc is told how much memory to keep. The worker has it, none of its children.
pub const ALLOCATOR_VARIABLE: &str = "GLIBC_TUNABLES";
