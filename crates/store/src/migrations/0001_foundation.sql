-- Times are milliseconds since 1970 in *_epoch columns; the readable twin is computed.
-- Lists are JSON arrays of strings. Every row that can travel has a uid and an origin.
-- Ids that are shown to people, or that vectors are kept under, are never given twice
-- (AUTOINCREMENT): what was said of #12 must not come to be said of another row.

CREATE TABLE projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  root TEXT NOT NULL DEFAULT '',
  welcomed INTEGER NOT NULL DEFAULT 0,
  created_at_epoch INTEGER NOT NULL,
  last_active_epoch INTEGER NOT NULL
) STRICT;

-- Every name a project has been known by. The strongest key that matches decides.
CREATE TABLE project_aliases (
  key TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE import_runs (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL,
  finished_at_epoch INTEGER,
  report TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  client TEXT NOT NULL,
  content_session_id TEXT NOT NULL,
  memory_session_id TEXT,
  project_id INTEGER REFERENCES projects(id),
  branch TEXT,
  transcript_path TEXT,
  -- Part of it was not to be remembered: only what hooks deliver may be kept.
  transcript_closed INTEGER NOT NULL DEFAULT 0,
  user_prompt TEXT,
  status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('active', 'completed', 'failed', 'interrupted', 'ignored')),
  origin TEXT NOT NULL DEFAULT 'agent',
  prompt_counter INTEGER NOT NULL DEFAULT 0,
  -- What the compressor carries from one episode to the next.
  carry TEXT,
  rolling_summary TEXT,
  import_run INTEGER REFERENCES import_runs(id),
  created_at_epoch INTEGER NOT NULL,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_at_epoch / 1000.0, 'unixepoch')) VIRTUAL,
  last_activity_epoch INTEGER NOT NULL,
  last_activity_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', last_activity_epoch / 1000.0, 'unixepoch')) VIRTUAL,
  completed_at_epoch INTEGER,
  completed_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', completed_at_epoch / 1000.0, 'unixepoch')) VIRTUAL,
  UNIQUE (client, content_session_id)
) STRICT;
CREATE INDEX sdk_sessions_by_project ON sdk_sessions(project_id, created_at_epoch DESC);
CREATE INDEX sdk_sessions_by_status ON sdk_sessions(status, last_activity_epoch);
CREATE INDEX sdk_sessions_by_time ON sdk_sessions(created_at_epoch DESC);

CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects(id),
  prompt_number INTEGER NOT NULL,
  -- The client's id of the turn, where it has one.
  prompt_id TEXT,
  prompt_text TEXT NOT NULL,
  -- Nothing but private text: the words were never kept.
  private INTEGER NOT NULL DEFAULT 0,
  origin TEXT NOT NULL DEFAULT 'user',
  import_run INTEGER REFERENCES import_runs(id),
  created_at_epoch INTEGER NOT NULL,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_at_epoch / 1000.0, 'unixepoch')) VIRTUAL
) STRICT;
CREATE INDEX user_prompts_by_session ON user_prompts(session_id, prompt_number);
CREATE INDEX user_prompts_by_project ON user_prompts(project_id, created_at_epoch DESC);
CREATE INDEX user_prompts_by_time ON user_prompts(created_at_epoch DESC);

CREATE TABLE final_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects(id),
  prompt_number INTEGER NOT NULL,
  message_text TEXT NOT NULL,
  agent_id TEXT,
  agent_type TEXT,
  origin TEXT NOT NULL DEFAULT 'agent',
  import_run INTEGER REFERENCES import_runs(id),
  created_at_epoch INTEGER NOT NULL,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_at_epoch / 1000.0, 'unixepoch')) VIRTUAL
) STRICT;
CREATE INDEX final_messages_by_session ON final_messages(session_id, prompt_number);
CREATE INDEX final_messages_by_project ON final_messages(project_id, created_at_epoch DESC);
CREATE INDEX final_messages_by_time ON final_messages(created_at_epoch DESC);

CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  -- NULL for what was saved by hand outside any session.
  session_id INTEGER REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  -- NULL only at user level.
  project_id INTEGER REFERENCES projects(id),
  level TEXT NOT NULL DEFAULT 'project' CHECK (level IN ('project', 'proposed', 'user')),
  prompt_number INTEGER NOT NULL DEFAULT 0,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  subtitle TEXT NOT NULL DEFAULT '',
  narrative TEXT NOT NULL DEFAULT '',
  facts TEXT NOT NULL DEFAULT '[]',
  concepts TEXT NOT NULL DEFAULT '[]',
  files_read TEXT NOT NULL DEFAULT '[]',
  files_modified TEXT NOT NULL DEFAULT '[]',
  branch TEXT,
  agent_id TEXT,
  agent_type TEXT,
  origin TEXT NOT NULL,
  -- Which compressor made it: 'local', or the model's name.
  made_by TEXT NOT NULL DEFAULT 'local',
  content_hash TEXT NOT NULL,
  discovery_tokens INTEGER NOT NULL DEFAULT 0,
  read_tokens INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  -- Marked by a person or the agent as wrong: never offered again, still listed.
  wrong INTEGER NOT NULL DEFAULT 0,
  -- The newer memory that took its place.
  replaced_by INTEGER REFERENCES observations(id) ON DELETE SET NULL,
  import_run INTEGER REFERENCES import_runs(id),
  created_at_epoch INTEGER NOT NULL,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_at_epoch / 1000.0, 'unixepoch')) VIRTUAL,
  updated_at_epoch INTEGER NOT NULL
) STRICT;
CREATE INDEX observations_by_session ON observations(session_id, created_at_epoch);
CREATE INDEX observations_by_project ON observations(project_id, created_at_epoch DESC);
CREATE INDEX observations_by_type ON observations(type, created_at_epoch DESC);
CREATE INDEX observations_by_time ON observations(created_at_epoch DESC);
CREATE INDEX observations_by_hash ON observations(content_hash);
-- What a session start asks for, whatever its age; the query names the same condition.
CREATE INDEX observations_lasting ON observations(project_id, pinned DESC, created_at_epoch DESC)
  WHERE pinned = 1 OR type = 'decision';
CREATE INDEX observations_at_user_level ON observations(level) WHERE level <> 'project';
CREATE INDEX observations_replaced ON observations(replaced_by) WHERE replaced_by IS NOT NULL;

CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects(id),
  prompt_number INTEGER NOT NULL DEFAULT 0,
  request TEXT NOT NULL DEFAULT '',
  investigated TEXT NOT NULL DEFAULT '',
  learned TEXT NOT NULL DEFAULT '',
  completed TEXT NOT NULL DEFAULT '',
  next_steps TEXT NOT NULL DEFAULT '',
  notes TEXT NOT NULL DEFAULT '',
  files_read TEXT NOT NULL DEFAULT '[]',
  files_edited TEXT NOT NULL DEFAULT '[]',
  branch TEXT,
  origin TEXT NOT NULL DEFAULT 'agent',
  made_by TEXT NOT NULL DEFAULT 'local',
  discovery_tokens INTEGER NOT NULL DEFAULT 0,
  read_tokens INTEGER NOT NULL DEFAULT 0,
  import_run INTEGER REFERENCES import_runs(id),
  created_at_epoch INTEGER NOT NULL,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_at_epoch / 1000.0, 'unixepoch')) VIRTUAL
) STRICT;
CREATE INDEX session_summaries_by_session ON session_summaries(session_id, created_at_epoch DESC);
CREATE INDEX session_summaries_by_project ON session_summaries(project_id, created_at_epoch DESC);
CREATE INDEX session_summaries_by_time ON session_summaries(created_at_epoch DESC);

-- Which rows speak of which file. `name` is the last part of the path, so that a path's suffix
-- is an index look-up; a folder is a range of `path`.
CREATE TABLE file_refs (
  project_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary')),
  row_id INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  PRIMARY KEY (project_id, name, path, kind, row_id)
) STRICT, WITHOUT ROWID;
-- Holds all that a folder's rows are told and sorted by.
CREATE INDEX file_refs_by_path ON file_refs(project_id, path, kind, row_id, created_at_epoch);
CREATE INDEX file_refs_by_row ON file_refs(kind, row_id);

-- What the full-text index speaks for. `part` 0 is the whole row; a long row has further parts
-- of at most a passage each. `split` holds identifiers and paths taken apart.
CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt', 'message')),
  row_id INTEGER NOT NULL,
  part INTEGER NOT NULL,
  project_id INTEGER,
  session_id INTEGER,
  created_at_epoch INTEGER NOT NULL,
  -- Of a whole row's title and body: which text a vector was made from. 0 for parts.
  text_hash INTEGER NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  tags TEXT NOT NULL,
  split TEXT NOT NULL,
  scope TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX passages_by_row ON passages(kind, row_id, part);
-- A row's neighbours: what was said and done just before and after it.
CREATE INDEX passages_in_session ON passages(session_id, created_at_epoch, kind, row_id) WHERE part = 0;
-- What the vectors are held against, without reading any text.
CREATE INDEX passages_to_embed ON passages(kind, row_id, text_hash, project_id, created_at_epoch) WHERE part = 0;

CREATE VIRTUAL TABLE passages_fts USING fts5(
  title, body, tags, split, scope,
  content = 'passages', content_rowid = 'id', tokenize = 'porter unicode61'
);
-- How many passages a term stands in.
CREATE VIRTUAL TABLE passages_vocab USING fts5vocab('passages_fts', 'row');
CREATE TRIGGER passages_inserted AFTER INSERT ON passages BEGIN
  INSERT INTO passages_fts(rowid, title, body, tags, split, scope)
  VALUES (new.id, new.title, new.body, new.tags, new.split, new.scope);
END;
CREATE TRIGGER passages_deleted AFTER DELETE ON passages BEGIN
  INSERT INTO passages_fts(passages_fts, rowid, title, body, tags, split, scope)
  VALUES ('delete', old.id, old.title, old.body, old.tags, old.split, old.scope);
