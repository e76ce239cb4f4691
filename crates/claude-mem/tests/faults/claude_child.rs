//! The Claude Code child as compressor, with regular and faulty behaviour of the child.

use std::path::Path;
use std::time::Duration;

use claude_mem_core::child::ProcessIdentity;
use claude_mem_core::clock::Millis;
use claude_mem_models::model::{
    COMPRESSOR_MARKER, ClaudeCodeClient, ClaudeLaunch, FailureCost, LanguageModel, ModelError, ModelReply,
    ModelRequest, TokenUsage, compressor_environment,
};
use rig::fake_claude::{FakeClaude, FakeClaudeEvent, FakeClaudeScript, FakeClaudeStep};
use tempfile::TempDir;

use crate::support::{LONG, is_gone_in_time, spawner};

const ANSWER: &str = "<observation><title>It works</title></observation>";
/// Timeout for children that never answer; the tests really wait this long.
const SHORT: Duration = Duration::from_millis(300);

fn ask(message: &str) -> ModelRequest<'_> {
    ModelRequest {
        system: "You keep the memory.",
        so_far: "already kept: nothing",
        message,
        answer_tokens_max: 512,
        now: Millis(1_000_000_000_000),
    }
}

struct FakeClaudeFixture {
    home: TempDir,
    fake: FakeClaude,
}

impl FakeClaudeFixture {
    fn with(steps: impl IntoIterator<Item = FakeClaudeStep>) -> Self {
        let home = TempDir::new().unwrap();
        let fake = FakeClaude::install_in(&home.path().join("bin"), steps);
        Self { home, fake }
    }

    fn claude(&self) -> ClaudeCodeClient {
        self.claude_at(&self.fake.executable())
    }

    fn claude_at(&self, program: &Path) -> ClaudeCodeClient {
        let user = [
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("CLAUDECODE".into(), "1".into()),
            ("CLAUDE_PROJECT_DIR".into(), "/project".into()),
        ];
        let launch = ClaudeLaunch {
            program: program.into(),
            model: "claude-haiku-4-5".into(),
            env: compressor_environment(user, false).unwrap(),
            directory: self.home.path().to_owned(),
        };
        ClaudeCodeClient::new(spawner(self.home.path()), launch)
    }

    /// Ids of the started processes, in order.
    fn started_pids(&self) -> Vec<u32> {
        let pid = |heard| match heard {
            FakeClaudeEvent::Start { pid, .. } => Some(pid),
            FakeClaudeEvent::Message { .. } => None,
        };
        self.fake.events().into_iter().filter_map(pid).collect()
    }

    fn no_child_is_left(&self) -> bool {
        let alive = self.started_pids().into_iter().filter_map(ProcessIdentity::from_pid);
        alive.into_iter().all(is_gone_in_time)
    }
}

#[test]
fn child_is_started_once_and_reused() {
    let stage = FakeClaudeFixture::with([FakeClaudeStep::answer(ANSWER), FakeClaudeStep::answer("<skip/>")]);
    let mut claude = stage.claude();
    assert_eq!(stage.started_pids().len(), 0, "started lazily");
    let usage = Some(TokenUsage { input: 100, output: 10 });
    assert_eq!(claude.answer(&ask("one"), LONG), Ok(ModelReply { text: ANSWER.into(), usage }));
    assert_eq!(claude.answer(&ask("two"), LONG).unwrap().text, "<skip/>");
    assert_eq!(stage.started_pids().len(), 1, "one child");
    // The child keeps the conversation, so the second request is shorter.
    assert_eq!(stage.fake.messages(), ["<so_far>\nalready kept: nothing\n</so_far>\none", "two"]);
    assert_eq!(claude.carried_tokens(), 110);
    claude.release();
    assert_eq!(claude.carried_tokens(), 0);
    assert!(stage.no_child_is_left());
}

