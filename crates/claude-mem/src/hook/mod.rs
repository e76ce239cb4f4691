//! One call of a client's hook, from its bytes to an event on the disk.
//!
//! In: JSON on stdin. Out: an event in the spool, on its way into the queue, and one JSON object
//! on stdout.
//!
//! Invariant: the client is never in doubt and never held up. Whatever goes wrong, it gets the
//! neutral answer and exit code 0; there is a limit to every wait and to every size. An event is
//! redacted before it leaves this process's memory, and a turn that may be private is not kept.
//! Absent on purpose: threads, an async runtime, the network, regular expressions, migrations.

pub mod agents;
pub mod answer;
mod ask;
mod asked;
pub mod deliver;
pub mod event;
pub mod guard;
pub mod ignored;
pub mod keep;
pub mod key;
pub mod log;
pub mod mute;
pub mod plain;
pub mod recall;
mod scan;
mod session_start;
pub mod settings;
pub mod spool;
mod start;
pub mod stdin;
pub mod tail;
pub mod take;
pub mod wire;

use std::cell::Cell;
use std::ffi::OsString;
use std::path::Path;

pub use asked::Asked;

use agents::{Agent, Kind};
use answer::Answer;
use mute::Marks;
use settings::HookSettings;
use take::{Call, Privacy, Silence};
use wire::Head;

use crate::clock::Micros;
use crate::ids::ClientSessionId;
use crate::install::client;
use crate::install::version::Version;
use crate::paths::{self, DataDir};
use crate::store::StoreError;
use crate::{pause, project, surrogates};

/// A developer's way to see that a panic is survived.
const PANIC_EVENT: &str = "SelfTestPanic";

/// Some editors and shells put it before what they write.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How a hook went.
#[derive(Debug)]
pub enum Outcome {
    /// The neutral or another answer was written.
    Answered,
    /// The same, but something is wrong with us or with this machine.
    Fault(String),
    /// It was not a hook at all: the command of that name is meant.
    NotAHook,
}

/// What surrounds a hook: asked once, at the edge.
#[derive(Debug)]
pub struct Surroundings<E> {
    pub started: Micros,
    pub env: E,
}

impl<E: Fn(&str) -> Option<OsString>> Surroundings<E> {
    fn is_on(&self, name: &str) -> bool {
        (self.env)(name).is_some_and(|value| !value.is_empty() && value != "0")
    }

    fn text(&self, name: &str) -> Option<String> {
        (self.env)(name).and_then(|value| value.into_string().ok())
    }

    pub fn is_strict(&self) -> bool {
        self.is_on("CLAUDE_MEM_STRICT")
    }
}

/// What became of a payload that came another way than through a process of its own.
#[derive(Debug)]
pub struct TakenIn {
    pub answer: Answer,
    /// Why nothing of it is kept, if nothing is.
    pub left_out: Option<&'static str>,
}

/// Serves one hook call: reads stdin, keeps what is to be kept, writes the answer.
pub fn run<E>(asked: &Asked, around: &Surroundings<E>) -> Outcome
where
    E: Fn(&str) -> Option<OsString>,
{
    let nothing_comes = asked.first_name && !can_hold_a_payload();
    if asked.only_with_payload && nothing_comes {
        return Outcome::NotAHook;
    }
    let dir = asked.dir(&around.env);
    if !asked.only_with_payload {
        guard::install(dir.clone(), around.started, around.is_strict());
    }
    assert_ne!(asked.event, PANIC_EVENT, "a panic was asked for");
    let input = if nothing_comes {
        stdin::Input::default()
    } else {
        stdin::read(rustix::stdio::stdin(), asked.patience())
    };
    if asked.only_with_payload {
        let text = input
            .bytes
            .strip_prefix(BYTE_ORDER_MARK)
            .unwrap_or(&input.bytes);
        if text.trim_ascii_start().first() != Some(&b'{') {
            return Outcome::NotAHook;
        }
        guard::install(dir.clone(), around.started, around.is_strict());
    }
    let hook = Hook {
        around,
        dir: dir.as_ref(),
        left_out: Cell::new(Some(NOTHING)),
    };
    let served = hook.serve(asked, &input);
    answer::write(served.as_ref().unwrap_or(&Answer::Neutral));
    match served {
        Ok(_) => Outcome::Answered,
        Err(fault) => Outcome::Fault(fault),
    }
}

