//! Workers that are killed repeatedly in the middle of their work.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::Duration;

use claude_mem_capture::enqueue;
use claude_mem_capture::hook_database::HookDatabase;
use claude_mem_capture::ipc::worker_link::WorkerLink;
use claude_mem_core::clock::Micros;
use claude_mem_core::event::{Event, EventBody, ProjectHint};
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::source::TextSource;
use claude_mem_store::{PageRequest, RowFilter, Store, StoreCounts};
use rig::Sandbox;
use rig::fake_claude::{FakeClaude, FakeClaudeEvent, FakeClaudeScript, FakeClaudeStep};
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use serde_json::json;

use crate::common::configure;
use crate::common::hooks::data;
use crate::common::turns::{counts, drain, eventually, sandbox_with_provider, spend, store, turn};
use crate::short_or_long;
use crate::support::{KillRng, is_gone_in_time};

const SESSIONS: usize = 8;
/// A prompt, three tool calls, the last message.
const EVENTS_PER_TURN: usize = 5;
const ANSWER: &str = "<observation><type>change</type><title>It was changed</title></observation>\
    <summary><request>Change it</request><completed>Changed</completed></summary>";

/// Writes one turn into the spool, as its hooks would.
fn spool_turn(home: &Sandbox, session: usize, number: usize) {
    let dir = data(home);
    let tool = |call: usize| EventBody::ToolUse {
        tool: "Edit".into(),
        tool_use_id: Some(format!("t-{session}-{number}-{call}")),
        input: json!({"file_path": "/src/shop/a.rs", "old_string": "a", "new_string": "b"}),
        output: json!({}),
        failed: false,
        duration_ms: None,
    };
    let stop = EventBody::Stop { last_message: Some(format!("answer {number}")) };
    let prompt =
        EventBody::Prompt { text: format!("ask {number}"), private: false, source: TextSource::Prompt };
    let bodies = [prompt, tool(0), tool(1), tool(2), stop];
    for (at, body) in bodies.into_iter().enumerate() {
        let event = Event {
            project: Some(ProjectHint {
                name: "shop".into(),
                keys: vec!["path:/src/shop".into()],
                root: "/src/shop".into(),
                branch: None,
            }),
            prompt_id: Some(format!("p-{session}-{number}")),
            ..Event::new(
                "claude-code",
                ClientSessionId(format!("s{session}")),
                Micros(((number * EVENTS_PER_TURN + at) as i64 + 1) * 1_000_000),
                body,
            )
        };
        enqueue::enqueue_event(&mut HookDatabase::new(&dir), event_key::event_key(&event, None), &event)
            .expect("delivered");
    }
}

