use super::*;

#[test]
fn finished_work_closes_what_it_names() {
    for (finished, item) in [
        ("Wrote the retry test for `upload_part`", "A retry test for upload_part is still missing"),
        ("Added pagination to the orders endpoint", "Add pagination to the orders endpoint"),
        ("fix: validate coupon codes on the server", "Coupon codes are not validated on the server yet"),
        ("Documented the rate limiter in docs/limits.md", "Document the rate limiter in docs/limits.md"),
    ] {
        assert!(finishes(finished, item).is_some(), "{finished:?} should finish {item:?}");
    }
}

#[test]
fn other_work_closes_nothing() {
    for (finished, item) in [
        ("Wrote the retry test for `upload_part`", "A retry test for download_part is still missing"),
        ("Removed upload_part", "A retry test for upload_part is still missing"),
        ("Added pagination to the orders endpoint", "Add pagination to the customers endpoint of the shop"),
        (
            "Did not document the rate limiter in docs/limits.md",
            "Document the rate limiter in docs/limits.md",
        ),
        ("Raised the cache limit to 20", "Raise the cache limit to 40"),
        ("Fixed it", "Fix it"),
        ("", "Anything"),
        ("All tests pass", "Tests of the parser"),
    ] {
        assert_eq!(finishes(finished, item), None, "{finished:?} should not finish {item:?}");
    }
}

#[test]
fn feature_branches_do_not_meet() {
    assert!(branches_meet(Some("cart"), Some("cart")) && branches_meet(Some("cart"), Some("main")));
    assert!(branches_meet(None, Some("cart")) && branches_meet(Some("main"), Some("cart")));
    assert!(!branches_meet(Some("cart"), Some("login")));
}

#[test]
fn todo_may_be_done_on_another_branch_if_the_work_names_it_plainly() {
    for (finished, item, want) in [
        (
            "Correct the couponCode validator from 12 to 16 digits",
            "couponCode validator bug",
            ItemMatch::Plain,
        ),
        (
            "Switch Order Ids from Counters to Random Values",
            "Switching order ids from counters to random values",
            ItemMatch::Plain,
        ),
        ("Documented the limiter of the gateway", "Document the limiter of the gateway", ItemMatch::Likely),
    ] {
        assert_eq!(finishes(finished, item), Some(want), "{finished}");
    }
}

/// The work that closes an item of this key and text.
fn closing<'r>(finished: &'r [String], settled: &'r [String], claim: &str, text: &str) -> Option<&'r str> {
    WorkRecord { finished, settled }.closing(claim, text, true)
}

#[test]
fn record_settles_items_by_their_keys() {
    for (settled, claim, text) in [
        ("request:41", "request:41", "Pull request #41 is not merged: Keep the cart"),
        (
            "note:docs/todos/pending/cursor.md",
            "note:docs/todos/pending/cursor.md",
            "Move the cursor (`cursor.md`)",
        ),
        (
            "note:/home/u/shop/todos/cursor.md",
            "note:todos/pending/cursor.md",
            "Move the cursor (`cursor.md`)",
        ),
        ("run:cargo test", "run:cargo test", "`cargo test` fails: “assertion failed”"),
        (
            "refused:Keep the cart",
            "refused:Keep the cart",
            "The commit “Keep the cart” was refused: tests: 2 failed",
        ),
        ("next:/build-stage 7", "next:/build-stage 7", "Next is `/build-stage 7`"),
    ] {
        assert!(closing(&[], &[settled.to_owned()], claim, text).is_some(), "{settled} settles {claim}");
    }
    for (settled, claim, text) in [
        ("request:40", "request:41", "Pull request #41 is not merged: Keep the cart"),
        ("note:todos/list.md", "note:todos/cursor.md", "Move the cursor (`todos/cursor.md`)"),
        ("run:cargo test", "run:cargo build", "`cargo build` fails: “unresolved import”"),
    ] {
        assert_eq!(closing(&[], &[settled.to_owned()], claim, text), None, "{settled} and {claim}");
    }
}

#[test]
fn work_on_a_request_does_not_merge_it() {
    let done = ["Keep the cart over a login".to_owned()];
    let text = "Pull request #41 is not merged: Keep the cart over a login";
    assert_eq!(closing(&done, &[], "request:41", text), None);
}

#[test]
fn labels_of_items_need_not_be_repeated_by_the_work() {
    for (done, claim, text) in [
        (
            "Export invoices in batches of 500",
            "plan:Export invoices in batches of 500",
            "The plan “Export invoices in batches of 500” is not carried out",
        ),
        (
            "Move the currency conversion into its own service",
            "asked:Move the currency conversion out of the ledger into its own service",
            "Not finished when the session ended: Move the currency conversion out of the ledger into its own service",
        ),
        (
            "Switch the order ids to random values",
            "note:docs/todos/random-order-ids.md",
            "Switch order ids to random values (`docs/todos/random-order-ids.md`)",
        ),
    ] {
        assert!(closing(&[done.to_owned()], &[], claim, text).is_some(), "{done:?} finishes {text:?}");
    }
}

#[test]
fn request_that_is_asked_again_and_done_is_finished() {
    let asked = "The cart tests still fail - go through them locally without waiting for the pipeline";
    let text = format!("Not finished when the session ended: {asked}");
    assert!(closing(&[format!("ok {asked}")], &[], "asked:x", &text).is_some());
    assert_eq!(
        closing(&["The login tests still fail without a pipeline".into()], &[], "asked:x", &text),
        None
    );
}

#[test]
fn refused_commit_may_land_in_other_words() {
    let text =
        "The commit “Normalize vendor keys for queries and browser tests” was refused: “signing failed”";
    let landed = ["Normalize prefixed vendor keys in lookups".to_owned()];
    assert!(closing(&landed, &[], "refused:x", text).is_some());
    assert_eq!(
        WorkRecord { finished: &landed, settled: &[] }.closing("refused:x", text, false),
        None,
        "elsewhere"
    );
    for other in ["Normalize the colours of the list", "Show vendor keys in browser queries"] {
        assert_eq!(closing(&[other.to_owned()], &[], "refused:x", text), None, "{other}");
    }
}
