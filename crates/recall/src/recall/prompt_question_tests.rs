use super::*;

#[test]
fn continuations_commands_and_small_talk_are_not_worth_asking() {
    for prompt in [
        "yes",
        "go on",
        "/help",
        "/plugin:review the last change of the retry budget",
        "/model",
        "run the tests again",
        "show me the diff",
        "fix the bug",
        "42",
    ] {
        assert!(PromptQuestion::read(prompt).is_none(), "{prompt}");
    }
}

#[test]
fn action_that_rules_are_made_about_is_worth_asking() {
    for prompt in ["commit this", "push it", "please merge"] {
        let asked = PromptQuestion::read(prompt).unwrap();
        assert!(asked.is_brief && asked.action.is_some(), "{prompt}");
    }
}

#[test]
fn everyday_words_are_worth_asking_if_there_are_several() {
    let asked = PromptQuestion::read("where do I get the key to sign the documents?").unwrap();
    assert!(asked.is_brief);
    let title = content_stems("Documents are signed with the key of the notary service");
    assert!(asked.is_within(&title));
    assert!(!asked.is_within(&content_stems("Documents are kept in the vault")));
    let asked = PromptQuestion::read("write the release notes for 3.2").unwrap();
    let stems = |words: [&str; 2]| words.map(str::to_owned).to_vec();
    assert!(asked.is_about_kind(&stems(["releas", "note"])));
    assert!(!asked.is_about_kind(&stems(["note", "releas"])));
}

#[test]
fn whatever_it_begins_with_a_prompt_about_something_is_worth_asking() {
    for prompt in [
        "The upstream is rate-limiting us; restore the attempt budget of the Retrier",
        "# Bug report\nThe retrier crosses the rate-limit window",
        "#123 the retrier crosses the window",
        "/srv/app/cfg/flags.py is broken",
        "/etc/hosts names the wrong upstream",
        "why is MAX_ATTEMPTS 7?",
        "how do we bill overage units",
        "fix overage_charge",
    ] {
        assert!(PromptQuestion::read(prompt).is_some(), "{prompt}");
    }
}

#[test]
fn operators_and_filters_are_words_of_a_prompt() {
    let asking = PromptQuestion::read("The Retrier should NOT cross type:window file:///srv/Retrier.js");
    let words = asking.unwrap().query.words;
    assert_eq!(words, ["retrier", "cross", "window", "srv", "js"]);
}

#[test]
fn the_grammar_of_another_language_tells_nothing() {
    let asking = PromptQuestion::read("Warum ist der Lagerbestand nach der Retoure falsch?").unwrap();
    assert_eq!(asking.query.words, ["lagerbestand", "retoure", "falsch"]);
}

#[test]
fn of_a_pasted_log_the_question_is_asked() {
    let mut prompt = String::new();
    for n in 0..200 {
        prompt.push_str(&format!("req{n}x WARN worker{n}z.rs:{n} token{n}q rejected\n"));
    }
    prompt.push_str("Why does the parcel tracker refuse these when the customs form is there?");
    let words = PromptQuestion::read(&prompt).unwrap().query.words;
    assert!(words.len() <= WORDS_MAX);
    assert_eq!(words[..4], ["parcel", "tracker", "refuse", "customs"]);
}
