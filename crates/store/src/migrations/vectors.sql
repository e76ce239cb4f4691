-- Everything here can be made again from claude-mem.db. Kinds are the numbers of RowKind::ALL.

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE models (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- One row of memory: the vector of its whole text, then those of its parts. A changed row gets a
-- new id, so that whoever has read up to an id reads what is new by going on from there.
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,
  row_id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  text_hash INTEGER NOT NULL,
  model INTEGER NOT NULL REFERENCES models(id),
  parts BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_by_row ON vectors(kind, row_id);

-- The signs of the same vectors, a bit per number, together per project: small enough to look
-- through all of them before reading the vectors of the best.
CREATE TABLE signatures (
  project_id INTEGER NOT NULL,
  id INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  row_id INTEGER NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  model INTEGER NOT NULL,
  bits BLOB NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX signatures_by_id ON signatures(id);
