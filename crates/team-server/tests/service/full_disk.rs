//! The disk of the database is full.

use std::path::Path;
use std::process::Command;

use claude_mem_wire::{ErrorCode, RecordHash, WireRecord};

use crate::support::{TestService, record};

/// A file system of a few megabytes; unmounted on drop.
struct SmallDisk {
    place: tempfile::TempDir,
}

impl SmallDisk {
    /// Mounts it, or prints `skipped: REASON`.
    fn mount_or_skip() -> Option<Self> {
        let disk = Self { place: rig::postgres::server_dir() };
        if !disk.mount("size=2m") {
            rig::skip("this machine does not let us mount file systems");
            return None;
        }
        rig::postgres::give_to_server(disk.path(), 0o700);
        Some(disk)
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    fn mount(&self, options: &str) -> bool {
        self.run("mount", &["-t", "tmpfs", "-o", options, "claude-mem-test"])
    }

    /// Runs a program on the place and waits for it. Whether it succeeded.
    #[allow(clippy::disallowed_methods, reason = "it is waited for")]
    fn run(&self, program: &str, args: &[&str]) -> bool {
        let output = Command::new(program).args(args).arg(self.path()).output();
        output.is_ok_and(|output| output.status.success())
    }

    fn grow(&self) {
        assert!(self.mount("remount,size=64m"));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // It fails if it was never mounted.
        self.run("umount", &["--lazy"]);
    }
}

/// Records whose bodies cannot be compressed.
fn large_records(batch: u128) -> Vec<WireRecord> {
    let body = |number: u128| {
        let parts = (0..1_600_u32).map(|part| RecordHash::from_body(&format!("{number} {part}")));
        parts.fold(String::new(), |text, part| text + &format!("{part:?}"))
    };
    (batch * 5 + 1..batch * 5 + 6).map(|number| record(number, 1, &body(number))).collect()
}

/// Pushes are refused as a whole until there is room again; what was acknowledged stays, what was not leaves nothing.
#[test]
fn full_disk_is_waited_for_and_loses_nothing() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let Some(disk) = SmallDisk::mount_or_skip() else { return };
    let cluster = build.start();
    let server = TestService::start(&cluster);
    let mira = server.first_admin();
    let space = mira.project("app").id;
    // Only the records lie on the small disk: a full log would end the database.
    cluster.psql(&format!("CREATE TABLESPACE small LOCATION '{}'", disk.path().display()));
    cluster.psql("ALTER TABLE claude_mem.records SET TABLESPACE small");
    let mut batch = 0;
    let (status, error) = loop {
        assert!(batch < 100, "the disk does not become full");
        match mira.try_push(space, &large_records(batch)) {
            Ok(_) => batch += 1,
            Err(refused) => break refused,
        }
    };
    assert_eq!((status, error.error), (503, ErrorCode::Unavailable));
    assert!(batch > 0 && error.retry_after_seconds.is_some());
    let stored = mira.pull_all(space);
    assert_eq!(stored.len() as u128, batch * 5, "what was acknowledged, and nothing else");
    disk.grow();
    mira.push(space, &large_records(batch));
    assert_eq!(mira.pull_all(space).len() as u128, (batch + 1) * 5);
    drop(server);
    drop(cluster);
}
