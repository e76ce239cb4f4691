//! The deadline of a hook process, and the signals that would kill it.
//!
//! Each wait of a hook has its own limit, but not every system call can be limited: a file system that
//! hangs or a pipe where a file should be blocks without end. [`arm`] sets one timer for the whole
//! process. Its signal handler writes the neutral response, unless a response has begun, and exits 0.
//! The same handler answers when the kernel takes away a mapped page (`SIGBUS`) or the process has used
//! up its CPU limit (`SIGXCPU`). `SIGXFSZ` is caught and ignored, so that a write beyond the file size
//! limit fails with an error that the caller handles.
//!
//! This is the crate's only file with `unsafe`: installing a signal handler has no safe form. Handlers,
//! unlike ignored signals, do not survive `exec`, and timers do not survive `fork`: a worker that a hook
//! starts has neither.

use std::sync::atomic::{AtomicI32, Ordering};

use libc::c_int;

use super::answer;
use super::guard::STRICT_EXIT_CODE;
use claude_mem_core::limits::{HOOK_SECONDS_MAX, STDIN_MS};

/// Seconds after which a hook process answers neutrally and exits, even while it waits.
const HOOK_DEADLINE_SECONDS: u64 = 8;

// The client kills a hook after its own timeout, and a slow client may use all of its time for stdin.
const _: () = assert!(HOOK_DEADLINE_SECONDS < HOOK_SECONDS_MAX);
const _: () = assert!(STDIN_MS < HOOK_DEADLINE_SECONDS * 1_000);

/// Signals after which the hook answers neutrally and exits.
const ENDING_SIGNALS: [c_int; 3] = [libc::SIGALRM, libc::SIGBUS, libc::SIGXCPU];

/// Exit code of the handler: 0, or the code of our own faults under `CLAUDE_MEM_STRICT=1`.
static EXIT_CODE: AtomicI32 = AtomicI32::new(0);

/// Starts the deadline of this process and installs the signal handlers.
pub(super) fn arm(is_strict: bool) {
    EXIT_CODE.store(if is_strict { STRICT_EXIT_CODE.into() } else { 0 }, Ordering::SeqCst);
    for signal in ENDING_SIGNALS {
        handle(signal, answer_and_exit as *const () as libc::sighandler_t);
    }
    handle(libc::SIGXFSZ, ignore as *const () as libc::sighandler_t);
    set_timer(HOOK_DEADLINE_SECONDS);
}

/// Stops the deadline and restores the signals' defaults: the process goes on as an ordinary command.
pub(super) fn disarm() {
    set_timer(0);
    for signal in ENDING_SIGNALS.into_iter().chain([libc::SIGXFSZ]) {
        handle(signal, libc::SIG_DFL);
    }
}

#[allow(unsafe_code)]
fn handle(signal: c_int, handler: libc::sighandler_t) {
    // SAFETY: `sigaction` is a plain C struct for which zero is valid: no flags, no blocked signals. The
    // handlers are `extern "C"` functions of the type that the kernel calls without SA_SIGINFO, and call
    // only async-signal-safe functions. The result is not needed: these signals can be caught.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

#[allow(unsafe_code)]
fn set_timer(seconds: u64) {
    // The type of `tv_sec` differs between systems; the constant fits all of them.
    let first = libc::timeval { tv_sec: seconds as libc::time_t, tv_usec: 0 };
    let once = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: once, it_value: first };
    // SAFETY: the pointer is to a live, initialised value; a null old value is allowed.
    unsafe {
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
}

/// Runs in a signal handler, at any point of the program: it touches atomics and makes system calls, and
/// neither allocates nor locks.
#[allow(unsafe_code)]
extern "C" fn answer_and_exit(_signal: c_int) {
    answer::write_neutral_without_waiting();
    // SAFETY: `_exit` is async-signal-safe and does not return; no destructor runs.
    unsafe { libc::_exit(EXIT_CODE.load(Ordering::SeqCst)) }
}

/// Catches a signal so that the system call which raised it fails instead.
extern "C" fn ignore(_signal: c_int) {}
