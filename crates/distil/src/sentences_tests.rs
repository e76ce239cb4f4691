use super::*;

fn texts(text: &str) -> Vec<String> {
    let sentences = TextDocument::read(text).sentences;
    sentences.into_iter().map(|sentence| sentence.text).collect()
}

#[test]
fn a_dot_inside_a_name_or_an_abbreviation_ends_nothing() {
    for (text, want) in [
        ("No. Use tabs.", vec!["No.", "Use tabs."]),
        ("Bump to 1.2. Then ship.", vec!["Bump to 1.2.", "Then ship."]),
        ("host.example.com. with a dot. Strip it.", vec!["host.example.com. with a dot.", "Strip it."]),
        ("Use a cache, e.g. Redis. It is fast.", vec!["Use a cache, e.g. Redis.", "It is fast."]),
        ("Nimm z.B. Postgres. Das reicht.", vec!["Nimm z.B. Postgres.", "Das reicht."]),
        ("no. use tabs. never spaces", vec!["no.", "use tabs.", "never spaces"]),
        ("It is right. merge_records is not.", vec!["It is right.", "merge_records is not."]),
        ("Call `a. B()` now.", vec!["Call `a. B()` now."]),
        ("不要用默认端口。改成 8443！", vec!["不要用默认端口。", "改成 8443！"]),
        ("Really?! yes.", vec!["Really?!", "yes."]),
    ] {
        assert_eq!(texts(text), want, "{text:?}");
    }
}

#[test]
fn emphasis_goes_and_wildcards_stay() {
    for (text, want) in [
        ("**Never** use *any* of it", "Never use any of it"),
        (
            "*.example.com matches a.example.com, *.b.c does not",
            "*.example.com matches a.example.com, *.b.c does not",
        ),
        ("See [the docs](https://x.y/z) and `**kwargs`", "See the docs and `**kwargs`"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("a ***b*** c", "a b c"),
    ] {
        assert_eq!(unmark(text), want, "{text:?}");
    }
}

#[test]
fn code_is_no_statement() {
    let document = TextDocument::read("Do this:\n```diff\n-a. You must obey.\n+b\n```\nDone.");
    assert_eq!(document.sentences.len(), 2);
    assert!(document.has_fence);
    assert!(document.sentences.iter().all(|sentence| !sentence.text.contains("obey")));
}

#[test]
fn items_know_what_introduces_them() {
    let document = TextDocument::read("## Plan\nNext steps:\n- [ ] write docs\n  and tests\n- ship\n\nBye.");
    let found: Vec<_> =
        document.sentences.iter().map(|s| (s.block, s.text.as_str(), s.section.as_str())).collect();
    assert_eq!(
        found,
        [
            (TextBlock::Heading, "Plan", ""),
            (TextBlock::Prose, "Next steps:", "Plan"),
            (TextBlock::Todo, "write docs and tests", "Next steps:"),
            (TextBlock::Item, "ship", "Next steps:"),
            (TextBlock::Prose, "Bye.", "Plan"),
        ]
    );
}

#[test]
fn short_lines_are_statements_and_wrapped_ones_are_joined() {
    assert_eq!(texts("use tabs\nno semicolons"), ["use tabs", "no semicolons"]);
    let wrapped =
        "The lease must outlive the slowest call of the model, which we\nmeasured at ninety seconds.";
    assert_eq!(texts(wrapped).len(), 1);
}