/// Serves a payload that came another way than through a process of its own: kept, redacted and
/// answered all the same. `event` is what it is about if it does not say itself.
pub fn take_in<E>(
    agent: &'static Agent,
    event: &str,
    payload: &[u8],
    dir: &DataDir,
    around: &Surroundings<E>,
) -> Result<TakenIn, String>
where
    E: Fn(&str) -> Option<OsString>,
{
    let asked = Asked {
        agent: Some(agent),
        event: event.to_owned(),
        first_name: false,
        only_with_payload: false,
        data_dir: None,
    };
    let input = stdin::Input {
        bytes: payload.to_vec(),
        cut: false,
    };
    let hook = Hook {
        around,
        dir: Some(dir),
        left_out: Cell::new(Some(NOTHING)),
    };
    let answer = hook.serve(&asked, &input)?;
    Ok(TakenIn {
        answer,
        left_out: hook.left_out.get(),
    })
}

/// A terminal or `/dev/null` brings no payload, and a terminal must not be waited for.
fn can_hold_a_payload() -> bool {
    use rustix::fs::FileType;
    let kind = rustix::fs::fstat(rustix::stdio::stdin());
    let kind = kind.map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(
        kind,
        Ok(FileType::Fifo | FileType::Socket | FileType::RegularFile)
    )
}

/// Not every event holds something.
const NOTHING: &str = "there is nothing in it to keep";

struct Hook<'a, E> {
    around: &'a Surroundings<E>,
    dir: Option<&'a DataDir>,
    /// Why nothing was kept, until something is.
    left_out: Cell<Option<&'static str>>,
}

