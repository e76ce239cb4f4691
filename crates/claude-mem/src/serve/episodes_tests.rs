use super::*;
use crate::clock::Micros;
use crate::serve::testing::{edit, end, event, prompt, stop};

const NOW: Millis = Millis(1_000_000);

fn heads(kinds: &[&str]) -> Vec<Head> {
    let recent = NOW.0 - 10_000;
    (kinds.iter().zip(0..))
        .map(|(&kind, at)| Head {
            kind: kind.into(),
            at: Millis(recent + at).micros(),
            bytes: 100,
            not_before: Millis(0),
        })
        .collect()
}

#[test]
fn an_episode_ends_at_a_stop_a_session_end_or_the_next_prompt() {
    for (kinds, want) in [
        (&["prompt", "tool_use", "stop", "prompt"][..], 3),
        (&["prompt", "tool_use", "session_end"], 3),
        (&["prompt", "tool_use", "prompt", "stop"], 2),
        (&["session_start", "prompt", "stop"], 3),
        (&["session_start", "session_end"], 2),
        (&["tool_use", "subagent_stop", "stop"], 3),
        (&["stop"], 1),
        (
            &[
                "prompt",
                "pre_compact",
                "session_start",
                "post_compact",
                "stop",
            ],
            5,
        ),
        (&["prompt", "prompt", "stop"], 1),
    ] {
        assert_eq!(cut(&heads(kinds), NOW, false), Cut::Take(want), "{kinds:?}");
    }
}

#[test]
fn an_open_turn_waits_unless_somebody_waits_for_it() {
    for kinds in [
        &["prompt"][..],
        &["prompt", "tool_use"],
        &["session_start"],
        &["session_start", "prompt"],
    ] {
        let heads = heads(kinds);
        let old = heads[0].at.millis().plus_seconds(EPISODE_SECONDS_MAX);
        assert_eq!(cut(&heads, NOW, false), Cut::Wait(old), "{kinds:?}");
        assert_eq!(cut(&heads, NOW, true), Cut::Take(kinds.len()), "{kinds:?}");
        assert_eq!(cut(&heads, old, false), Cut::Take(kinds.len()), "{kinds:?}");
    }
    assert_eq!(cut(&[], NOW, true), Cut::Nothing);
}

#[test]
fn a_fresh_stop_waits_for_stragglers_unless_the_session_went_on() {
    let mut heads = heads(&["prompt", "stop"]);
    heads[1].at = NOW.micros();
    let settled = Millis(NOW.0 + STOP_GRACE_MS);
    assert_eq!(cut(&heads, NOW, false), Cut::Wait(settled));
    assert_eq!(cut(&heads, settled, false), Cut::Take(2));
    assert_eq!(cut(&heads, NOW, true), Cut::Take(2));
    heads.push(Head {
        kind: "prompt".into(),
        at: Micros(NOW.micros().0 + 1),
        bytes: 1,
        not_before: Millis(0),
    });
    assert_eq!(cut(&heads, NOW, false), Cut::Take(2));
}

#[test]
fn a_long_turn_is_cut_by_count_and_by_size() {
    let many = vec!["tool_use"; EPISODE_EVENTS_MAX + 1];
    assert_eq!(
        cut(&heads(&many), NOW, false),
        Cut::Take(EPISODE_EVENTS_MAX)
    );
    let mut large = heads(&["prompt", "tool_use", "tool_use"]);
    large[1].bytes = EPISODE_BYTES_MAX;
    assert_eq!(cut(&large, NOW, false), Cut::Take(2));
}

#[test]
fn a_failed_event_holds_its_session_back_until_its_time() {
    let mut heads = heads(&["prompt", "stop"]);
    heads[0].not_before = Millis(NOW.0 + 4_000);
    assert_eq!(cut(&heads, NOW, true), Cut::Wait(heads[0].not_before));
    assert_eq!(cut(&heads, heads[0].not_before, true), Cut::Take(2));
}

fn place() -> Place {
    Place {
        project: "shop".into(),
        root: "/src/shop".into(),
        prompts: 4,
        prompt: Some(Prompt {
            number: 4,
            text: "go on".into(),
            at: Millis(1),
        }),
        ..Place::default()
    }
}

#[test]
fn a_turn_is_its_prompt_its_steps_and_its_last_words() {
    let events = [
        event("s", 1, prompt("Make the login faster")),
        event("s", 2, edit("/src/shop/login.rs", "t1")),
        event("s", 3, stop("It is faster now.")),
    ];
    let episode = build(events.iter(), place());
    let prompt = episode.prompt.as_ref().unwrap();
    assert_eq!(
        (prompt.number, prompt.text.as_str()),
        (5, "Make the login faster")
    );
    assert_eq!(episode.files_modified(), ["login.rs"]);
    assert_eq!(episode.final_message.unwrap().text, "It is faster now.");
    assert!(episode.finished);
}

#[test]
fn a_piece_of_a_long_turn_goes_on_with_its_prompt_and_is_not_finished() {
    let events = [event("s", 2, edit("/src/shop/login.rs", "t1"))];
    let episode = build(events.iter(), place());
    assert_eq!(episode.prompt.unwrap().number, 4);
    assert!(!episode.finished);
}

#[test]
fn a_private_prompt_leaves_none() {
    let private = Body::Prompt {
        text: String::new(),
        private: true,
    };
    let events = [
        event("s", 1, private),
        event("s", 2, Body::Stop { last_message: None }),
    ];
    let episode = build(events.iter(), place());
    assert_eq!(episode.prompt, None);
    assert!(!say_something(events.iter()));
}

#[test]
fn a_session_that_ends_in_the_middle_of_work_is_told_as_finished() {
    let work = event("s", 1, edit("/src/shop/login.rs", "t1"));
    assert!(build([&work, &event("s", 2, end())].into_iter(), place()).finished);
    assert!(!build([&event("s", 2, end())].into_iter(), place()).finished);
}

#[test]
fn what_is_only_said_about_the_session_says_nothing() {
    let start = Body::SessionStart {
        source: "startup".into(),
    };
    let events = [event("s", 1, start), event("s", 2, end())];
    assert!(!say_something(events.iter()));
    assert!(say_something([event("s", 1, prompt("hello"))].iter()));
    assert!(!say_something([event("s", 1, prompt("  "))].iter()));
}

#[test]
fn a_clock_that_was_set_back_holds_nothing_up() {
    let far = NOW.plus_seconds(86_400);
    for kinds in [&["prompt", "stop"][..], &["prompt", "tool_use"]] {
        let mut heads = heads(kinds);
        for head in &mut heads {
            head.at = far.micros();
        }
        assert_eq!(cut(&heads, NOW, false), Cut::Take(2), "{kinds:?}");
        heads[0].not_before = far;
        assert_eq!(cut(&heads, NOW, false), Cut::Take(2), "{kinds:?}");
    }
}

#[test]
fn where_no_time_passes_an_episode_ends_where_the_next_one_begins() {
    let far = NOW.plus_seconds(86_400);
    for (kinds, want) in [
        (&["prompt", "stop"][..], None),
        (&["prompt", "tool_use"], None),
        (&["prompt", "stop", "subagent_stop"], Some(2)),
        (&["prompt", "tool_use", "prompt"], Some(2)),
    ] {
        let mut heads = heads(kinds);
        for head in &mut heads {
            head.at = far.micros();
        }
        match cut_told(&heads, false) {
            Cut::Take(count) => assert_eq!(Some(count), want, "{kinds:?}"),
            _ => assert_eq!(None, want, "{kinds:?}"),
        }
    }
}
