use super::*;

#[test]
#[allow(clippy::disallowed_methods, reason = "a schema that no version has")]
fn a_copy_that_cannot_be_asked_what_was_forgotten_is_no_backup() {
    let copy = Connection::open_in_memory().unwrap();
    forget_for_good(&copy).unwrap();
    copy.execute_batch("CREATE VIEW forgotten AS SELECT * FROM nowhere")
        .unwrap();
    assert!(forget_for_good(&copy).is_err());
}
