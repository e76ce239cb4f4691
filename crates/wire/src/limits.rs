//! Bounds of the protocol that both sides keep.

/// The newest protocol version that this crate describes, and the oldest it still speaks.
pub const PROTOCOL_MAX: u16 = 1;
pub const PROTOCOL_MIN: u16 = 1;

/// Body of one record.
pub const RECORD_BODY_BYTES_MAX: usize = 64 << 10;
/// Revision of one record.
pub const RECORD_REV_MAX: u32 = i32::MAX as u32;
/// Records of one push.
pub const PUSH_RECORDS_MAX: usize = 500;
/// Bodies of one push together. A client halves its batch after a timeout or an answer 413.
pub const PUSH_BODY_BYTES_MAX: usize = 1 << 20;
/// A whole request after decompression: the bodies of a push and as much again for the rest.
pub const REQUEST_BYTES_MAX: usize = 2 * PUSH_BODY_BYTES_MAX;

/// Records of one page, and ids of one request for named records.
pub const PAGE_RECORDS_MAX: usize = 500;
pub const PAGE_UIDS_MAX: usize = 100;
/// Bodies of one page together; the page ends with the record that exceeds it.
pub const PAGE_BODY_BYTES_MAX: usize = 4 << 20;
/// Names of one page.
pub const PAGE_NAMES_MAX: usize = 5_000;
/// Entries of one page of the audit log.
pub const PAGE_AUDIT_MAX: usize = 200;

/// The longest that a long poll may last.
pub const WAIT_SECONDS_MAX: u64 = 25;
/// Spaces of one long poll.
pub const WAIT_SPACES_MAX: usize = 256;

/// Records that one member may push in one day (UTC). Repeats that change nothing do not count, nor do removals of live
/// records.
pub const RECORDS_PER_DAY_MAX: u64 = 20_000;

/// Keys of projects that one member may add in one day (UTC). A new project has at least one.
pub const SPACE_KEYS_PER_DAY_MAX: u64 = 200;

/// Keys by which one project is found.
pub const SPACE_KEYS_MAX: usize = 16;
/// Length of one key of a space.
pub const SPACE_KEY_BYTES_MAX: usize = 512;
/// Handle of a member.
pub const HANDLE_CHARS_MAX: usize = 32;
/// Name of a member, a device, a space or a team.
pub const NAME_CHARS_MAX: usize = 80;

/// An invite is valid this long.
pub const INVITE_SECONDS: i64 = 7 * 24 * 3_600;

const _: () = assert!(RECORD_BODY_BYTES_MAX * 2 < PUSH_BODY_BYTES_MAX);
const _: () = assert!(PUSH_BODY_BYTES_MAX < PAGE_BODY_BYTES_MAX);