END;
CREATE TRIGGER passages_updated AFTER UPDATE ON passages BEGIN
  INSERT INTO passages_fts(passages_fts, rowid, title, body, tags, split, scope)
  VALUES ('delete', old.id, old.title, old.body, old.tags, old.split, old.scope);
  INSERT INTO passages_fts(rowid, title, body, tags, split, scope)
  VALUES (new.id, new.title, new.body, new.tags, new.split, new.scope);
END;

-- A row takes its passages, its file references and its place in the vector backlog with it.
CREATE TRIGGER observations_deleted AFTER DELETE ON observations BEGIN
  DELETE FROM passages WHERE kind = 'observation' AND row_id = old.id;
  DELETE FROM file_refs WHERE kind = 'observation' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('observation', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;
CREATE TRIGGER session_summaries_deleted AFTER DELETE ON session_summaries BEGIN
  DELETE FROM passages WHERE kind = 'summary' AND row_id = old.id;
  DELETE FROM file_refs WHERE kind = 'summary' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('summary', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;
CREATE TRIGGER user_prompts_deleted AFTER DELETE ON user_prompts BEGIN
  DELETE FROM passages WHERE kind = 'prompt' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('prompt', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;
CREATE TRIGGER final_messages_deleted AFTER DELETE ON final_messages BEGIN
  DELETE FROM passages WHERE kind = 'message' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('message', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;

-- Rows whose vectors are missing, stale or to be removed. Durable: a killed worker goes on here.
-- Newest first by `at`, the row's own time; what is to be removed goes before everything.
CREATE TABLE vector_backlog (
  kind TEXT NOT NULL,
  row_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (kind, row_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX vector_backlog_newest ON vector_backlog(at DESC);

CREATE TABLE pending_messages (
  id INTEGER PRIMARY KEY,
  client TEXT NOT NULL,
  session TEXT NOT NULL,
  -- The hook's start in microseconds: order within a session.
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'leased', 'done', 'dead')),
  not_before_epoch INTEGER NOT NULL DEFAULT 0,
  lease INTEGER NOT NULL DEFAULT 0,
  lease_until_epoch INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  accepted_at_epoch INTEGER NOT NULL
) STRICT;
-- Of what is unsettled only, so that it stays small however much has gone through.
CREATE INDEX pending_messages_in_order ON pending_messages(client, session, at, id)
  WHERE state IN ('waiting', 'leased');
CREATE INDEX pending_messages_done ON pending_messages(accepted_at_epoch) WHERE state = 'done';

-- The keys of every event ever accepted. They outlive the queue's rows: that is what makes a
-- second report of the same event harmless for ever.
CREATE TABLE events_seen (key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE transcript_positions (
  path TEXT PRIMARY KEY,
  client TEXT NOT NULL,
  session TEXT NOT NULL,
  offset_bytes INTEGER NOT NULL,
  -- What the reader must know to go on in the middle of a file.
  state TEXT NOT NULL DEFAULT '{}',
  updated_at_epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE observation_feedback (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL DEFAULT 'observation',
  row_id INTEGER NOT NULL,
  -- The session it was shown to, by its client's id: it may have no row yet.
  client TEXT NOT NULL DEFAULT '',
  session TEXT NOT NULL DEFAULT '',
  -- A subagent has a context of its own, and so its own "shown before".
  agent_id TEXT NOT NULL DEFAULT '',
  signal TEXT NOT NULL
    CHECK (signal IN ('injected', 'fetched', 'cited', 'useless', 'wrong', 'useful')),
  place TEXT NOT NULL DEFAULT '',
  score REAL,
  rank INTEGER,
  tokens INTEGER NOT NULL DEFAULT 0,
  reason TEXT NOT NULL DEFAULT '',
  created_at_epoch INTEGER NOT NULL
) STRICT;
CREATE INDEX observation_feedback_by_row ON observation_feedback(kind, row_id, created_at_epoch);
CREATE INDEX observation_feedback_by_session ON observation_feedback(session, place);

CREATE TABLE spend (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  -- Local calendar day, so that a daily budget means the person's day.
  day TEXT NOT NULL,
  session_id INTEGER REFERENCES sdk_sessions(id) ON DELETE SET NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL,
  reserved_tokens INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  -- 1 where the provider gave no figures and ours stand in.
  estimated INTEGER NOT NULL DEFAULT 0,
  outcome TEXT NOT NULL DEFAULT 'reserved',
  created_at_epoch INTEGER NOT NULL
) STRICT;
CREATE INDEX spend_by_day ON spend(day);
CREATE INDEX spend_by_session ON spend(session_id);

-- What was forgotten must not come back by an import. No text is kept here.
CREATE TABLE tombstones (
  key TEXT PRIMARY KEY,
  created_at_epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was forgotten a moment ago, so that it can be undone. Emptied by the worker.
CREATE TABLE forgotten (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  row_id INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
) STRICT;

-- Small facts about the store itself: notices for the person, times of upkeep.
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
