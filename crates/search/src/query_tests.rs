use super::*;
use claude_mem_store::FtsColumn;

fn term(text: &str) -> FtsQuery {
    FtsQuery::Term(text.into())
}

#[test]
fn plain_words_require_nothing() {
    for typed in
        ["login loops", "std::sync::Arc", "and or not", "what's up?", "NEAR(a b, 3)", "a-b c+d", "x:y"]
    {
        assert_eq!(SearchQuery::parse(typed).must, None, "typed {typed:?}");
    }
}

#[test]
fn operators_quotes_columns_and_prefixes_are_required() {
    for (typed, want) in [
        ("\"error handling\"", term("error handling")),
        ("login*", FtsQuery::Prefix("login".into(), prefix_expansions("login"))),
        ("title:cookie", FtsQuery::Column(FtsColumn::Title, Box::new(term("cookie")))),
        ("title:\"a cookie\"", FtsQuery::Column(FtsColumn::Title, Box::new(term("a cookie")))),
        ("a AND b", FtsQuery::And(vec![term("a"), term("b")])),
        ("a b OR c", FtsQuery::Or(vec![FtsQuery::Or(vec![term("a"), term("b")]), term("c")])),
        ("bug NOT feature", FtsQuery::Not(Box::new(term("bug")), Box::new(term("feature")))),
    ] {
        assert_eq!(SearchQuery::parse(typed).must, Some(want), "typed {typed:?}");
    }
}

#[test]
fn filters_are_removed_from_the_words() {
    let query = SearchQuery::parse("login type:bugfix file:\"src/a b.rs\" before:2026-01-02 loops");
    assert_eq!(query.words, ["login", "loops"]);
    assert_eq!(query.semantic_text, "login loops");
    assert_eq!(
        query.filters,
        [
            QueryFilter::Type("bugfix".into()),
            QueryFilter::File("src/a b.rs".into()),
            QueryFilter::Before("2026-01-02".into())
        ]
    );
}

#[test]
fn stop_words_are_dropped_if_others_remain() {
    assert_eq!(SearchQuery::parse("why is the login so slow").words, ["login", "slow"]);
    assert_eq!(SearchQuery::parse("what is it").words, ["what", "is", "it"]);
}

#[test]
fn excluded_terms_do_not_rank() {
    let query = SearchQuery::parse("bug NOT feature");
    assert_eq!(query.words, ["bug"]);
    assert_eq!(query.semantic_text, "bug");
    assert_eq!(query.must_not, Some(term("feature")));
}

#[test]
fn pasted_errors_exclude_nothing() {
    for typed in [
        "NOT NULL constraint failed: users.email",
        "ERROR: null value in column email of relation users violates the NOT NULL constraint of it",
    ] {
        let query = SearchQuery::parse(typed);
        assert_eq!((query.must, query.must_not), (None, None), "{typed:?}");
        assert!(query.words.contains(&"null".to_owned()), "{typed:?}");
    }
    let query = SearchQuery::parse("could NOT connect");
    assert_eq!(query.verbatim.as_deref(), Some("could NOT connect"));
    assert_eq!(SearchQuery::literal("could NOT connect").words, ["connect"]);
    assert_eq!(SearchQuery::parse("NOT redis").must_not, Some(term("redis")));
}

#[test]
fn filters_inside_pasted_text_are_words() {
    let pasted = "at file:///srv/app.mjs:10:5 reading type:module of the map that was never \
                  loaded by anybody at all";
    assert_eq!(SearchQuery::parse(pasted).filters, []);
    let ended = format!("type:bugfix {pasted} after:2w");
    assert_eq!(
        SearchQuery::parse(&ended).filters,
        [QueryFilter::Type("bugfix".into()), QueryFilter::After("2w".into())]
    );
    assert_eq!(SearchQuery::parse("file:///srv/app.mjs").filters, []);
}

#[test]
fn dangling_operators_and_quotes_are_harmless() {
    for typed in ["AND", "OR OR", "NOT", "\"", "a AND", "NOT b", "title:", "\"\"", "*", "((", ":", "type:"] {
        SearchQuery::parse(typed);
    }
    assert_eq!(SearchQuery::parse("a AND").must, Some(term("a")));
    assert_eq!(SearchQuery::parse("NOT b").must, None);
}

#[test]
fn pasted_text_with_quotes_requires_nothing() {
    let pasted = "TypeError: cannot read \"x\" of \"undefined\" at foo (src/a.js:10:3) at bar (src/b.js:4:5) in \"main\" thread";
    assert_eq!(SearchQuery::parse(pasted).must, None);
}

#[test]
fn phrase_in_a_sentence_is_not_required() {
    for (typed, demands) in [
        (r#""rate limit""#, true),
        (r#""rate limit" retry"#, true),
        (r#"what is "Little Women" about according to Joanna"#, false),
        ("load test* directories when the path is missing", false),
        (r#"title:"rate limit" what was it about again"#, true),
        ("rate AND limit for all of the clients", true),
    ] {
        let demand = SearchQuery::parse(typed).must;
        assert_eq!(demand.is_some(), demands, "typed {typed:?}: {demand:?}");
    }
}

#[test]
fn excess_filters_become_words() {
    let typed = "file:shop ".repeat(1_000);
    let query = SearchQuery::parse(&typed);
    assert_eq!(query.filters.len(), QUERY_FILTERS_MAX);
    assert_eq!(query.words, ["file", "shop"]);
}
