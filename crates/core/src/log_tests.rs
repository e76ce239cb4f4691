use super::*;

/// 2026-01-31 10:00:00.123 UTC.
const NOW: Millis = Millis(1_769_853_600_123);
const DAY_SECONDS: i64 = 86_400;

fn log(dir: &Path, days: u32, bytes_max: u64) -> LogWriter {
    LogWriter::new(dir, LogAuthor::Worker, LogRetention { days, bytes_max })
}

#[test]
fn hook_retention_equals_default_settings() {
    let (hook, settings) = (LogRetention::default(), LogRetention::from(&Settings::default()));
    assert_eq!((hook.days, hook.bytes_max), (settings.days, settings.bytes_max));
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .expect("listed")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("utf-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn values_never_break_a_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = log(dir.path(), 14, 1 << 20);
    let long = "x".repeat(LOG_VALUE_BYTES_MAX + 1);
    log.line(NOW, LogLevel::Info, "worker started", &[("pid", &7)]);
    log.line(
        NOW,
        LogLevel::Error,
        "call failed",
        &[("reason", &"two\nlines \u{1b}[31m \"q\""), ("empty", &""), ("long", &long)],
    );
    let text = std::fs::read_to_string(dir.path().join("worker-2026-01-31.log")).expect("written");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "2026-01-31T10:00:00.123Z info  worker started pid=7");
    assert_eq!(
        lines[1],
        format!(
            r#"2026-01-31T10:00:00.123Z error call failed reason="two\nlines \u{{1b}}[31m \"q\"" empty="" long={}…"#,
            "x".repeat(LOG_VALUE_BYTES_MAX)
        )
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn each_day_and_author_has_a_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let worker = log(dir.path(), 14, 1 << 20);
    worker.line(NOW, LogLevel::Info, "one", &[]);
    worker.line(NOW.plus_seconds(DAY_SECONDS), LogLevel::Info, "two", &[]);
    LogWriter { author: LogAuthor::Hook, ..worker }.line(NOW, LogLevel::Warn, "three", &[]);
    assert_eq!(names(dir.path()), ["hook-2026-01-31.log", "worker-2026-01-31.log", "worker-2026-02-01.log"]);
}

#[test]
fn full_file_is_rotated_and_total_stays_bounded() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = log(dir.path(), 14, 4_000);
    for _ in 0..400 {
        log.line(NOW, LogLevel::Info, "forty bytes or so", &[]);
    }
    let total: u64 = std::fs::read_dir(dir.path())
        .expect("listed")
        .map(|entry| entry.expect("entry").metadata().expect("size").len())
        .sum();
    assert!((2_000..=5_000).contains(&total), "{total} bytes");
    let names = names(dir.path());
    assert!(names.contains(&"worker-2026-01-31.log".to_owned()), "{names:?}");
    assert!(!names.contains(&"worker-2026-01-31.001.log".to_owned()), "{names:?}");
}

#[test]
fn old_logs_are_removed_and_foreign_files_stay() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in [
        "worker-2026-01-01.log",
        "hook-2026-01-01.003.log",
        "worker-2026-01-30.log",
        "worker-notes.log",
        "hook-2026-01-01.log.bak",
        "worker-2026-99-01.log",
        "worker-ärger.log",
    ] {
        std::fs::write(dir.path().join(name), "x").expect("written");
    }
    log(dir.path(), 14, 1 << 20).line(NOW, LogLevel::Info, "first of the day", &[]);
    assert_eq!(
        names(dir.path()),
        [
            "hook-2026-01-01.log.bak",
            "worker-2026-01-30.log",
            "worker-2026-01-31.log",
            "worker-2026-99-01.log",
            "worker-notes.log",
            "worker-ärger.log",
        ]
    );
}

#[test]
fn unwritable_directory_is_ignored() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("written");
    log(&file.join("logs"), 14, 1 << 20).line(NOW, LogLevel::Info, "lost", &[]);
}

#[test]
fn concurrent_writers_lose_no_line_during_rotation() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = log(dir.path(), 14, 1 << 20);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let log = &log;
            scope.spawn(move || {
                for number in 0..200 {
                    log.line(NOW, LogLevel::Info, "counted", &[("writer", &writer), ("n", &number)]);
                }
            });
        }
    });
    let text: String = names(dir.path())
        .iter()
        .map(|name| std::fs::read_to_string(dir.path().join(name)).expect("read"))
        .collect();
    assert_eq!(text.lines().count(), 1_600);
    assert!(text.lines().all(|line| line.contains(" info  counted writer=")));
}
