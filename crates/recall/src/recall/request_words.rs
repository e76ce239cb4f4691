//! What a prompt asks to be done, and its words as people abbreviate them.

use claude_mem_search::analyzer::{is_stop_word, words};
use claude_mem_search::stem::stem;

/// Abbreviations of everyday technical talk, and what rules write instead; sorted.
#[rustfmt::skip]
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("app", "application"), ("args", "arguments"), ("auth", "authentication"), ("config", "configuration"),
    ("cred", "credential"), ("creds", "credentials"), ("db", "database"), ("deps", "dependencies"), ("dev", "development"),
    ("doc", "documentation"), ("docs", "documentation"), ("env", "environment"), ("infra", "infrastructure"),
    ("k8s", "kubernetes"), ("mr", "merge request"), ("mrs", "merge requests"), ("msg", "message"), ("msgs", "messages"),
    ("param", "parameter"), ("params", "parameters"), ("perf", "performance"), ("perms", "permissions"),
    ("pr", "pull request"), ("prod", "production"), ("prs", "pull requests"), ("repo", "repository"),
    ("repos", "repositories"), ("temp", "temporary"), ("tmp", "temporary"), ("ts", "typescript"), ("var", "variable"),
    ("vars", "variables"),
];

/// Actions with consequences, as stems: rules are made about them. Sorted.
#[rustfmt::skip]
const ACTIONS: &[&str] = &[
    "approv", "backup", "ban", "bump", "cancel", "commit", "delet", "deploi", "deprec", "disabl", "drop", "enabl", "export",
    "flash", "import", "instal", "launch", "log", "merg", "migrat", "publish", "push", "rebas", "releas", "remov", "renam",
    "reset", "restart", "restor", "revert", "roll", "rollback", "send", "ship", "squash", "tag", "translat", "uninstal",
    "upgrad", "upload", "wipe",
];

/// Words before the verb of a request.
#[rustfmt::skip]
const LEAD_INS: &[&str] = &[
    "also", "and", "can", "could", "do", "first", "go", "good", "great", "i", "just", "let", "lets", "may", "need", "next", "now",
    "ok", "okay", "please", "s", "shall", "should", "so", "sure", "thanks", "the", "then", "to", "want", "we", "would", "yeah",
    "yes", "you",
];
/// A request of more words before its verb is a story.
const LEAD_IN_WORDS_MAX: usize = 6;

/// Whether a word stands before the verb of a request.
pub(super) fn is_lead_in(word: &str) -> bool {
    LEAD_INS.contains(&word)
}

/// The prompt with what its abbreviations stand for: rules may have either.
pub(super) fn spelled_out(text: &str) -> String {
    let long_form = |word: &str| {
        let lower = word.to_ascii_lowercase();
        let at = ABBREVIATIONS.binary_search_by_key(&lower.as_str(), |(short, _)| short).ok()?;
        Some(ABBREVIATIONS[at].1)
    };
    // A part of a name or a path is no word.
    let written = |token: &str| {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric());
        let is_alone = token.len() <= word.len() + 2 && !word.contains(|c: char| !c.is_alphanumeric());
        match long_form(word).filter(|_| is_alone) {
            Some(long) => format!("{token} {long}"),
            None => token.to_owned(),
        }
    };
    text.split(' ').map(written).collect::<Vec<_>>().join(" ")
}

/// The stem of the verb if the prompt asks for an action with consequences.
pub(super) fn asked_action(text: &str) -> Option<String> {
    let verb = words(text).take(LEAD_IN_WORDS_MAX).find(|word| !LEAD_INS.contains(&word.as_str()))?;
    let verb = stem(&verb);
    ACTIONS.binary_search(&verb.as_str()).is_ok().then_some(verb)
}

/// How a prompt asks to see things as they are.
const LOOKING: &[[&str; 2]] =
    &[["list", "all"], ["list", "the"], ["print", "all"], ["print", "the"], ["show", "all"], ["show", "me"]];

/// Whether a prompt asks to see things: what is only looked at breaks no rule. "Show me how" asks for the rule.
pub(super) fn asks_to_look(text: &str) -> bool {
    let said: Vec<String> = words(text).skip_while(|word| is_lead_in(word)).take(3).collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    matches!(said.as_slice(), [verb, object, rest @ ..] if LOOKING.contains(&[verb, object]) && rest != ["how"])
}

/// Articles before a thing that does not exist yet.
const INDEFINITE: &[&str] = &["a", "an", "another", "new"];
/// Words between the verb of a request and the article: "write me a test", "set up a server".
const BEFORE_ARTICLE: &[&str] = &["me", "us", "up", "out"];
/// Verbs after which a plural needs no article: "write tests".
const MAKING: &[&str] = &["add", "build", "create", "draft", "generate", "introduce", "make", "write"];
/// Words of a thing's name at most: "an end to end test" is one more.
const THING_WORDS_MAX: usize = 3;

