-- The machine that made an invite: its invites end with it. NULL: the operator, or an older server.
ALTER TABLE claude_mem.invites ADD COLUMN made_on uuid;

-- Keys of projects that a member added on this day.
ALTER TABLE claude_mem.usage ADD COLUMN space_keys bigint NOT NULL DEFAULT 0;
GRANT UPDATE (space_keys) ON claude_mem.usage TO claude_mem_app;
