//! Hands a spooled event over to the process that drains the spool.

use super::resources::HookResources;
use super::start_worker;
use crate::{enqueue, spool};
use claude_mem_core::agents::HookEventKind;
use claude_mem_store::StoreError;

/// Entries that the end of a turn leaves in the spool while no worker runs. The next prompt, session or command takes
/// them in; the bound is for turns that no prompt of the user begins.
const SPOOL_WAITING_MAX: usize = 64;

/// Connects to a running worker, which wakes it. If none runs, a hook at a turn boundary starts one, or drains the
/// spool itself if that cannot wait; a tool hook stays quick.
pub(super) fn hand_over(resources: &mut HookResources<'_>, kind: HookEventKind, may_start_worker: bool) {
    let connected = resources.worker.connect();
    if !may_request_recall(kind) {
        resources.worker.wake();
    }
    if kind.is_tool_result() || matches!(connected, Ok(true)) {
        return;
    }
    if let Err(e) = connected {
        resources.log(&format!("failed to connect to the worker socket: {e}"));
    }
    let is_started = may_start_worker && try_start_worker(resources);
    if may_start_worker && start_worker::is_worker_starting(resources.dir) {
        resources.worker.await_start();
    }
    if is_started {
        return;
    }
    if !must_drain(resources, kind) {
        return;
    }
    match enqueue::drain_spool_briefly(&mut resources.database, resources.started.millis()) {
        // Another process holds the database and will drain the spool.
        Ok(()) | Err(StoreError::Busy) => {}
        Err(e) => resources.log(&format!("events remain in the spool: {e}")),
    }
}

/// Whether this hook drains the spool. The start of a session and a prompt open the database anyway, to read
/// memories; for the others it would be most of their cost, and the next prompt does it.
fn must_drain(resources: &HookResources<'_>, kind: HookEventKind) -> bool {
    matches!(kind, HookEventKind::SessionStart | HookEventKind::Prompt)
        || spool::holds_more_than(resources.dir, SPOOL_WAITING_MAX).unwrap_or_else(|e| {
            resources.log(&format!("failed to list the spool: {e}"));
            false
        })
}

/// Whether the hook may ask the worker for memories, which wakes it too.
const fn may_request_recall(kind: HookEventKind) -> bool {
    matches!(kind, HookEventKind::Prompt | HookEventKind::ToolFailure)
}

/// Returns false if no worker was started; a later hook tries again.
fn try_start_worker(resources: &HookResources<'_>) -> bool {
    start_worker::start_worker(resources.dir).unwrap_or_else(|e| {
        resources.log(&format!("failed to start the worker: {e}"));
        false
    })
}
