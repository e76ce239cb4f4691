//! Advice that several findings give.

/// Advice for a disk error other than a full disk.
pub const DISK_FAILED_FIX: &str = "check `df` and the system log: the disk failed";

/// Advice for a file that cannot be opened.
pub const CANNOT_OPEN_FIX: &str =
    "check who owns the files of the data directory, whether its disk is read-only, and `ulimit -n`";
