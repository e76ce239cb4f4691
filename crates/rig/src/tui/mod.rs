//! Drives the client's interactive screen through a pseudo-terminal.
//!
//! Nothing sleeps for a fixed time: [`TuiSession::wait_for`] waits for words on the screen.

mod grid;
#[cfg(test)]
mod grid_tests;

use std::cell::RefCell;
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
    output: StreamCapture,
    screen: RefCell<RenderedScreen>,
}

/// The screen after the first bytes of the output. Only what came since is interpreted: a client redraws its screen
/// many times a second, and interpreting all of it again and again takes the core that the client needs.
#[derive(Debug)]
struct RenderedScreen {
    grid: ScreenGrid,
    bytes: usize,
}

impl RenderedScreen {
    /// The screen after all of these bytes, which begin with those of earlier calls.
    fn after(&mut self, output: &[u8]) -> String {
        self.grid.write(&output[self.bytes..]);
        self.bytes = output.len();
        self.grid.text()
    }
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
        let output = process::capture_stream(keys.try_clone().ok());
        let grid = ScreenGrid::new(SIZE.ws_row.into(), SIZE.ws_col.into());
        let screen = RefCell::new(RenderedScreen { grid, bytes: 0 });
        Ok(Self { running: RunningProcess::from_child(child), began, keys, output, screen })
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
            self.wait_until(REPEAT_AFTER, |screen| count(screen, line) > before);
            let screen = self.screen();
            if count(&screen, line) > before || holds_input(&screen, line) {
                break;
            }
            assert!(began.elapsed() < limit, "{line:?} cannot be typed on:\n{}", self.screen());
            self.press(CLEAR_LINE);
        }
        loop {
            self.press("\r");
            self.wait_until(REPEAT_AFTER, |screen| !holds_input(screen, line));
            // `/exit` leaves its last screen as it was.
            if self.output.is_closed() || !holds_input(&self.screen(), line) {
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
        let shows = |screen: &str| without_whitespace(screen).contains(&without_whitespace(words));
        self.wait_until(Duration::from_secs(SCREEN_SECONDS_MAX), shows);
        assert!(shows(&self.screen()), "{words:?} is not on:\n{}", self.screen());
    }

    /// Waits until the screen is as wanted, the client exits, or `limit` has passed.
    fn wait_until(&self, limit: Duration, is_wanted: impl Fn(&str) -> bool) {
        self.output.wait_until(limit, |bytes| is_wanted(&self.screen.borrow_mut().after(bytes)));
    }

    /// The current screen.
    pub fn screen(&self) -> String {
        self.screen.borrow_mut().after(&self.output.bytes())
    }

    /// Waits for the client to exit; the output's stdout is its last screen.
    pub fn wait_for_exit(self) -> ProcessOutput {
        let nothing = process::capture_stream(None::<File>);
        let limit = Duration::from_secs(SCREEN_SECONDS_MAX);
        let mut output = self.running.wait_with_limit(self.began, limit, &self.output, &nothing);
        output.stdout = self.screen.borrow_mut().after(&self.output.bytes());
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
