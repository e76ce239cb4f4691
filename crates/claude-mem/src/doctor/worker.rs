//! The worker and the port of its viewer.

use std::net::{Ipv4Addr, TcpListener};

use super::{Cure, Finding, Patient};
use crate::config::WorkerStart;

pub(super) fn running(patient: &Patient<'_>) -> Vec<Finding> {
    let worker = &patient.worker;
    let finding = match &worker.trouble {
        Some(trouble) if !worker.running => Finding::problem(
            "worker",
            trouble,
            format!("ls -l {}", patient.data.worker_lock().display()),
        ),
        Some(trouble) if worker.version.is_none() || trouble.contains("does not answer") => {
            Finding::problem(
                "worker",
                format!("it is there, but {trouble}"),
                "claude-mem worker restart",
            )
            .cured_by(Cure::Worker)
        }
        Some(trouble) => Finding::problem("worker", trouble.clone(), "claude-mem worker logs"),
        None if worker.running => Finding::ok("worker", "runs"),
        None if patient.settings.settings.worker == WorkerStart::Manual => Finding::note(
            "worker",
            "not running, and hooks do not start it (worker = manual)",
            "claude-mem worker start",
        ),
        None => Finding::ok("worker", "not running; hooks start it when there is work"),
    };
    vec![finding]
}

pub(super) fn port(patient: &Patient<'_>) -> Vec<Finding> {
    let wanted = patient.settings.settings.port;
    let taken = |detail: String| {
        vec![Finding::problem(
            "port",
            format!("port {wanted} is taken by another program{detail}"),
            "claude-mem config set port 0",
        )]
    };
    match patient.worker.port {
        Some(port) if wanted != 0 && port != wanted => taken(format!("; the viewer is at {port}")),
        Some(port) => vec![Finding::ok("port", format!("the viewer is at {port}"))],
        None if wanted == 0 => Vec::new(),
        None => match TcpListener::bind((Ipv4Addr::LOCALHOST, wanted)) {
            Ok(_) => vec![Finding::ok("port", format!("{wanted} is free"))],
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => taken(String::new()),
            Err(error) => vec![Finding::problem(
                "port",
                format!("port {wanted} cannot be had: {error}"),
                "claude-mem config set port 0",
            )],
        },
    }
}
