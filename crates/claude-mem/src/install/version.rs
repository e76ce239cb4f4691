//! A client's version, as far as it decides anything.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The first version number in a text: `2.1.325 (Claude Code)`, `v2.0.77`, `2.1.0-beta.1`.
    pub fn find(text: &str) -> Option<Self> {
        text.split(|c: char| c.is_whitespace() || c == '/')
            .find_map(Self::read)
    }

    fn read(word: &str) -> Option<Self> {
        let word = word.strip_prefix('v').unwrap_or(word);
        let word = word.split(['-', '+']).next()?;
        let mut parts = word.split('.').map(|part| part.parse().ok());
        let version = Self(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn a_version_is_found_in_what_clients_say_of_themselves() {
        for (said, want) in [
            ("2.1.325 (Claude Code)\n", Some(Version(2, 1, 325))),
            ("v2.0.77", Some(Version(2, 0, 77))),
            ("2.1.0-beta.3", Some(Version(2, 1, 0))),
            ("claude-cli/1.0.127", Some(Version(1, 0, 127))),
            ("2.1", None),
            ("2.1.3.4", None),
            ("not found", None),
        ] {
            assert_eq!(Version::find(said), want, "{said:?}");
        }
    }

    #[test]
    fn versions_compare_by_number_not_by_letter() {
        assert!(Version(2, 1, 99) < Version(2, 1, 197));
    }
}
