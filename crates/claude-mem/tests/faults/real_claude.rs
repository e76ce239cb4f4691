//! The real client as compressor, with a scripted model.

use std::time::Duration;

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodePrompt};
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_models::batch::{CompressionRequest, CompressionRules, NextAction};
use claude_mem_models::model::{
    ClaudeCodeClient, ClaudeLaunch, LanguageModel, ModelRequest, compressor_environment,
};
use rig::client;
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use tempfile::TempDir;

use crate::support::spawner;

/// Starting the client takes a second on an idle machine.
const DEADLINE: Duration = Duration::from_mins(3);

const FIRST: &str = "<observation><type>bugfix</type><title>The login no longer loops</title>\
    <narrative>The cookie had expired.</narrative></observation>";

/// Hooks in the user's settings, which would fire if the compressor's client read them.
const SETTINGS: &str = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [
    {"type": "command", "command": "touch \"$HOME/a-hook-fired\""}]}]}}"#;

fn claude(home: &TempDir, program: &std::path::Path, model: &ScriptedModel) -> ClaudeCodeClient {
    std::fs::create_dir_all(home.path().join(".claude")).unwrap();
    std::fs::create_dir_all(home.path().join("empty")).unwrap();
    std::fs::write(home.path().join(".claude/settings.json"), SETTINGS).unwrap();
    let user = [
        ("PATH".into(), "/usr/bin:/bin".into()),
        ("HOME".into(), home.path().into()),
        ("TMPDIR".into(), home.path().into()),
        ("ANTHROPIC_BASE_URL".into(), model.url().into()),
        ("ANTHROPIC_API_KEY".into(), rig::sandbox::DUMMY_KEY.into()),
        ("CLAUDECODE".into(), "1".into()),
        ("CLAUDE_CODE_SESSION_ID".into(), "of-the-outer-client".into()),
    ];
    let launch = ClaudeLaunch {
        program: program.into(),
        model: "claude-haiku-4-5".into(),
        env: compressor_environment(user, true).unwrap(),
        directory: home.path().join("empty"),
    };
    ClaudeCodeClient::new(spawner(home.path()), launch)
}

#[test]
fn real_client_compresses_an_episode() {
    let Some(client) = client::or_skip(client::CURRENT) else {
        return;
    };
    let model = ScriptedModel::start(
        ModelScript::new()
            .turn(ModelTurn::text(FIRST))
            .turn(ModelTurn::text("<skip/>"))
            .fallback(ModelTurn::error(529)),
    );
    let home = TempDir::new().unwrap();
    let mut claude = claude(&home, client.program(), &model);
    let episode = Episode {
        project: "shop".into(),
        prompt: Some(EpisodePrompt { text: "Fix the login loop.".into(), ..EpisodePrompt::default() }),
        finished: true,
        ..Episode::default()
    };
    let vocabulary = Vocabulary::default();
    let rules = CompressionRules { vocabulary: &vocabulary, language: None, answer_tokens_max: 2_048 };
    let batch = CompressionRequest::new(&episode, "already kept: nothing", rules);

    let first = batch.ask_once(&mut claude, 0, DEADLINE, Millis(0));
    let NextAction::Store(distilled) = &first.next else { panic!("{first:?}\n{}", model.request_log()) };
    assert_eq!(distilled.observations[0].text.title, "The login no longer loops");
    assert!(!first.spend.estimated && first.spend.total() > 0);
    assert!(claude.carried_tokens() > 0);

    let second = batch.ask_once(&mut claude, 0, DEADLINE, Millis(0));
    assert_eq!(second.next, NextAction::Store(Box::default()), "{}", model.request_log());
    let asked = model.messages();
    assert_eq!(asked.len(), 2, "one request for one question:\n{}", model.request_log());
    assert!(asked[1].contains_text(FIRST), "the second question is asked in the same conversation");
    for request in &asked {
        assert!(request.contains_text("You keep the memory of a coding agent"));
        assert!(!request.offers_tools());
        assert_eq!(request.body["thinking"]["type"], "disabled", "{}", request.body["thinking"]);
        assert_eq!(request.body["max_tokens"], 2_048);
    }

    let third = batch.ask_once(&mut claude, 0, DEADLINE, Millis(0));
    assert!(matches!(&third.next, NextAction::Retry { why } if why.contains("529")), "{third:?}");
    assert_eq!(claude.carried_tokens(), 0, "a failed conversation is given up");
    drop(claude);

    assert!(!home.path().join("a-hook-fired").exists(), "no hook of the user ran");
    assert!(!home.path().join(".claude/projects").exists(), "no transcript was written");
}

/// Older clients send warm-up requests; their cost counts too.
#[test]
fn every_client_version_compresses_and_reports_its_cost() {
    for version in client::VERSIONS {
        let Some(client) = client::or_skip(version) else {
            continue;
        };
        let model = ScriptedModel::start(ModelScript::new().fallback(ModelTurn::text("<skip/>")));
        let home = TempDir::new().unwrap();
        let mut claude = claude(&home, client.executable(), &model);
        let ask = ModelRequest {
            system: "You keep the memory.",
            so_far: "",
            message: "<episode></episode>",
            answer_tokens_max: 512,
            now: Millis(0),
        };
        for turn in 1..=2 {
            let answer = claude.answer(&ask, DEADLINE).unwrap_or_else(|e| panic!("{version}: {e}"));
            assert_eq!(answer.text, "<skip/>", "{version}");
            // The scripted model bills 100 input tokens per request.
            let input = answer.usage.unwrap().input;
            assert!(input >= 100 && input.is_multiple_of(100), "{version}, turn {turn}: {input}");
        }
        let bound = |request: &rig::model::RecordedRequest| request.body["max_tokens"] == 512;
        assert!(model.messages().iter().all(bound), "{version}:\n{}", model.request_log());
    }
}
