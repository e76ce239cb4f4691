//! [`share_verdict`]: whether a row may leave this machine, and why not. Pure.

use claude_mem_core::glob;
use claude_mem_core::memory::Origin;
use claude_mem_store::MemoryLevel;

/// The settings of sharing.
#[derive(Clone, Debug, Default)]
pub struct ShareRules {
    /// Patterns of files that keep a row here.
    pub never: Vec<String>,
    /// Share what a session was asked for.
    pub requests: bool,
    /// The home directory, for patterns that begin with `~`.
    pub home: String,
}

/// The inputs of the verdict.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct ShareFacts<'a> {
    /// Another member wrote it.
    pub is_others: bool,
    pub level: MemoryLevel,
    pub origin: Origin,
    pub wrong: bool,
    /// It was there before sharing began.
    pub is_before_sharing: bool,
    /// It belongs to the space's project.
    pub in_space: bool,
    pub files: &'a [&'a str],
}

/// Whether a row may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareVerdict {
    MayLeave,
    Stays(KeepReason),
}

impl ShareVerdict {
    /// The verdict on a row of whose text redaction leaves nothing.
    #[must_use]
    pub const fn without_text(self) -> Self {
        match self {
            Self::MayLeave => Self::Stays(KeepReason::NothingLeft),
            stays @ Self::Stays(_) => stays,
        }
    }
}

/// Why a row stays here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepReason {
    WrittenByOthers,
    Preference,
    FromWeb,
    Imported,
    MarkedWrong,
    BeforeSharing,
    OtherProject,
    NamesKeptFile,
    NothingLeft,
}

impl KeepReason {
    /// The reason as shown to the user.
    pub const fn description(self) -> &'static str {
        match self {
            Self::WrittenByOthers => "written by another member",
            Self::Preference => "a preference of yours",
            Self::FromWeb => "quoted from the web",
            Self::Imported => "imported",
            Self::MarkedWrong => "marked as wrong",
            Self::BeforeSharing => "older than the sharing of its project",
            Self::OtherProject => "of another project",
            Self::NamesKeptFile => "about a file of team_never",
            Self::NothingLeft => "without text after redaction",
        }
    }
}

/// Decides it. A row that is already shared and no longer may be is taken back.
pub fn share_verdict(facts: &ShareFacts<'_>, rules: &ShareRules) -> ShareVerdict {
    let names_kept_file = || {
        let matches =
            |file: &&str| rules.never.iter().any(|pattern| glob::matches_path(pattern, file, &rules.home));
        facts.files.iter().any(matches)
    };
    let reason = match facts.origin {
        _ if facts.is_others => KeepReason::WrittenByOthers,
        _ if !facts.in_space => KeepReason::OtherProject,
        _ if facts.level != MemoryLevel::Project => KeepReason::Preference,
        Origin::Web => KeepReason::FromWeb,
        Origin::Import => KeepReason::Imported,
        _ if facts.is_before_sharing => KeepReason::BeforeSharing,
        _ if facts.wrong => KeepReason::MarkedWrong,
        _ if names_kept_file() => KeepReason::NamesKeptFile,
        Origin::User | Origin::Agent | Origin::Tool | Origin::Manual => return ShareVerdict::MayLeave,
    };
    ShareVerdict::Stays(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> ShareFacts<'static> {
        ShareFacts {
            is_others: false,
            level: MemoryLevel::Project,
            origin: Origin::User,
            wrong: false,
            is_before_sharing: false,
            in_space: true,
            files: &["src/cart.rs"],
        }
    }

    #[test]
    fn each_rule_keeps_a_row_here() {
        let rules =
            ShareRules { never: vec![".env".to_owned(), "secrets".to_owned()], ..ShareRules::default() };
        let verdict = |facts: ShareFacts<'_>| share_verdict(&facts, &rules);
        for origin in [Origin::User, Origin::Agent, Origin::Tool, Origin::Manual] {
            assert_eq!(verdict(ShareFacts { origin, ..facts() }), ShareVerdict::MayLeave, "{origin:?}");
        }
        for (facts, why) in [
            (ShareFacts { is_others: true, ..facts() }, KeepReason::WrittenByOthers),
            (ShareFacts { level: MemoryLevel::User, ..facts() }, KeepReason::Preference),
            (ShareFacts { level: MemoryLevel::Proposed, ..facts() }, KeepReason::Preference),
            (ShareFacts { origin: Origin::Web, ..facts() }, KeepReason::FromWeb),
            (ShareFacts { origin: Origin::Import, ..facts() }, KeepReason::Imported),
            (ShareFacts { wrong: true, ..facts() }, KeepReason::MarkedWrong),
            (ShareFacts { is_before_sharing: true, ..facts() }, KeepReason::BeforeSharing),
            (ShareFacts { in_space: false, ..facts() }, KeepReason::OtherProject),
            (ShareFacts { files: &["src/a.rs", "deploy/.env"], ..facts() }, KeepReason::NamesKeptFile),
            (ShareFacts { files: &["secrets/db.txt"], ..facts() }, KeepReason::NamesKeptFile),
        ] {
            assert_eq!(verdict(facts), ShareVerdict::Stays(why));
        }
        assert_eq!(ShareVerdict::MayLeave.without_text(), ShareVerdict::Stays(KeepReason::NothingLeft));
    }
}
