//! Bounds of all crates, unit in the name. Relations between them are checked at compile time.

// Hook input and output.

/// Maximum bytes of the stdin of one hook. Longer input is cut, and the event is marked as cut.
pub const HOOK_INPUT_BYTES_MAX: usize = 16 << 20;
/// Milliseconds that a hook waits for the next byte of its stdin.
pub const STDIN_IDLE_MS: u64 = 2_000;
/// Milliseconds that a hook may spend on reading all of its stdin.
pub const STDIN_MS: u64 = 5_000;
/// Maximum characters of context that a hook returns. Clients cut hook output at 10,000 characters,
/// so this stays below.
pub const CONTEXT_CHARS_MAX: usize = 9_500;

const _: () = assert!(STDIN_IDLE_MS <= STDIN_MS);
const _: () = assert!(CONTEXT_CHARS_MAX < 10_000);

// Captured text.

/// Maximum bytes kept of the input of one tool call.
pub const TOOL_INPUT_BYTES_MAX: usize = 64 << 10;
/// Maximum bytes kept of the output of one tool call.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Maximum bytes kept of one string inside a tool's input or output.
pub const TOOL_STRING_BYTES_MAX: usize = 16 << 10;
/// Maximum nesting levels of a tool's input or output. The event around it adds a few more, and the
/// JSON readers of the queue and the spool accept 128 in total.
pub const TOOL_DEPTH_MAX: usize = 64;
/// Maximum bytes kept of one prompt or one assistant message.
pub const MESSAGE_BYTES_MAX: usize = 128 << 10;
/// Bytes beyond a cut that are also searched for secrets, so that no secret is cut in two.
pub const REDACT_MARGIN_BYTES: usize = 8 << 10;
/// Maximum bytes reserved for the note that says how much text was left out.
pub const ELISION_BYTES_MAX: usize = 64;

const _: () = assert!(TOOL_OUTPUT_BYTES_MAX < HOOK_INPUT_BYTES_MAX);
const _: () = assert!(TOOL_INPUT_BYTES_MAX < HOOK_INPUT_BYTES_MAX);
const _: () = assert!(TOOL_STRING_BYTES_MAX <= TOOL_OUTPUT_BYTES_MAX);
const _: () = assert!(TOOL_DEPTH_MAX + 8 < 128, "serde_json reads 128 levels");
const _: () = assert!(REDACT_MARGIN_BYTES < TOOL_OUTPUT_BYTES_MAX);
const _: () = assert!(ELISION_BYTES_MAX < REDACT_MARGIN_BYTES);

// Hook deadlines and database locks.

/// Milliseconds that a hook waits for another writer when it could not spool an event and has to
/// write it to the database.
pub const HOOK_BUSY_MS: u64 = 250;
/// Milliseconds that a hook waits for another writer before work that can also be done later:
/// recording what was shown, or draining the spool.
pub const HOOK_NOTE_BUSY_MS: u64 = 30;
/// Milliseconds that a reading hook waits for a database lock. In WAL mode readers are hardly ever
/// blocked.
pub const HOOK_READ_BUSY_MS: u64 = 20;
/// CPU milliseconds that recall may cost a hook before a tool call.
pub const HOOK_FILE_MS: u64 = 50;
/// Milliseconds that any process other than a hook waits for another writer.
pub const BUSY_MS: u64 = 5_000;
/// Size of the write-ahead log, in bytes, up to which hooks leave the checkpoint to the worker: a
/// checkpoint costs more than the rest of the hook.
pub const WAL_LEFT_BYTES_MAX: u64 = 512 << 10;

const _: () = assert!(HOOK_BUSY_MS < BUSY_MS);
const _: () = assert!(HOOK_READ_BUSY_MS + HOOK_NOTE_BUSY_MS <= HOOK_FILE_MS);

// Spool.

/// Maximum bytes of one spooled event.
pub const SPOOL_FILE_BYTES_MAX: u64 = 4 << 20;

