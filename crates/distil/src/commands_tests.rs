use super::*;

fn purposes(line: &str) -> CommandPurpose {
    CommandRun::read(line, "", false, false).purpose
}

#[test]
fn the_telling_command_of_a_line_is_found() {
    for (line, purpose, command) in [
        ("cd app && npm run build 2>&1 | tail -20", CommandPurpose::Build, "npm run build"),
        ("ls -la; cat x", CommandPurpose::Routine, "cat x"),
        ("python -m pytest -q tests/test_a.py", CommandPurpose::Test, "pytest -q tests/test_a.py"),
        ("RUST_LOG=debug cargo nextest run -p store", CommandPurpose::Test, "cargo nextest run -p store"),
        ("make test", CommandPurpose::Test, "make test"),
        ("./gradlew :app:assembleDebug", CommandPurpose::Build, "./gradlew :app:assembleDebug"),
        ("pip install -e .", CommandPurpose::Remedy, "pip install -e ."),
        ("docker compose up -d db", CommandPurpose::Remedy, "docker compose up -d db"),
        ("./scripts/sync.sh --all", CommandPurpose::Run, "./scripts/sync.sh --all"),
    ] {
        let run = CommandRun::read(line, "", false, false);
        assert_eq!((run.purpose, run.command.as_str()), (purpose, command), "{line}");
    }
}

#[test]
fn looking_around_is_routine() {
    for line in ["ls", "grep -rn x .", "sed -n 1,5p a", "cargo tree", "docker ps", "git status | head"] {
        assert!(matches!(purposes(line), CommandPurpose::Routine | CommandPurpose::Git), "{line}");
    }
}

#[test]
fn a_pipe_does_not_hide_a_failure() {
    let run = CommandRun::read("pytest | tail -3", "1 failed, 2 passed in 0.1s", false, false);
    assert_eq!(run.outcome, RunOutcome::Failed);
    let run = CommandRun::read("cargo build 2>&1 | tail", "error: could not compile `x`", false, false);
    assert_eq!(run.outcome, RunOutcome::Failed);
    let run = CommandRun::read("cat log.txt", "error: could not compile `x`", false, false);
    assert_eq!(run.outcome, RunOutcome::Passed, "a file that speaks of a failure is none");
}

#[test]
fn the_same_command_is_known_again() {
    let key = |line: &str| CommandRun::read(line, "", false, false).key;
    assert_eq!(key("pytest -q tests/a.py"), key("cd x && python -m pytest -vv tests/a.py | tail"));
    let run = |line: &str| CommandRun::read(line, "", false, false);
    assert!(covers(&run("cargo test"), &key("cargo test -p store lease")));
    assert!(covers(&run("cargo build && cargo test"), &key("cargo build")));
    assert!(!covers(&run("cargo test -p a"), &key("cargo test -p b")));
    assert!(!covers(&run("cargo build"), &key("cargo test")));
}

fn outcomes(line: &str, output: &str, failed: bool) -> Vec<(String, bool, String)> {
    let checks = CommandRun::read(line, output, failed, false).checks;
    let counts = |check: &CheckRun| check.counts.map(TestCounts::in_words).unwrap_or_default();
    checks.into_iter().map(|check| (check.command.clone(), check.passed, counts(&check))).collect()
}

#[test]
fn each_check_of_a_line_has_its_outcome() {
    let row = |command: &str, passed: bool, counts: &str| (command.to_owned(), passed, counts.to_owned());
    for (line, output, failed, want) in [
        (
            "npm run lint && npm test",
            "Tests  4 passed (4)",
            false,
            vec![row("npm run lint", true, ""), row("npm test", true, "4 passed")],
        ),
        // Wrappers and the choice of a package say nothing about what was run.
        (
            "rtk test pnpm --filter api test && pnpm -C web exec tsc --noEmit",
            "Tests  4 passed (4)",
            false,
            vec![row("pnpm --filter api test", true, "4 passed"), row("tsc --noEmit", true, "")],
        ),
        // The tests ran, so what stands before them passed.
        (
            "npm run lint && npm test | tail -5",
            "Tests  1 failed | 3 passed",
            true,
            vec![row("npm run lint", true, ""), row("npm test", false, "1 failed, 3 passed")],
        ),
        // No test was counted: the first check failed, and the tests never ran.
        ("npm run lint && npm test", "error: unused variable", true, vec![row("npm run lint", false, "")]),
        (
            "npm test && npm run lint",
            "Tests  4 passed (4)\nerror: unused variable",
            true,
            vec![row("npm test", true, "4 passed"), row("npm run lint", false, "")],
        ),
        // After a semicolon the second check says nothing about the first.
        (
            "npm run lint; npm test",
            "Tests  1 failed | 3 passed",
            true,
            vec![row("npm test", false, "1 failed, 3 passed")],
        ),
    ] {
        assert_eq!(outcomes(line, output, failed), want, "{line} {output}");
    }
}

#[test]
fn checks_of_a_hook_are_read_from_its_output() {
    let output = "$ vitest run\n Tests  31 passed (31)\n$ eslint --fix web\n$ tsc --noEmit\n[main 1a2b3c4] Add a cursor\n";
    let found: Vec<(String, String)> = hook_checks(output)
        .into_iter()
        .map(|check| (check.command, check.counts.map(TestCounts::in_words).unwrap_or_default()))
        .collect();
    assert_eq!(found, [("vitest run".into(), "31 passed".into()), ("tsc --noEmit".into(), String::new())]);
}
