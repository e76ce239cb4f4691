//! The executable `claude-mem-team`: what it prints, its exit codes, its private cluster.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rig::Sandbox;
use rig::postgres::PostgresCluster;
use rustix::process::{Pid, Signal, kill_process};

/// The executable that cargo built with the tests.
const PROGRAM: &str = env!("CARGO_BIN_EXE_claude-mem-team");

fn sandbox() -> Sandbox {
    Sandbox::new().with_exe(PROGRAM)
}

/// A server that is killed with the test.
pub(crate) struct ServeProcess {
    child: Child,
    /// What it printed until it listened.
    printed: String,
}

impl ServeProcess {
    /// A replica on a cluster. With a time, its clock stands there.
    pub(crate) fn replica(cluster: &PostgresCluster, now: Option<i64>) -> Self {
        #[allow(clippy::disallowed_methods, reason = "it is killed with the test")]
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--listen", "127.0.0.1:0", "--database", &cluster.address()]);
        if let Some(now) = now {
            command.env("CLAUDE_MEM_NOW", now.to_string());
        }
        Self::start(command)
    }

    /// The link of the first administrator.
    pub(crate) fn admin_link(&self) -> &str {
        self.printed.split('\'').nth(1).expect("it printed a link")
    }

    pub(crate) fn address(&self) -> SocketAddr {
        let address = self.printed.rsplit_once("Listening on ").unwrap().1.split(';').next().unwrap();
        address.parse().unwrap()
    }

    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        while !printed.contains("Listening on ") {
            let read = lines.read_line(&mut printed).unwrap();
            assert!(read > 0, "it ended: {printed}");
        }
        Self { child, printed }
    }

    /// The status line of a request.
    fn status(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply.lines().next().unwrap_or_default().to_owned()
    }

    /// Ends it with SIGKILL, where it is.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, as a service manager would.
    fn end(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn server_prints_its_link_once_and_ends_on_a_signal() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let home = sandbox();
    let address = cluster.address();
    let serve = ["serve", "--database", &address, "--listen", "127.0.0.1:0", "--team", "acme"];
    let server = ServeProcess::start(home.mem_command(&serve));
    assert!(server.printed.starts_with("Made the tables (PostgreSQL "), "{}", server.printed);
    assert!(
        server.printed.contains("row security in force) and made the team \"acme\"."),
        "{}",
        server.printed
    );
    assert!(server.printed.contains("claude-mem team join 'http://127.0.0.1:"), "{}", server.printed);
    assert_eq!(server.status("/readyz"), "HTTP/1.1 200 OK");
    assert_eq!(server.status("/v1/me"), "HTTP/1.1 426 Upgrade Required");
    assert_eq!(server.end(), Some(0));

    let more = [
        "serve",
        "--database",
        &address,
        "--team",
        "acme",
        "--admin-link",
        "--public-url",
        "https://mem.acme.dev",
    ];
    let link = home.mem(&more).ok().stdout;
    assert!(link.contains("claude-mem team join 'https://mem.acme.dev/#i."), "{link}");
    let renewed = home.mem(&["serve", "--database", &address, "--new-generation"]).ok().stdout;
    assert_eq!(renewed, "Clients of 1 teams will compare everything with this server.\n");
}

#[test]
fn server_without_a_database_is_a_usage_error() {
    let home = sandbox();
    for args in [
        &["serve"][..],
        &["serve", "--trial", "--database", "x"],
        &["serve", "--database", "x", "--cert", "c.pem"],
        &["serve", "--database", "x", "--behind-proxy"],
    ] {
        assert_eq!(home.mem(args).code, Some(64), "{args:?}");
    }
    let open = home.mem(&["serve", "--database", "host=/nowhere user=x", "--listen", "0.0.0.0:0"]);
    assert_eq!(open.code, Some(1));
    assert!(open.stderr.contains("pass --cert and --key, or --behind-proxy"), "{open}");
}

/// The private cluster is made by the programs of this machine, as an ordinary user.
#[test]
fn trial_needs_nothing_but_an_installed_postgresql() {
    let Some(build) = rig::postgres::with_tls_or_skip() else { return };
    let home = rig::postgres::server_dir();
    // The program may lie where the server's user cannot reach it.
    let program = home.path().join("claude-mem-team");
    std::fs::copy(PROGRAM, &program).unwrap();
    let command = |data: &str| {
        let mut command = rig::postgres::as_server_user(&program);
        command.args(["serve", "--trial", "--listen", "127.0.0.1:0", "--data-dir", data]);
        command.env_clear().env("HOME", home.path()).env("PATH", &build.bin).current_dir(home.path());
        command
    };
    let data = home.path().join("data");
    let server = ServeProcess::start(command(data.to_str().unwrap()));
    assert!(server.printed.starts_with("Made the tables"), "{}", server.printed);
    assert_eq!(server.status("/readyz"), "HTTP/1.1 200 OK");
    assert_eq!(server.end(), Some(0));
    assert!(!data.join("team-trial/data/postmaster.pid").exists(), "PostgreSQL has ended in order");

    let again = ServeProcess::start(command(data.to_str().unwrap()));
    assert!(again.printed.starts_with("Found the tables"), "{}", again.printed);
    assert_eq!(again.end(), Some(0));
}