// JSON escaping can turn one byte into six.
const _: () = assert!(
    6 * (TOOL_INPUT_BYTES_MAX + TOOL_OUTPUT_BYTES_MAX + MESSAGE_BYTES_MAX) < SPOOL_FILE_BYTES_MAX as usize
);

// Project detection, socket and logs.

// Queue.

/// Seconds that a worker may hold an event before another worker may lease it.
pub const LEASE_SECONDS: i64 = 120;
/// Failed attempts after which an event is dead: it is kept and listed, and retried only by hand.
pub const ATTEMPTS_MAX: u32 = 3;
/// Longest wait, in seconds, of a failed event before its next attempt.
pub const BACKOFF_SECONDS_MAX: i64 = 300;
/// Expired leases after which an event counts as the cause of the crashes and is dead.
pub const CRASHES_MAX: u32 = 20;
/// Worker crashes over an event after which its episode is compressed without a model.
pub const CRASHES_MODEL_MAX: u32 = 3;
/// Worker crashes over an event after which its episode is not compressed at all and only the
/// recorded messages are stored.
pub const CRASHES_DISTIL_MAX: u32 = 6;

const _: () = assert!(CRASHES_MODEL_MAX < CRASHES_DISTIL_MAX && CRASHES_DISTIL_MAX < CRASHES_MAX);

// Episodes.

// Worker socket.

/// Maximum bytes of one request to the worker's socket.
pub const REQUEST_BYTES_MAX: u64 = 64 << 10;
/// Maximum characters of a prompt that are used for recall. Escaped as JSON, they fit into one
/// request.
pub const RECALL_CHARS_MAX: usize = 8_000;
/// Characters taken from the beginning of a prompt longer than [`RECALL_CHARS_MAX`]. The rest is
/// taken from its end.
pub const RECALL_HEAD_CHARS: usize = 2_500;

// Worker lifecycle.

/// Seconds that a command waits for a worker that it started to become ready.
pub const READY_SECONDS: u64 = 20;
/// Seconds that a command waits for a worker that has to migrate the database first. With 100,000
/// observations a migration took longer than [`READY_SECONDS`].
pub const MIGRATED_SECONDS: u64 = 900;
/// Seconds that each step of a graceful shutdown may take.
pub const END_STEP_SECONDS: u64 = 4;
/// Seconds that a graceful shutdown may take before the worker is killed.
pub const END_SECONDS: u64 = 12;
/// Seconds between two polls of the queue, in case a wake-up is lost.
pub const POLL_SECONDS: u64 = 30;

// Maintenance.

/// Seconds to wait for writers to finish before a database file is replaced.
pub const GATE_SECONDS: u64 = 10;

// Retention.

/// Maximum entries of the change feed that are kept for the viewer's event streams.
pub const ROW_CHANGES_MAX: i64 = 10_000;

// Transcripts.

// Backfill from transcripts.

/// Maximum unended sessions of a project that are backfilled when another session of the project begins.
pub const WITNESS_SESSIONS_MAX: usize = 16;

// Import.

/// Maximum rows that one statement inserts into the full-text index. Batches are powers of two, so
/// that few distinct statements are compiled.
pub const TEXTS_AT_ONCE_MAX: usize = 64;

const _: () = assert!(TEXTS_AT_ONCE_MAX.is_power_of_two());

// Settings.

// Stored rows.

/// Maximum rows of one page of a query, whatever the caller asks for.
pub const PAGE_ROWS_MAX: u32 = 500;

// HTTP connections and requests.

