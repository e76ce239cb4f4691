//! The compressor that is a child, well behaved and otherwise.

use std::path::Path;
use std::time::Duration;

use claude_mem::child::Identity;
use claude_mem::clock::Millis;
use claude_mem::compress::model::{
    Answer, Ask, Claude, Launch, MARKER, Model, ModelError, Spent, Usage, environment,
};
use rig::fake_claude::{FakeClaude, Heard, Play, Step};
use tempfile::TempDir;

use crate::support::{LONG, is_gone_in_time, spawner};

const ANSWER: &str = "<observation><title>It works</title></observation>";
/// For children that never answer: this much is really waited.
const SHORT: Duration = Duration::from_millis(300);

fn ask(message: &str) -> Ask<'_> {
    Ask {
        system: "You keep the memory.",
        so_far: "already kept: nothing",
        message,
        answer_tokens_max: 512,
        now: Millis(1_000_000_000_000),
    }
}

struct Stage {
    home: TempDir,
    fake: FakeClaude,
}

impl Stage {
    fn with(steps: impl IntoIterator<Item = Step>) -> Self {
        let home = TempDir::new().unwrap();
        let fake = FakeClaude::put_in(&home.path().join("bin"), steps);
        Self { home, fake }
    }

    fn claude(&self) -> Claude {
        self.claude_at(&self.fake.executable())
    }

    fn claude_at(&self, program: &Path) -> Claude {
        let user = [
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("CLAUDECODE".into(), "1".into()),
            ("CLAUDE_PROJECT_DIR".into(), "/project".into()),
        ];
        let launch = Launch {
            program: program.into(),
            model: "claude-haiku-4-5".into(),
            env: environment(user, false).unwrap(),
            directory: self.home.path().to_owned(),
        };
        Claude::new(spawner(self.home.path()), launch)
    }

    /// The processes that were started, in order.
    fn started(&self) -> Vec<u32> {
        let pid = |heard| match heard {
            Heard::Start { pid, .. } => Some(pid),
            Heard::Message { .. } => None,
        };
        self.fake.heard().into_iter().filter_map(pid).collect()
    }

    fn nobody_is_left(&self) -> bool {
        let alive = self.started().into_iter().filter_map(Identity::of);
        alive.into_iter().all(is_gone_in_time)
    }
}

#[test]
fn a_child_is_started_by_the_first_question_and_answers_the_next_ones_too() {
    let stage = Stage::with([Step::answer(ANSWER), Step::answer("<skip/>")]);
    let mut claude = stage.claude();
    assert_eq!(stage.started().len(), 0, "started lazily");
    let usage = Some(Usage {
        input: 100,
        output: 10,
    });
    assert_eq!(
        claude.answer(&ask("one"), LONG),
        Ok(Answer {
            text: ANSWER.into(),
            usage
        })
    );
    assert_eq!(claude.answer(&ask("two"), LONG).unwrap().text, "<skip/>");
    assert_eq!(stage.started().len(), 1, "one child");
    // It remembers what it was told, so that the second question is shorter.
    assert_eq!(
        stage.fake.messages(),
        ["<so_far>\nalready kept: nothing\n</so_far>\none", "two"]
    );
    assert_eq!(claude.carried_tokens(), 110);
    claude.rest();
    assert_eq!(claude.carried_tokens(), 0);
    assert!(stage.nobody_is_left());
}

