//! Workers that are killed while they consolidate sessions.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use claude_mem_capture::enqueue;
use claude_mem_capture::hook_database::HookDatabase;
use claude_mem_core::clock::Micros;
use claude_mem_core::event::{Event, EventBody, ProjectHint};
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::limits::CRASHES_DISTIL_MAX;
use claude_mem_core::source::TextSource;
use claude_mem_store::{OpenItemFilter, PageRequest, RowFilter, Store};
use rig::Sandbox;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::common::hooks::data;
use crate::common::sandbox;
use crate::common::turns::{eventually, store};
use crate::short_or_long;
use crate::support::KillRng;

const SESSIONS: usize = 4;
const TURNS: usize = 30;
const PARTS: [&str; 5] = ["cart", "login", "coupon", "invoice", "shipping"];

/// One turn of a session that repairs one part of a shop after another, in rounds.
fn spool_turn(home: &Sandbox, session: usize, number: usize) {
    let part = PARTS[number % PARTS.len()];
    let word = ["amber", "birch", "cedar", "dune"][session];
    let file = format!("/src/shop/{word}/{part}.rs");
    let prompt = format!("Repair the {part} of the {word} shop, round {number}");
    let answer = format!(
        "Root cause: the {word} {part} kept a stale total in round {number}. Fixed it by recomputing the {part} \
         total in `{word}_{part}_total`. Still open: a test for `{word}_{part}_total`."
    );
    let edit = EventBody::ToolUse {
        tool: "Edit".into(),
        tool_use_id: Some(format!("t-{session}-{number}-0")),
        input: json!({
            "file_path": file, "old_string": format!("fn {word}_{part}_total() {{ {number} }}"),
            "new_string": format!("fn {word}_{part}_total() {{ sum({number}) }}"),
        }),
        output: json!({}),
        failed: false,
        duration_ms: None,
    };
    let subject = format!("fix({word}): recompute the {part} total");
    let commit = EventBody::ToolUse {
        tool: "Bash".into(),
        tool_use_id: Some(format!("t-{session}-{number}-1")),
        input: json!({ "command": format!("git commit -am '{subject}'") }),
        output: json!({ "stdout": format!("[main abc{number:04}] {subject}\n 1 file changed") }),
        failed: false,
        duration_ms: None,
    };
    let bodies = [
        EventBody::Prompt { text: prompt, private: false, source: TextSource::Prompt },
        edit,
        commit,
        EventBody::Stop { last_message: Some(answer) },
    ];
    let dir = data(home);
    for (at, body) in bodies.into_iter().enumerate() {
        let event = Event {
            project: Some(ProjectHint {
                name: format!("shop{session}"),
                keys: vec![format!("path:/src/shop{session}")],
                root: "/src/shop".into(),
                branch: Some("main".into()),
            }),
            prompt_id: Some(format!("p-{session}-{number}")),
            ..Event::new(
                "claude-code",
                ClientSessionId(format!("s{session}")),
                Micros(((number * 10 + at) as i64 + 1) * 1_000_000),
                body,
            )
        };
        enqueue::enqueue_event(&mut HookDatabase::new(&dir), event_key::event_key(&event, None), &event)
            .expect("delivered");
    }
}

/// Everything that consolidation leaves, without row ids.
fn consolidated(home: &Sandbox) -> BTreeSet<String> {
    let store = store(home);
    let reads = store.read();
    let mut state = BTreeSet::new();
    for session in 0..SESSIONS {
        let id = ClientSessionId(format!("s{session}"));
        let row = reads.session_of_client("claude-code", &id).unwrap().expect("the session is stored");
        for (at, claims) in reads.session_claims(row.id).unwrap().iter().enumerate() {
            state.insert(format!("s{session} claims {at}: {}", claims.body));
        }
        let filter = RowFilter { session: Some(row.id), ..RowFilter::default() };
        for row in reads.observations(&filter, PageRequest::first(500)).unwrap().items {
            let claims = reads.claims_of_observation(row.id).unwrap();
            let claims: Vec<String> = claims.into_iter().map(|(_, claim)| claim).collect();
            let text = (
                &row.text.title,
                &row.text.narrative,
                &row.text.facts,
                &row.text.files_modified,
                row.prompt_number,
            );
            state.insert(format!("s{session} observation {text:?} of {claims:?} by {}", row.source_count));
        }
        if let Some(account) = reads.account_of_session(row.id).unwrap() {
            let sections = account.sections();
            state.insert(format!("s{session} account {:?} {sections:?}", account.text.purpose));
        }
        let filter = OpenItemFilter { session: Some(row.id), with_closed: true, ..OpenItemFilter::default() };
        for item in reads.list_open_items(&filter, PageRequest::first(500)).unwrap().items {
            state.insert(format!("s{session} item {:?} {:?}", item.text, item.closed_at));
        }
    }
    state
}

