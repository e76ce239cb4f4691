use super::*;

#[test]
fn stat_is_parsed_after_any_process_name() {
    let rest = "S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1";
    for name in ["a", "a b", "a) R 1 1", "((", ")"] {
        assert_eq!(
            parse_stat(&format!("42 ({name}) {rest}")),
            Some(ListedProcess { has_exited: false, start_ticks: 4711 }),
            "{name}"
        );
    }
    assert_eq!(parse_stat("42 (a"), None);
    assert_eq!(parse_stat(""), None);
}

#[test]
fn process_name_may_be_any_bytes() {
    let before = std::fs::read("/proc/self/comm").unwrap();
    std::fs::write("/proc/self/comm", b"\xff\xfe").unwrap();
    let own = listed_process(std::process::id());
    std::fs::write("/proc/self/comm", before).unwrap();
    assert!(own.is_some());
}

#[test]
fn caller_counts_as_runnable() {
    assert!(runnable_tasks().is_some_and(|tasks| tasks >= 1));
}

#[test]
fn memory_file_is_read_by_its_path() {
    let file = SystemMemoryFile::with_content(b"not on disk").unwrap();
    assert_eq!(std::fs::read(file.path()).unwrap(), b"not on disk");
}
