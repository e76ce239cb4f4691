use super::*;

#[test]
fn long_statement_is_told_without_what_adds_to_it() {
    for (sentence, title) in [
        (
            "The importer was reading the price list (a file of some two hundred lines) before the exporter had closed the last of its temporary files",
            Some(
                "The importer was reading the price list before the exporter had closed the last of its temporary files",
            ),
        ),
        (
            "Each of the four importers now has a `Limits` section near the top telling the reader how many rows of the list are read at once",
            Some("Each of the four importers now has a `Limits` section near the top"),
        ),
        (
            "`PriceList` was rendered on the overview page of the shop without the `currency` field that was already there in the parent component",
            Some("`PriceList` was rendered on the overview page of the shop without the `currency` field"),
        ),
        // These would claim too much.
        (
            "The importer of the shop throws away every one of the price lists of the last season of the year that is older than a whole week",
            None,
        ),
        (
            "The importer of the shop rejects all requests of the price service of the other company using the older of the two access tokens",
            None,
        ),
        (
            "The importer throws away the price lists of the last season of the whole year (only if the new ones have arrived in the meantime)",
            None,
        ),
    ] {
        assert_eq!(abridge(sentence).as_deref(), title);
    }
}

#[test]
fn opening_is_left_out_unless_it_is_a_condition() {
    assert_eq!(
        behind_opening("After reading the log, the queue of `import.ts` is empty"),
        Some("the queue of `import.ts` is empty")
    );
    assert_eq!(behind_opening("After restarting the server, the queue of `import.ts` is empty"), None);
}
