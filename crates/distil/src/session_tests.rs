//! Properties of every session: no panic, bounded output, and nothing attributed to the user that others said.

use proptest::prelude::*;
use serde_json::{Value, json};

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodePrompt, EpisodeStep, EpisodeText, FinalMessage};
use claude_mem_core::limits::OBSERVATION_NARRATIVE_CHARS_MAX;
use claude_mem_core::memory::{NewSummary, Origin, SessionMemories};
use claude_mem_core::source::{SOURCE_TABLE, TextSource};
use claude_mem_core::vocabulary::Vocabulary;

use crate::carry::{CARRY_FAILURES_MAX, CARRY_RULES_MAX};
use crate::draft::{OBSERVATION_CONCEPTS_MAX, OBSERVATION_SUBTITLE_CHARS_MAX};
use crate::limits::{
    OBSERVATION_FACT_CHARS_MAX, OBSERVATION_FACTS_MAX, OBSERVATION_FILES_MAX, OBSERVATION_TITLE_CHARS_MAX,
};
use crate::summary::SUMMARY_FIELD_CHARS_MAX;
use crate::{Carry, EpisodeClaims, consolidate, draft, extract_claims};

/// Claims of one episode, lines of each list of an account, open items of a session.
const CLAIMS_MAX: usize = 80;
const ACCOUNT_LINES_MAX: usize = 16;
/// Typed answers are decisions and stay whole.
const ACCOUNT_LINE_CHARS_MAX: usize = 600;
const OPEN_ITEMS_MAX: usize = 12;
const OPEN_ITEM_CHARS_MAX: usize = 240;

/// Pieces that mean something to the distiller, forged voices, markup, other scripts.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "No. ", "never ", "must ", "always ", "because ", "Got it - ", "Recap of x: ", "`MAX_A`", "7", "?", ". ", "; ", ": ", "\n",
    "\n\n", "- ", "- [ ] ", "* ", "```\n", "**", "error[E1]: x\n  --> ", "FAILED ", "1 failed, 2 passed in 0.1s",
    "git commit -m \"", "$(cat <<'EOF'\n", "EOF\n)\"", " && ", " | ", "cargo test ", "src/a.rs ", "“", "”", "’", "不要",
    "必须。", "してください。", "никогда ", "weil ", "…", "\u{1b}[31m", "\u{0}", "İ", "ß", "👩‍👩‍👧", "\u{202e}", "שלום ", "مرحبا ",
    "sed -i s/a/b/ ", "<<", "'", "\"", "\\", "thread 'x' panicked at a:1:\n", "@@", "+++ b/x\n", "*** Update File: y\n",
    "<system-reminder>", "</system-reminder>", "<private>", "</private>", "1. Request:", "[x](y", "](", "tried ",
    "did not work ", "I'd ", "next steps:\n", "remaining:\n", "User: “never deploy on Fridays” ", "User: ", "Agent: “",
    "The user said: always use tabs. ", "the user chose “", "From now on ", "the root cause is ", "Root cause: ",
    "the staging database `db1` ", "## Plan: ", "# ", "Fixed the retry in `pool.rs`. ", "we decided to use ", "option 1 ",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => "\\PC{0,24}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn step() -> impl Strategy<Value = EpisodeStep> {
    let tool = prop::sample::select(vec![
        "Bash",
        "Edit",
        "Write",
        "Read",
        "WebFetch",
        "Task",
        "apply_patch",
        "TodoWrite",
        "TaskCreate",
        "TaskUpdate",
        "ExitPlanMode",
        "mcp__x__y",
    ]);
    let input = (text(), text(), text()).prop_map(|(first, second, third)| {
        json!({
            "command": first, "file_path": second, "old_string": first, "new_string": third, "content": third,
            "input": first, "plan": format!("# {second}\n\n{third}"), "subject": second, "taskId": 1,
            "status": "completed", "todos": [{"content": first, "status": "pending"}, {"content": second}],
        })
    });
    let output = prop_oneof![
        text().prop_map(Value::from),
        text().prop_map(|text| json!({"stdout": text, "interrupted": false})),
        text().prop_map(|text| json!({"result": text, "task": {"id": 1}})),
    ];
    (tool, input, output, any::<bool>()).prop_map(|(tool, input, output, failed)| EpisodeStep {
        tool: tool.into(),
        input,
        output,
        failed,
        ..EpisodeStep::default()
    })
}

/// The sources that are not the user's own words.
fn foreign_sources() -> Vec<TextSource> {
    all_sources().into_iter().filter(|source| !source.is_user()).collect()
}

fn all_sources() -> Vec<TextSource> {
    SOURCE_TABLE.iter().map(|row| row.source).collect()
}

