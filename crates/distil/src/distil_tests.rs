//! What holds for any episode whatever: nothing panics, everything is bounded, tools are quoted.

use crate::DISTIL_OBSERVATIONS_MAX;
use crate::carry::CARRY_FAILURES_MAX;
use crate::carry::CARRY_RULES_MAX;
use crate::draft::OBSERVATION_CONCEPTS_MAX;
use crate::draft::OBSERVATION_SUBTITLE_CHARS_MAX;
use crate::limits::OBSERVATION_FILES_MAX;
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use crate::summary::SUMMARY_FIELD_CHARS_MAX;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{EpisodePrompt, EpisodeStep, FinalMessage};
use claude_mem_core::limits::OBSERVATION_NARRATIVE_CHARS_MAX;

/// Text as it comes: words that mean something to us, marks, code, other scripts, anything.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "No. ", "never ", "must ", "because ", "Got it - ", "Recap of x: ", "`MAX_A`", "7", "?", ". ", "; ", ": ",
            "\n", "\n\n", "- ", "* ", "```\n", "```diff\n-a = 1\n+a = 2\n```", "**", "error[E1]: x\n  --> ", "FAILED ",
            "tests/a.py::b - ", "1 failed, 2 passed in 0.1s", "fn f() {\n", "    def g(self):\n", "git commit -m \"",
            "$(cat <<'EOF'\n", "EOF\n)\"", " && ", " | ", "cargo test", "src/a.rs", "“", "’", "不要", "必须。", "してください。",
            "weil ", "parce que ", "…", "\u{1b}[31m", "\u{0}", "İ", "ß", "👩‍👩‍👧", "\u{202e}", "s/a/b/", "sed -i ", "<<", "'", "\"", "\\",
            "thread 'x' panicked at a:1:\n", "left: 1\n", "right: 2\n", "@@", "+++ b/x\n", "*** Update File: y\n",
            "<system-reminder>", "1. Request:", "[x](y", "![", "](", "A", "tried ", "did not work ", "I'd ", "next steps:\n",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,24}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "file_path",
        "old_string",
        "new_string",
        "content",
        "command",
        "edits",
        "structuredPatch",
        "lines",
        "oldStart",
        "originalFile",
        "stdout",
        "stderr",
        "interrupted",
        "pattern",
        "url",
        "type",
        "text",
        "input",
        "path",
    ]);
    leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

fn step() -> impl Strategy<Value = EpisodeStep> {
    let tool = prop::sample::select(vec![
        "Bash",
        "Edit",
        "MultiEdit",
        "Write",
        "NotebookEdit",
        "Read",
        "Grep",
        "WebFetch",
        "Task",
        "apply_patch",
        "shell",
        "x",
    ]);
    let input = prop_oneof![
        value(),
        (text(), text(), text())
            .prop_map(|(p, o, n)| json!({"file_path": p, "old_string": o, "new_string": n})),
        text().prop_map(|c| json!({ "command": c })),
        text().prop_map(|c| json!({"file_path": "/r/a.py", "content": c, "input": c})),
    ];
    (tool, input, value(), any::<bool>()).prop_map(|(tool, input, output, failed)| EpisodeStep {
        tool: tool.into(),
        input,
        output,
        failed,
        ..EpisodeStep::default()
    })
}

fn episode() -> impl Strategy<Value = Episode> {
    let parts = (
        prop::option::of(text()),
        prop::collection::vec(step(), 0..6),
        prop::option::of(text()),
        prop::option::of(text()),
        any::<bool>(),
        0_u32..3,
    );
    parts.prop_map(|(prompt, steps, answer, compact_summary, finished, number)| Episode {
        root: "/r".into(),
        prompt: prompt.map(|text| EpisodePrompt { number, text, at: Millis(1), ..EpisodePrompt::default() }),
        steps,
        final_message: answer.map(|text| FinalMessage { text, at: Millis(2) }),
        compact_summary,
        finished,
        ..Episode::default()
    })
}

fn within(text: &str, chars_max: usize) {
    let chars = text.chars().count();
    assert!(chars <= chars_max, "{chars} characters of {chars_max}: {text:?}");
}

