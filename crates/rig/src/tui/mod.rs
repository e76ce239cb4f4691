//! Drives the client's interactive screen through a pseudo-terminal.
//!
//! Nothing sleeps for a fixed time: [`TuiSession::wait_for`] waits for words on the screen.

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

use self::grid::ScreenGrid;
use crate::client::{MissingPrerequisite, find_on_path};
use crate::process::{self, ProcessOutput, RunningProcess, StreamCapture};
use crate::sandbox::Sandbox;

/// Timeout for words to appear on the screen.
const SCREEN_SECONDS_MAX: u64 = 60;

/// After so long without an effect, keys are taken as lost and pressed again.
const REPEAT_AFTER: Duration = Duration::from_secs(10);
/// Deletes the line that is being typed.
const CLEAR_LINE: &str = "\x15";
/// The prompt sign that the client draws before the input line.
const INPUT_MARK: char = '❯';

const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

/// A client running at a pseudo-terminal. Dropping it kills the client.
#[derive(Debug)]
pub struct TuiSession {
    running: RunningProcess,
    began: Instant,
    keys: File,
    screen: StreamCapture,
}

impl TuiSession {
    /// Starts the sandbox's client interactively.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Result<Self, MissingPrerequisite> {
        Self::run(sandbox, &sandbox.claude_command(args))
    }

    /// Starts any program at a terminal of the sandbox.
    pub fn run(sandbox: &Sandbox, program: &Command) -> Result<Self, MissingPrerequisite> {
        // `setsid` makes it the program's controlling terminal; in Rust that would need unsafe code.
        let setsid =
            find_on_path("setsid").ok_or_else(|| MissingPrerequisite("setsid is not on the PATH".into()))?;
        let mut command = sandbox.command(setsid);
        command.arg("--ctty").arg(program.get_program()).args(program.get_args());
        command.env("TERM", "xterm-256color");
        Self::attach(command).map_err(|e| MissingPrerequisite(format!("no pseudo-terminal: {e}")))
    }

    fn attach(mut command: Command) -> rustix::io::Result<Self> {
        let began = Instant::now();
        let (keys, terminal) = open_pty_pair()?;
        let side = || terminal.try_clone().map(Stdio::from).expect("a terminal can be shared");
        command.stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
        let screen = process::capture_stream(keys.try_clone().ok());
        Ok(Self { running: RunningProcess::from_child(child), began, keys, screen })
    }

    /// Types a line and presses Enter once the screen shows it. A client that is drawing its screen anew loses what is
    /// typed meanwhile, and one that is completing a command takes Enter for its menu: both are repeated.
    #[track_caller]
    pub fn submit(&mut self, line: &str) {
        let began = Instant::now();
        let limit = Duration::from_secs(SCREEN_SECONDS_MAX);
        loop {
            // The words may be on the screen from before: Enter that comes with the text would be part of it.
            let before = count(&self.screen(), line);
            self.press(line);
            let shows = |bytes: &[u8]| count(&render_screen(bytes), line) > before;
            self.screen.wait_until(REPEAT_AFTER, shows);
            if shows(&self.screen.bytes()) || holds_input(&self.screen(), line) {
                break;
            }
            assert!(began.elapsed() < limit, "{line:?} cannot be typed on:\n{}", self.screen());
            self.press(CLEAR_LINE);
        }
        loop {
            self.press("\r");
            let is_sent = |bytes: &[u8]| !holds_input(&render_screen(bytes), line);
            self.screen.wait_until(REPEAT_AFTER, is_sent);
            // `/exit` leaves its last screen as it was.
            if self.screen.is_closed() || is_sent(&self.screen.bytes()) {
                return;
            }
            assert!(began.elapsed() < limit, "{line:?} is not sent on:\n{}", self.screen());
        }
    }

    /// Sends raw keys, for example `"\x1b"` for Escape.
    pub fn press(&mut self, keys: &str) {
        // A client that has exited is noticed by the next wait for its screen.
        let _ = self.keys.write_all(keys.as_bytes());
    }

    /// Waits until these words are on the screen; panics with the screen on timeout. White space is
    /// ignored, because the client may wrap lines anywhere.
    #[track_caller]
    pub fn wait_for(&mut self, words: &str) {
        let shows =
            |bytes: &[u8]| without_whitespace(&render_screen(bytes)).contains(&without_whitespace(words));
        self.screen.wait_until(Duration::from_secs(SCREEN_SECONDS_MAX), shows);
        assert!(shows(&self.screen.bytes()), "{words:?} is not on:\n{}", self.screen());
    }

    /// The current screen.
    pub fn screen(&self) -> String {
        render_screen(&self.screen.bytes())
    }

    /// Waits for the client to exit; the output's stdout is its last screen.
    pub fn wait_for_exit(self) -> ProcessOutput {
        let nothing = process::capture_stream(None::<File>);
        let limit = Duration::from_secs(SCREEN_SECONDS_MAX);
        let mut output = self.running.wait_with_limit(self.began, limit, &self.screen, &nothing);
        output.stdout = render_screen(&self.screen.bytes());
        output
    }
}

/// Opens a pseudo-terminal: our end and the program's end.
fn open_pty_pair() -> rustix::io::Result<(File, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name, flags, Mode::empty())?;
    tcsetwinsize(&theirs, SIZE)?;
    Ok((File::from(ours), theirs))
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// How often the screen shows these words.
fn count(screen: &str, words: &str) -> usize {
    without_whitespace(screen).matches(&without_whitespace(words)).count()
}

/// Whether the last input line of the screen holds this line.
fn holds_input(screen: &str, line: &str) -> bool {
    let input = screen.rsplit_once(INPUT_MARK).map(|(_, input)| without_whitespace(input));
    input.is_some_and(|input| input.starts_with(&without_whitespace(line)))
}

fn render_screen(bytes: &[u8]) -> String {
    ScreenGrid::from_bytes(bytes, SIZE.ws_row.into(), SIZE.ws_col.into()).text()
}
