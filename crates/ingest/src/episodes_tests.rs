use super::*;
use claude_mem_core::clock::Micros;
use claude_mem_core::source::TextSource;
use claude_mem_store::testing::{edit, end, event, prompt, stop};

const NOW: Millis = Millis(1_000_000);

fn heads(kinds: &[&str]) -> Vec<QueuedEventHead> {
    let recent = NOW.0 - 10_000;
    (kinds.iter().zip(0..))
        .map(|(&kind, at)| QueuedEventHead {
            kind: EventKind::from_name(kind),
            at: Millis(recent + at).micros(),
            bytes: 100,
            not_before: Millis(0),
        })
        .collect()
}

#[test]
fn episode_ends_at_stop_session_end_or_next_prompt() {
    for (kinds, want) in [
        (&["prompt", "tool_use", "stop", "prompt"][..], 3),
        (&["prompt", "tool_use", "session_end"], 3),
        (&["prompt", "tool_use", "prompt", "stop"], 2),
        (&["session_start", "prompt", "stop"], 3),
        (&["session_start", "session_end"], 2),
        (&["tool_use", "subagent_stop", "stop"], 3),
        (&["stop"], 1),
        (&["prompt", "pre_compact", "session_start", "post_compact", "stop"], 5),
        (&["prompt", "prompt", "stop"], 1),
    ] {
        assert_eq!(cut_episode(&heads(kinds), NOW, false), EpisodeCut::Take(want), "{kinds:?}");
    }
}

#[test]
fn open_turn_waits_unless_flushed() {
    for kinds in [&["prompt"][..], &["prompt", "tool_use"], &["session_start"], &["session_start", "prompt"]]
    {
        let heads = heads(kinds);
        let old = heads[0].at.millis().plus_seconds(EPISODE_SECONDS_MAX);
        assert_eq!(cut_episode(&heads, NOW, false), EpisodeCut::Wait(old), "{kinds:?}");
        assert_eq!(cut_episode(&heads, NOW, true), EpisodeCut::Take(kinds.len()), "{kinds:?}");
        assert_eq!(cut_episode(&heads, old, false), EpisodeCut::Take(kinds.len()), "{kinds:?}");
    }
    assert_eq!(cut_episode(&[], NOW, true), EpisodeCut::Empty);
}

#[test]
fn fresh_stop_waits_for_late_events() {
    let mut heads = heads(&["prompt", "stop"]);
    heads[1].at = NOW.micros();
    let settled = Millis(NOW.0 + STOP_GRACE_MS);
    assert_eq!(cut_episode(&heads, NOW, false), EpisodeCut::Wait(settled));
    assert_eq!(cut_episode(&heads, settled, false), EpisodeCut::Take(2));
    assert_eq!(cut_episode(&heads, NOW, true), EpisodeCut::Take(2));
    heads.push(QueuedEventHead {
        kind: EventKind::Prompt,
        at: Micros(NOW.micros().0 + 1),
        bytes: 1,
        not_before: Millis(0),
    });
    assert_eq!(cut_episode(&heads, NOW, false), EpisodeCut::Take(2));
}

#[test]
fn long_turn_is_cut_by_count_and_size() {
    let many = vec!["tool_use"; EPISODE_STEPS_MAX + 1];
    assert_eq!(cut_episode(&heads(&many), NOW, false), EpisodeCut::Take(EPISODE_STEPS_MAX));
    let told = vec!["text"; EPISODE_EVENTS_MAX + 1];
    assert_eq!(cut_episode(&heads(&told), NOW, false), EpisodeCut::Take(EPISODE_EVENTS_MAX));
    let mut large = heads(&["prompt", "tool_use", "tool_use"]);
    large[1].bytes = EPISODE_BYTES_MAX;
    assert_eq!(cut_episode(&large, NOW, false), EpisodeCut::Take(2));
}

#[test]
fn failed_event_delays_its_session() {
    let mut heads = heads(&["prompt", "stop"]);
    heads[0].not_before = Millis(NOW.0 + 4_000);
    assert_eq!(cut_episode(&heads, NOW, true), EpisodeCut::Wait(heads[0].not_before));
    assert_eq!(cut_episode(&heads, heads[0].not_before, true), EpisodeCut::Take(2));
}

