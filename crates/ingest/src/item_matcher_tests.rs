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
