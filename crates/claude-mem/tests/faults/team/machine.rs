//! [`TeamMachine`]: a member's machine on a host of its own, with a real worker.

use std::collections::BTreeMap;

use claude_mem_store::{MemoryLevel, PageRequest, RowFilter};
use rig::Sandbox;
use rig::certificates::TestCertificates;
use rig::hostile_proxy::HostileProxy;
use rig::network::NetworkHost;
use rustix::process::{Pid, Signal, kill_process};

use crate::common::turns::{eventually, hook, pid, store};
use crate::common::{configure, exe, sandbox};

/// Begins the titles of memories that are shared.
const SHARED: &str = "Note";

/// Stands in every text that must not leave its machine.
pub(super) const CANARY: &str = "canary";

/// Stands in every text that must not even be stored.
pub(super) const PRIVATE_CANARY: &str = "privatecanary";

/// What sets a machine apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MachineTraits {
    /// The clock's error in milliseconds.
    pub(super) skew: i64,
    /// Nothing leaves without its user's word, which is never given.
    pub(super) holds_back: bool,
}

pub(super) struct TeamMachine {
    pub(super) home: Sandbox,
    pub(super) host: NetworkHost,
    /// Its way to the replicas.
    pub(super) proxy: HostileProxy,
    pub(super) traits: MachineTraits,
    /// Ids of own shared memories that are still there, by title.
    pub(super) saved: BTreeMap<String, String>,
}

impl TeamMachine {
    /// A machine with a checkout of the project, joined and sharing.
    pub(super) fn join(
        host: NetworkHost,
        proxy: HostileProxy,
        certificates: &TestCertificates,
        link: &str,
        handle: &str,
        traits: MachineTraits,
    ) -> Self {
        let mut home = sandbox();
        home.set_env("CLAUDE_MEM_NOW", format!("{:+}", traits.skew));
        let script = home.home().join(".local/bin/claude-mem-here");
        host.write_wrapper(&script, &exe());
        let home = home.with_exe(script);
        home.git_remote("git@github.com:acme/shop.git");
        configure(&home, &serde_json::json!({ "provider": "local", "vectors": false }));
        let (_, secret) = link.split_once("/#").unwrap();
        let link = format!("https://{}/#{secret}", proxy.address());
        home.mem(&["save", "The project is known"]).ok();
        let authority = certificates.authority();
        home.mem(&["team", "join", &link, "--handle", handle, "--ca", authority.to_str().unwrap()]).ok();
        let mode: &[&str] = if traits.holds_back { &["--review"] } else { &[] };
        home.mem(&[&["team", "share", "--yes"], mode].concat()).ok();
        home.mem(&["worker", "start"]).ok();
        Self { home, host, proxy, traits, saved: BTreeMap::new() }
    }

    /// Saves a memory that is shared, or held back.
    pub(super) fn save(&mut self, step: usize) {
        if self.traits.holds_back {
            self.home.mem(&["save", &format!("Held {CANARY} of step {step}")]).ok();
            return;
        }
        let title = format!("{SHARED} of step {step} quagga{step}fish");
        let id = self.home.mem(&["save", &title, "--json"]).ok().json();
        let id = id["id"].as_str().map_or_else(|| id["id"].to_string(), str::to_owned);
        self.saved.insert(title, id);
    }

    /// Tells the agent things that must not leave: a preference, and private words.
    pub(super) fn confide(&self, step: usize) {
        self.home.mem(&["save", &format!("Preferred {CANARY} of step {step}"), "--global"]).ok();
        let prompt = format!("<private>{PRIVATE_CANARY} {step}</private> What is the time?");
        let id = format!("p{step}");
        hook(&self.home, &id, "UserPromptSubmit", &serde_json::json!({ "prompt": prompt, "prompt_id": id }));
        hook(
            &self.home,
            &id,
            "Stop",
            &serde_json::json!({ "last_assistant_message": "Late.", "prompt_id": id }),
        );
    }

    /// Forgets its first shared memory and returns the title.
    pub(super) fn forget(&mut self) -> Option<String> {
        let (title, id) = self.saved.pop_first()?;
        self.home.mem(&["forget", &id]).ok();
        Some(title)
    }

    pub(super) fn kill_worker(&self) {
        let old = pid(&self.home).expect("a worker runs");
        let process = Pid::from_raw(i32::try_from(old).unwrap()).unwrap();
        kill_process(process, Signal::KILL).unwrap();
        // While the kernel takes the old one away, a start finds it running.
        eventually("another worker runs", || {
            self.home.mem(&["worker", "start"]).ok();
            pid(&self.home).is_some_and(|new| new != old)
        });
    }

    /// Titles of the shared memories, sorted: one that was stored twice is there twice.
    pub(super) fn titles(&self) -> Vec<String> {
        let store = store(&self.home);
        let mut page = PageRequest::first(500);
        let mut titles = Vec::new();
        loop {
            let rows = store.read().observations(&RowFilter::default(), page).unwrap();
            let shared = rows.items.into_iter().filter(|row| row.level == MemoryLevel::Project);
            titles.extend(shared.map(|row| row.text.title).filter(|title| title.starts_with(SHARED)));
            if !rows.has_more {
                titles.sort();
                return titles;
            }
            page.offset += page.limit;
        }
    }

    /// Number and digest of the live records, as this machine knows them.
    pub(super) fn digest(&self) -> String {
        let spaces = store(&self.home).read().spaces().unwrap();
        spaces.first().map_or_else(String::new, |space| format!("{}|{}", space.live, space.digest))
    }
}