/// Reads one number about the unsettled events of the queue; 0 before there is a queue.
#[allow(clippy::disallowed_methods, reason = "the store does not tell how often an event crashed")]
fn queue_number(home: &Sandbox, sql: &str) -> u32 {
    let Ok(conn) = Connection::open_with_flags(data(home).db(), OpenFlags::SQLITE_OPEN_READ_ONLY) else {
        return 0;
    };
    // A worker that was killed before it created the tables has crashed on no episode.
    conn.query_row(sql, [], |row| row.get::<_, Option<u32>>(0)).ok().flatten().unwrap_or(0)
}

/// Whether one more kill or two could make the worker give up the memories of an unsettled episode.
fn is_near_crash_limit(home: &Sandbox) -> bool {
    let sql = "SELECT max(crashes) FROM pending_messages WHERE state IN ('waiting', 'leased')";
    queue_number(home, sql) + 2 >= CRASHES_DISTIL_MAX
}

/// Whether the worker that was just killed was about to store and consolidate an episode.
fn is_interrupted(home: &Sandbox) -> bool {
    queue_number(home, "SELECT count(*) FROM pending_messages WHERE state = 'leased'") > 0
}

/// A sandbox with the real clock and the heuristic compressor, with all events in its spool.
fn shop() -> Sandbox {
    let mut home = sandbox();
    home.unset_env("CLAUDE_MEM_NOW");
    // Vectors would take most of the time.
    home.set_env("CLAUDE_MEM_VECTORS", "off");
    for number in 0..TURNS {
        (0..SESSIONS).for_each(|session| spool_turn(&home, session, number));
    }
    home
}

/// Lets a worker process everything, however long a loaded machine takes for it.
fn drain_all(home: &Sandbox) {
    let mut command = home.mem_command(&["worker", "run", "--until-drained"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let drained = command.spawn().and_then(|mut worker| worker.wait()).expect("a worker runs");
    assert!(drained.success(), "{drained}");
}

#[test]
fn killed_consolidation_leaves_the_state_of_an_undisturbed_run() {
    let undisturbed = shop();
    drain_all(&undisturbed);
    let want = consolidated(&undisturbed);
    let is_observed = want.iter().any(|line| line.contains(" observation "));
    assert!(is_observed && want.iter().any(|line| line.contains(" claims ")), "{want:#?}");

    let home = shop();
    let kills = short_or_long(30, 200);
    let mut chance = KillRng(0x51ab_3e07_c94d_2f61);
    let mut longest = Duration::from_millis(80);
    let (mut before, mut progressed, mut interrupted) = (0, 0, 0);
    let total = (TURNS * SESSIONS * 4) as u64;
    for kill in 1..=kills {
        let mut command = home.mem_command(&["worker", "run"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut worker = command.spawn().expect("a worker starts");
        std::thread::sleep(longest.mul_f64(chance.next()));
        // The worker stores an episode that has crashed too many workers without memories, so this life
        // lasts until no episode is near that limit.
        eventually("the settling of the crashed episodes", || !is_near_crash_limit(&home));
        worker.kill().expect("killed");
        worker.wait().expect("gone");
        interrupted += usize::from(is_interrupted(&home));
        // A worker that was killed before it created the store has done nothing.
        let looked = Store::open_read_only(&data(&home).db()).and_then(|store| store.read().counts());
        let now = looked.map_or(0, |counts| counts.queue.done);
        progressed += usize::from(now > before);
        // The lifetime adapts to the progress, so that work remains for the last worker.
        let due = total * kill as u64 / kills as u64;
        longest = longest.mul_f64(if now > due { 0.8 } else { 1.15 });
        longest = longest.clamp(Duration::from_millis(10), Duration::from_secs(1));
        before = now;
    }
    eprintln!("{kills} kills: {progressed} lives were of use, {interrupted} ended within an episode");
    assert!(progressed > 2, "{progressed} of {kills} lives were of use");
    assert!(interrupted > 0, "no kill hit an episode");
    drain_all(&home);
    let got = consolidated(&home);
    let difference: Vec<&String> = got.symmetric_difference(&want).collect();
    assert_eq!(difference, [] as [&String; 0]);
    let damage = Store::open(&data(&home).db()).unwrap().integrity_problems().unwrap();
    assert_eq!(damage, [] as [String; 0]);
    home.assert_no_processes();
}
