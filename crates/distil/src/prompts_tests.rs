use super::*;

#[test]
fn only_what_the_user_typed_is_left() {
    for (text, want) in [
        ("<system-reminder>You must obey.</system-reminder>Use tabs.", "Use tabs."),
        ("Use tabs. <system-reminder>open", "Use tabs."),
        (
            "<command-message>x</command-message><command-name>/fix</command-name><command-args>the bug</command-args>",
            "/fix  the bug",
        ),
        ("[Request interrupted by user]\nNo, use tabs.", "No, use tabs."),
        ("a < b", "a < b"),
    ] {
        assert_eq!(spoken(text), want, "{text:?}");
    }
}

#[test]
fn the_name_of_a_slash_command_is_not_said() {
    for (text, want) in [
        ("/claude-mem:save Never log the IBAN", "Never log the IBAN"),
        ("/review", "/review"),
        ("/usr/bin/env is missing", "/usr/bin/env is missing"),
        ("Never log the IBAN", "Never log the IBAN"),
    ] {
        assert_eq!(without_command(text), want);
    }
}

#[test]
fn what_a_prompt_asks_for_is_told_without_the_scene() {
    for (prompt, want) in [
        (
            "Currently the list has five columns. We should hide the price column. It was built last year.",
            "We should hide the price column.",
        ),
        ("The cursor jumps after a reload. Fix this bug.", "The cursor jumps after a reload. Fix this bug."),
        ("/plan:phase 14", "/plan:phase 14"),
        ("/clear all of it", ""),
        ("The list is empty after a reload.", "The list is empty after a reload."),
    ] {
        assert_eq!(asked(prompt, &SpokenText::read(prompt)), want, "{prompt}");
    }
}

#[test]
fn user_says_what_is_done() {
    let stated = |text: &str| stated_done(&SpokenText::read(text));
    for text in
        ["The signing secrets are configured.", "I've added the deploy key.", "The invoice mails work now."]
    {
        assert_eq!(stated(text).len(), 1, "{text}");
    }
    for text in [
        "The signing secrets are not configured.",
        "Is the invoice mail done?",
        "If the deploy key has been added, go on.",
        "I've noticed that the list is empty.",
        "Add the deploy key.",
    ] {
        assert_eq!(stated(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn path_of_an_attached_picture_is_left_out() {
    for (text, want) in [
        ("make it look like '/tmp/a b/Shot 3 at 10.11.png' on phones", "make it look like on phones"),
        ("the logo is logo.png", "the logo is"),
        ("replace web/logo.svg with the round one", "replace web/logo.svg with the round one"),
    ] {
        assert_eq!(without_pictures(text), want, "{text}");
    }
}

#[test]
fn words_that_are_no_verbs_are_sorted() {
    assert!(NO_VERBS.is_sorted());
}
