use super::*;

#[test]
fn start_time_is_part_of_identity() {
    let own = ProcessIdentity::current().unwrap();
    assert!(own.is_alive());
    let reused = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own };
    assert!(!reused.is_alive());
    assert_eq!(ProcessIdentity::from_pid(u32::MAX), None);
}
