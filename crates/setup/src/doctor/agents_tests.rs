use super::*;

#[test]
fn unreadable_client_database_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("sessions.db");
    assert_eq!(newest_session(&path).unwrap(), None, "never used");
    std::fs::write(&path, "not a database, but long enough to be read as a page of one").unwrap();
    assert!(newest_session(&path).is_err());
}