fn start(home: &Sandbox) -> Child {
    let mut command = home.mem_command(&["worker", "run"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("a worker starts")
}

/// Starts a worker and kills it after `life`.
fn run_then_kill(home: &Sandbox, life: Duration) {
    let mut worker = start(home);
    std::thread::sleep(life);
    worker.kill().expect("killed");
    worker.wait().expect("gone");
}

fn done_events(home: &Sandbox) -> u64 {
    let looked = Store::open_read_only(&data(home).db()).and_then(|store| store.read().counts());
    // A worker that was killed before it created the store has done nothing.
    looked.map_or(0, |counts| counts.queue.done)
}

#[test]
fn killed_worker_stores_each_event_once_and_in_order() {
    let (kills, events) = (short_or_long(200, 1_000), short_or_long(5_000, 20_000));
    let turns = events / SESSIONS / EVENTS_PER_TURN;
    let model = ScriptedModel::start(ModelScript::new().fallback(ModelTurn::text(ANSWER)));
    let home = sandbox_with_provider("openai", &format!("{}/v1", model.url()));
    let budget = 1_000_000_000;
    let settings = serde_json::json!({
        "parallel_sessions": SESSIONS, "budget_tokens_per_day": budget, "budget_tokens_per_session": budget,
    });
    configure(&home, &settings);
    for number in 0..turns {
        (0..SESSIONS).for_each(|session| spool_turn(&home, session, number));
    }
    let mut chance = KillRng(0x9e37_79b9_7f4a_7c15);
    // The lifetime adapts to the progress, so that work remains for the last worker.
    let mut longest = Duration::from_millis(100);
    let mut progressed = 0;
    let total = (turns * SESSIONS * EVENTS_PER_TURN) as u64;
    let mut before = 0;
    for kill in 1..=kills {
        run_then_kill(&home, longest.mul_f64(chance.next()));
        let now = done_events(&home);
        progressed += usize::from(now > before);
        let due = total * kill as u64 / kills as u64;
        longest = longest.mul_f64(if now > due { 0.9 } else { 1.1 });
        longest = longest.clamp(Duration::from_millis(10), Duration::from_secs(2));
        before = now;
    }
    assert!(progressed > kills / 10, "{progressed} of {kills} lives were of use");
    drain(&home);
    let counts = counts(&home);
    let queue = (counts.queue.done, counts.queue.waiting, counts.queue.dead);
    assert_eq!(queue, (total, 0, 0));
    assert_in_order_and_once(&home, &counts, turns);
    assert!(spend(&home).iter().all(|row| row.outcome != "reserved"));
    let damage = Store::open(&data(&home).db()).unwrap().integrity_problems().unwrap();
    assert_eq!(damage, [] as [String; 0]);
    home.assert_no_processes();
}

/// Checks that the messages of each session are in order, without gaps or duplicates.
fn assert_in_order_and_once(home: &Sandbox, counts: &StoreCounts, turns: usize) {
    let each = (turns * SESSIONS) as u64;
    assert_eq!((counts.prompts, counts.final_messages), (each, each));
    let store = store(home);
    let reads = store.read();
    for session in 0..SESSIONS {
        let id = ClientSessionId(format!("s{session}"));
        let id = reads.session_of_client("claude-code", &id).unwrap();
        let filter = RowFilter { session: Some(id.unwrap().id), ..RowFilter::default() };
        let mut prompts = Vec::new();
        let mut summaries: BTreeMap<u32, usize> = BTreeMap::new();
        for offset in (0..).step_by(500).take(turns / 500 + 1) {
            let page = PageRequest { offset, limit: 500 };
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
fn only_one_of_two_workers_survives() {
    let home = sandbox_with_provider("local", "");
    for round in 0..short_or_long(100, 500) {
        let mut workers = [start(&home), start(&home)];
        let mut over = None;
        eventually("the end of one", || {
            over = workers.iter_mut().position(|worker| worker.try_wait().expect("asked").is_some());
            over.is_some()
        });
        let [first, second] = &mut workers;
        let (loser, winner) = if over == Some(0) { (first, second) } else { (second, first) };
        assert_eq!(loser.wait().expect("over").code(), Some(1), "round {round}");
        eventually("the other one's answer", || {
            let status = home.mem(&["worker", "status", "--json"]).ok().json();
            status["pid"] == winner.id()
        });
        assert!(winner.try_wait().expect("asked").is_none(), "round {round}");
        // Every other round kills the winner without warning instead of asking it to stop.
        if round % 2 == 0 {
            winner.kill().expect("killed");
        } else {
            let pid = rustix::process::Pid::from_child(winner);
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("asked");
        }
        winner.wait().expect("gone");
    }
    home.assert_no_processes();
}

#[test]
fn hooks_do_not_wait_for_a_stopped_worker() {
    let home = sandbox_with_provider("local", "");
    let mut worker = start(&home);
    eventually("a worker", || {
        let status = home.mem(&["worker", "status", "--json"]).ok().json();
        status["pid"] == worker.id()
    });
    // The pid file is written before the socket accepts connections.
    let socket = data(&home).worker_sock(&home.home().join(".tmp"));
    eventually("somebody who listens", || WorkerLink::new(socket.clone()).connect().unwrap_or(false));
    let pid = rustix::process::Pid::from_child(&worker);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("stopped");
    for number in 0..3 {
        turn(&home, "one", number);
    }
    // More connections than the kernel's backlog holds.
    for _ in 0..5_000 {
        assert!(WorkerLink::new(socket.clone()).connect().expect("reached"), "it is there, only busy");
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
fn killed_worker_leaves_no_child() {
    let home = sandbox_with_provider("claude", "");
    let fake = FakeClaude::install_in(&home.home().join(".local/bin"), []);
    for (round, otherwise) in [FakeClaudeStep::Hang, FakeClaudeStep::Deaf, FakeClaudeStep::answer("<skip/>")]
        .into_iter()
        .enumerate()
    {
        fake.set_script(&FakeClaudeScript { steps: Vec::new(), otherwise, refuses: None });
        let before = fake.events().len();
        turn(&home, "one", round as u32);
        let mut worker = start(&home);
        let child = || {
            let mut heard = fake.events().into_iter().skip(before);
            heard.find_map(|heard| match heard {
                FakeClaudeEvent::Start { pid, .. } => Some(pid),
                FakeClaudeEvent::Message { .. } => None,
            })
        };
        eventually("a child", || child().is_some());
        let child = child().and_then(claude_mem_core::child::ProcessIdentity::from_pid);
        worker.kill().expect("killed");
        worker.wait().expect("gone");
        // One that has answered may have exited already.
        assert!(child.is_none_or(is_gone_in_time), "round {round}");
    }
    home.assert_no_processes();
}
