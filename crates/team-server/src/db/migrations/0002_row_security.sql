-- Who asks stands in settings of the transaction; without them nothing is visible.
-- The roles `operator` (the service itself, on its machine) and `watcher` (heads of long polls) belong to
-- no member.

CREATE FUNCTION claude_mem.team() RETURNS uuid LANGUAGE sql STABLE
    AS $$ SELECT nullif(current_setting('claude_mem.team', true), '')::uuid $$;
CREATE FUNCTION claude_mem.member() RETURNS uuid LANGUAGE sql STABLE
    AS $$ SELECT nullif(current_setting('claude_mem.member', true), '')::uuid $$;
CREATE FUNCTION claude_mem.role_name() RETURNS text LANGUAGE sql STABLE
    AS $$ SELECT coalesce(current_setting('claude_mem.role', true), '') $$;
-- The hash of the token or of the invite's secret that the request presents.
CREATE FUNCTION claude_mem.presented() RETURNS bytea LANGUAGE sql STABLE
    AS $$ SELECT decode(nullif(current_setting('claude_mem.presented', true), ''), 'hex') $$;

ALTER TABLE claude_mem.teams ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.teams FORCE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.members FORCE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.devices FORCE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.invites ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.invites FORCE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.spaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.spaces FORCE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.space_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.space_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.records ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.records FORCE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.usage FORCE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.audit FORCE ROW LEVEL SECURITY;

CREATE POLICY seen ON claude_mem.teams FOR SELECT
    USING (id = claude_mem.team() OR claude_mem.role_name() = 'operator');
CREATE POLICY made ON claude_mem.teams FOR INSERT WITH CHECK (claude_mem.role_name() = 'operator');
CREATE POLICY changed ON claude_mem.teams FOR UPDATE
    USING (claude_mem.role_name() = 'operator') WITH CHECK (claude_mem.role_name() = 'operator');

CREATE POLICY seen ON claude_mem.invites FOR SELECT
    USING (secret_hash = claude_mem.presented()
           OR (team = claude_mem.team()
               AND (claude_mem.role_name() IN ('admin', 'operator') OR made_by = claude_mem.member())));
CREATE POLICY made ON claude_mem.invites FOR INSERT
    WITH CHECK (team = claude_mem.team()
                AND (claude_mem.role_name() IN ('admin', 'operator')
                     OR (member = claude_mem.member() AND made_by = claude_mem.member()
                         AND role = claude_mem.role_name())));
CREATE POLICY used ON claude_mem.invites FOR UPDATE
    USING (secret_hash = claude_mem.presented()) WITH CHECK (secret_hash = claude_mem.presented());

CREATE POLICY seen ON claude_mem.members FOR SELECT USING (team = claude_mem.team());
-- A member comes into being by an invite for this role, and in no other way.
CREATE POLICY joined ON claude_mem.members FOR INSERT
    WITH CHECK (team = claude_mem.team() AND id = claude_mem.member()
                AND EXISTS (SELECT 1 FROM claude_mem.invites i
                            WHERE i.team = members.team AND i.role = members.role
                              AND i.secret_hash = claude_mem.presented()));
-- Nobody but an administrator changes a role.
CREATE POLICY changed ON claude_mem.members FOR UPDATE
    USING (team = claude_mem.team() AND (id = claude_mem.member() OR claude_mem.role_name() = 'admin'))
    WITH CHECK (team = claude_mem.team()
                AND (claude_mem.role_name() = 'admin'
                     OR (id = claude_mem.member() AND role = claude_mem.role_name())));

CREATE POLICY seen ON claude_mem.devices FOR SELECT
    USING (token_hash = claude_mem.presented()
           OR (team = claude_mem.team()
               AND (member = claude_mem.member() OR claude_mem.role_name() = 'admin')));
CREATE POLICY joined ON claude_mem.devices FOR INSERT
    WITH CHECK (team = claude_mem.team() AND member = claude_mem.member());
CREATE POLICY changed ON claude_mem.devices FOR UPDATE
    USING (team = claude_mem.team() AND (member = claude_mem.member() OR claude_mem.role_name() = 'admin'))
    WITH CHECK (team = claude_mem.team());

CREATE POLICY seen ON claude_mem.spaces FOR SELECT
    USING (team = claude_mem.team()
           AND (owner IS NULL OR owner = claude_mem.member() OR claude_mem.role_name() = 'watcher'));