/// Maximum concurrent connections to the HTTP server. Further ones wait in the kernel's backlog.
pub const HTTP_CONNECTIONS_MAX: usize = 128;
/// Maximum bytes of an ordinary request body.
pub const HTTP_BODY_BYTES_MAX: usize = 1 << 20;
/// Maximum bodies above [`HTTP_BODY_BYTES_MAX`] that are held in memory at a time.
pub const HTTP_LONG_BODIES_MAX: usize = 2;
/// Maximum requests that are handled concurrently. Further ones wait.
pub const HTTP_REQUESTS_AT_ONCE_MAX: usize = 8;
/// Maximum searches that are handled concurrently. They need more CPU time, and quick requests must
/// not wait for them.
pub const HTTP_SEARCHES_AT_ONCE_MAX: usize = 2;

const _: () = assert!(HTTP_LONG_BODIES_MAX < HTTP_REQUESTS_AT_ONCE_MAX);
const _: () = assert!(2 * HTTP_SEARCHES_AT_ONCE_MAX <= HTTP_REQUESTS_AT_ONCE_MAX);

// HTTP responses.

/// Rows of one response if the caller gives no limit.
pub const HTTP_ROWS: u32 = 50;
/// Maximum rows of one response, whatever the caller asks for.
pub const HTTP_ROWS_MAX: u32 = 200;
/// Maximum rows of each kind in the response about one session.
pub const HTTP_SESSION_ROWS_MAX: u32 = 500;

const _: () = assert!(HTTP_ROWS <= HTTP_ROWS_MAX && HTTP_ROWS_MAX <= PAGE_ROWS_MAX);
const _: () = assert!(HTTP_SESSION_ROWS_MAX <= PAGE_ROWS_MAX);

// HTTP event streams.

/// Maximum concurrent event streams. Each holds a database connection.
pub const HTTP_STREAMS_MAX: usize = 16;
/// Maximum rows of one kind that a stream sends one by one. If a page is further behind, it is told
/// to reload and gets only the newest.
pub const HTTP_STREAM_ROWS_MAX: usize = 200;
/// Rows of one kind that a stream reads at a time. It reads the next batch once the page has taken
/// this one.
pub const HTTP_STREAM_BATCH_ROWS: usize = 25;
/// Seconds between two keep-alives of an idle stream, which reveal a dead client.
pub const HTTP_STREAM_QUIET_SECONDS: u64 = 15;

const _: () = assert!(HTTP_STREAM_BATCH_ROWS < HTTP_STREAM_ROWS_MAX);
const _: () = assert!(10 * HTTP_STREAM_ROWS_MAX as i64 <= ROW_CHANGES_MAX);
const _: () = assert!(HTTP_STREAMS_MAX < HTTP_CONNECTIONS_MAX);

// Viewer links and tokens.

// Installation and doctor.

/// Timeout of our hooks, in seconds, as registered with the client. A hook needs a hundredth of it.
pub const HOOK_SECONDS_MAX: u64 = 10;

// MCP.

// Search queries.

/// Maximum characters of a search query. Longer input is cut before it is parsed.
pub const QUERY_CHARS_MAX: usize = 20_000;
/// Maximum distinct words of a query. More are a pasted text, whose distinctive words are selected
/// later.
pub const QUERY_WORDS_MAX: usize = 256;
/// Words up to which a query's quotes and operators are obeyed. A pasted error message is full of
/// quotes that mean nothing.
pub const QUERY_DEMANDING_WORDS_MAX: usize = 12;
/// Maximum filters of one query, and values of one filter. Further filters are searched as words.
pub const QUERY_FILTERS_MAX: usize = 16;

// Passages and vectors.

// Vocabulary.

/// Maximum bytes of a vocabulary file.
pub const VOCABULARY_BYTES_MAX: usize = 64 << 10;

// Model answers.

/// Maximum bytes of a model's answer. A longer one comes from a model that does not stop.
pub const ANSWER_BYTES_MAX: usize = 256 << 10;
/// Maximum characters of a title or subtitle that a model or a user wrote.
pub const TITLE_CHARS_MAX: usize = 200;
/// Maximum bytes of the name of an observation type.
pub const TYPE_BYTES_MAX: usize = 32;
/// Maximum characters of a narrative, or of one field of a summary, that a model wrote.
pub const FIELD_CHARS_MAX: usize = 6_000;
/// Maximum characters of one fact, concept or path.
pub const FACT_CHARS_MAX: usize = 600;
/// Maximum entries of one list of an observation.
pub const LIST_ENTRIES_MAX: usize = 48;

