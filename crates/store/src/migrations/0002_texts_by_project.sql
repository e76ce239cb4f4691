-- One text per row of memory, each project's texts together and in the order they came, so that a
-- search in a project reads nothing of others. What `passages` held beside whole rows, their parts, is
-- cut from the text when it is read.
DROP TRIGGER passages_inserted;
DROP TRIGGER passages_deleted;
DROP TRIGGER passages_updated;
DROP TRIGGER observations_deleted;
DROP TRIGGER session_summaries_deleted;
DROP TRIGGER user_prompts_deleted;
DROP TRIGGER final_messages_deleted;
DROP TABLE passages_vocab;
DROP TABLE passages_fts;

CREATE TABLE texts (
  -- 21 bits of the project (0: holds in all of them), 40 of its place there, 2 of its kind.
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt', 'message')),
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
INSERT INTO texts
  SELECT (owner << 42) | (row_number() OVER (PARTITION BY owner ORDER BY id) << 2)
      | CASE kind WHEN 'observation' THEN 0 WHEN 'summary' THEN 1 WHEN 'prompt' THEN 2 ELSE 3 END,
    kind, row_id, project_id, session_id, created_at_epoch, text_hash, title, body, tags, split
  FROM (
    SELECT *, CASE WHEN ' ' || scope || ' ' LIKE '% xuserx %' THEN 0 ELSE coalesce(project_id, 0) END AS owner
    FROM passages WHERE part = 0
  ) ORDER BY 1;
DROP TABLE passages;
CREATE UNIQUE INDEX texts_by_row ON texts(kind, row_id);
-- A row's neighbours: what was said and done just before and after it.
CREATE INDEX texts_in_session ON texts(session_id, created_at_epoch, kind, row_id);
-- What the vectors are held against, without reading any text.
CREATE INDEX texts_to_embed ON texts(kind, row_id, text_hash, project_id, created_at_epoch);

CREATE VIRTUAL TABLE texts_fts USING fts5(
  title, body, tags, split, content = 'texts', content_rowid = 'id', tokenize = 'porter unicode61'
);
INSERT INTO texts_fts(texts_fts) VALUES ('rebuild');
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

-- Corrections, for those who look on.
CREATE INDEX observations_edited ON observations(updated_at_epoch) WHERE updated_at_epoch > created_at_epoch;
