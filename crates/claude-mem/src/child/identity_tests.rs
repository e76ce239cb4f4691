use super::*;

#[test]
fn this_process_lives_and_one_that_started_at_another_time_does_not() {
    let own = Identity::own().unwrap();
    assert!(own.is_alive());
    let reused = Identity {
        start_ticks: own.start_ticks + 1,
        ..own
    };
    assert!(!reused.is_alive());
    assert_eq!(Identity::of(u32::MAX), None);
}

#[test]
fn the_start_is_found_behind_any_name() {
    let rest = "S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1";
    for name in ["a", "a b", "a) R 1 1", "((", ")"] {
        assert_eq!(
            parse(&format!("42 ({name}) {rest}")),
            Some(('S', 4711)),
            "{name}"
        );
    }
    assert_eq!(parse("42 (a"), None);
    assert_eq!(parse(""), None);
}