// Model prompts.

/// Maximum bytes of one message to a model: about nine thousand tokens of source text.
pub const PROMPT_BYTES_MAX: usize = 32 << 10;
/// Maximum bytes of a message to a model that one prompt, last message or compaction summary may
/// take.
pub const PROMPT_TEXT_BYTES_MAX: usize = 5 << 10;
/// Maximum bytes of a message to a model that the input and output of one tool call may take.
pub const PROMPT_STEP_BYTES_MAX: usize = 4 << 10;
/// Bytes that each tool call in a message to a model must get. Calls for which there is no room are
/// left out.
pub const PROMPT_STEP_BYTES_MIN: usize = 200;

const _: () = assert!(3 * PROMPT_TEXT_BYTES_MAX < PROMPT_BYTES_MAX);
const _: () = assert!(PROMPT_STEP_BYTES_MIN < PROMPT_STEP_BYTES_MAX);

// Model calls.

/// Maximum bytes of a provider's response body: the escaped answer and its envelope.
pub const MODEL_BODY_BYTES_MAX: u64 = 2 << 20;
/// Timeout of one model call, in seconds. It is long enough for a model on the user's own
/// processor.
pub const MODEL_CALL_SECONDS_MAX: u64 = 90;
/// Seconds that must remain of [`MODEL_EPISODE_SECONDS_MAX`] to start another call.
pub const MODEL_CALL_SECONDS_MIN: u64 = 10;
/// Maximum seconds that a model may spend on one episode, waits included, before the heuristic
/// compressor takes over. The lease of the events must not expire meanwhile.
pub const MODEL_EPISODE_SECONDS_MAX: u64 = 110;

const _: () = assert!(MODEL_EPISODE_SECONDS_MAX < LEASE_SECONDS as u64);
const _: () = assert!(MODEL_CALL_SECONDS_MAX < MODEL_EPISODE_SECONDS_MAX);
const _: () = assert!(MODEL_BODY_BYTES_MAX > 6 * ANSWER_BYTES_MAX as u64);

// Provider backoff.

/// Seconds to wait after a provider's first, second and third failure in a row. After the next
/// failure it is not called until there is new work.
pub const LADDER_SECONDS: [u64; 3] = [1, 2, 4];
/// Longest pause of a provider, in seconds, that work waits for. During a longer one the heuristic
/// compressor takes over.
pub const PAUSE_WAITED_SECONDS_MAX: i64 = 10 * 60;
/// Retry delay, in seconds, above which a provider's rejection counts as an exhausted quota instead
/// of an exceeded rate limit.
pub const MODEL_WAIT_SHORT_SECONDS_MAX: u64 = 120;

const _: () = assert!(MODEL_WAIT_SHORT_SECONDS_MAX < PAUSE_WAITED_SECONDS_MAX as u64);

// Heuristic compressor.

/// Maximum characters of an observation's narrative, including the message of a commit.
pub const OBSERVATION_NARRATIVE_CHARS_MAX: usize = 2_400;
/// Maximum characters of a narrative that the heuristic compressor writes about a turn. With a
/// commit's own message it may be longer.
pub const DISTIL_NARRATIVE_CHARS_MAX: usize = 900;

const _: () = assert!(DISTIL_NARRATIVE_CHARS_MAX < OBSERVATION_NARRATIVE_CHARS_MAX);

// State that the heuristic compressor carries between the episodes of a session.

// Environment.

/// Environment variable that tells glibc how much memory to keep. It is set for the worker, and not
/// for its children.
pub const ALLOCATOR_VARIABLE: &str = "GLIBC_TUNABLES";
