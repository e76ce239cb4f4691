use super::*;

fn names(text: &str) -> Vec<String> {
    let show = |token: &Token| {
        let slash = if token.opens() { "" } else { "/" };
        format!("{slash}{:?}", token.tag)
    };
    scan(text).iter().map(show).collect()
}

#[test]
fn only_our_tags_are_tags() {
    assert_eq!(
        names("a <b> <title>x</title> <titles> </b>"),
        ["Title", "/Title"]
    );
    assert_eq!(
        names("<title\t/><FILES-READ></files_edited >"),
        ["Title", "FilesRead", "/FilesModified"]
    );
}

#[test]
fn a_tag_is_where_it_says_it_is() {
    let text = "x<title a='>'>y</title>";
    let tokens = scan(text);
    assert_eq!(&text[tokens[0].at.clone()], "<title a='>'>");
    assert_eq!(&text[tokens[1].at.clone()], "</title>");
    assert!(matches!(
        tokens[0].mark,
        Mark::Open {
            close: Some(1),
            empty: false,
            ..
        }
    ));
}

#[test]
fn tags_inside_sections_are_text() {
    assert!(names("<![CDATA[<title>]]> <!-- <fact> -->").is_empty());
    assert_eq!(names("<![CDATA[<title>"), ["Title"]);
}

#[test]
fn carelessness_is_not_depth() {
    let unclosed = "<observation><type>a<title>b<narrative>c<facts><fact>d<fact>e".repeat(20);
    assert!(!too_deep(&scan(&unclosed)));
    assert!(too_deep(&scan(&"<facts>".repeat(ANSWER_DEPTH_MAX + 1))));
}
