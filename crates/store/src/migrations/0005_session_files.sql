-- Which files a session read and edited, by tool calls. The start context tells the files that matter from
-- the latest sessions; `file_refs` leads from a file to rows, this leads from a session to its files.
CREATE TABLE session_files (
  session_id INTEGER NOT NULL REFERENCES sdk_sessions(id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  edited INTEGER NOT NULL,
  PRIMARY KEY (session_id, path)
) STRICT, WITHOUT ROWID;
INSERT INTO session_files (session_id, path, edited)
  SELECT session_id, path, max(modified) FROM (
    SELECT o.session_id AS session_id, f.path AS path, f.modified AS modified
      FROM file_refs AS f JOIN observations AS o ON f.kind = 'observation' AND o.id = f.row_id
    UNION ALL
    SELECT s.session_id, f.path, f.modified
      FROM file_refs AS f JOIN session_summaries AS s ON f.kind = 'summary' AND s.id = f.row_id
  ) WHERE session_id IS NOT NULL GROUP BY session_id, path;
