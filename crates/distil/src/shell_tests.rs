use super::*;

fn words(line: &str) -> Vec<Vec<String>> {
    parse(line).into_iter().map(|simple| simple.words).collect()
}

#[test]
fn operators_part_commands_and_quotes_hold_words_together() {
    assert_eq!(
        words("cd a && FOO=1 cargo test -p x 2>&1 | tail -5; echo 'a && b' \"c; d\" # no"),
        [
            vec!["cd", "a"],
            vec!["FOO=1", "cargo", "test", "-p", "x"],
            vec!["tail", "-5"],
            vec!["echo", "a && b", "c; d"],
        ]
    );
    assert!(parse("a | b")[1].piped);
}

#[test]
fn a_commit_message_in_a_heredoc_is_one_word() {
    let line =
        "git add -A && git commit -q -m \"$(cat <<'EOF'\nfix: a \"b\"\n\nWhy: (c).\nEOF\n)\" && git push";
    assert_eq!(
        words(line),
        [
            vec!["git", "add", "-A"],
            vec!["git", "commit", "-q", "-m", "fix: a \"b\"\n\nWhy: (c)."],
            vec!["git", "push"],
        ]
    );
}

#[test]
fn a_heredoc_that_is_written_to_a_file_keeps_both() {
    let parsed = parse("cat > src/a.py <<'EOF'\nx = 1 && 2\nEOF\npython src/a.py");
    assert_eq!(parsed[0].written.as_deref(), Some("src/a.py"));
    assert_eq!(parsed[0].heredoc.as_deref(), Some("x = 1 && 2\n"));
    assert_eq!(parsed[1].words, ["python", "src/a.py"]);
}

#[test]
fn wrappers_say_nothing_about_what_was_run() {
    for (line, program) in [
        ("sudo -n true", "-n"),
        ("CI=1 timeout 60 npx vitest run", "vitest"),
        ("python -m pytest -q", "pytest"),
        ("uv run ruff check", "ruff"),
        ("/usr/bin/make all", "make"),
        ("FOO=bar", "FOO=bar"),
    ] {
        assert_eq!(parse(line)[0].program(), program, "{line}");
    }
}

#[test]
fn what_does_not_end_ends_with_the_text() {
    for line in ["echo 'open", "echo \"open", "git commit -m \"$(cat <<EOF\nx", "a $(b", "<<", "\\", "$("] {
        parse(line);
    }
    assert_eq!(words("git commit -m \"$(cat <<EOF\nx")[0][3], "x");
}
