//! The names by which members are shown. A member chooses the name, and it stands in lines that an agent reads:
//! nobody may look like the user, like the agent or like another member.

use std::collections::BTreeMap;

use claude_mem_wire::messages::MemberInfo;
use claude_mem_wire::tidy_name;

/// Words that no name contains: lines use them for the user and for agents.
const ROLE_WORDS: [&str; 6] = ["agent", "assistant", "claude", "human", "system", "user"];
/// Words that are no name by themselves.
const PRONOUNS: [&str; 6] = ["i", "me", "mine", "myself", "you", "yourself"];

/// The name of each member, in the order of `members`. Two who would look alike are shown with their handles, which
/// are unique; one who would look like the user or an agent is shown as `member HANDLE`.
pub(crate) fn display_names(members: &[MemberInfo]) -> Vec<String> {
    let handles: Vec<String> =
        members.iter().map(|member| tidy_name(&member.handle).unwrap_or_default()).collect();
    let names: Vec<String> = members
        .iter()
        .zip(&handles)
        // Parentheses are ours: they hold the handle.
        .map(|(member, handle)| {
            tidy_name(&member.name.replace(['(', ')'], " ")).unwrap_or_else(|| handle.clone())
        })
        .collect();
    // How many members are called so, by name or by handle.
    let mut called: BTreeMap<String, usize> = BTreeMap::new();
    for (name, handle) in names.iter().zip(&handles) {
        let (name, handle) = (folded(name), folded(handle));
        if name != handle {
            *called.entry(handle).or_default() += 1;
        }
        *called.entry(name).or_default() += 1;
    }
    let shown = |(name, handle): (&String, &String)| {
        if is_role(name) {
            format!("member {handle}")
        } else if called.get(&folded(name)).is_some_and(|count| *count > 1) {
            format!("{name} ({handle})")
        } else {
            name.clone()
        }
    };
    names.iter().zip(&handles).map(shown).collect()
}

/// A name without case, blanks and punctuation.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_role(name: &str) -> bool {
    let lower = name.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_pronoun = matches!(words[..], [word] if PRONOUNS.contains(&word));
    words.is_empty() || is_pronoun || words.iter().any(|word| ROLE_WORDS.contains(word))
}

#[cfg(test)]
mod tests {
    use claude_mem_wire::{MemberId, MemberRole};

    use super::*;

    fn names(members: &[(&str, &str)]) -> Vec<String> {
        let infos: Vec<MemberInfo> = members
            .iter()
            .zip(1..)
            .map(|((handle, name), number)| MemberInfo {
                id: MemberId(uuid::Uuid::from_u128(number)),
                handle: (*handle).to_owned(),
                name: (*name).to_owned(),
                role: MemberRole::Member,
                created_at: 0,
                left_at: None,
            })
            .collect();
        display_names(&infos)
    }

    #[test]
    fn nobody_looks_like_another_member() {
        for (members, want) in [
            ([("mira", "Mira"), ("jonas", "Jonas")], ["Mira", "Jonas"]),
            ([("mira", "Mira"), ("mallory", "M I R A.")], ["Mira (mira)", "M I R A. (mallory)"]),
            ([("mira", "Dr. Castor"), ("mallory", "mira")], ["Dr. Castor", "mira (mallory)"]),
            ([("mira", "Mira"), ("mallory", "Mira (mira)")], ["Mira", "Mira mira"]),
            ([("mira", ""), ("mallory", "Mira")], ["mira (mira)", "Mira (mallory)"]),
        ] {
            assert_eq!(names(&members), want, "{members:?}");
        }
    }

    #[test]
    fn nobody_looks_like_the_user_or_an_agent() {
        for name in ["the user", "User", "you", "ME", "Claude", "System:", "the user's own", "…"] {
            assert_eq!(names(&[("mallory", name)]), ["member mallory"], "{name}");
        }
        assert_eq!(names(&[("user", "")]), ["member user"]);
        assert_eq!(names(&[("mira", "Mira Younger")]), ["Mira Younger"]);
    }
}