/// An episode whose texts have one of these sources.
fn episode(sources: Vec<TextSource>) -> impl Strategy<Value = Episode> {
    let source = prop::sample::select(sources);
    let parts = (
        prop::option::of((text(), source.clone())),
        prop::collection::vec(step(), 0..5),
        prop::collection::vec((source, text()), 0..4),
        prop::option::of(text()),
        any::<bool>(),
    );
    parts.prop_map(|(prompt, steps, texts, answer, finished)| Episode {
        root: "/r".into(),
        prompt: prompt.map(|(text, source)| EpisodePrompt { text, source, ..EpisodePrompt::default() }),
        steps,
        texts: texts
            .into_iter()
            .map(|(source, text)| EpisodeText { source, text, ..EpisodeText::default() })
            .collect(),
        final_message: answer.map(|text| FinalMessage { text, ..FinalMessage::default() }),
        finished,
        ..Episode::default()
    })
}

/// A session: episodes with their numbers and times set.
fn session(sources: Vec<TextSource>) -> impl Strategy<Value = Vec<Episode>> {
    prop::collection::vec(episode(sources), 1..5).prop_map(number_episodes)
}

fn number_episodes(mut episodes: Vec<Episode>) -> Vec<Episode> {
    let mut clock = 0;
    let mut tick = || {
        clock += 1_000;
        Millis(clock)
    };
    for (index, episode) in episodes.iter_mut().enumerate() {
        if let Some(prompt) = &mut episode.prompt {
            prompt.number = u32::try_from(index).unwrap() + 1;
            prompt.at = tick();
        }
        for step in &mut episode.steps {
            step.at = tick();
        }
        for text in &mut episode.texts {
            text.at = tick();
        }
        let message = episode.final_message.get_or_insert_default();
        message.at = tick();
    }
    episodes
}

/// The claims of a session, checked against their limits.
fn claims(episodes: &[Episode]) -> Vec<EpisodeClaims> {
    let (mut carry, vocabulary) = (Carry::default(), Vocabulary::default());
    let mut all = Vec::new();
    for episode in episodes {
        let mut before = carry.clone();
        let (extracted, summary) = extract_claims(episode, &mut carry, &vocabulary);
        let again = extract_claims(episode, &mut before, &vocabulary);
        assert_eq!((&extracted, &summary), (&again.0, &again.1), "extraction is deterministic");
        assert!(extracted.claims.len() <= CLAIMS_MAX);
        if let Some(summary) = &summary {
            check_summary(summary);
        }
        check_carry(&carry);
        all.push(extracted);
    }
    all
}

fn within(text: &str, chars_max: usize) {
    let chars = text.chars().count();
    assert!(chars <= chars_max, "{chars} characters of {chars_max}: {text:?}");
}

fn check_summary(summary: &NewSummary) {
    for field in [
        &summary.text.request,
        &summary.text.learned,
        &summary.text.completed,
        &summary.text.next_steps,
        &summary.text.notes,
    ] {
        within(field, SUMMARY_FIELD_CHARS_MAX);
    }
}

fn check_carry(carry: &Carry) {
    assert!(carry.failures.len() <= CARRY_FAILURES_MAX);
    assert!(carry.rules.len() <= CARRY_RULES_MAX);
    let stored = serde_json::to_string(carry).unwrap();
    assert!(stored.len() < 128 << 10, "a carry of {} bytes", stored.len());
}

fn check_memories(memories: &SessionMemories) {
    for made in memories.observations.iter().map(|made| &made.observation) {
        assert!(!made.text.title.is_empty() && !made.text.title.contains('\n'));
        within(&made.text.title, OBSERVATION_TITLE_CHARS_MAX);
        within(&made.text.subtitle, OBSERVATION_SUBTITLE_CHARS_MAX);
        within(&made.text.narrative, OBSERVATION_NARRATIVE_CHARS_MAX);
        assert!(made.text.facts.len() <= OBSERVATION_FACTS_MAX);
        made.text.facts.iter().for_each(|fact| within(fact, OBSERVATION_FACT_CHARS_MAX));
        assert!(made.text.concepts.len() <= OBSERVATION_CONCEPTS_MAX);
        assert!(made.text.files_modified.len() <= OBSERVATION_FILES_MAX);
        assert!(made.text.files_read.len() <= OBSERVATION_FILES_MAX);
    }
    if let Some(account) = &memories.account {
        within(&account.text.purpose, ACCOUNT_LINE_CHARS_MAX);
        for lines in [&account.text.done, &account.text.learned, &account.text.decided, &account.text.checked]
        {
            assert!(lines.len() <= ACCOUNT_LINES_MAX);
        }
        for lines in [&account.text.done, &account.text.learned, &account.text.decided] {
            for line in lines {
                within(line, ACCOUNT_LINE_CHARS_MAX);
            }
        }
    }
    assert!(memories.open_items.len() <= OPEN_ITEMS_MAX);
    memories.open_items.iter().for_each(|item| within(&item.text, OPEN_ITEM_CHARS_MAX));
}

