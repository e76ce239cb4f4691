use super::*;

#[test]
fn start_time_is_part_of_identity() {
    let own = ProcessIdentity::current().unwrap();
    assert!(own.is_alive());
    let reused = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own };
    assert!(!reused.is_alive());
    assert_eq!(ProcessIdentity::from_pid(u32::MAX), None);
}

#[test]
fn stat_is_parsed_after_any_process_name() {
    let rest = "S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1";
    for name in ["a", "a b", "a) R 1 1", "((", ")"] {
        assert_eq!(parse_stat(&format!("42 ({name}) {rest}")), Some(('S', 4711)), "{name}");
    }
    assert_eq!(parse_stat("42 (a"), None);
    assert_eq!(parse_stat(""), None);
}

#[test]
fn process_name_may_be_any_bytes() {
    let before = std::fs::read("/proc/self/comm").unwrap();
    std::fs::write("/proc/self/comm", b"\xff\xfe").unwrap();
    let own = ProcessIdentity::current();
    std::fs::write("/proc/self/comm", before).unwrap();
    assert!(own.is_some());
}
