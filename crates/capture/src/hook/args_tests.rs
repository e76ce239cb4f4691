use super::*;

fn asked(args: &[&str]) -> Option<(bool, String, bool)> {
    let args: Vec<_> = args.iter().map(OsString::from).collect();
    let asked = HookInvocation::from_args(&args)?;
    Some((asked.agent.is_some(), asked.event, asked.requires_payload))
}

#[test]
fn hook_invocation_is_recognised() {
    for (args, want) in [
        (&["hook", "claude-code", "Stop"][..], Some((true, "Stop", false))),
        (&["hook", "claude-code", "Unknown"], Some((true, "Unknown", false))),
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