#[test]
fn child_runs_as_compressor_only() {
    let stage = FakeClaudeFixture::with([]);
    stage.claude().answer(&ask("one"), LONG).unwrap();
    let FakeClaudeEvent::Start { args, env, .. } = stage.fake.events().remove(0) else { panic!() };
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
    let value = |name: &str| env.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    assert_eq!(value(COMPRESSOR_MARKER), Some("1"));
    assert_eq!(value("MAX_THINKING_TOKENS"), Some("0"));
    assert_eq!(value("CLAUDE_CODE_MAX_RETRIES"), Some("1"));
    assert_eq!(value("CLAUDE_CODE_MAX_OUTPUT_TOKENS"), Some("512"));
    assert_eq!((value("CLAUDECODE"), value("CLAUDE_PROJECT_DIR")), (None, None));
}

#[test]
fn long_conversation_restarts_with_a_recap() {
    let long = FakeClaudeStep::Answer { text: "<skip/>".into(), input_tokens: 15_990, output_tokens: 10 };
    let stage = FakeClaudeFixture::with([FakeClaudeStep::answer("<skip/>"), long]);
    let mut claude = stage.claude();
    for message in ["one", "two", "three"] {
        claude.answer(&ask(message), LONG).unwrap();
    }
    assert_eq!(stage.started_pids().len(), 2);
    let so_far: Vec<bool> =
        stage.fake.messages().iter().map(|message| message.contains("<so_far>")).collect();
    assert_eq!(so_far, [true, false, true]);
    drop(claude);
    assert!(stage.no_child_is_left());
}

#[test]
fn changed_instructions_start_another_child() {
    let stage = FakeClaudeFixture::with([]);
    let mut claude = stage.claude();
    claude.answer(&ask("one"), LONG).unwrap();
    let other = ModelRequest { system: "You speak German.", ..ask("two") };
    claude.answer(&other, LONG).unwrap();
    assert_eq!(stage.started_pids().len(), 2);
}

#[test]
fn every_failure_is_classified_and_leaves_no_child() {
    let garbage = |text: &str| FakeClaudeStep::Garbage { text: text.into() };
    for (step, deadline, want) in [
        (FakeClaudeStep::ApiError { status: 529 }, LONG, "Retry"),
        (FakeClaudeStep::ApiError { status: 401 }, LONG, "Auth"),
        (FakeClaudeStep::ApiError { status: 404 }, LONG, "Misconfigured"),
        (FakeClaudeStep::Hang, SHORT, "TimedOut"),
        (FakeClaudeStep::Deaf, SHORT, "TimedOut"),
        (FakeClaudeStep::Exit { code: 3 }, LONG, "Unreachable"),
        (FakeClaudeStep::ExitMidway { code: 0 }, LONG, "Garbled"),
        (FakeClaudeStep::Endless, LONG, "Garbled"),
        (garbage("Welcome to Claude Code!"), LONG, "Garbled"),
        (garbage("{\"type\": \"result\""), LONG, "Garbled"),
        (garbage("{\"type\": \"result\", \"is_error\": false}"), LONG, "Garbled"),
        (garbage("{\"type\": \"result\", \"result\": \"text\"}"), LONG, "Retry"),
    ] {
        let shown = format!("{step:?}");
        let stage = FakeClaudeFixture::with([step]);
        let mut claude = stage.claude();
        let error = claude.answer(&ask("one"), deadline).unwrap_err();
        let cause = format!("{:?}", error.cause());
        assert!(cause.starts_with(want), "{shown}: {error:?}");
        assert!(stage.no_child_is_left(), "{shown}");
        // After any failure a new child answers the next request.
        assert_eq!(claude.answer(&ask("two"), LONG).unwrap().text, "<skip/>", "{shown}");
        assert_eq!(stage.started_pids().len(), 2, "{shown}");
    }
}

