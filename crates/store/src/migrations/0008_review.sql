-- Memories that a person decided to keep when the review listed them, by the reason of the list. `other_id` is the
-- memory that it was compared with, 0 if none: a new contradiction or duplicate is listed again.
CREATE TABLE review_decisions (
  observation_id INTEGER NOT NULL REFERENCES observations(id) ON DELETE CASCADE,
  reason TEXT NOT NULL CHECK (reason IN ('contradiction', 'duplicate', 'missing', 'unused')),
  other_id INTEGER NOT NULL DEFAULT 0,
  created_at_epoch INTEGER NOT NULL,
  PRIMARY KEY (observation_id, reason, other_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX review_decisions_by_reason ON review_decisions(reason);
