use super::*;

fn asked(args: &[&str]) -> Option<(bool, String, bool)> {
    let args: Vec<_> = args.iter().map(OsString::from).collect();
    let asked = Asked::from_args(&args)?;
    Some((asked.agent.is_some(), asked.event, asked.only_with_payload))
}

#[test]
fn a_hook_is_known_by_its_first_word() {
    for (args, want) in [
        (
            &["hook", "claude-code", "Stop"][..],
            Some((true, "Stop", false)),
        ),
        (
            &["hook", "claude-code", "Unknown"],
            Some((true, "Unknown", false)),
        ),
        (&["hook", "nobody", "Stop"], Some((false, "Stop", false))),
        (&["hook"], Some((false, "", false))),
        (&["context"], Some((true, "SessionStart", true))),
        (&["new"], Some((true, "UserPromptSubmit", false))),
        (&["save"], Some((true, "PostToolUse", true))),
        (&["summary"], Some((true, "Stop", false))),
        (&["save", "remember this"], None),
        (&["context", "--json"], None),
        (&["search", "hook"], None),
        (&[], None),
    ] {
        let want = want.map(|(agent, event, maybe)| (agent, event.to_owned(), maybe));
        assert_eq!(asked(args), want, "{args:?}");
    }
}