fn check(distilled: &CompressionOutput, carry: &Carry) {
    assert!(distilled.observations.len() <= DISTIL_OBSERVATIONS_MAX);
    for made in &distilled.observations {
        assert!(!made.title.is_empty());
        within(&made.title, OBSERVATION_TITLE_CHARS_MAX);
        within(&made.subtitle, OBSERVATION_SUBTITLE_CHARS_MAX);
        within(&made.narrative, OBSERVATION_NARRATIVE_CHARS_MAX);
        assert!(made.facts.len() <= OBSERVATION_FACTS_MAX);
        for fact in &made.facts {
            within(fact, OBSERVATION_FACT_CHARS_MAX);
        }
        assert!(made.concepts.len() <= OBSERVATION_CONCEPTS_MAX);
        assert!(made.files_modified.len() <= OBSERVATION_FILES_MAX);
        assert!(made.files_read.len() <= OBSERVATION_FILES_MAX);
        assert!(!made.title.contains(['\n', '\u{1b}']));
    }
    if let Some(summary) = &distilled.summary {
        let fields = [
            &summary.request,
            &summary.investigated,
            &summary.learned,
            &summary.completed,
            &summary.next_steps,
            &summary.notes,
        ];
        for field in fields {
            within(field, SUMMARY_FIELD_CHARS_MAX);
        }
    }
    assert!(carry.failures.len() <= CARRY_FAILURES_MAX);
    assert!(carry.rules.len() <= CARRY_RULES_MAX);
    let stored = serde_json::to_string(carry).unwrap();
    assert!(stored.len() < 128 << 10, "a carry of {} bytes", stored.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_session_is_distilled_within_bounds_and_without_panic(episodes in prop::collection::vec(episode(), 1..5)) {
        let (mut carry, vocabulary) = (Carry::default(), Vocabulary::default());
        for episode in &episodes {
            let distilled = distil(episode, &mut carry, &vocabulary);
            check(&distilled, &carry);
            let again = distil(episode, &mut carry.clone(), &vocabulary);
            check(&again, &carry);
        }
    }
}

#[test]
fn huge_inputs_stay_bounded() {
    let huge = [
        "x".repeat(1 << 20),
        "must never. ".repeat(60_000),
        "a ".repeat(400_000),
        "```\n".repeat(100_000),
        "error: x\n".repeat(100_000),
        "(".repeat(300_000),
        "“".repeat(300_000),
        "不要。".repeat(100_000),
        "- a\n".repeat(200_000),
        "* **".repeat(100_000),
        "[a](".repeat(100_000),
    ];
    for text in &huge {
        let (mut carry, vocabulary) = (Carry::default(), Vocabulary::default());
        let step = |tool: &str, input: Value| EpisodeStep {
            tool: tool.into(),
            input,
            output: text.clone().into(),
            failed: true,
            ..EpisodeStep::default()
        };
        let mut edit = step(
            "Edit",
            json!({"file_path": "/r/a.rs", "old_string": text, "new_string": format!("{text}y")}),
        );
        edit.failed = false;
        edit.output = json!({ "originalFile": text });
        let episode = Episode {
            root: "/r".into(),
            prompt: Some(EpisodePrompt {
                number: 1,
                text: text.clone(),
                at: Millis(1),
                ..EpisodePrompt::default()
            }),
            steps: vec![step("Bash", json!({"command": format!("cargo test {text}")})), edit],
            final_message: Some(FinalMessage { text: text.clone(), at: Millis(2) }),
            compact_summary: Some(text.clone()),
            finished: true,
            ..Episode::default()
        };
        let distilled = distil(&episode, &mut carry, &vocabulary);
        check(&distilled, &carry);
    }
}

#[test]
fn the_same_episode_gives_the_same_memories() {
    let episode = Episode {
        prompt: Some(EpisodePrompt {
            number: 1,
            text: "Never use tabs, because the linter fails.".into(),
            at: Millis(1),
            ..EpisodePrompt::default()
        }),
        final_message: Some(FinalMessage { text: "Understood: no tabs.".into(), at: Millis(2) }),
        finished: true,
        ..Episode::default()
    };
    let run = || distil(&episode, &mut Carry::default(), &Vocabulary::default());
    assert_eq!(run(), run());
    assert!(!run().observations.is_empty());
}

#[test]
fn a_vocabulary_of_one_s_own_names_the_memories() {
    let own = Vocabulary::from_json(
        r#"{"types": [{"name": "verdict", "meaning": "x", "also": ["decision"]}, {"name": "note", "meaning": "y"}], "concepts": []}"#,
    )
    .unwrap();
    let episode = Episode {
        prompt: Some(EpisodePrompt {
            number: 1,
            text: "From now on always run the formatter before you commit.".into(),
            at: Millis(1),
            ..EpisodePrompt::default()
        }),
        finished: true,
        ..Episode::default()
    };
    let made = distil(&episode, &mut Carry::default(), &own).observations;
    assert_eq!(made[0].kind.as_str(), "verdict");
    assert_eq!(made[0].concepts, ["preference"], "it is reserved, whatever the file says");
}

#[test]
fn a_carry_of_another_version_is_read_as_far_as_it_goes() {
    let carry: Carry =
        serde_json::from_str(r#"{"first_request": "x", "unknown": [1], "failures": [{"key": "k"}]}"#)
            .unwrap();
    assert_eq!(carry.failures.len(), 1);
}

#[test]
fn a_fact_is_not_said_again_behind_a_word_of_agreement() {
    let known = ["the pool has 4 connections".to_owned()];
    for (fact, want) in [
        ("Understood: the pool has 4 connections", true),
        ("Verstanden: The pool has 4 connections", true),
        ("了解：the pool has 4 connections", true),
        ("the pool has 4 connections", true),
        ("the pool has 5 connections", false),
        ("Not yet the pool has 4 connections", false),
        ("What the user said about the importer: the pool has 4 connections", false),
    ] {
        assert_eq!(draft::says(&known, fact), want, "{fact}");
    }
}
