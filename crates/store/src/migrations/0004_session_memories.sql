-- What a session leaves behind as a whole: its claims, the account made from them, the work that is left
-- open, and which observation each claim went into.
ALTER TABLE observations ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
-- How many sessions said it. The first is `session_id`, the others are in `observation_sources`.
ALTER TABLE observations ADD COLUMN source_count INTEGER NOT NULL DEFAULT 1;
UPDATE observations SET edited = 1 WHERE updated_at_epoch > created_at_epoch;
-- Finds an observation of the project with the same title; the query names the same expression.
CREATE INDEX observations_by_title ON observations(project_id, rtrim(lower(title), ' .!'));

CREATE TABLE observation_sources (
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  PRIMARY KEY (observation_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX observation_sources_by_session ON observation_sources(session_id);

-- The claims of one episode, as JSON.
CREATE TABLE session_claims (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  sequence INTEGER NOT NULL,
  -- A model wrote the observations of the episode: its claims serve the account only.
  by_model INTEGER NOT NULL DEFAULT 0,
  body TEXT NOT NULL,
  import_run INTEGER REFERENCES import_runs(id),
  UNIQUE (session_id, sequence)
) STRICT;
CREATE INDEX session_claims_of_run ON session_claims(import_run) WHERE import_run IS NOT NULL;

-- The observation that a claim went into. It stays when the observation is withdrawn, so that a claim
-- that returns leads from the old number to the new one.
CREATE TABLE observation_claims (
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  claim TEXT NOT NULL,
  observation_id INTEGER NOT NULL,
  PRIMARY KEY (session_id, claim)
) STRICT, WITHOUT ROWID;
CREATE INDEX observation_claims_by_row ON observation_claims(observation_id);

-- Where the rows of old numbers are now.
CREATE TABLE row_successors (
  kind TEXT NOT NULL,
  old_id INTEGER NOT NULL,
  -- The public id of the old row: an older export must not bring it back.
  old_uid TEXT NOT NULL UNIQUE,
  -- NULL: its session withdrew it.
  new_id INTEGER,
  reason TEXT NOT NULL CHECK (reason IN ('merged', 'withdrawn')),
  PRIMARY KEY (kind, old_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX row_successors_by_new ON row_successors(kind, new_id) WHERE new_id IS NOT NULL;

-- What a session had left behind before it was distilled anew, as JSON, so that this can be undone.
CREATE TABLE session_snapshots (
  id INTEGER PRIMARY KEY,
  import_run INTEGER NOT NULL REFERENCES import_runs(id),
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  body TEXT NOT NULL,
  UNIQUE (import_run, session_id)
) STRICT;
CREATE INDEX session_snapshots_by_session ON session_snapshots(session_id);

CREATE TABLE session_accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL UNIQUE REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects(id),
  purpose TEXT NOT NULL DEFAULT '',
  done TEXT NOT NULL DEFAULT '[]',
  learned TEXT NOT NULL DEFAULT '[]',
  decided TEXT NOT NULL DEFAULT '[]',
  checked TEXT NOT NULL DEFAULT '[]',
  open TEXT NOT NULL DEFAULT '[]',
  files_edited TEXT NOT NULL DEFAULT '[]',
  branch TEXT,
  origin TEXT NOT NULL DEFAULT 'agent',
  made_by TEXT NOT NULL DEFAULT 'local',
  read_tokens INTEGER NOT NULL DEFAULT 0,
  import_run INTEGER REFERENCES import_runs(id),
  -- The time of the session's last claim.
  created_at_epoch INTEGER NOT NULL,
  created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%fZ', created_at_epoch / 1000.0, 'unixepoch')) VIRTUAL
) STRICT;
CREATE INDEX session_accounts_by_project ON session_accounts(project_id, created_at_epoch DESC);
CREATE INDEX session_accounts_by_branch ON session_accounts(project_id, branch, created_at_epoch DESC);
CREATE INDEX session_accounts_by_time ON session_accounts(created_at_epoch DESC);

CREATE TABLE open_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects(id),
  branch TEXT,
  -- The claim that opened it.
  claim TEXT NOT NULL,
  text TEXT NOT NULL,
  opened_at_epoch INTEGER NOT NULL,
  closed_at_epoch INTEGER,
  closed_by TEXT CHECK (closed_by IN ('session', 'hand')),
  closed_by_session INTEGER REFERENCES sdk_sessions(id) ON DELETE SET NULL,
  reason TEXT NOT NULL DEFAULT '',
  -- A person closed or reopened it: sessions leave it as it is.
  by_hand INTEGER NOT NULL DEFAULT 0,
  import_run INTEGER REFERENCES import_runs(id),
  UNIQUE (session_id, claim)
) STRICT;
-- What a session start asks for; the query names the same condition.
CREATE INDEX open_items_open ON open_items(project_id, opened_at_epoch DESC) WHERE closed_at_epoch IS NULL;
CREATE INDEX open_items_closed_by ON open_items(closed_by_session) WHERE closed_by_session IS NOT NULL;
CREATE INDEX open_items_by_time ON open_items(project_id, opened_at_epoch DESC);

-- Accounts are searched too. SQLite cannot change a CHECK, so the tables that list kinds are made anew.
DROP TRIGGER observations_deleted;
DROP TRIGGER session_summaries_deleted;
DROP TRIGGER user_prompts_deleted;
DROP TRIGGER final_messages_deleted;
CREATE TABLE new_texts (
  -- 21 bits of the project (0: holds in all of them), 40 of its place there, 2 of its class: accounts share
  -- that of summaries.
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt', 'message', 'account')),
  row_id INTEGER NOT NULL,
  project_id INTEGER,
  session_id INTEGER,
  created_at_epoch INTEGER NOT NULL,
  -- Of title and body: which text a vector was made from.
  text_hash INTEGER NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  tags TEXT NOT NULL,
  -- Identifiers and paths taken apart.
  split TEXT NOT NULL
) STRICT;
INSERT INTO new_texts (id, kind, row_id, project_id, session_id, created_at_epoch, text_hash, title, body, tags, split)
  SELECT id, kind, row_id, project_id, session_id, created_at_epoch, text_hash, title, body, tags, split
  FROM texts ORDER BY id;
DROP TABLE texts;
ALTER TABLE new_texts RENAME TO texts;
CREATE UNIQUE INDEX texts_by_row ON texts(kind, row_id);
-- A row's neighbours: what was said and done just before and after it.
CREATE INDEX texts_in_session ON texts(session_id, created_at_epoch, kind, row_id);
-- What the vectors are held against, without reading any text.
CREATE INDEX texts_to_embed ON texts(kind, row_id, text_hash, project_id, created_at_epoch);
CREATE TRIGGER texts_inserted AFTER INSERT ON texts BEGIN
  INSERT INTO texts_fts(rowid, title, body, tags, split)
  VALUES (new.id, new.title, new.body, new.tags, new.split);
END;
CREATE TRIGGER texts_deleted AFTER DELETE ON texts BEGIN
  INSERT INTO texts_fts(texts_fts, rowid, title, body, tags, split)
  VALUES ('delete', old.id, old.title, old.body, old.tags, old.split);
END;
CREATE TRIGGER texts_updated AFTER UPDATE ON texts BEGIN
  INSERT INTO texts_fts(texts_fts, rowid, title, body, tags, split)
  VALUES ('delete', old.id, old.title, old.body, old.tags, old.split);
  INSERT INTO texts_fts(rowid, title, body, tags, split)
  VALUES (new.id, new.title, new.body, new.tags, new.split);
END;

-- A row takes its text, its file references and its place in the vector backlog with it.
CREATE TRIGGER observations_deleted AFTER DELETE ON observations BEGIN
  DELETE FROM texts WHERE kind = 'observation' AND row_id = old.id;
  DELETE FROM file_refs WHERE kind = 'observation' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('observation', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;
CREATE TRIGGER session_summaries_deleted AFTER DELETE ON session_summaries BEGIN
  DELETE FROM texts WHERE kind = 'summary' AND row_id = old.id;
  DELETE FROM file_refs WHERE kind = 'summary' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('summary', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;
CREATE TRIGGER user_prompts_deleted AFTER DELETE ON user_prompts BEGIN
  DELETE FROM texts WHERE kind = 'prompt' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('prompt', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;
CREATE TRIGGER final_messages_deleted AFTER DELETE ON final_messages BEGIN
  DELETE FROM texts WHERE kind = 'message' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('message', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;
CREATE TRIGGER session_accounts_deleted AFTER DELETE ON session_accounts BEGIN
  DELETE FROM texts WHERE kind = 'account' AND row_id = old.id;
  INSERT INTO vector_backlog(kind, row_id, at) VALUES ('account', old.id, 9223372036854775807)
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;

CREATE TABLE old_changes AS SELECT id, kind, row_id FROM row_changes;
DROP TABLE row_changes;
CREATE TABLE row_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt', 'message', 'account', 'session')),
  row_id INTEGER NOT NULL
) STRICT;
INSERT INTO row_changes SELECT id, kind, row_id FROM old_changes ORDER BY id;
DROP TABLE old_changes;
CREATE UNIQUE INDEX row_changes_by_row ON row_changes(kind, row_id);
CREATE TRIGGER session_accounts_edited
AFTER UPDATE OF purpose, done, learned, decided, checked, open, files_edited ON session_accounts BEGIN
  DELETE FROM row_changes WHERE kind = 'account' AND row_id = new.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('account', new.id);
END;
CREATE TRIGGER session_accounts_removed AFTER DELETE ON session_accounts BEGIN
  DELETE FROM row_changes WHERE kind = 'account' AND row_id = old.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('account', old.id);
END;
