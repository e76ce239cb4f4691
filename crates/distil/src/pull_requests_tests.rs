use super::*;
use crate::acts::{self, StepAct};
use claude_mem_core::episode::{Episode, EpisodeStep};
use serde_json::json;

/// What a command says that printed this.
fn landed(command: &str, output: &str) -> LandedWork {
    let step = EpisodeStep {
        tool: "Bash".into(),
        input: json!({ "command": command }),
        output: json!({ "stdout": output, "stderr": "" }),
        ..EpisodeStep::default()
    };
    let episode = Episode { steps: vec![step], ..Episode::default() };
    let ran = acts::read(&episode).into_iter().find_map(|timed| match timed.act {
        StepAct::Ran { run, output } => Some(LandedWork::read(&run, &output)),
        _ => None,
    });
    ran.expect("a command ran")
}

#[test]
fn log_tells_merged_requests_and_subjects() {
    let log = "\
* 1a2b3c4 (HEAD -> main, origin/main) fix(cart): keep the cart (#41)
* 5d6e7f8 Merge pull request #40 from acme/login
* 9a8b7c6 chore: bump versions
not a commit (#39)";
    let landed = landed("git log --oneline -5", log);
    assert_eq!(landed.merged, ["41", "40"]);
    assert_eq!(landed.subjects[0], "fix(cart): keep the cart (#41)");
    assert_eq!(landed.subjects.len(), 3);
}

#[test]
fn forge_tells_merged_requests() {
    assert_eq!(landed("gh pr merge 12 --squash", "").merged, ["12"]);
    assert_eq!(landed("gh pr view 12 --json state", r#"{"state":"MERGED"}"#).merged, ["12"]);
    assert!(landed("gh pr view 12 --json state", r#"{"state":"OPEN"}"#).merged.is_empty());
    let list = "14\tAdd a cart\tcart\tOPEN\n13\tAdd a login\tlogin\tMERGED";
    assert_eq!(landed("gh pr list --state all", list).merged, ["13"]);
    assert!(landed("cat notes.txt", "1a2b3c4 Keep the cart (#41)").merged.is_empty());
}

#[test]
fn only_a_statement_says_merged() {
    for (text, want) in [
        ("PR #12 is merged.", vec!["12"]),
        ("#12 and #13 are both merged now.", vec!["12", "13"]),
        ("Once #12 is merged, rebase.", vec![]),
        ("#12 is not merged yet.", vec![]),
        ("Is #12 merged?", vec![]),
        ("Merged main into #12.", vec![]),
        ("The lists are merged.", vec![]),
    ] {
        assert_eq!(stated_merged(text), want, "{text}");
    }
}