/// The stem of the thing that a prompt asks to be made: "add a button to the list", "write an integration test".
pub(super) fn asked_thing(text: &str) -> Option<String> {
    let all: Vec<String> = words(text).take(LEAD_IN_WORDS_MAX + THING_WORDS_MAX + 4).collect();
    let verb = all.iter().take(LEAD_IN_WORDS_MAX).position(|word| !LEAD_INS.contains(&word.as_str()))?;
    let mut rest = all[verb + 1..].iter().map(String::as_str).peekable();
    while rest.next_if(|word| BEFORE_ARTICLE.contains(word)).is_some() {}
    let is_plural = MAKING.contains(&all[verb].as_str())
        && rest
            .peek()
            .is_some_and(|word| word.ends_with('s') && !word.ends_with("ss") && !is_stop_word(word));
    if !is_plural {
        rest.next_if(|word| INDEFINITE.contains(word))?;
    }
    while rest.next_if(|word| INDEFINITE.contains(word)).is_some() {}
    let name = rest.take_while(|word| !is_stop_word(word)).take(THING_WORDS_MAX);
    name.last().map(stem)
}

/// Words by which a rule speaks of all things of a kind.
const QUANTIFIERS: &[&str] = &["all", "any", "each", "every", "new", "no", "our"];
/// Words at the start of a sentence about one thing, or about nobody's kind of things.
#[rustfmt::skip]
const DEFINITE: &[&str] = &["a", "an", "he", "i", "if", "it", "she", "that", "the", "there", "these", "they", "this", "those", "we",
    "when", "you"];

/// The stems of the first words of a rule about all things of a kind: "Every button needs a text", "Release branches
/// are called rel/x.y". Empty if it speaks of one thing.
pub(super) fn kind_spoken_of(title: &str) -> Vec<String> {
    let mut all = words(title).peekable();
    if all.peek().is_none_or(|first| DEFINITE.contains(&first.as_str())) {
        return Vec::new();
    }
    let content = all.filter(|word| !is_stop_word(word) && !QUANTIFIERS.contains(&word.as_str()));
    content.take(2).map(|word| stem(&word)).collect()
}

/// The stems of the words that carry meaning.
pub(super) fn content_stems(text: &str) -> std::collections::HashSet<String> {
    words(text).filter(|word| !is_stop_word(word)).map(|word| stem(&word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_stemmed() {
        assert!(ABBREVIATIONS.is_sorted_by_key(|(short, _)| *short) && ACTIONS.is_sorted());
        assert!(
            ["deployed", "merging", "published", "deletes"]
                .iter()
                .all(|word| { ACTIONS.binary_search(&stem(word).as_str()).is_ok() })
        );
    }

    #[test]
    fn abbreviations_are_explained_but_not_in_names() {
        assert_eq!(spelled_out("publish the docs."), "publish the docs. documentation");
        assert_eq!(spelled_out("open a PR for docs/env.md"), "open a PR pull request for docs/env.md");
        assert_eq!(spelled_out("app.config.ts"), "app.config.ts");
    }

    #[test]
    fn what_is_to_be_made_is_the_thing_of_a_request() {
        for (prompt, want) in [
            ("add a button with a trash icon to the list", Some("button")),
            ("please write me a new migration that adds a column", Some("migrat")),
            ("write an integration test for the orders", Some("test")),
            ("write tests for the order repository", Some("test")),
            ("fix the button", None),
            ("why is there a button?", None),
        ] {
            assert_eq!(asked_thing(prompt).as_deref(), want, "{prompt}");
        }
    }

    #[test]
    fn rule_about_a_kind_names_it_first() {
        for (title, want) in [
            ("Every button needs a text for screen readers", &["button", "need"][..]),
            ("Our release branches are called rel/x.y", &["releas", "branch"]),
            ("Migrations must be reversible", &["migrat", "must"]),
            ("The button of the login page is blue", &[]),
            ("We never block the event loop", &[]),
        ] {
            assert_eq!(kind_spoken_of(title), want, "{title}");
        }
    }

    #[test]
    fn looking_is_told_from_making() {
        for (prompt, want) in [
            ("show me the open pull requests", true),
            ("please list all failing tests", true),
            ("show me how to deploy", false),
            ("show an error when the upload fails", false),
            ("why is the list empty?", false),
        ] {
            assert_eq!(asks_to_look(prompt), want, "{prompt}");
        }
    }

    #[test]
    fn verb_of_a_request_is_its_action() {
        for (prompt, want) in [
            ("push it", Some("push")),
            ("ok, please commit this", Some("commit")),
            ("can we deploy at 2?", Some("deploi")),
            ("show me the last commits", None),
            ("why was it pushed?", None),
        ] {
            assert_eq!(asked_action(prompt).as_deref(), want, "{prompt}");
        }
    }
}
