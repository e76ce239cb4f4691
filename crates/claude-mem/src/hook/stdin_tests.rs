use std::io::Write;
use std::io::pipe;

use super::*;

/// Long enough for any machine: no test waits for it.
const LONG: Patience = Patience {
    first_byte: Duration::from_mins(1),
    idle: Duration::from_mins(1),
    overall: Duration::from_mins(1),
};
const NONE: Patience = Patience {
    first_byte: Duration::ZERO,
    idle: Duration::ZERO,
    overall: Duration::ZERO,
};

#[test]
fn a_closed_pipe_ends_the_payload() {
    let (from, mut to) = pipe().unwrap();
    to.write_all(b"{\"a\":1}").unwrap();
    drop(to);
    let input = read(&from, LONG);
    assert_eq!(input.bytes, b"{\"a\":1}");
    assert!(!input.cut);
}

#[test]
fn a_whole_value_is_enough_even_if_the_client_never_closes() {
    let (from, mut to) = pipe().unwrap();
    to.write_all(b"{\"a\":{}}\n").unwrap();
    let input = read(&from, LONG);
    assert_eq!(input.bytes, b"{\"a\":{}}\n");
    assert!(!input.cut);
    drop(to);
}

#[test]
fn a_client_that_says_nothing_is_not_waited_for() {
    let (from, _to) = pipe().unwrap();
    let input = read(&from, NONE);
    assert!(input.bytes.is_empty());
}

#[test]
fn a_client_that_stops_half_way_leaves_a_cut_payload() {
    let (from, mut to) = pipe().unwrap();
    to.write_all(b"{\"a\":").unwrap();
    let input = read(&from, NONE);
    assert_eq!(input.bytes, b"{\"a\":");
    assert!(input.cut);
    drop(to);
}

#[test]
fn a_payload_beyond_the_limit_is_cut_and_the_client_can_finish() {
    let (from, mut to) = pipe().unwrap();
    let writer = std::thread::spawn(move || to.write_all(&vec![b'x'; 1 << 20]));
    let input = read_up_to(&from, LONG, 1000);
    assert_eq!(input.bytes.len(), 1000);
    assert!(input.cut);
    writer.join().unwrap().unwrap();
}

#[test]
fn a_payload_of_exactly_the_limit_is_whole() {
    let (from, mut to) = pipe().unwrap();
    to.write_all(&[b'x'; 1000]).unwrap();
    drop(to);
    let input = read_up_to(&from, LONG, 1000);
    assert_eq!(input.bytes.len(), 1000);
    assert!(!input.cut);
}

#[test]
fn a_long_payload_arrives_as_it_was_sent() {
    let (from, mut to) = pipe().unwrap();
    let sent: Vec<u8> = (0..3 << 20).map(|n: u32| b'a' + (n % 23) as u8).collect();
    let copy = sent.clone();
    let writer = std::thread::spawn(move || to.write_all(&copy));
    assert_eq!(read(&from, LONG).bytes, sent);
    writer.join().unwrap().unwrap();
}

#[test]
fn a_payload_without_end_has_one() {
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let input = read_up_to(&zero, NONE, 1000);
    assert_eq!(input.bytes.len(), 1000);
    assert!(input.cut);
    let input = read_up_to(&zero, NONE, usize::MAX);
    assert!(input.cut && !input.bytes.is_empty());
}