fn has_user_origin(memories: &SessionMemories) -> bool {
    memories.observations.iter().any(|made| made.observation.origin == Origin::User)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn any_session_stays_within_its_limits(episodes in session(all_sources())) {
        let found = claims(&episodes);
        let memories = consolidate(&found);
        check_memories(&memories);
        prop_assert_eq!(&consolidate(&found), &memories);
    }

    #[test]
    fn order_of_arrival_does_not_matter(episodes in session(all_sources()), turns in 0_usize..5) {
        let mut found = claims(&episodes);
        let memories = consolidate(&found);
        let middle = turns % found.len();
        found.rotate_left(middle);
        prop_assert_eq!(&consolidate(&found), &memories);
        found.reverse();
        prop_assert_eq!(&consolidate(&found), &memories);
    }

    #[test]
    fn stored_claims_give_the_same_memories(episodes in session(all_sources())) {
        let found = claims(&episodes);
        let stored = serde_json::to_string(&found).unwrap();
        let read: Vec<EpisodeClaims> = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&consolidate(&read), &consolidate(&found));
    }

    #[test]
    fn other_voices_are_never_the_user(episodes in session(foreign_sources())) {
        let memories = consolidate(&claims(&episodes));
        prop_assert!(!has_user_origin(&memories), "{:#?}", memories.observations);
    }

    #[test]
    fn assent_does_not_make_other_voices_the_user(mut episodes in session(foreign_sources())) {
        for (index, episode) in episodes.iter_mut().enumerate() {
            let number = u32::try_from(index).unwrap() + 1;
            let text = ["go on", "ok, thanks", "yes"][index % 3].to_owned();
            episode.prompt = Some(EpisodePrompt { number, text, ..EpisodePrompt::default() });
        }
        let memories = consolidate(&claims(&episodes));
        prop_assert!(!has_user_origin(&memories), "{:#?}", memories.observations);
    }
}

#[test]
fn rule_of_the_user_is_the_users() {
    // The property above must be able to fail.
    let prompt = EpisodePrompt {
        number: 1,
        text: "Never deploy the billing service on Fridays, because support is closed at weekends.".into(),
        ..EpisodePrompt::default()
    };
    let episode = Episode { prompt: Some(prompt), finished: true, ..Episode::default() };
    assert!(has_user_origin(&consolidate(&claims(&[episode]))));
}

#[test]
fn huge_texts_stay_bounded() {
    for text in [
        "x".repeat(150 << 10),
        "must never. ".repeat(12_000),
        "a ".repeat(75_000),
        "```\n".repeat(40_000),
        "error: x\n".repeat(16_000),
        "(".repeat(150_000),
        "“".repeat(50_000),
        "不要。".repeat(16_000),
        "никогда ".repeat(10_000),
        "👩‍👩‍👧".repeat(8_000),
        "\u{202e}שלום ".repeat(10_000),
        "- [ ] do the next thing here\n".repeat(5_000),
        "[a](".repeat(40_000),
    ] {
        let step = EpisodeStep {
            tool: "Bash".into(),
            input: json!({"command": format!("cargo test {text}")}),
            output: text.clone().into(),
            failed: true,
            ..EpisodeStep::default()
        };
        let sources =
            [TextSource::Rejection, TextSource::Plan, TextSource::Message, TextSource::CompactSummary];
        let texts = sources.into_iter().map(|source| EpisodeText {
            source,
            text: text.clone(),
            ..EpisodeText::default()
        });
        let episode = Episode {
            prompt: Some(EpisodePrompt { text: text.clone(), ..EpisodePrompt::default() }),
            steps: vec![step],
            texts: texts.collect(),
            final_message: Some(FinalMessage { text: text.clone(), ..FinalMessage::default() }),
            finished: true,
            ..Episode::default()
        };
        check_memories(&consolidate(&claims(&number_episodes(vec![episode]))));
    }
}

#[test]
fn own_vocabulary_names_the_memories() {
    let own = Vocabulary::from_json(
        r#"{"types": [{"name": "verdict", "meaning": "x", "also": ["decision"]}, {"name": "note", "meaning": "y"}], "concepts": []}"#,
    )
    .unwrap();
    let prompt = EpisodePrompt {
        number: 1,
        text: "Always run prettier before you commit, and never push to main without asking me.".into(),
        ..EpisodePrompt::default()
    };
    let episode = Episode { prompt: Some(prompt), finished: true, ..Episode::default() };
    let (found, _) = extract_claims(&episode, &mut Carry::default(), &own);
    let made = consolidate(&[found]).observations;
    assert_eq!(made[0].observation.text.kind.as_str(), "verdict");
    assert_eq!(made[0].observation.text.concepts, ["preference"], "it is reserved, whatever the file says");
}

#[test]
fn carry_of_another_version_is_read_as_far_as_it_goes() {
    let carry: Carry =
        serde_json::from_str(r#"{"first_request": "x", "unknown": [1], "failures": [{"key": "k"}]}"#)
            .unwrap();
    assert_eq!(carry.failures.len(), 1);
}

#[test]
fn fact_is_not_said_again_behind_a_word_of_agreement() {
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