#[test]
fn failed_turn_is_billed_as_reported() {
    let failed = "\"type\": \"result\", \"is_error\": true, \"result\": \"something new\"";
    let used = "\"usage\": {\"input_tokens\": 10900, \"output_tokens\": 100}";
    for (text, want) in [
        (format!("{{{failed}, {used}}}"), FailureCost::Known(TokenUsage { input: 10_900, output: 100 })),
        // Side requests, and a first attempt that was answered.
        (
            format!(
                "{{{failed}, {used}, \"modelUsage\": {{\"m\": {{\"inputTokens\": 30000, \"outputTokens\": 7}}}}}}"
            ),
            FailureCost::Known(TokenUsage { input: 30_000, output: 100 }),
        ),
        (format!("{{{failed}}}"), FailureCost::Unknown),
    ] {
        let stage = FakeClaudeFixture::with([FakeClaudeStep::Garbage { text: text.clone() }]);
        let error = stage.claude().answer(&ask("one"), LONG).unwrap_err();
        assert!(matches!(error.cause(), ModelError::Retry { .. }), "{text}");
        assert_eq!(error.cost(), want, "{text}");
    }
}

#[test]
fn child_that_does_not_read_times_out() {
    let stage = FakeClaudeFixture::with([FakeClaudeStep::Deaf]);
    let mut claude = stage.claude();
    claude.answer(&ask("one"), SHORT).unwrap_err();
    // More than fits into a pipe.
    let long = "x".repeat(1 << 20);
    let stage = FakeClaudeFixture::with([FakeClaudeStep::Hang, FakeClaudeStep::Deaf]);
    let mut claude = stage.claude();
    assert_eq!(claude.answer(&ask(&long), SHORT), Err(ModelError::TimedOut));
    assert!(stage.no_child_is_left());
}

#[test]
fn unusable_client_reports_why() {
    let stage = FakeClaudeFixture::with([]);
    for (code, complaint, want) in [
        (1, "error: unknown option '--setting-sources'", "Misconfigured"),
        (1, "Invalid API key · Please run /login", "Auth"),
        (1, "out of memory", "Unreachable"),
    ] {
        stage.fake.set_script(&FakeClaudeScript {
            steps: Vec::new(),
            otherwise: FakeClaudeStep::answer("<skip/>"),
            refuses: Some((code, complaint.into())),
        });
        let error = format!("{:?}", stage.claude().answer(&ask("one"), LONG).unwrap_err());
        assert!(error.starts_with(want), "{complaint}: {error}");
    }
    let missing = stage.home.path().join("no-such-claude");
    let error = stage.claude_at(&missing).answer(&ask("one"), LONG).unwrap_err();
    assert_eq!(error, ModelError::Misconfigured { why: "claude was not found".into() });
}

/// A `claude` that prints the first bytes of a recorded turn and exits.
#[test]
fn turn_cut_at_any_byte_is_an_error() {
    let turn = "{\"type\":\"system\",\"subtype\":\"init\"}\n\
        {\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"<skip/>\"}]}}\n\
        {\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"<skip/>\"}\n";
    let stage = FakeClaudeFixture::with([]);
    let script = stage.home.path().join("cut-claude");
    let write = |text: &str| {
        std::fs::write(stage.home.path().join("turn"), text).unwrap();
    };
    let program = format!("#!/bin/sh\nread -r line\ncat {}\n", stage.home.path().join("turn").display());
    std::fs::write(&script, program).unwrap();
    let mut mode = std::fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o700);
    std::fs::set_permissions(&script, mode).unwrap();
    for end in (0..turn.len()).step_by(5).chain([turn.len() - 1]) {
        write(&turn[..end]);
        let result = stage.claude_at(&script).answer(&ask("one"), LONG);
        assert!(
            matches!(result, Err(ModelError::Garbled { .. } | ModelError::Unreachable { .. })),
            "cut at {end}: {result:?}"
        );
    }
    write(turn);
    assert_eq!(stage.claude_at(&script).answer(&ask("one"), LONG).unwrap().text, "<skip/>");
}
