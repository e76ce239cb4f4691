//! The real client as the compressor, talking to a scripted model.

use std::time::Duration;

use claude_mem::clock::Millis;
use claude_mem::compress::batch::{Batch, Next, Rules};
use claude_mem::compress::model::{Ask, Claude, Launch, Model, environment};
use claude_mem::episode::{Episode, Prompt};
use claude_mem::vocabulary::Vocabulary;
use rig::client;
use rig::model::{Script, ScriptedModel, Turn};
use tempfile::TempDir;

use crate::support::spawner;

/// Starting the client takes a second on a quiet machine.
const DEADLINE: Duration = Duration::from_mins(3);

const FIRST: &str = "<observation><type>bugfix</type><title>The login no longer loops</title>\
    <narrative>The cookie had expired.</narrative></observation>";

/// What holds for every user of the client: hooks that would fire if settings were read.
const SETTINGS: &str = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [
    {"type": "command", "command": "touch \"$HOME/a-hook-fired\""}]}]}}"#;

fn claude(home: &TempDir, program: &std::path::Path, model: &ScriptedModel) -> Claude {
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
        (
            "CLAUDE_CODE_SESSION_ID".into(),
            "of-the-outer-client".into(),
        ),
    ];
    let launch = Launch {
        program: program.into(),
        model: "claude-haiku-4-5".into(),
        env: environment(user, true).unwrap(),
        directory: home.path().join("empty"),
    };
    Claude::new(spawner(home.path()), launch)
}

#[test]
fn the_real_client_compresses_an_episode() {
    let Some(client) = client::or_skip(client::CURRENT) else {
        return;
    };
    let model = ScriptedModel::start(
        Script::new()
            .turn(Turn::text(FIRST))
            .turn(Turn::text("<skip/>"))
            .otherwise(Turn::error(529)),
    );
    let home = TempDir::new().unwrap();
    let mut claude = claude(&home, client.program(), &model);
    let episode = Episode {
        project: "shop".into(),
        prompt: Some(Prompt {
            text: "Fix the login loop.".into(),
            ..Prompt::default()
        }),
        finished: true,
        ..Episode::default()
    };
    let vocabulary = Vocabulary::default();
    let rules = Rules {
        vocabulary: &vocabulary,
        language: None,
        answer_tokens_max: 2_048,
    };
    let batch = Batch::new(&episode, "already kept: nothing", rules);

    let first = batch.run(&mut claude, 0, DEADLINE, Millis(0));
    let Next::Store(distilled) = &first.next else {
        panic!("{first:?}\n{}", model.story())
    };
    assert_eq!(distilled.observations[0].title, "The login no longer loops");
    assert!(!first.spend.estimated && first.spend.total() > 0);
    assert!(claude.carried_tokens() > 0);

    let second = batch.run(&mut claude, 0, DEADLINE, Millis(0));
    assert_eq!(
        second.next,
        Next::Store(Box::default()),
        "{}",
        model.story()
    );
    let asked = model.messages();
    assert_eq!(
        asked.len(),
        2,
        "one request for one question:\n{}",
        model.story()
    );
    assert!(
        asked[1].says(FIRST),
        "the second question is asked in the same conversation"
    );
    for request in &asked {
        assert!(request.says("You keep the memory of a coding agent"));
        assert!(!request.offers_tools());
        assert_eq!(
            request.body["thinking"]["type"], "disabled",
            "{}",
            request.body["thinking"]
        );
        assert_eq!(request.body["max_tokens"], 2_048);
    }

    let third = batch.run(&mut claude, 0, DEADLINE, Millis(0));
    assert!(
        matches!(&third.next, Next::Later { why } if why.contains("529")),
        "{third:?}"
    );
    assert_eq!(
        claude.carried_tokens(),
        0,
        "a failed conversation is given up"
    );
    drop(claude);

    assert!(
        !home.path().join("a-hook-fired").exists(),
        "no hook of the user ran"
    );
    assert!(
        !home.path().join(".claude/projects").exists(),
        "no transcript was written"
    );
}

/// Older clients warm up on the side; what that costs is a cost all the same.
#[test]
fn every_version_of_the_client_compresses_and_tells_its_price() {
    for version in client::VERSIONS {
        let Some(client) = client::or_skip(version) else {
            continue;
        };
        let model = ScriptedModel::start(Script::new().otherwise(Turn::text("<skip/>")));
        let home = TempDir::new().unwrap();
        let mut claude = claude(&home, client.executable(), &model);
        let ask = Ask {
            system: "You keep the memory.",
            so_far: "",
            message: "<episode></episode>",
            answer_tokens_max: 512,
            now: Millis(0),
        };
        for turn in 1..=2 {
            let answer = claude
                .answer(&ask, DEADLINE)
                .unwrap_or_else(|e| panic!("{version}: {e}"));
            assert_eq!(answer.text, "<skip/>", "{version}");
            // The scripted model bills 100 for each request that it gets.
            let input = answer.usage.unwrap().input;
            assert!(
                input >= 100 && input.is_multiple_of(100),
                "{version}, turn {turn}: {input}"
            );
        }
        let bound = |request: &rig::model::Request| request.body["max_tokens"] == 512;
        assert!(
            model.messages().iter().all(bound),
            "{version}:\n{}",
            model.story()
        );
    }
}
