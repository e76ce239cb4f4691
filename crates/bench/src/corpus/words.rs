//! The vocabulary of the synthetic history.

use super::rng::SplitMix64;

/// Projects, largest first: the n-th has about `1/n` of the rows of the largest.
pub(super) const PROJECTS: [&str; 10] = [
    "orchard-shop",
    "lighthouse-maps",
    "kettle-firmware",
    "paper-archive",
    "tram-timetable",
    "beehive-metrics",
    "quarry-render",
    "velvet-chat",
    "harbor-billing",
    "moss-notes",
];
const SHARES: [usize; 10] = [2520, 1260, 840, 630, 504, 420, 360, 315, 280, 252];
const ENDINGS: [&str; 10] = ["rs", "ts", "c", "py", "go", "rs", "cpp", "kt", "rb", "md"];

const TOPICS: [[&str; 5]; 8] = [
    ["login form", "session cookie", "password reset mail", "access role", "sign-out redirect"],
    ["table index", "schema change", "connection limit", "slow join", "backup restore"],
    ["image cache", "expiry rule", "warm start", "page preload", "stale entry"],
    ["retry policy", "request body limit", "upload stream", "gateway timeout", "webhook signature"],
    ["search box", "date picker", "scrolling list", "contrast theme", "keyboard focus"],
    ["release script", "container layer", "lock file", "lint step", "version stamp"],
    ["message order", "duplicate delivery", "worker pool", "job priority", "backlog alarm"],
    ["unit parser", "rounding rule", "locale format", "file header", "escape sequence"],
];
const THINGS: [&str; 12] = [
    "handler", "reader", "planner", "ledger", "mapper", "queue", "renderer", "importer", "sampler",
    "checker", "bridge", "store",
];
const FLAWS: [&str; 10] = [
    "slow",
    "doubled",
    "missing",
    "outdated",
    "endless",
    "half-written",
    "wrongly ordered",
    "silent",
    "oversized",
    "forgotten",
];
const ERRORS: [&str; 8] = [
    "connection reset by peer",
    "no such table",
    "assertion failed",
    "permission denied",
    "index out of bounds",
    "deadline exceeded",
    "unexpected end of file",
    "too many open files",
];
const FOLDERS: [&str; 7] = ["src", "src/core", "lib", "server", "app/pages", "tests", "tools"];
const VERBS: [&str; 8] = ["read", "load", "merge", "flush", "parse", "apply", "track", "split"];
const NOUNS: [&str; 8] = ["Order", "Route", "Token", "Batch", "Frame", "Invoice", "Config", "Chunk"];
const CONCEPTS: [&str; 7] =
    ["how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off"];
const KINDS: [&str; 6] = ["discovery", "change", "bugfix", "feature", "refactor", "decision"];
const KIND_SHARES: [usize; 6] = [34, 22, 16, 14, 9, 5];

pub(super) fn project(rng: &mut SplitMix64) -> &'static str {
    PROJECTS[rng.weighted(&SHARES)]
}

pub(super) fn kind(rng: &mut SplitMix64) -> &'static str {
    KINDS[rng.weighted(&KIND_SHARES)]
}

pub(super) fn concept(rng: &mut SplitMix64) -> &'static str {
    rng.pick(&CONCEPTS)
}

/// The subject of one session, from which its texts are generated.
pub(super) struct SessionTopic {
    project: &'static str,
    extension: &'static str,
    topics: &'static [&'static str],
}

impl SessionTopic {
    pub(super) fn new(rng: &mut SplitMix64, project: &'static str) -> Self {
        let index = PROJECTS.iter().position(|name| *name == project);
        Self {
            project,
            extension: ENDINGS[index.unwrap_or_default()],
            topics: &TOPICS[rng.below(TOPICS.len())],
        }
    }

    pub(super) fn path(&self, rng: &mut SplitMix64) -> String {
        let (folder, thing) = (rng.pick(&FOLDERS), rng.pick(&THINGS));
        let topic = rng.pick(self.topics).replace([' ', '-'], "_");
        let number = rng.below(30);
        format!("{folder}/{topic}_{thing}_{number}.{}", self.extension)
    }

    pub(super) fn prompt(&self, rng: &mut SplitMix64) -> String {
        let (topic, thing, flaw) = self.pick_phrase_parts(rng);
        match rng.below(5) {
            0 => format!("the {topic} fails with \"{}\", find out why", rng.pick(&ERRORS)),
            1 => format!("make the {flaw} {thing} of {} faster", self.path(rng)),
            2 => format!("add a {topic} to the {thing} and test it"),
            3 => format!("what did we settle about the {topic}?"),
            _ => format!("clean up {} without changing what it does", self.path(rng)),
        }
    }

    pub(super) fn title(&self, rng: &mut SplitMix64, kind: &str) -> String {
        let (topic, thing, flaw) = self.pick_phrase_parts(rng);
        match kind {
            "bugfix" => format!("The {topic} no longer leaves a {flaw} {thing} behind"),
            "feature" => format!("The {thing} knows a {topic}, through {}", symbol(rng)),
            "refactor" => format!("{} took the {topic} out of the {thing}", symbol(rng)),
            "decision" => format!("The {topic} stays in the {thing}, not in {}", self.path(rng)),
            "change" => format!("{} handles the {flaw} {topic}", symbol(rng)),
            _ => format!("A {flaw} {topic} comes from {} in the {thing}", symbol(rng)),
        }
    }

    pub(super) fn subtitle(&self, rng: &mut SplitMix64) -> String {
        let (topic, thing, flaw) = self.pick_phrase_parts(rng);
        format!("Next, the {thing} of the {topic} needs a look at its {flaw} path")
    }

    pub(super) fn fact(&self, rng: &mut SplitMix64) -> String {
        let (topic, thing, flaw) = self.pick_phrase_parts(rng);
        let number = 1 << (3 + rng.below(10));
        match rng.below(5) {
            0 => format!("{} returns early when {} is not set", symbol(rng), setting(rng)),
            1 => format!("the {thing} holds {number} entries before it drops the {flaw} ones"),
            2 => format!("{} is read once, at the start of the {topic}", setting(rng)),
            3 => format!("{} calls {}", self.path(rng), symbol(rng)),
            _ => format!("\"{}\" means a {flaw} {topic}", rng.pick(&ERRORS)),
        }
    }

    pub(super) fn narrative(&self, rng: &mut SplitMix64, kind: &str) -> String {
        let mut text = format!("{}, seen in {}.", self.title(rng, kind), self.project);
        for _ in 0..3 + rng.below(4) {
            let fact = self.fact(rng);
            text.push_str(" It turned out that ");
            text.push_str(&fact);
            text.push('.');
        }
        text
    }

    fn pick_phrase_parts(&self, rng: &mut SplitMix64) -> (&'static str, &'static str, &'static str) {
        (rng.pick(self.topics), rng.pick(&THINGS), rng.pick(&FLAWS))
    }
}

fn symbol(rng: &mut SplitMix64) -> String {
    format!("{}{}{}", rng.pick(&VERBS), rng.pick(&NOUNS), rng.below(40))
}

fn setting(rng: &mut SplitMix64) -> String {
    format!("{}_{}_MAX", rng.pick(&NOUNS), rng.pick(&VERBS)).to_uppercase()
}
