use super::*;

fn commits(line: &str, output: &str) -> Vec<(String, String, String)> {
    let run = CommandRun::read(line, output, false, false);
    of_run(&run, output).into_iter().map(|c| (c.kind.to_string(), c.title, c.body)).collect()
}

#[test]
fn a_message_is_read_however_it_is_given() {
    for (line, output, kind, title, body) in [
        (
            "git commit -m 'fix(auth): renew early' -m 'Because the clock drifts.'",
            "",
            "bugfix",
            "Renew early (auth)",
            "Because the clock drifts.",
        ),
        (
            "git commit -m 'Fix the desk: add one receipt per order'",
            "",
            "bugfix",
            "Fix the desk: add one receipt per order",
            "",
        ),
        ("git add . && git commit -qam \"Add a lease\"", "", "feature", "Add a lease", ""),
        (
            "git commit -F - <<'EOF'\nrefactor: one reader\n\nTwo lines\nthat wrap.\n\n- a\n- b\n\nCo-Authored-By: X <x@y>\nEOF",
            "",
            "refactor",
            "One reader",
            "Two lines that wrap.\n- a\n- b",
        ),
        (
            "git commit -F - <<'EOF'\nfix: address the review\n\nH1: Read the cursor\nafter a delete\nM2: Refuse empty names\nEOF",
            "",
            "bugfix",
            "Address the review",
            "- H1: Read the cursor after a delete\n- M2: Refuse empty names",
        ),
        ("git commit -m \"$(cat <<'EOF'\nfeat: x y z\n\nWhy.\nEOF\n)\"", "", "feature", "X y z", "Why."),
        (
            "git -C sub commit",
            "[main 1a2b3c4] Rename the queue\n 1 file changed",
            "refactor",
            "Rename the queue",
            "",
        ),
        (
            "gh pr create --title 'Faster search' --body 'Scans half.'",
            "",
            "change",
            "Faster search",
            "Scans half.",
        ),
        (
            "git commit -m 'store: the queue survives a crash'",
            "",
            "change",
            "store: the queue survives a crash",
            "",
        ),
    ] {
        let want = vec![(kind.to_owned(), title.to_owned(), body.to_owned())];
        assert_eq!(commits(line, output), want, "{line}");
    }
}

#[test]
fn what_is_no_commit_is_none() {
    for line in ["git log --oneline", "git commit", "git show -m x", "echo git commit -m x"] {
        assert_eq!(commits(line, ""), [], "{line}");
    }
    let failed = CommandRun::read("git commit -m 'x y z'", "nothing to commit", true, false);
    assert_eq!(of_run(&failed, "nothing to commit"), []);
}

#[test]
fn routine_is_known_by_its_subject() {
    for subject in [
        "wip",
        "Merge branch 'main'",
        "bump version for 17.0.0 release",
        "fix typo",
        "typo in docs",
        "bump docs version to 1.2",
        "changelog for 23.1.0",
    ] {
        assert!(read(subject).unwrap().routine, "{subject}");
    }
    for subject in ["fix IndexedSet.index() to account for removals", "bump: x\n\nBecause y must be z."] {
        assert!(!read(subject).unwrap().routine, "{subject}");
    }
}

#[test]
fn refused_commit_is_told_with_its_reason() {
    let line = "git add a.ts && git commit -m 'feat: add a cursor'";
    for (output, failed, want) in [
        (
            "FAILED: git commit\na.ts(1,2): error TS2307: no module\n",
            false,
            Some("“a.ts(1,2): error TS2307: no module”"),
        ),
        (
            " Tests  2 failed | 5 passed\nhusky - pre-commit script failed (code 1)",
            true,
            Some("tests: 2 failed, 5 passed"),
        ),
        (
            "error: agent refused operation\nfatal: failed to write commit object",
            true,
            Some("“error: agent refused operation”"),
        ),
        ("[main 1a2b3c4] add a cursor\n", false, None),
        ("On branch main\nnothing to commit, working tree clean\n", true, None),
    ] {
        let run = CommandRun::read(line, output, failed, false);
        let refused = refused_commit(&run, output, Millis(1));
        assert_eq!(refused.as_ref().map(|refused| refused.error.as_str()), want, "{output}");
        assert!(refused.is_none_or(|refused| refused.title == "Add a cursor"), "{output}");
    }
}

#[test]
fn numbered_items_of_a_body_stay_apart() {
    let found = commits(
        "git commit -m 'fix: three faults\n\n1. Close the list\n2. Keep the cursor\n   after a reload'",
        "",
    );
    assert_eq!(found[0].2, "1. Close the list\n2. Keep the cursor after a reload");
}
