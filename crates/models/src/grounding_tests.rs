use serde_json::json;

use super::*;
use crate::answer::parse_answer;
use crate::prompt;
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::EpisodePrompt;

fn edit(path: &str) -> EpisodeStep {
    EpisodeStep {
        tool: "Edit".into(),
        input: json!({"file_path": path, "old_string": "a", "new_string": "b"}),
        at: Millis(7),
        ..EpisodeStep::default()
    }
}

fn episode(steps: Vec<EpisodeStep>) -> Episode {
    Episode {
        root: "/app".into(),
        prompt: Some(EpisodePrompt { text: "See docs/plan.md".into(), ..EpisodePrompt::default() }),
        steps,
        finished: true,
        ..Episode::default()
    }
}

fn hold(episode: &Episode, answer: &str) -> CompressionOutput {
    let shown = prompt::episode_message(episode);
    let vocabulary = Vocabulary::default();
    AnswerGrounding { episode, shown: &shown, vocabulary: &vocabulary }
        .ground_answer(parse_answer(answer).unwrap())
}

#[test]
fn modified_files_come_from_tool_inputs_only() {
    let episode = episode(vec![edit("/app/src/a.rs"), edit("/app/src/b.rs")]);
    for (said, want) in [
        ("", vec!["src/a.rs", "src/b.rs"]),
        ("<files_modified><file>src/a.rs</file></files_modified>", vec!["src/a.rs"]),
        ("<files_modified><file>/app/src/a.rs</file></files_modified>", vec!["src/a.rs"]),
        ("<files_modified><file>b.rs</file></files_modified>", vec!["src/b.rs"]),
        ("<files_modified><file>/etc/passwd</file></files_modified>", vec!["src/a.rs", "src/b.rs"]),
    ] {
        let answer = format!("<observation><title>T</title>{said}</observation>");
        assert_eq!(hold(&episode, &answer).observations[0].text.files_modified, want, "{said}");
    }
}

#[test]
fn each_observation_gets_the_files_it_names() {
    let episode = episode(vec![edit("/app/src/a.rs"), edit("/app/src/b.rs")]);
    let both = "<observation><title>a.rs parses dates</title></observation>\
        <observation><title>We use UTC</title></observation>";
    let held = hold(&episode, both);
    assert_eq!(held.observations[0].text.files_modified, ["src/a.rs"]);
    assert!(held.observations[1].text.files_modified.is_empty());
}

#[test]
fn unseen_path_is_not_stored() {
    let episode = episode(vec![edit("/app/src/a.rs")]);
    let answer = "<observation><title>T</title><files_read><file>docs/plan.md</file>\
        <file>made/up.rs</file><file>src/a.rs</file></files_read></observation>";
    assert_eq!(hold(&episode, answer).observations[0].text.files_read, ["docs/plan.md"]);
}

#[test]
fn types_and_concepts_are_from_the_vocabulary() {
    let answer = "<observation><type>Bug Fix</type><title>T</title>\
        <concepts>pitfall, blockchain, gotcha</concepts></observation>";
    let held = hold(&episode(vec![]), answer).observations.remove(0);
    assert_eq!(held.text.kind, ObservationType::BUGFIX);
    assert_eq!(held.text.concepts, ["gotcha"]);
    let untyped = "<observation><title>T</title></observation>";
    let kind = |episode| hold(&episode, untyped).observations.remove(0).text.kind;
    assert_eq!(kind(episode(vec![])), ObservationType::DISCOVERY);
    assert_eq!(kind(episode(vec![edit("/app/a")])), ObservationType::CHANGE);
}

#[test]
fn unfinished_turn_has_no_summary() {
    let answer = "<summary><request>r</request><completed>c</completed>\
        <files_edited><file>invented.rs</file></files_edited></summary>";
    let mut episode = episode(vec![edit("/app/src/a.rs")]);
    let summary = hold(&episode, answer).summary.unwrap();
    assert_eq!(summary.text.files_edited, ["src/a.rs"]);
    assert_eq!(summary.created_at, Millis(7));
    episode.finished = false;
    assert_eq!(hold(&episode, answer).summary, None);
}

#[test]
fn web_content_has_web_origin() {
    let fetch = EpisodeStep { tool: "WebFetch".into(), ..EpisodeStep::default() };
    let answer = "<observation><title>T</title></observation>";
    let origin = |steps| hold(&episode(steps), answer).observations[0].origin;
    assert_eq!(origin(vec![fetch.clone()]), Origin::Web);
    assert_eq!(origin(vec![fetch, edit("/app/a")]), Origin::Agent);
    assert_eq!(origin(vec![]), Origin::Agent);
}

#[test]
fn earlier_titles_are_absorbed() {
    let episode = episode(Vec::new());
    let answer = "<observation><title>A</title><replaces>Old one</replaces><replaces>B</replaces></observation>\
        <observation><title>B</title><replaces>b.</replaces></observation>";
    let held = hold(&episode, answer);
    let absorbed: Vec<_> = held.absorbed.iter().map(|old| (old.into, old.title.as_str())).collect();
    // B is new in this answer, so A cannot take it in; B itself may be an old title told anew.
    assert_eq!(absorbed, [(0, "Old one"), (1, "b.")]);
}
