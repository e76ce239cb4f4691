//! [`ClientVersion`]: major, minor and patch of a client's version.

use std::fmt;

/// The version of a client. Pre-release suffixes are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientVersion(pub u32, pub u32, pub u32);

impl ClientVersion {
    /// The first version number in a text: `2.1.325 (Claude Code)`, `v2.0.77`, `2.1.0-beta.1`.
    pub fn find(text: &str) -> Option<Self> {
        text.split(|c: char| c.is_whitespace() || c == '/').find_map(Self::parse)
    }

    fn parse(word: &str) -> Option<Self> {
        let word = word.strip_prefix('v').unwrap_or(word);
        let word = word.split(['-', '+']).next()?;
        let mut parts = word.split('.').map(|part| part.parse().ok());
        let version = Self(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The version that a newer client tells its hooks in `AI_AGENT`, as `claude-code_2-1-325_cli`.
pub fn version_said(agent: &str) -> Option<ClientVersion> {
    let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
    ClientVersion::find(&version.replace('-', "."))
}

#[cfg(test)]
mod tests {
    use super::{ClientVersion, version_said};

    #[test]
    fn version_is_found_in_client_output() {
        for (said, want) in [
            ("2.1.325 (Claude Code)\n", Some(ClientVersion(2, 1, 325))),
            ("v2.0.77", Some(ClientVersion(2, 0, 77))),
            ("2.1.0-beta.3", Some(ClientVersion(2, 1, 0))),
            ("claude-cli/1.0.127", Some(ClientVersion(1, 0, 127))),
            ("2.1", None),
            ("2.1.3.4", None),
            ("not found", None),
        ] {
            assert_eq!(ClientVersion::find(said), want, "{said:?}");
        }
    }

    #[test]
    fn versions_compare_numerically() {
        assert!(ClientVersion(2, 1, 99) < ClientVersion(2, 1, 197));
    }

    #[test]
    fn version_is_read_from_ai_agent() {
        let version = |patch| Some(ClientVersion(2, 1, patch));
        assert_eq!(version_said("claude-code_2-1-325_harness"), version(325));
        assert_eq!(version_said("claude-code_2-1_harness"), None);
        assert_eq!(version_said("codex"), None);
    }
}
