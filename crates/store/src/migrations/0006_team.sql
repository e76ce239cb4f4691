-- Memory that is shared with a team or with one's other machines. Nothing of this is used before a
-- team is joined: `member` is NULL for one's own rows, and the tables below are empty.
CREATE TABLE members (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  handle TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  role TEXT NOT NULL DEFAULT 'member',
  -- Decided on this machine, never by the server.
  trust TEXT NOT NULL DEFAULT 'member' CHECK (trust IN ('own', 'trusted', 'member', 'muted')),
  gone INTEGER NOT NULL DEFAULT 0
) STRICT;

ALTER TABLE sdk_sessions ADD COLUMN member INTEGER REFERENCES members(id);
ALTER TABLE observations ADD COLUMN member INTEGER REFERENCES members(id);
ALTER TABLE session_summaries ADD COLUMN member INTEGER REFERENCES members(id);
ALTER TABLE session_accounts ADD COLUMN member INTEGER REFERENCES members(id);
-- It reads like an instruction to an agent: found by search, never offered unasked.
ALTER TABLE observations ADD COLUMN held_back INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_accounts ADD COLUMN held_back INTEGER NOT NULL DEFAULT 0;

-- A busy colleague must not make one's own rows expensive to list, nor the other way round.
CREATE INDEX observations_own ON observations(project_id, created_at_epoch DESC) WHERE member IS NULL;
CREATE INDEX observations_others ON observations(project_id, created_at_epoch DESC) WHERE member IS NOT NULL;

-- What is shared: a project, or all that one's own machines share with each other.
CREATE TABLE spaces (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  -- One's own machines only, all projects that are not shared otherwise.
  own INTEGER NOT NULL DEFAULT 0,
  -- NULL for one's own space, and for a project that was removed here.
  project_id INTEGER REFERENCES projects(id) ON DELETE SET NULL,
  mode TEXT NOT NULL CHECK (mode IN ('auto', 'review', 'receive', 'off')),
  -- Rows up to these ids were there before sharing began and stay here.
  from_observation INTEGER NOT NULL DEFAULT 0,
  from_account INTEGER NOT NULL DEFAULT 0,
  -- Up to where rows and changes have been looked at.
  sealed_observation INTEGER NOT NULL DEFAULT 0,
  sealed_account INTEGER NOT NULL DEFAULT 0,
  sealed_change INTEGER NOT NULL DEFAULT 0,
  -- All records of the server up to this number are here, but for those of the first walk.
  high INTEGER NOT NULL DEFAULT 0,
  -- Where the first walk, which goes from the newest record back, goes on; NULL: it is done.
  low INTEGER,
  -- Records that the first walk may still take; NULL: all.
  window INTEGER,
  -- Live records that the server is known to hold, and the XOR of their marks.
  live INTEGER NOT NULL DEFAULT 0,
  digest INTEGER NOT NULL DEFAULT 0,
  -- How often in a row the server's digest was another one.
  unequal INTEGER NOT NULL DEFAULT 0,
  generation TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX spaces_by_project ON spaces(project_id) WHERE project_id IS NOT NULL;

-- Each shared record with the version that the server is known to hold (`rev` 0: none). Texts are
-- never kept here: they are read from their row when they are sent.
CREATE TABLE shared_rows (
  space INTEGER NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
  uid TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('observation', 'account')),
  -- NULL: gone, hidden here, or never stored here.
  row_id INTEGER,
  -- NULL: one's own.
  member INTEGER REFERENCES members(id),
  rev INTEGER NOT NULL DEFAULT 0,
  hash BLOB NOT NULL DEFAULT x'',
  gone INTEGER NOT NULL DEFAULT 0,
  -- Its part of the space's digest; NULL: the server holds no live record.
  mark INTEGER,
  -- The hash of the row as this machine would send it, to tell whether it has changed.
  local_hash BLOB NOT NULL DEFAULT x'',
  state TEXT NOT NULL CHECK (state IN ('held', 'unsent', 'sent', 'refused', 'kept', 'received', 'aside')),
  why TEXT NOT NULL DEFAULT '',
  at_epoch INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (space, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX shared_rows_by_row ON shared_rows(kind, row_id);
CREATE INDEX shared_rows_to_send ON shared_rows(space) WHERE state = 'unsent';
