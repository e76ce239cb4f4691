//! The tables, for the proof that each of them is protected.

/// One query per table that counts what is visible.
pub(super) const COUNTS: &[(&str, &str)] = &[
    ("teams", "SELECT count(*) FROM claude_mem.teams"),
    ("members", "SELECT count(*) FROM claude_mem.members"),
    ("devices", "SELECT count(*) FROM claude_mem.devices"),
    ("invites", "SELECT count(*) FROM claude_mem.invites"),
    ("spaces", "SELECT count(*) FROM claude_mem.spaces"),
    ("space_keys", "SELECT count(*) FROM claude_mem.space_keys"),
    ("records", "SELECT count(*) FROM claude_mem.records"),
    ("usage", "SELECT count(*) FROM claude_mem.usage"),
    ("audit", "SELECT count(*) FROM claude_mem.audit"),
];
