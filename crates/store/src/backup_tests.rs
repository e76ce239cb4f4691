use super::*;

#[test]
#[allow(clippy::disallowed_methods, reason = "a schema that no version has")]
fn unreadable_forgotten_table_fails_the_backup() {
    let copy = Connection::open_in_memory().unwrap();
    erase_forgotten(&copy).unwrap();
    copy.execute_batch("CREATE VIEW forgotten AS SELECT * FROM nowhere").unwrap();
    assert!(erase_forgotten(&copy).is_err());
}
