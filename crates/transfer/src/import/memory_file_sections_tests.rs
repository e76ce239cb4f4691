use super::*;

fn titles(text: &str) -> Vec<(String, String)> {
    let (_, sections) = parse("MEMORY", text);
    sections.into_iter().map(|section| (section.title, section.text)).collect()
}

fn pairs(want: &[(&str, &str)]) -> Vec<(String, String)> {
    want.iter().map(|(title, text)| ((*title).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn every_bullet_is_a_memory() {
    let text = "# Memory\n\n- Deploys are done by Jonas.\n- **Tests:** run `make test`. They need\n  a database.\n  - port 5433\n\
                - [Style](style.md) - how code looks\n\n## Build\n* Use pnpm\n* Never npm\n";
    assert_eq!(
        titles(text),
        pairs(&[
            ("Deploys are done by Jonas.", ""),
            (
                "Tests: run `make test`.",
                "**Tests:** run `make test`. They need\n  a database.\n  - port 5433"
            ),
            ("Use pnpm", ""),
            ("Never npm", ""),
        ])
    );
    let (_, sections) = parse("MEMORY", text);
    let headings: Vec<&str> = sections.iter().map(|section| section.heading.as_str()).collect();
    assert_eq!(headings, ["", "", "Build", "Build"]);
}

#[test]
fn the_heading_of_the_file_is_no_title() {
    for text in
        ["# Memory\nUse pnpm. Never npm.\n", "Use pnpm. Never npm.\n", "# Notes\n\nUse pnpm. Never npm."]
    {
        assert_eq!(titles(text), pairs(&[("Use pnpm.", "Use pnpm. Never npm.")]), "{text:?}");
    }
    assert_eq!(
        titles("# Memory\nUse pnpm.\n\n- Never npm\n"),
        pairs(&[("Use pnpm.", ""), ("Never npm", "")])
    );
    // A heading further down says what it is about.
    assert_eq!(
        titles("# Memory\n## Build\nUse pnpm.\n- Never npm"),
        pairs(&[("Build", "Use pnpm.\n- Never npm")])
    );
}

#[test]
fn a_description_is_a_title() {
    let text = "---\nname: deploys\ndescription: Never deploy at night\ntype: feedback\n---\n\nNights are for jobs.\n";
    let (kind, sections) = parse("deploys", text);
    assert_eq!(kind, ObservationType::DECISION);
    assert_eq!((sections.len(), sections[0].title.as_str()), (1, "Never deploy at night"));
}

#[test]
fn headings_and_bullets_in_code_are_text() {
    let (_, sections) = parse("a-b", "intro\n```sh\n# not a heading\n- no bullet\n```\n# Real\ntext\n#tag\n");
    let found: Vec<(&str, &str)> =
        sections.iter().map(|section| (section.title.as_str(), section.text.as_str())).collect();
    let intro = "intro\n```sh\n# not a heading\n- no bullet\n```";
    assert_eq!(found, [("intro", intro), ("text", "text\n#tag")]);
}
