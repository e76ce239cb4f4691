//! The user at the terminal: the client's interactive screen through a pseudo-terminal.
//!
//! Nothing here waits for a time to pass: [`Tui::wait_for`] waits for words on the screen.

mod grid;
#[cfg(test)]
mod grid_tests;

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use self::grid::Grid;
use crate::client::{Missing, on_path};
use crate::process::{self, Collected, Output, Running};
use crate::sandbox::Sandbox;

/// Words that have not come by now will not come.
const SCREEN_SECONDS_MAX: u64 = 60;

const SIZE: Winsize = Winsize {
    ws_row: 40,
    ws_col: 120,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// The client at a terminal. Dropping it kills the client.
#[derive(Debug)]
pub struct Tui {
    running: Running,
    began: Instant,
    keys: File,
    screen: Collected,
}

impl Tui {
    /// Starts the sandbox's client interactively.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Result<Self, Missing> {
        Self::run(sandbox, &sandbox.claude_command(args))
    }

    /// Starts any program at a terminal of the sandbox.
    pub fn run(sandbox: &Sandbox, program: &Command) -> Result<Self, Missing> {
        // `setsid` makes the terminal the program's own; Rust could do so only with unsafe code.
        let setsid =
            on_path("setsid").ok_or_else(|| Missing("setsid is not on the PATH".into()))?;
        let mut command = sandbox.command(setsid);
        command
            .arg("--ctty")
            .arg(program.get_program())
            .args(program.get_args());
        command.env("TERM", "xterm-256color");
        Self::attach(command).map_err(|e| Missing(format!("no pseudo-terminal: {e}")))
    }

    fn attach(mut command: Command) -> rustix::io::Result<Self> {
        let began = Instant::now();
        let (keys, terminal) = pair()?;
        let side = || {
            terminal
                .try_clone()
                .map(Stdio::from)
                .expect("a terminal can be shared")
        };
        command.stdin(side()).stdout(side()).stderr(side());
        let child = command
            .spawn()
            .unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
        let screen = process::collect(keys.try_clone().ok());
        Ok(Self {
            running: Running::of(child),
            began,
            keys,
            screen,
        })
    }

    /// Types a line and sends it once the screen shows it.
    #[track_caller]
    pub fn submit(&mut self, line: &str) {
        self.press(line);
        self.wait_for(line);
        self.press("\r");
    }

    /// Sends keys as they are, for example `"\x1b"` for Escape.
    pub fn press(&mut self, keys: &str) {
        // A client that is gone is noticed by whoever waits for its screen.
        let _ = self.keys.write_all(keys.as_bytes());
    }

    /// Waits until these words are on the screen; panics, showing it, if they never are. Line
    /// breaks and spaces do not count: the client breaks lines where it likes.
    #[track_caller]
    pub fn wait_for(&mut self, words: &str) {
        let shows = |bytes: &[u8]| compact(&screen_after(bytes)).contains(&compact(words));
        self.screen
            .wait_until(Duration::from_secs(SCREEN_SECONDS_MAX), shows);
        assert!(
            shows(&self.screen.bytes()),
            "{words:?} is not on:\n{}",
            self.screen()
        );
    }

    /// What the terminal shows now.
    pub fn screen(&self) -> String {
        screen_after(&self.screen.bytes())
    }

    /// Waits for the client to leave by itself; its last screen is the output.
    pub fn end(self) -> Output {
        let nothing = process::collect(None::<File>);
        let limit = Duration::from_secs(SCREEN_SECONDS_MAX);
        let mut output = self.running.end(self.began, limit, &self.screen, &nothing);
        output.stdout = screen_after(&self.screen.bytes());
        output
    }
}

/// Our end and the program's end of a new terminal.
fn pair() -> rustix::io::Result<(File, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name, flags, Mode::empty())?;
    tcsetwinsize(&theirs, SIZE)?;
    Ok((File::from(ours), theirs))
}

fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn screen_after(bytes: &[u8]) -> String {
    Grid::after(bytes, SIZE.ws_row.into(), SIZE.ws_col.into()).text()
}