impl<E: Fn(&str) -> Option<OsString>> Hook<'_, E> {
    /// The answer, or what is wrong with us. What is wrong with the client's input is logged.
    fn serve(&self, asked: &Asked, input: &stdin::Input) -> Result<Answer, String> {
        // The compressor's own client must not be remembered by what it serves.
        if self.around.is_on("CLAUDE_MEM_COMPRESSOR") {
            self.left_out("it comes from the compressor's own client");
            return Ok(Answer::Neutral);
        }
        let Some(agent) = asked.agent else {
            self.log("an unknown client, or none, was named");
            return Ok(Answer::Neutral);
        };
        let payload = String::from_utf8_lossy(&input.bytes);
        let payload = surrogates::paired(&payload);
        let decoded = if input.cut {
            self.log(&format!("{}: the payload was cut", asked.event));
            None
        } else {
            wire::decode(&payload)
                .inspect_err(|e| self.log(&format!("{}: {e}", asked.event)))
                .ok()
        };
        let head = match &decoded {
            Some(wire) => Head::of(wire),
            None => Head::scanned(payload.as_bytes()),
        };
        // The payload knows better than the command line which event it is about.
        let event = head.event.as_deref().unwrap_or(&asked.event);
        let Some(kind) = agent.kind_of(event) else {
            return Ok(Answer::Neutral);
        };
        // Half a payload may have lost its session; newer clients say it twice.
        let in_env = || self.around.text("CLAUDE_CODE_SESSION_ID");
        let in_env = || in_env().map(plain::session);
        let Some(session) = head.session.clone().or_else(in_env) else {
            if decoded.is_some() {
                self.log(&format!("{event}: no session is named"));
            }
            return Ok(Answer::Neutral);
        };
        let Some(dir) = self.dir else {
            return Err("neither HOME nor CLAUDE_MEM_DATA_DIR is set".to_owned());
        };
        // A home that is not there is not ours to make, and neither is anything in it.
        if self.is_homeless(dir) {
            return Ok(Answer::Neutral);
        }
        let call = Call {
            agent,
            kind,
            session: &session,
            head: &head,
            wire: decoded.as_ref(),
            at: self.around.started,
        };
        self.keep(dir, &call)
    }

    fn is_homeless(&self, dir: &DataDir) -> bool {
        let home = (self.around.env)("HOME").unwrap_or_default();
        let home = Path::new(&home);
        !home.as_os_str().is_empty()
            && dir.root().starts_with(home)
            && matches!(home.try_exists(), Ok(false))
    }

    fn keep(&self, dir: &DataDir, call: &Call<'_>) -> Result<Answer, String> {
        let marks = Marks::of(dir, call.agent.name, call.session);
        if self.around.is_on("CLAUDE_MEM_DISABLED") {
            self.left_out("memory is switched off by CLAUDE_MEM_DISABLED");
            return self.ignore(dir, call, &marks);
        }
        let silence = self.silence(call, &marks)?;
        if marks.is_ignored() {
            self.left_out("this session is not to be remembered");
            return Ok(Answer::Neutral);
        }
        let settings = HookSettings::load_os(dir, &self.around.env);
        let home = (self.around.env)("HOME").unwrap_or_default();
        // As the paths that it is compared with.
        let home = home.to_string_lossy().into_owned();
        let project = self.project(call.head);
        let (project, unseen) = project.unzip();
        let unseen = unseen.flatten().filter(|_| settings.has_project_rules());
        if let Some(why) = &unseen {
            self.log(&format!(
                "whether the project is ignored cannot be told: {why}"
            ));
        }
        if let Some(project) = &project
            && (unseen.is_some() || settings.ignores(project, &home))
        {
            self.left_out("the settings ignore this project, or it cannot be told whether they do");
            self.close_transcript(&marks)?;
            return Ok(Answer::Neutral);
        }
        let mut question = recall::Question {
            agent: call.agent,
            kind: call.kind,
            head: call.head,
            dir,
            socket: &dir.worker_sock(&paths::short_dir(&self.around.env)),
            project: project.as_ref(),
            about: call
                .wire
                .map_or(recall::About::Nothing, recall::About::before_tool),
            settings: &settings,
            now: call.at.millis(),
            client: self.client_version(),
            silent: silence.turn,
        };
        if pause::in_force(&dir.paused(), call.at.millis()).is_some() {
            question.silent = true;
            self.left_out("memory is paused");
            self.close_transcript(&marks)?;
            return Ok(recall::answer(&question));
        }
        if call.kind == Kind::BeforeTool {
            return Ok(recall::answer(&question));
        }
        if settings.own_rules || settings.ignore_everything {
            self.close_transcript(&marks)?;
        }
        if settings.ignore_everything {
            self.log("settings.json cannot be read, or what it says to ignore: nothing is kept");
            self.left_out("settings.json cannot be read, or what it says to ignore");
            return Ok(Answer::Neutral);
        }
        let tool = call.head.tool.as_deref().unwrap_or_default();
        if is_tool(call.kind) && (agents::is_our_tool(tool) || settings.skips(tool)) {
            self.left_out("uses of this tool are not kept");
            return Ok(recall::answer(&question));
        }
        let cwd = call.head.cwd.as_deref();
        let ignored = settings.touches_ignored_path(&call.contents(), cwd, &home);
        let taken = call.take(silence, project.clone());
        if ignored {
            self.left_out("it speaks of a path that the settings ignore");
        } else if taken.is_none() && silence.turn {
            self.left_out("this turn is private");
        }
        if let Some(taken) = taken.as_ref().filter(|_| !ignored) {
            self.deliver(dir, call.kind, taken, &settings)?;
        }
        if let Some(taken) = &taken {
            question.about = recall::About::event(&taken.event.body);
        }
        Ok(recall::answer(&question))
    }

    /// Sets or clears the marks of a prompt, before anything else is done with it; looks them up
    /// for everything else.
    fn silence(&self, call: &Call<'_>, marks: &Marks<'_>) -> Result<Silence, String> {
        let prompt_id = call.head.prompt_id.as_deref();
        if call.kind != Kind::Prompt {
            return Ok(Silence {
                turn: marks.is_muted(prompt_id),
                summaries: marks.had_private(),
            });
        }
        let marked = match call.privacy() {
            Privacy::All => marks.mute_turn(prompt_id),
            Privacy::Part => marks.note_private().and_then(|()| marks.open_turn()),
            Privacy::None => marks.open_turn(),
        };
        marked.map_err(|e| self.unmarked(&e))?;
        Ok(Silence::default())
    }

    fn ignore(&self, dir: &DataDir, call: &Call<'_>, marks: &Marks<'_>) -> Result<Answer, String> {
        if marks.is_ignored() {
            return Ok(Answer::Neutral);
        }
        let session = ClientSessionId(call.session.to_owned());
        deliver::ignore_session(dir, call.agent.name, &session, call.at)
            .map_err(|lost| self.logged(&lost))?;
        self.pass_on(dir, call.kind, None);
        // Last, so that a hook that dies before it is made up for by the next.
        marks.ignore().map_err(|e| self.unmarked(&e))?;
        Ok(Answer::Neutral)
    }

    fn deliver(
        &self,
        dir: &DataDir,
        kind: Kind,
        taken: &take::Taken,
        settings: &HookSettings,
    ) -> Result<(), String> {
        let key = key::of(&taken.event, taken.message_id.as_deref());
        deliver::event(dir, key, &taken.event).map_err(|lost| self.logged(&lost))?;
        self.left_out.set(None);
        self.pass_on(dir, kind, Some(settings));
        Ok(())
    }

    fn left_out(&self, why: &'static str) {
        self.left_out.set(Some(why));
    }

    /// What may not be kept now must not be kept later, from the transcript.
    fn close_transcript(&self, marks: &Marks<'_>) -> Result<(), String> {
        let closed = marks.close_transcript();
        closed.map_err(|e| self.unmarked(&e))
    }

    fn unmarked(&self, e: &std::io::Error) -> String {
        self.log(&format!("a mark could not be set or cleared: {}", e.kind()));
        format!("{}: {e}", self.dir_name())
    }

    /// A running worker takes it from here. Without one, one is started at the boundaries of a
    /// turn, or what waits goes into the queue, since a few milliseconds are nothing there; a
    /// tool's hook stays quick.
    fn pass_on(&self, dir: &DataDir, kind: Kind, settings: Option<&HookSettings>) {
        let woken = deliver::wake(&dir.worker_sock(&paths::short_dir(&self.around.env)));
        if is_tool(kind) || matches!(woken, Ok(true)) {
            return;
        }
        if let Err(e) = woken {
            self.log(&format!("the worker's socket cannot be reached: {e}"));
        }
        if settings.is_some_and(HookSettings::starts_worker) && self.starts_worker(dir) {
            return;
        }
        match deliver::take_in_some(dir, self.around.started.millis()) {
            // Somebody else has the database just now, and will see what waits.
            Ok(()) | Err(StoreError::Busy) => {}
            Err(e) => self.log(&format!("events wait in the spool: {e}")),
        }
    }

    /// False if none was started; a later hook tries again.
    fn starts_worker(&self, dir: &DataDir) -> bool {
        start::worker(dir).unwrap_or_else(|e| {
            self.log(&format!("a worker could not be started: {e}"));
            false
        })
    }

    fn logged(&self, problem: &impl std::fmt::Display) -> String {
        let problem = problem.to_string();
        self.log(&problem);
        problem
    }

    fn client_version(&self) -> Option<Version> {
        let said = self.around.text("AI_AGENT")?;
        client::version_said(&said)
    }

    /// Where the session began, if the client says; the working directory follows the agent.
    fn project(&self, head: &Head) -> Option<(event::ProjectHint, Option<std::io::Error>)> {
        let dir = (self.around.env)("CLAUDE_PROJECT_DIR").filter(|dir| !dir.is_empty());
        let dir = dir.or_else(|| head.cwd.clone().map(OsString::from))?;
        let dir = Path::new(&dir);
        dir.is_absolute().then(|| project::look(dir))
    }

    fn dir_name(&self) -> String {
        self.dir
            .map_or_else(String::new, |dir| dir.root().display().to_string())
    }

    fn log(&self, text: &str) {
        if let Some(dir) = self.dir {
            log::line(dir, self.around.started, text);
        }
    }
}

fn is_tool(kind: Kind) -> bool {
    matches!(kind, Kind::ToolUse | Kind::ToolFailure)
}

#[cfg(test)]
#[path = "hook_tests.rs"]
mod tests;
