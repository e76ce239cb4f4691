use super::*;

fn names(text: &str) -> Vec<String> {
    let show = |token: &TagToken| {
        let slash = if token.is_opening() { "" } else { "/" };
        format!("{slash}{:?}", token.tag)
    };
    scan_tags(text).iter().map(show).collect()
}

#[test]
fn only_contract_tags_are_tokens() {
    assert_eq!(names("a <b> <title>x</title> <titles> </b>"), ["Title", "/Title"]);
    assert_eq!(names("<title\t/><FILES-READ></files_edited >"), ["Title", "FilesRead", "/FilesModified"]);
}

#[test]
fn token_ranges_match_the_text() {
    let text = "x<title a='>'>y</title>";
    let tokens = scan_tags(text);
    assert_eq!(&text[tokens[0].at.clone()], "<title a='>'>");
    assert_eq!(&text[tokens[1].at.clone()], "</title>");
    assert!(matches!(tokens[0].mark, TagMark::Open { close: Some(1), empty: false, .. }));
}

#[test]
fn tags_in_cdata_and_comments_are_text() {
    assert!(names("<![CDATA[<title>]]> <!-- <fact> -->").is_empty());
    assert_eq!(names("<![CDATA[<title>"), ["Title"]);
}

#[test]
fn unclosed_tags_do_not_count_as_depth() {
    let unclosed = "<observation><type>a<title>b<narrative>c<facts><fact>d<fact>e".repeat(20);
    assert!(!is_too_deep(&scan_tags(&unclosed)));
    assert!(is_too_deep(&scan_tags(&"<facts>".repeat(ANSWER_DEPTH_MAX + 1))));
}
