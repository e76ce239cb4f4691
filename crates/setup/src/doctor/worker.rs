//! Checks of the worker and of the viewer's port.

use std::net::{Ipv4Addr, TcpListener};

use super::{AutoFix, DoctorContext, DoctorFinding};
use claude_mem_core::config::WorkerStart;

/// Whether the worker runs and answers.
pub(super) fn running(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let worker = &context.worker;
    let finding = match &worker.trouble {
        Some(trouble) if !worker.running => DoctorFinding::problem(
            "worker",
            trouble,
            format!("ls -l {}", context.data.worker_lock().display()),
        ),
        Some(trouble) if worker.version.is_none() || trouble.contains("does not respond") => {
            DoctorFinding::problem("worker", format!("running, but {trouble}"), "claude-mem worker restart")
                .with_auto_fix(AutoFix::Worker)
        }
        Some(trouble) => DoctorFinding::problem("worker", trouble.clone(), "claude-mem worker logs"),
        None if worker.running => DoctorFinding::ok("worker", "running"),
        None if context.settings.settings.worker == WorkerStart::Manual => DoctorFinding::note(
            "worker",
            "not running, and hooks do not start it (worker = manual)",
            "claude-mem worker start",
        ),
        None => DoctorFinding::ok("worker", "not running; hooks start it when there is work"),
    };
    vec![finding]
}

/// Whether the viewer has the configured port.
pub(super) fn port(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let wanted = context.settings.settings.port;
    let taken = |detail: String| {
        vec![DoctorFinding::problem(
            "port",
            format!("port {wanted} is taken by another program{detail}"),
            "claude-mem config set port 0",
        )]
    };
    match context.worker.port {
        Some(port) if wanted != 0 && port != wanted => taken(format!("; the viewer is at {port}")),
        Some(port) => vec![DoctorFinding::ok("port", format!("the viewer is at {port}"))],
        None if wanted == 0 => Vec::new(),
        None => match TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)) {
            Ok(_) => vec![DoctorFinding::ok("port", format!("{wanted} is free"))],
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => taken(String::new()),
            Err(error) => vec![DoctorFinding::problem(
                "port",
                format!("cannot bind port {wanted}: {error}"),
                "claude-mem config set port 0",
            )],
        },
    }
}
