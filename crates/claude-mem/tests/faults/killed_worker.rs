//! The worker is killed again and again in the middle of its work.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::Duration;

use claude_mem::clock::Micros;
use claude_mem::hook::event::{Body, Event, ProjectHint};
use claude_mem::hook::{deliver, key};
use claude_mem::ids::ClientSessionId;
use claude_mem::store::{Counts, Filter, Page, Store};
use rig::Sandbox;
use rig::fake_claude::{FakeClaude, Heard, Play, Step};
use rig::model::{Script, ScriptedModel, Turn};
use serde_json::json;

use crate::common::hooks::data;
use crate::common::turns::{asking, counts, drain, eventually, spend, store, turn};
use crate::short_or_long;
use crate::support::is_gone_in_time;

const SESSIONS: usize = 8;
/// A prompt, three calls, the last words.
const EVENTS_PER_TURN: usize = 5;
const ANSWER: &str = "<observation><type>change</type><title>It was changed</title></observation>\
    <summary><request>Change it</request><completed>Changed</completed></summary>";

/// Chance that is the same in every run.
struct Chance(u64);

impl Chance {
    /// Between 0 and 1.
    fn next(&mut self) -> f64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// One turn as its hooks would have left it in the spool.
fn letters(home: &Sandbox, session: usize, number: usize) {
    let dir = data(home);
    let tool = |call: usize| Body::ToolUse {
        tool: "Edit".into(),
        tool_use_id: Some(format!("t-{session}-{number}-{call}")),
        input: json!({"file_path": "/src/shop/a.rs", "old_string": "a", "new_string": "b"}),
        output: json!({}),
        failed: false,
        duration_ms: None,
    };
    let stop = Body::Stop {
        last_message: Some(format!("answer {number}")),
    };
    let prompt = Body::Prompt {
        text: format!("ask {number}"),
        private: false,
    };
    let bodies = [prompt, tool(0), tool(1), tool(2), stop];
    for (at, body) in bodies.into_iter().enumerate() {
        let event = Event {
            client: "claude-code".into(),
            session: ClientSessionId(format!("s{session}")),
            at: Micros(((number * EVENTS_PER_TURN + at) as i64 + 1) * 1_000_000),
            project: Some(ProjectHint {
                name: "shop".into(),
                keys: vec!["path:/src/shop".into()],
                root: "/src/shop".into(),
                branch: None,
            }),
            prompt_id: Some(format!("p-{session}-{number}")),
            agent_id: None,
            agent_type: None,
            transcript_path: None,
            cut: false,
            body,
        };
        deliver::event(&dir, key::of(&event, None), &event).expect("delivered");
    }
}

fn start(home: &Sandbox) -> Child {
    let mut command = home.mem_command(&["worker", "run"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("a worker starts")
}

/// Lets a worker live for so long.
fn live_and_die(home: &Sandbox, life: Duration) {
    let mut worker = start(home);
    std::thread::sleep(life);
    worker.kill().expect("killed");
    worker.wait().expect("gone");
}

fn done(home: &Sandbox) -> u64 {
    let looked = Store::open_read_only(&data(home).db()).and_then(|store| store.read().counts());
    // One that was killed before it made the store has done nothing.
    looked.map_or(0, |counts| counts.queue.done)
}

#[test]
fn a_worker_that_is_killed_at_any_point_stores_each_event_once_and_in_order() {
    let (kills, events) = (short_or_long(200, 1_000), short_or_long(5_000, 20_000));
    let turns = events / SESSIONS / EVENTS_PER_TURN;
    let model = ScriptedModel::start(Script::new().otherwise(Turn::text(ANSWER)));
    let mut home = asking("openai", &format!("{}/v1", model.url()));
    home.set_env("CLAUDE_MEM_PARALLEL_SESSIONS", SESSIONS.to_string());
    home.set_env("CLAUDE_MEM_BUDGET_TOKENS_PER_DAY", "1000000000");
    home.set_env("CLAUDE_MEM_BUDGET_TOKENS_PER_SESSION", "1000000000");
    for number in 0..turns {
        (0..SESSIONS).for_each(|session| letters(&home, session, number));
    }
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    // How long a life may last follows the progress, so that there is work left for the last.
    let mut longest = Duration::from_millis(100);
    let mut progressed = 0;
    let total = (turns * SESSIONS * EVENTS_PER_TURN) as u64;
    let mut before = 0;
    for kill in 1..=kills {
        live_and_die(&home, longest.mul_f64(chance.next()));
        let now = done(&home);
        progressed += usize::from(now > before);
        let due = total * kill as u64 / kills as u64;
        longest = longest.mul_f64(if now > due { 0.9 } else { 1.1 });
        longest = longest.clamp(Duration::from_millis(10), Duration::from_millis(400));
        before = now;
    }
    assert!(
        progressed > kills / 10,
        "{progressed} of {kills} lives were of use"
    );
    drain(&home);
    let counts = counts(&home);
    let queue = (counts.queue.done, counts.queue.waiting, counts.queue.dead);
    assert_eq!(queue, (total, 0, 0));
    assert_in_order_and_once(&home, &counts, turns);
    assert!(spend(&home).iter().all(|row| row.outcome != "reserved"));
    let damage = Store::open(&data(&home).db()).unwrap().integrity().unwrap();
    assert_eq!(damage, [] as [String; 0]);
    home.assert_alone();
}

/// What was said in each session is there in its order, without a gap and nothing twice.
fn assert_in_order_and_once(home: &Sandbox, counts: &Counts, turns: usize) {
    let each = (turns * SESSIONS) as u64;
    assert_eq!((counts.prompts, counts.final_messages), (each, each));
    let store = store(home);
    let reads = store.read();
    for session in 0..SESSIONS {
        let id = ClientSessionId(format!("s{session}"));
        let id = reads.session_of_client("claude-code", &id).unwrap();
        let filter = Filter {
            session: Some(id.unwrap().id),
            ..Filter::default()
        };
        let mut prompts = Vec::new();
        let mut summaries: BTreeMap<u32, usize> = BTreeMap::new();
        for offset in (0..).step_by(500).take(turns / 500 + 1) {
            let page = Page { offset, limit: 500 };
            prompts.extend(reads.prompts(&filter, page).unwrap().items);
            for summary in reads.summaries(&filter, page).unwrap().items {
                *summaries.entry(summary.prompt_number).or_default() += 1;
            }
        }
        prompts.sort_by_key(|prompt| prompt.number);
        let said: Vec<_> = prompts.iter().map(|prompt| prompt.text.clone()).collect();
        let want: Vec<_> = (0..turns).map(|number| format!("ask {number}")).collect();
        assert_eq!(said, want, "session {session}");
        let twice = summaries.iter().find(|(_, count)| **count > 1);
        assert_eq!(twice, None, "session {session}");
    }
}

#[test]
fn of_two_workers_that_start_at_once_one_lives() {
    let home = asking("local", "");
    for round in 0..short_or_long(100, 500) {
        let mut workers = [start(&home), start(&home)];
        let mut over = None;
        eventually("the end of one", || {
            over = workers
                .iter_mut()
                .position(|worker| worker.try_wait().expect("asked").is_some());
            over.is_some()
        });
        let [first, second] = &mut workers;
        let (loser, winner) = if over == Some(0) {
            (first, second)
        } else {
            (second, first)
        };
        assert_eq!(loser.wait().expect("over").code(), Some(1), "round {round}");
        eventually("the other one's answer", || {
            let status = home.mem(&["worker", "status", "--json"]).ok().json();
            status["pid"] == winner.id()
        });
        assert!(winner.try_wait().expect("asked").is_none(), "round {round}");
        // Every second one leaves as it was found: without a word.
        if round % 2 == 0 {
            winner.kill().expect("killed");
        } else {
            let pid = rustix::process::Pid::from_child(winner);
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("asked");
        }
        winner.wait().expect("gone");
    }
    home.assert_alone();
}

#[test]
fn hooks_do_not_wait_for_a_worker_that_stands_still() {
    let home = asking("local", "");
    let mut worker = start(&home);
    eventually("a worker", || {
        let status = home.mem(&["worker", "status", "--json"]).ok().json();
        status["pid"] == worker.id()
    });
    // Its file says who it is before it can be reached.
    let socket = data(&home).worker_sock(&home.home().join(".tmp"));
    eventually("somebody who listens", || {
        deliver::wake(&socket).unwrap_or(false)
    });
    let pid = rustix::process::Pid::from_child(&worker);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("stopped");
    for number in 0..3 {
        turn(&home, "one", number);
    }
    // More calls than the kernel keeps for one who does not answer.
    for _ in 0..5_000 {
        assert!(
            deliver::wake(&socket).expect("reached"),
            "it is there, only busy"
        );
    }
    for number in 3..6 {
        turn(&home, "one", number);
    }
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).expect("woken");
    drain(&home);
    assert_eq!(counts(&home).queue.done, 18);
    worker.kill().expect("killed");
    worker.wait().expect("gone");
}

#[test]
fn a_killed_worker_leaves_no_child() {
    let home = asking("claude", "");
    let fake = FakeClaude::put_in(&home.home().join(".local/bin"), []);
    for (round, otherwise) in [Step::Hang, Step::Deaf, Step::answer("<skip/>")]
        .into_iter()
        .enumerate()
    {
        fake.play(&Play {
            steps: Vec::new(),
            otherwise,
            refuses: None,
        });
        let before = fake.heard().len();
        turn(&home, "one", round as u32);
        let mut worker = start(&home);
        let child = || {
            let mut heard = fake.heard().into_iter().skip(before);
            heard.find_map(|heard| match heard {
                Heard::Start { pid, .. } => Some(pid),
                Heard::Message { .. } => None,
            })
        };
        eventually("a child", || child().is_some());
        let child = child().and_then(claude_mem::child::Identity::of);
        worker.kill().expect("killed");
        worker.wait().expect("gone");
        // One that had answered may be gone already.
        assert!(child.is_none_or(is_gone_in_time), "round {round}");
    }
    home.assert_alone();
}
