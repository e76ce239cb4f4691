-- What has become of rows that somebody may have been shown: the last change of each, numbered in
-- the order of the changes. A row that is listed and not there was removed. No clock is asked: two
-- changes of one moment have two numbers, and so have those before and after a clock was set back.
CREATE TABLE row_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'summary', 'prompt', 'message', 'session')),
  row_id INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX row_changes_by_row ON row_changes(kind, row_id);

-- It followed corrections by their times.
DROP INDEX observations_edited;

CREATE TRIGGER observations_edited
AFTER UPDATE OF type, title, subtitle, narrative, facts, concepts, pinned, wrong, level, replaced_by ON observations BEGIN
  DELETE FROM row_changes WHERE kind = 'observation' AND row_id = new.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('observation', new.id);
END;
CREATE TRIGGER observations_removed AFTER DELETE ON observations BEGIN
  DELETE FROM row_changes WHERE kind = 'observation' AND row_id = old.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('observation', old.id);
END;
CREATE TRIGGER session_summaries_removed AFTER DELETE ON session_summaries BEGIN
  DELETE FROM row_changes WHERE kind = 'summary' AND row_id = old.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('summary', old.id);
END;
CREATE TRIGGER user_prompts_removed AFTER DELETE ON user_prompts BEGIN
  DELETE FROM row_changes WHERE kind = 'prompt' AND row_id = old.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('prompt', old.id);
END;
CREATE TRIGGER final_messages_removed AFTER DELETE ON final_messages BEGIN
  DELETE FROM row_changes WHERE kind = 'message' AND row_id = old.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('message', old.id);
END;
CREATE TRIGGER sdk_sessions_begun AFTER INSERT ON sdk_sessions WHEN new.status = 'active' BEGIN
  DELETE FROM row_changes WHERE kind = 'session' AND row_id = new.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('session', new.id);
END;
CREATE TRIGGER sdk_sessions_turned AFTER UPDATE OF status, user_prompt ON sdk_sessions
WHEN new.status IS NOT old.status OR new.user_prompt IS NOT old.user_prompt BEGIN
  DELETE FROM row_changes WHERE kind = 'session' AND row_id = new.id;
  INSERT INTO row_changes(kind, row_id) VALUES ('session', new.id);
END;
