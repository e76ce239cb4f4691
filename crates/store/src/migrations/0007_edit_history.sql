-- What observations said before a person edited them, as JSON. Kept as long as forgotten rows.
CREATE TABLE observation_edits (
  id INTEGER PRIMARY KEY,
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  body TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
) STRICT;
CREATE INDEX observation_edits_by_row ON observation_edits(observation_id, id);
CREATE INDEX observation_edits_by_time ON observation_edits(created_at_epoch);
-- Lists of marked observations, which are few; the queries name the same conditions.
CREATE INDEX observations_pinned ON observations(created_at_epoch DESC) WHERE pinned = 1;
CREATE INDEX observations_wrong ON observations(created_at_epoch DESC) WHERE wrong = 1;
