use std::fs;

use super::*;

const DAY_MICROS: i64 = 86_400 * 1_000_000;

#[test]
fn a_line_is_a_line_whatever_is_in_it() {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path());
    line(&dir, Micros(0), "one\ntwo\u{1b}[31m");
    line(&dir, Micros(1_500_000), "three");
    let text = fs::read_to_string(dir.logs().join("hook-1970-01-01.log")).unwrap();
    assert_eq!(
        text,
        "1970-01-01T00:00:00.000Z one two [31m\n1970-01-01T00:00:01.500Z three\n"
    );
}

#[test]
fn a_new_day_removes_what_is_too_old() {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path());
    line(&dir, Micros(0), "old");
    line(&dir, Micros(DAY_MICROS * LOG_DAYS_MAX), "kept");
    fs::write(dir.logs().join("worker-1970-01-01.log"), "").unwrap();
    line(&dir, Micros(DAY_MICROS * (LOG_DAYS_MAX + 1)), "new");
    let mut names: Vec<_> = fs::read_dir(dir.logs())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "hook-1970-01-15.log",
            "hook-1970-01-16.log",
            "worker-1970-01-01.log"
        ]
    );
}

#[test]
fn a_log_does_not_grow_without_end() {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path());
    fs::create_dir_all(dir.logs()).unwrap();
    let path = dir.logs().join("hook-1970-01-01.log");
    fs::write(&path, vec![b'x'; LOG_FILE_BYTES_MAX as usize + 1]).unwrap();
    line(&dir, Micros(0), "one more");
    assert_eq!(fs::metadata(path).unwrap().len(), LOG_FILE_BYTES_MAX + 1);
}
