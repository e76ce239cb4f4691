//! How long people wait: until a colleague has a memory, and for hooks while the server is a black hole.

use std::sync::atomic::{AtomicBool, Ordering};

use claude_mem_sharing::{RecordsQuery, TeamServer as _};
use claude_mem_wire::SpaceId;
use claude_mem_wire::messages::WaitRequest;
use serde_json::json;

use super::machine::BenchMachine;
use super::service::{BenchDevice, patiently};
use super::team_bench::{TeamBench, TeamFigure, timed};
use crate::spawn::{ProcessSample, SampleSummary, quantile, sorted};

/// Memories that travel.
const ARRIVALS: usize = 40;

/// Own memories of a machine whose hooks are measured.
const OWN_MEMORIES: usize = 30;

/// From the end of `save` on one machine until another has the memory, while many members wait.
pub(super) fn arrival(bench: &TeamBench, members: usize) -> anyhow::Result<Vec<TeamFigure>> {
    let space = bench.admin.project("news")?.id;
    let mut waiting = Vec::new();
    for number in 2..members {
        let replica = &bench.replicas[number % bench.replicas.len()];
        waiting.push(bench.admin.new_member(replica, &format!("waiting{number}"))?);
    }
    let mira = BenchMachine::join(&bench.exe, "news", &bench.admin, &bench.replicas[0], "mira")?;
    let jonas = BenchMachine::join(&bench.exe, "news", &bench.admin, &bench.replicas[1], "jonas")?;
    let ended = AtomicBool::new(false);
    let times = std::thread::scope(|scope| {
        for device in &waiting {
            scope.spawn(|| follow(device, space, &ended));
        }
        let times = (0..ARRIVALS).map(|number| {
            let title = format!("Deploys need flag {number} of the release train");
            mira.mem(&["save", &title])?;
            timed(|| jonas.wait_for_title(&title)).map(|((), took)| took)
        });
        let times = times.collect::<anyhow::Result<Vec<_>>>();
        ended.store(true, Ordering::Relaxed);
        // Wakes those who wait.
        mira.mem(&["save", "The release train has left"])?;
        times
    })?;
    let times = sorted(times.into_iter());
    let seconds = |share| quantile(&times, share) / 1e6;
    let alone = BenchMachine::new(&bench.exe, "alone")?;
    let with = super::memory::private_mb(mira.worker_pid()?)?;
    let without = super::memory::private_mb(alone.worker_pid()?)?;
    Ok(vec![
        TeamFigure::new(
            format!("a colleague at another replica has it, {members} members wait"),
            format!("p50 {:.1} s, p95 {:.1} s, max {:.1} s", seconds(0.5), seconds(0.95), seconds(1.0)),
            "",
            "p95 ≤ 3 s, max ≤ 5 s",
        ),
        TeamFigure::new(
            "private memory of a worker with a team",
            format!("{with:.1} MB"),
            format!("{:+.1} MB to one without", with - without),
            "+ 3 MB",
        ),
    ])
}

/// Waits for news and takes them, as a worker does.
fn follow(device: &BenchDevice, space: SpaceId, ended: &AtomicBool) {
    let mut head = 0;
    while !ended.load(Ordering::Relaxed) {
        let request = WaitRequest { heads: [(space, head)].into(), seconds: 25 };
        // A member who fails waits again.
        if patiently(|| device.server.wait(&request)).is_ok()
            && let Ok(page) = patiently(|| device.server.records(space, &RecordsQuery::After(head)))
        {
            head = page.state.head;
        }
    }
}

/// Hooks of a machine whose team's server takes connections and never answers, against one without a team.
pub(super) fn hooks_with_black_hole(bench: &TeamBench, starts: usize) -> anyhow::Result<Vec<TeamFigure>> {
    let joined = BenchMachine::join(&bench.exe, "hooks", &bench.admin, &bench.replicas[0], "hooks")?;
    let alone = BenchMachine::new(&bench.exe, "hooks")?;
    for machine in [&joined, &alone] {
        for number in 0..OWN_MEMORIES {
            machine.mem(&["save", &format!("Invoice rule {number}: round totals up")])?;
        }
    }
    bench.replicas.iter().try_for_each(super::service::BenchReplica::become_black_hole)?;
    // The worker now waits for an answer that does not come.
    joined.mem(&["save", "Invoice rule of the outage: round totals up"])?;
    alone.mem(&["save", "Invoice rule of the outage: round totals up"])?;
    let events = ["PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"];
    let mut figures = Vec::new();
    for event in events {
        let (with, without) = (joined.hook(event), alone.hook(event));
        let mut samples: [Vec<ProcessSample>; 2] = Default::default();
        for round in 0..starts {
            // In turn, and not always in the same order.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for at in order {
                let machine = if at == 0 { &joined } else { &alone };
                let program = if at == 0 { &with } else { &without };
                samples[at].push(program.measure(&payload(event, round, &machine.project()))?);
            }
        }
        let [with, without] = samples.map(|samples| SampleSummary::from_samples(&samples));
        figures.push(TeamFigure::new(
            format!("{event} with a black-holed server"),
            format!("wall p50 {:.2} ms, p99 {:.2} ms", with.wall_p50_us / 1e3, with.wall_p99_us / 1e3),
            format!(
                "{:.2} × wall, {:.2} × CPU of a machine without a team",
                with.wall_p50_us / without.wall_p50_us,
                with.cpu_p50_us / without.cpu_p50_us
            ),
            "≤ 1.05 ×",
        ));
    }
    Ok(figures)
}

fn payload(event: &str, round: usize, project: &str) -> Vec<u8> {
    let id = format!("{event}-{round}");
    let mut payload = json!({
        "session_id": "bench", "transcript_path": "/nowhere.jsonl", "cwd": project,
        "hook_event_name": event, "prompt_id": id,
    });
    let more = match event {
        "PostToolUse" => json!({
            "tool_name": "Read", "tool_use_id": id, "tool_input": { "file_path": "/tmp/keys.rs" },
            "tool_response": { "type": "text", "file": { "content": "text ".repeat(800) } },
        }),
        "UserPromptSubmit" => json!({ "prompt": "How do we round the totals of invoices?" }),
        "Stop" => json!({ "last_assistant_message": "All done." }),
        _ => json!({ "source": "startup" }),
    };
    if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
        payload.extend(more.clone());
    }
    payload.to_string().into_bytes()
}