CREATE POLICY made ON claude_mem.spaces FOR INSERT
    WITH CHECK (team = claude_mem.team() AND (owner IS NULL OR owner = claude_mem.member())
                AND claude_mem.role_name() IN ('admin', 'member'));
CREATE POLICY changed ON claude_mem.spaces FOR UPDATE
    USING (team = claude_mem.team() AND (owner IS NULL OR owner = claude_mem.member())
           AND claude_mem.role_name() IN ('admin', 'member', 'bot'))
    WITH CHECK (team = claude_mem.team() AND (owner IS NULL OR owner = claude_mem.member()));

CREATE POLICY seen ON claude_mem.space_keys FOR SELECT USING (team = claude_mem.team());
CREATE POLICY made ON claude_mem.space_keys FOR INSERT
    WITH CHECK (team = claude_mem.team() AND claude_mem.role_name() IN ('admin', 'member'));

CREATE POLICY seen ON claude_mem.records FOR SELECT
    USING (team = claude_mem.team() AND (owner IS NULL OR owner = claude_mem.member()));
CREATE POLICY written ON claude_mem.records FOR INSERT
    WITH CHECK (team = claude_mem.team() AND author = claude_mem.member()
                AND (owner IS NULL OR owner = claude_mem.member())
                AND claude_mem.role_name() IN ('admin', 'member', 'bot')
                AND EXISTS (SELECT 1 FROM claude_mem.spaces s
                            WHERE s.team = records.team AND s.id = records.space
                              AND s.owner IS NOT DISTINCT FROM records.owner));
-- Only the author changes a record; an administrator may only make it gone.
CREATE POLICY changed ON claude_mem.records FOR UPDATE
    USING (team = claude_mem.team() AND (owner IS NULL OR owner = claude_mem.member())
           AND (author = claude_mem.member() OR claude_mem.role_name() = 'admin')
           AND claude_mem.role_name() IN ('admin', 'member', 'bot'))
    WITH CHECK (team = claude_mem.team() AND (owner IS NULL OR owner = claude_mem.member())
                AND (author = claude_mem.member() OR (claude_mem.role_name() = 'admin' AND gone))
                AND EXISTS (SELECT 1 FROM claude_mem.spaces s
                            WHERE s.team = records.team AND s.id = records.space
                              AND s.owner IS NOT DISTINCT FROM records.owner));

CREATE POLICY seen ON claude_mem.usage FOR SELECT
    USING (team = claude_mem.team() AND member = claude_mem.member());
CREATE POLICY counted ON claude_mem.usage FOR INSERT
    WITH CHECK (team = claude_mem.team() AND member = claude_mem.member());
CREATE POLICY changed ON claude_mem.usage FOR UPDATE
    USING (team = claude_mem.team() AND member = claude_mem.member())
    WITH CHECK (team = claude_mem.team() AND member = claude_mem.member());

CREATE POLICY seen ON claude_mem.audit FOR SELECT
    USING (team = claude_mem.team() AND claude_mem.role_name() = 'admin');
CREATE POLICY written ON claude_mem.audit FOR INSERT
    WITH CHECK (team = claude_mem.team()
                AND (member = claude_mem.member() OR (member IS NULL AND claude_mem.role_name() = 'operator')));

GRANT USAGE ON SCHEMA claude_mem TO claude_mem_app;
GRANT SELECT, INSERT ON claude_mem.teams, claude_mem.members, claude_mem.devices, claude_mem.invites,
    claude_mem.spaces, claude_mem.space_keys, claude_mem.records, claude_mem.usage, claude_mem.audit
    TO claude_mem_app;
GRANT UPDATE (generation) ON claude_mem.teams TO claude_mem_app;
GRANT UPDATE (name, role, left_at) ON claude_mem.members TO claude_mem_app;
GRANT UPDATE (seen_at, revoked_at) ON claude_mem.devices TO claude_mem_app;
GRANT UPDATE (used_at, used_by) ON claude_mem.invites TO claude_mem_app;
GRANT UPDATE (head, live, digest) ON claude_mem.spaces TO claude_mem_app;
GRANT UPDATE (records) ON claude_mem.usage TO claude_mem_app;
GRANT UPDATE (space, owner, seq, kind, format, device, rev, hash, gone, body, made_at, received_at)
    ON claude_mem.records TO claude_mem_app;