fn place() -> EpisodeContext {
    EpisodeContext {
        project: "shop".into(),
        root: "/src/shop".into(),
        prompt_count: 4,
        prompt: Some(EpisodePrompt {
            number: 4,
            text: "go on".into(),
            at: Millis(1),
            ..EpisodePrompt::default()
        }),
        ..EpisodeContext::default()
    }
}

#[test]
fn turn_has_prompt_steps_and_final_message() {
    let events = [
        event("s", 1, prompt("Make the login faster")),
        event("s", 2, edit("/src/shop/login.rs", "t1")),
        event("s", 3, stop("It is faster now.")),
    ];
    let episode = build_episode(events.iter(), place());
    let prompt = episode.prompt.as_ref().unwrap();
    assert_eq!((prompt.number, prompt.text.as_str()), (5, "Make the login faster"));
    assert_eq!(episode.files_modified(), ["login.rs"]);
    assert_eq!(episode.final_message.unwrap().text, "It is faster now.");
    assert!(episode.finished);
}

#[test]
fn continued_turn_keeps_its_prompt_and_is_unfinished() {
    let events = [event("s", 2, edit("/src/shop/login.rs", "t1"))];
    let episode = build_episode(events.iter(), place());
    assert_eq!(episode.prompt.unwrap().number, 4);
    assert!(!episode.finished);
}

#[test]
fn private_prompt_is_left_out() {
    let private = EventBody::Prompt { text: String::new(), private: true, source: TextSource::Prompt };
    let events = [event("s", 1, private), event("s", 2, EventBody::Stop { last_message: None })];
    let episode = build_episode(events.iter(), place());
    assert_eq!(episode.prompt, None);
    assert!(!have_content(events.iter()));
}

#[test]
fn session_end_finishes_a_turn_with_steps() {
    let work = event("s", 1, edit("/src/shop/login.rs", "t1"));
    assert!(build_episode([&work, &event("s", 2, end())].into_iter(), place()).finished);
    assert!(!build_episode([&event("s", 2, end())].into_iter(), place()).finished);
}

#[test]
fn session_events_have_no_content() {
    let start = EventBody::SessionStart { source: "startup".into() };
    let events = [event("s", 1, start), event("s", 2, end())];
    assert!(!have_content(events.iter()));
    assert!(have_content([event("s", 1, prompt("hello"))].iter()));
    assert!(!have_content([event("s", 1, prompt("  "))].iter()));
}

#[test]
fn clock_set_back_delays_nothing() {
    let far = NOW.plus_seconds(86_400);
    for kinds in [&["prompt", "stop"][..], &["prompt", "tool_use"]] {
        let mut heads = heads(kinds);
        for head in &mut heads {
            head.at = far.micros();
        }
        assert_eq!(cut_episode(&heads, NOW, false), EpisodeCut::Take(2), "{kinds:?}");
        heads[0].not_before = far;
        assert_eq!(cut_episode(&heads, NOW, false), EpisodeCut::Take(2), "{kinds:?}");
    }
}

#[test]
fn recorded_episode_ends_where_the_next_begins() {
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
        match cut_recorded_episode(&heads, false) {
            EpisodeCut::Take(count) => assert_eq!(Some(count), want, "{kinds:?}"),
            _ => assert_eq!(None, want, "{kinds:?}"),
        }
    }
}

#[test]
fn report_of_a_subagent_is_in_the_episode_once() {
    let agent = |id: &str, seconds, body| Event { agent_id: Some(id.into()), ..event("s", seconds, body) };
    let report = |text: &str| EventBody::SubagentStop { last_message: Some(text.into()) };
    let task = EventBody::ToolUse {
        tool: "Task".into(),
        tool_use_id: Some("t1".into()),
        input: serde_json::json!({"prompt": "look"}),
        output: serde_json::json!({"content": [{"type": "text", "text": "The cache is full."}]}),
        failed: false,
        duration_ms: None,
    };
    let events = [
        agent("a1", 1, report("The cache is full.")),
        event("s", 2, task),
        agent("a2", 3, report("The index is stale.")),
    ];
    assert!(have_content(events[2..].iter()));
    let episode = build_episode(events.iter(), place());
    let texts: Vec<_> = episode.texts.iter().map(|text| (text.source, text.text.as_str())).collect();
    assert_eq!(texts, [(TextSource::SubagentReport, "The index is stale.")]);
    assert_eq!(episode.texts[0].id.as_deref(), Some("a2"));
}
