use super::*;
use crate::store::Column;

fn term(text: &str) -> Expr {
    Expr::Term(text.into())
}

#[test]
fn plain_words_demand_nothing() {
    for typed in [
        "login loops",
        "std::sync::Arc",
        "and or not",
        "what's up?",
        "NEAR(a b, 3)",
        "a-b c+d",
        "x:y",
    ] {
        assert_eq!(Query::parse(typed).demand, None, "typed {typed:?}");
    }
}

#[test]
fn operators_quotes_columns_and_stars_are_demands() {
    for (typed, want) in [
        ("\"error handling\"", term("error handling")),
        ("login*", Expr::Prefix("login".into(), beginnings("login"))),
        (
            "title:cookie",
            Expr::Column(Column::Title, Box::new(term("cookie"))),
        ),
        (
            "title:\"a cookie\"",
            Expr::Column(Column::Title, Box::new(term("a cookie"))),
        ),
        ("a AND b", Expr::And(vec![term("a"), term("b")])),
        (
            "a b OR c",
            Expr::Or(vec![Expr::Or(vec![term("a"), term("b")]), term("c")]),
        ),
        (
            "bug NOT feature",
            Expr::Not(Box::new(term("bug")), Box::new(term("feature"))),
        ),
    ] {
        assert_eq!(Query::parse(typed).demand, Some(want), "typed {typed:?}");
    }
}

#[test]
fn filters_are_taken_out_of_the_words() {
    let query = Query::parse("login type:bugfix file:\"src/a b.rs\" before:2026-01-02 loops");
    assert_eq!(query.words, ["login", "loops"]);
    assert_eq!(query.plain, "login loops");
    assert_eq!(
        query.filters,
        [
            FilterWord::Type("bugfix".into()),
            FilterWord::File("src/a b.rs".into()),
            FilterWord::Before("2026-01-02".into())
        ]
    );
}

#[test]
fn stop_words_go_unless_there_is_nothing_else() {
    assert_eq!(
        Query::parse("why is the login so slow").words,
        ["login", "slow"]
    );
    assert_eq!(Query::parse("what is it").words, ["what", "is", "it"]);
}

#[test]
fn what_is_ruled_out_does_not_rank() {
    let query = Query::parse("bug NOT feature");
    assert_eq!(query.words, ["bug"]);
    assert_eq!(query.plain, "bug");
    assert_eq!(query.unwanted, Some(term("feature")));
}

#[test]
fn a_pasted_error_rules_nothing_out() {
    for typed in [
        "NOT NULL constraint failed: users.email",
        "ERROR: null value in column email of relation users violates the NOT NULL constraint of it",
    ] {
        let query = Query::parse(typed);
        assert_eq!((query.demand, query.unwanted), (None, None), "{typed:?}");
        assert!(query.words.contains(&"null".to_owned()), "{typed:?}");
    }
    let query = Query::parse("could NOT connect");
    assert_eq!(query.quotation.as_deref(), Some("could NOT connect"));
    assert_eq!(Query::literal("could NOT connect").words, ["connect"]);
    assert_eq!(Query::parse("NOT redis").unwanted, Some(term("redis")));
}

#[test]
fn in_a_pasted_text_a_filter_is_text_unless_it_stands_at_an_end() {
    let pasted = "at file:///srv/app.mjs:10:5 reading type:module of the map that was never \
                  loaded by anybody at all";
    assert_eq!(Query::parse(pasted).filters, []);
    let ended = format!("type:bugfix {pasted} after:2w");
    assert_eq!(
        Query::parse(&ended).filters,
        [
            FilterWord::Type("bugfix".into()),
            FilterWord::After("2w".into())
        ]
    );
    assert_eq!(Query::parse("file:///srv/app.mjs").filters, []);
}

#[test]
fn dangling_operators_and_quotes_are_harmless() {
    for typed in [
        "AND", "OR OR", "NOT", "\"", "a AND", "NOT b", "title:", "\"\"", "*", "((", ":", "type:",
    ] {
        Query::parse(typed);
    }
    assert_eq!(Query::parse("a AND").demand, Some(term("a")));
    assert_eq!(Query::parse("NOT b").demand, None);
}

#[test]
fn a_pasted_text_demands_nothing_however_many_quotes_it_has() {
    let pasted = "TypeError: cannot read \"x\" of \"undefined\" at foo (src/a.js:10:3) at bar (src/b.js:4:5) in \"main\" thread";
    assert_eq!(Query::parse(pasted).demand, None);
}

#[test]
fn a_phrase_in_a_sentence_is_a_quotation() {
    for (typed, demands) in [
        (r#""rate limit""#, true),
        (r#""rate limit" retry"#, true),
        (r#"what is "Little Women" about according to Joanna"#, false),
        ("load test* directories when the path is missing", false),
        (r#"title:"rate limit" what was it about again"#, true),
        ("rate AND limit for all of the clients", true),
    ] {
        let demand = Query::parse(typed).demand;
        assert_eq!(demand.is_some(), demands, "typed {typed:?}: {demand:?}");
    }
}

#[test]
fn filters_without_end_become_words() {
    let typed = "file:shop ".repeat(1_000);
    let query = Query::parse(&typed);
    assert_eq!(query.filters.len(), QUERY_FILTERS_MAX);
    assert_eq!(query.words, ["file", "shop"]);
}