#[test]
fn the_child_is_told_to_be_a_compressor_and_nothing_else() {
    let stage = Stage::with([]);
    stage.claude().answer(&ask("one"), LONG).unwrap();
    let Heard::Start { args, env, .. } = stage.fake.heard().remove(0) else {
        panic!()
    };
    assert_eq!(
        args[1..],
        [
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
            "--model",
            "claude-haiku-4-5",
            "--tools",
            "",
            "--strict-mcp-config",
            "--setting-sources",
            "",
            "--disable-slash-commands",
            "--no-session-persistence",
            "--system-prompt",
            "You keep the memory.",
        ]
    );
    let value = |name: &str| {
        env.iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(value(MARKER), Some("1"));
    assert_eq!(value("MAX_THINKING_TOKENS"), Some("0"));
    assert_eq!(value("CLAUDE_CODE_MAX_RETRIES"), Some("1"));
    assert_eq!(value("CLAUDE_CODE_MAX_OUTPUT_TOKENS"), Some("512"));
    assert_eq!(
        (value("CLAUDECODE"), value("CLAUDE_PROJECT_DIR")),
        (None, None)
    );
}

#[test]
fn a_conversation_that_has_grown_starts_anew_and_is_told_what_was() {
    let long = Step::Answer {
        text: "<skip/>".into(),
        input_tokens: 15_990,
        output_tokens: 10,
    };
    let stage = Stage::with([Step::answer("<skip/>"), long]);
    let mut claude = stage.claude();
    for message in ["one", "two", "three"] {
        claude.answer(&ask(message), LONG).unwrap();
    }
    assert_eq!(stage.started().len(), 2);
    let so_far: Vec<bool> = stage
        .fake
        .messages()
        .iter()
        .map(|message| message.contains("<so_far>"))
        .collect();
    assert_eq!(so_far, [true, false, true]);
    drop(claude);
    assert!(stage.nobody_is_left());
}

#[test]
fn other_instructions_need_another_child() {
    let stage = Stage::with([]);
    let mut claude = stage.claude();
    claude.answer(&ask("one"), LONG).unwrap();
    let other = Ask {
        system: "You speak German.",
        ..ask("two")
    };
    claude.answer(&other, LONG).unwrap();
    assert_eq!(stage.started().len(), 2);
}

#[test]
fn every_way_to_fail_is_a_decision_and_leaves_no_child() {
    let garbage = |text: &str| Step::Garbage { text: text.into() };
    for (step, deadline, want) in [
        (Step::ApiError { status: 529 }, LONG, "Retry"),
        (Step::ApiError { status: 401 }, LONG, "Auth"),
        (Step::ApiError { status: 404 }, LONG, "Misconfigured"),
        (Step::Hang, SHORT, "TimedOut"),
        (Step::Deaf, SHORT, "TimedOut"),
        (Step::Exit { code: 3 }, LONG, "Unreachable"),
        (Step::ExitMidway { code: 0 }, LONG, "Garbled"),
        (Step::Endless, LONG, "Garbled"),
        (garbage("Welcome to Claude Code!"), LONG, "Garbled"),
        (garbage("{\"type\": \"result\""), LONG, "Garbled"),
        (
            garbage("{\"type\": \"result\", \"is_error\": false}"),
            LONG,
            "Garbled",
        ),
        (
            garbage("{\"type\": \"result\", \"result\": \"text\"}"),
            LONG,
            "Retry",
        ),
    ] {
        let shown = format!("{step:?}");
        let stage = Stage::with([step]);
        let mut claude = stage.claude();
        let error = claude.answer(&ask("one"), deadline).unwrap_err();
        let cause = format!("{:?}", error.cause());
        assert!(cause.starts_with(want), "{shown}: {error:?}");
        assert!(stage.nobody_is_left(), "{shown}");
        // Whatever happened, the next question is answered by a fresh child.
        assert_eq!(
            claude.answer(&ask("two"), LONG).unwrap().text,
            "<skip/>",
            "{shown}"
        );
        assert_eq!(stage.started().len(), 2, "{shown}");
    }
}

#[test]
fn a_turn_that_ends_in_an_error_costs_what_it_says() {
    let failed = "\"type\": \"result\", \"is_error\": true, \"result\": \"something new\"";
    let used = "\"usage\": {\"input_tokens\": 10900, \"output_tokens\": 100}";
    for (text, want) in [
        (
            format!("{{{failed}, {used}}}"),
            Spent::Known(Usage {
                input: 10_900,
                output: 100,
            }),
        ),
        // Requests on the side, and a first try that was answered.
        (
            format!(
                "{{{failed}, {used}, \"modelUsage\": {{\"m\": {{\"inputTokens\": 30000, \"outputTokens\": 7}}}}}}"
            ),
            Spent::Known(Usage {
                input: 30_000,
                output: 100,
            }),
        ),
        (format!("{{{failed}}}"), Spent::Unknown),
    ] {
        let stage = Stage::with([Step::Garbage { text: text.clone() }]);
        let error = stage.claude().answer(&ask("one"), LONG).unwrap_err();
        assert!(matches!(error.cause(), ModelError::Retry { .. }), "{text}");
        assert_eq!(error.spent(), want, "{text}");
    }
}

#[test]
fn a_child_that_reads_nothing_holds_nobody_up() {
    let stage = Stage::with([Step::Deaf]);
    let mut claude = stage.claude();
    claude.answer(&ask("one"), SHORT).unwrap_err();
    // More than a pipe holds.
    let long = "x".repeat(1 << 20);
    let stage = Stage::with([Step::Hang, Step::Deaf]);
    let mut claude = stage.claude();
    assert_eq!(claude.answer(&ask(&long), SHORT), Err(ModelError::TimedOut));
    assert!(stage.nobody_is_left());
}

#[test]
fn a_client_that_cannot_compress_says_why() {
    let stage = Stage::with([]);
    for (code, complaint, want) in [
        (
            1,
            "error: unknown option '--setting-sources'",
            "Misconfigured",
        ),
        (1, "Invalid API key · Please run /login", "Auth"),
        (1, "out of memory", "Unreachable"),
    ] {
        stage.fake.play(&Play {
            steps: Vec::new(),
            otherwise: Step::answer("<skip/>"),
            refuses: Some((code, complaint.into())),
        });
        let error = format!(
            "{:?}",
            stage.claude().answer(&ask("one"), LONG).unwrap_err()
        );
        assert!(error.starts_with(want), "{complaint}: {error}");
    }
    let missing = stage.home.path().join("no-such-claude");
    let error = stage
        .claude_at(&missing)
        .answer(&ask("one"), LONG)
        .unwrap_err();
    assert_eq!(
        error,
        ModelError::Misconfigured {
            why: "claude was not found".into()
        }
    );
}

/// A `claude` that says the first bytes of a recorded turn and leaves.
#[test]
fn a_turn_cut_at_any_byte_is_no_answer() {
    let turn = "{\"type\":\"system\",\"subtype\":\"init\"}\n\
        {\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"<skip/>\"}]}}\n\
        {\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"<skip/>\"}\n";
    let stage = Stage::with([]);
    let script = stage.home.path().join("cut-claude");
    let write = |text: &str| {
        std::fs::write(stage.home.path().join("turn"), text).unwrap();
    };
    let program = format!(
        "#!/bin/sh\nread -r line\ncat {}\n",
        stage.home.path().join("turn").display()
    );
    std::fs::write(&script, program).unwrap();
    let mut mode = std::fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o700);
    std::fs::set_permissions(&script, mode).unwrap();
    for end in (0..turn.len()).step_by(5).chain([turn.len() - 1]) {
        write(&turn[..end]);
        let result = stage.claude_at(&script).answer(&ask("one"), LONG);
        assert!(
            matches!(
                result,
                Err(ModelError::Garbled { .. } | ModelError::Unreachable { .. })
            ),
            "cut at {end}: {result:?}"
        );
    }
    write(turn);
    assert_eq!(
        stage
            .claude_at(&script)
            .answer(&ask("one"), LONG)
            .unwrap()
            .text,
        "<skip/>"
    );
}
