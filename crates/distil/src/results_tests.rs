use super::*;

#[test]
fn every_runner_s_last_line_is_read() {
    for (output, passed, failed) in [
        (
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured\ntest result: FAILED. 3 passed; 2 failed;",
            15,
            2,
        ),
        ("     Summary [   0.387s] 20 tests run: 19 passed, 1 failed, 0 skipped", 19, 1),
        ("==== 1 failed, 4 passed, 2 skipped in 0.12s ====", 4, 1),
        ("5 passed in 0.24s", 5, 0),
        ("==== 2 errors in 0.50s ====", 0, 2),
        ("Test Suites: 1 failed, 3 total\nTests:       1 failed, 12 passed, 13 total", 12, 1),
        (" Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 30 passed (32)", 30, 2),
        ("  12 passing (40ms)\n", 12, 0),
        ("12 examples, 1 failure", 11, 1),
        ("Tests: 12, Assertions: 30, Failures: 1.", 11, 1),
        ("[INFO] Tests run: 9, Failures: 0, Errors: 2, Skipped: 0", 7, 2),
        ("Passed!  - Failed:     0, Passed:    42, Skipped: 0", 42, 0),
    ] {
        assert_eq!(read(output), Some(TestCounts { passed, failed }), "{output}");
    }
    assert_eq!(read("compiled 3 files"), None);
    assert_eq!(read("[pool] Task 2 failed"), None, "the number of a task counts nothing");
    assert_eq!(read(""), None);
}

#[test]
fn count_words_build() {
    assert!(WORDS.is_some());
}
