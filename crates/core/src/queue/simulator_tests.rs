//! A seeded simulation: sessions whose hooks deliver events, workers that lease, settle, fail,
//! crash and oversleep, and a clock that jumps. It keeps its own ledger, with which the state
//! machine must agree.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{LeaseId, QueueEntry, QueueState, fail, leasable_count, lease, retry, settle};
use crate::clock::Millis;

const STEPS_PER_WORLD: usize = 4_096;
const WORLDS: u32 = 256;
const SESSIONS: usize = 4;
const WORKERS: usize = 3;

/// A small random generator, so that the whole run is a function of the seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

/// The lease that a worker believes it holds.
#[derive(Clone)]
struct HeldLease {
    session: usize,
    lease: LeaseId,
    events: Vec<usize>,
}

struct World {
    now: Millis,
    sessions: Vec<Vec<QueueEntry>>,
    workers: Vec<Option<HeldLease>>,
    next_lease: i64,
    /// How often each event's memories were stored.
    stored: HashMap<(usize, usize), u32>,
    /// The last stored event of each session: later ones must have a higher position.
    last_stored: Vec<Option<usize>>,
    retried: bool,
}

impl World {
    fn new() -> Self {
        Self {
            now: Millis(1_000_000),
            sessions: vec![Vec::new(); SESSIONS],
            workers: vec![None; WORKERS],
            next_lease: 0,
            stored: HashMap::new(),
            last_stored: vec![None; SESSIONS],
            retried: false,
        }
    }

    fn step(&mut self, dice: &mut Dice) {
        match dice.roll(16) {
            0..=3 => self.sessions[dice.roll(SESSIONS)].push(QueueEntry::NEW),
            4..=7 => self.take(dice.roll(WORKERS), dice.roll(SESSIONS)),
            8..=10 => self.store(dice.roll(WORKERS)),
            11 => self.give_up(dice.roll(WORKERS)),
            // Killed: it forgets its lease.
            12 => self.workers[dice.roll(WORKERS)] = None,
            13 => self.now = self.now.plus_seconds(dice.roll(200) as i64),
            14 => self.jump(dice),
            _ => self.raise_the_dead(dice.roll(SESSIONS)),
        }
    }

    fn jump(&mut self, dice: &mut Dice) {
        let seconds = dice.roll(100_000) as i64;
        self.now = self.now.plus_seconds(if dice.roll(2) == 0 { seconds } else { -seconds });
    }

    fn take(&mut self, worker: usize, session: usize) {
        self.next_lease += 1;
        let id = LeaseId(self.next_lease);
        let queue = &mut self.sessions[session];
        let mut events = Vec::new();
        for at in 0..leasable_count(queue, self.now) {
            if let Some(after) = lease(queue[at], id, self.now) {
                queue[at] = after;
                if matches!(after.state, QueueState::Leased { .. }) {
                    events.push(at);
                }
            }
        }
        if !events.is_empty() {
            self.workers[worker] = Some(HeldLease { session, lease: id, events });
        }
    }

    /// All or nothing, like the one transaction in `store`.
    fn store(&mut self, worker: usize) {
        let Some(work) = self.workers[worker].take() else {
            return;
        };
        let queue = &mut self.sessions[work.session];
        let after: Option<Vec<QueueEntry>> =
            work.events.iter().map(|&at| settle(queue[at], work.lease)).collect();
        let Some(after) = after else { return };
        for (&at, entry) in work.events.iter().zip(after) {
            queue[at] = entry;
            *self.stored.entry((work.session, at)).or_default() += 1;
            if !self.retried {
                assert!(
                    self.last_stored[work.session].is_none_or(|last| last < at),
                    "event {at} overtook another"
                );
            }
            self.last_stored[work.session] = Some(at);
        }
    }

    fn give_up(&mut self, worker: usize) {
        let Some(work) = self.workers[worker].take() else {
            return;
        };
        let queue = &mut self.sessions[work.session];
        for at in work.events {
            if let Some(after) = fail(queue[at], work.lease, self.now) {
                queue[at] = after;
            }
        }
    }

    fn raise_the_dead(&mut self, session: usize) {
        for entry in &mut self.sessions[session] {
            if let Some(after) = retry(*entry) {
                *entry = after;
                // A retried event may be stored after newer ones.
                self.retried = true;
            }
        }
    }

    fn check(&self) {
        for (session, queue) in self.sessions.iter().enumerate() {
            for (at, entry) in queue.iter().enumerate() {
                let stored = self.stored.get(&(session, at)).copied().unwrap_or(0);
                let done = u32::from(entry.state == QueueState::Done);
                assert_eq!(stored, done, "event {at} of session {session} is {entry:?}");
            }
        }
    }

    /// With a patient worker and a steady clock, every event that is not dead gets done.
    fn finish(&mut self) {
        for _ in 0..64 {
            self.now = self.now.plus_seconds(1_000);
            for session in 0..SESSIONS {
                self.take(0, session);
                self.store(0);
            }
        }
        let unfinished = |entry: &&QueueEntry| !matches!(entry.state, QueueState::Done | QueueState::Dead);
        assert_eq!(self.sessions.iter().flatten().filter(unfinished).count(), 0, "events were left behind");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: WORLDS, failure_persistence: None, ..ProptestConfig::default() })]

    /// More than a million steps in total.
    #[test]
    fn events_are_stored_once_and_in_order(seed in 1_u64..) {
        const { assert!(STEPS_PER_WORLD * WORLDS as usize > 1_000_000) };
        let (mut world, mut dice) = (World::new(), Dice(seed));
        for at in 0..STEPS_PER_WORLD {
            world.step(&mut dice);
            if at % 256 == 0 {
                world.check();
            }
        }
        world.check();
        world.finish();
        world.check();
    }
}

#[test]
fn expired_lease_is_retaken() {
    let now = Millis(0);
    let held = lease(QueueEntry::NEW, LeaseId(1), now).unwrap();
    assert_eq!(lease(held, LeaseId(2), now), None);
    let later = now.plus_seconds(crate::limits::LEASE_SECONDS);
    assert!(lease(held, LeaseId(2), later).is_some());
}

#[test]
fn retaken_lease_settles_nothing() {
    let held = lease(QueueEntry::NEW, LeaseId(1), Millis(0)).unwrap();
    let taken = lease(held, LeaseId(2), Millis(0).plus_seconds(1_000)).unwrap();
    assert_eq!(settle(taken, LeaseId(1)), None);
    assert_eq!(settle(taken, LeaseId(2)).map(|entry| entry.state), Some(QueueState::Done));
}

#[test]
fn third_failure_is_dead_until_retried() {
    let mut entry = QueueEntry::NEW;
    for _ in 0..3 {
        entry = lease(entry, LeaseId(1), Millis(i64::MAX / 2)).unwrap();
        entry = fail(entry, LeaseId(1), Millis(0)).unwrap();
    }
    assert_eq!(entry.state, QueueState::Dead);
    assert_eq!(retry(entry), Some(QueueEntry::NEW));
}
