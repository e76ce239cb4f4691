-- Every key, foreign key and index begins with the team, so that tables can be distributed by it.
-- There are no triggers, no PL/pgSQL, no sequences and no advisory locks: they are not portable.

CREATE TABLE claude_mem.teams (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE,
    -- Changed by the operator after a restore: numbers seen before may have been given again.
    generation uuid NOT NULL,
    created_at bigint NOT NULL
);

CREATE TABLE claude_mem.members (
    team uuid NOT NULL REFERENCES claude_mem.teams (id),
    id uuid NOT NULL,
    handle text NOT NULL,
    name text NOT NULL,
    role text NOT NULL CHECK (role IN ('admin', 'member', 'reader', 'bot')),
    created_at bigint NOT NULL,
    left_at bigint,
    PRIMARY KEY (team, id)
);
-- The handle of somebody who left may be given again.
CREATE UNIQUE INDEX members_by_handle ON claude_mem.members (team, handle) WHERE left_at IS NULL;

CREATE TABLE claude_mem.devices (
    team uuid NOT NULL,
    id uuid NOT NULL,
    member uuid NOT NULL,
    name text NOT NULL,
    token_hash bytea NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    seen_at bigint,
    revoked_at bigint,
    PRIMARY KEY (team, id),
    FOREIGN KEY (team, member) REFERENCES claude_mem.members (team, id)
);

CREATE TABLE claude_mem.invites (
    team uuid NOT NULL REFERENCES claude_mem.teams (id),
    id uuid NOT NULL,
    secret_hash bytea NOT NULL UNIQUE,
    role text NOT NULL CHECK (role IN ('admin', 'member', 'reader', 'bot')),
    -- The handle of the new member, if the invite names one.
    handle text,
    -- The member whose further machine it is for.
    member uuid,
    made_by uuid,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    -- The device that used it, so that a repeated request gets the same answer.
    used_by uuid,
    PRIMARY KEY (team, id)
);

CREATE TABLE claude_mem.spaces (
    team uuid NOT NULL REFERENCES claude_mem.teams (id),
    id uuid NOT NULL,
    -- NULL: a project of the team.
    owner uuid,
    name text NOT NULL,
    head bigint NOT NULL,
    live bigint NOT NULL,
    digest bigint NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (team, id)
);
CREATE UNIQUE INDEX spaces_of_owner ON claude_mem.spaces (team, owner) WHERE owner IS NOT NULL;

CREATE TABLE claude_mem.space_keys (
    team uuid NOT NULL,
    key text NOT NULL,
    space uuid NOT NULL,
    PRIMARY KEY (team, key),
    FOREIGN KEY (team, space) REFERENCES claude_mem.spaces (team, id)
);
CREATE INDEX space_keys_of_space ON claude_mem.space_keys (team, space);

CREATE TABLE claude_mem.records (
    team uuid NOT NULL,
    uid uuid NOT NULL,
    space uuid NOT NULL,
    owner uuid,
    seq bigint NOT NULL,
    kind smallint NOT NULL,
    format smallint NOT NULL,
    author uuid NOT NULL,
    device uuid NOT NULL,
    rev integer NOT NULL CHECK (rev > 0),
    hash bytea NOT NULL,
    gone boolean NOT NULL,
    body text,
    made_at bigint NOT NULL,
    received_at bigint NOT NULL,
    PRIMARY KEY (team, uid),
    FOREIGN KEY (team, space) REFERENCES claude_mem.spaces (team, id),
    CHECK (gone = (body IS NULL))
);
CREATE UNIQUE INDEX records_in_order ON claude_mem.records (team, space, seq);
CREATE INDEX records_by_name ON claude_mem.records (team, space, uid);
CREATE INDEX records_of_author ON claude_mem.records (team, author, space);

CREATE TABLE claude_mem.usage (
    team uuid NOT NULL,
    member uuid NOT NULL,
    -- Days since 1970, UTC.
    day integer NOT NULL,
    records bigint NOT NULL,
    PRIMARY KEY (team, member, day),
    FOREIGN KEY (team, member) REFERENCES claude_mem.members (team, id)
);

CREATE TABLE claude_mem.audit (
    team uuid NOT NULL REFERENCES claude_mem.teams (id),
    id uuid NOT NULL,
    at bigint NOT NULL,
    member uuid,
    device uuid,
    action text NOT NULL,
    subject text NOT NULL,
    PRIMARY KEY (team, id)
);
