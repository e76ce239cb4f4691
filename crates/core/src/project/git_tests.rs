use super::*;

#[test]
fn origin_wins_over_other_remotes() {
    for (config, want) in [
        ("[core]\n\tbare = false\n", None),
        ("[remote \"origin\"]\n\turl = git@h:a/b.git\n", Some("git@h:a/b.git")),
        ("[remote \"fork\"]\n\turl = x\n[remote \"origin\"]\n\tfetch = +r\n\turl = y\n", Some("y")),
        ("[remote \"up\"]\nurl=x\n[remote \"fork\"]\nurl=z\n[branch \"main\"]\n\tremote = up\n", Some("x")),
        ("[url \"a\"]\n\turl = no\n\tinsteadOf = b\n", None),
        ("[remote \"origin\"]\n\tURL = \"quoted\"\n", Some("quoted")),
        ("[remote \"origin\"]\n\tpushurl = no\n", None),
        ("", None),
    ] {
        assert_eq!(remote_url(config).as_deref(), want, "{config:?}");
    }
}
