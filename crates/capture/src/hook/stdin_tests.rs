use std::io::Write;
use std::io::pipe;

use super::*;

/// Long enough for any machine; no test waits this long.
const LONG: StdinTimeouts = StdinTimeouts {
    first_byte: Duration::from_mins(1),
    idle: Duration::from_mins(1),
    overall: Duration::from_mins(1),
};
const NONE: StdinTimeouts =
    StdinTimeouts { first_byte: Duration::ZERO, idle: Duration::ZERO, overall: Duration::ZERO };

#[test]
fn closed_pipe_ends_the_payload() {
    let (from, mut to) = pipe().unwrap();
    to.write_all(b"{\"a\":1}").unwrap();
    drop(to);
    let input = read_stdin(&from, LONG);
    assert_eq!(input.bytes, b"{\"a\":1}");
    assert!(!input.cut);
}

#[test]
fn complete_object_needs_no_closed_pipe() {
    let (from, mut to) = pipe().unwrap();
    to.write_all(b"{\"a\":{}}\n").unwrap();
    let input = read_stdin(&from, LONG);
    assert_eq!(input.bytes, b"{\"a\":{}}\n");
    assert!(!input.cut);
    drop(to);
}

#[test]
fn silent_client_times_out() {
    let (from, _to) = pipe().unwrap();
    let input = read_stdin(&from, NONE);
    assert!(input.bytes.is_empty());
}

#[test]
fn stalled_client_leaves_a_cut_payload() {
    let (from, mut to) = pipe().unwrap();
    to.write_all(b"{\"a\":").unwrap();
    let input = read_stdin(&from, NONE);
    assert_eq!(input.bytes, b"{\"a\":");
    assert!(input.cut);
    drop(to);
}

#[test]
fn oversized_payload_is_cut_and_drained() {
    let (from, mut to) = pipe().unwrap();
    let writer = std::thread::spawn(move || to.write_all(&vec![b'x'; 1 << 20]));
    let input = read_up_to(&from, LONG, 1000);
    assert_eq!(input.bytes.len(), 1000);
    assert!(input.cut);
    writer.join().unwrap().unwrap();
}

#[test]
fn payload_at_the_limit_is_complete() {
    let (from, mut to) = pipe().unwrap();
    to.write_all(&[b'x'; 1000]).unwrap();
    drop(to);
    let input = read_up_to(&from, LONG, 1000);
    assert_eq!(input.bytes.len(), 1000);
    assert!(!input.cut);
}

#[test]
fn long_payload_arrives_unchanged() {
    let (from, mut to) = pipe().unwrap();
    let sent: Vec<u8> = (0..3 << 20).map(|n: u32| b'a' + (n % 23) as u8).collect();
    let copy = sent.clone();
    let writer = std::thread::spawn(move || to.write_all(&copy));
    assert_eq!(read_stdin(&from, LONG).bytes, sent);
    writer.join().unwrap().unwrap();
}

#[test]
fn endless_payload_is_cut_off() {
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let input = read_up_to(&zero, NONE, 1000);
    assert_eq!(input.bytes.len(), 1000);
    assert!(input.cut);
    let input = read_up_to(&zero, NONE, usize::MAX);
    assert!(input.cut && !input.bytes.is_empty());
}
