//! Titles of consolidated observations, in a fixed order: commit or pull request, plan, cause, the report's
//! best sentence, the request as a statement.

use claude_mem_core::source::TextSource;

use crate::agent_claims::names_cause;
use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::gates;
use crate::report::{self, without_line_numbers};
use crate::sentences::TextDocument;
use crate::text::{capitalised, content_words, lower_first};
use crate::titles::{headline, shorten, task_name, without_brackets, without_speaker};

use super::frames::ClaimFrame;

/// Maximum characters of a title.
const TITLE_CHARS_MAX: usize = 120;

/// A title that names nothing from code needs this many words that mean something.
const PLAIN_TITLE_WORDS_MIN: usize = 6;

/// What was done titles a change before its cause does, if it is this likely to be worth remembering.
const TITLE_WORTH_MIN: f32 = 0.3;

/// The title of a change.
pub(super) fn work_title(frame: &ClaimFrame<'_>) -> Option<String> {
    let lead = frame.leads.iter().find(|lead| !lead.title.is_empty());
    if let Some(lead) = lead {
        return Some(lead_title(lead));
    }
    let labelled = best(frame, |claim| claim.text.to_lowercase().contains("root cause") && is_title(claim));
    if let Some(claim) = labelled {
        return Some(sentence_title(&claim.text));
    }
    let done = |least: f32| {
        best(frame, |claim| {
            claim.kind == ClaimKind::Done
                && claim.worth >= least
                && is_title(claim)
                && !gates::speaks_to_reader(&claim.text)
        })
    };
    let cause = || best(frame, |claim| claim.kind == ClaimKind::Cause && is_title(claim));
    let other = || {
        best(frame, |claim| {
            is_title(claim)
                && own_title_score(claim) >= OTHER_TITLE_SCORE_MIN
                && behind_label(&sentence_title(&claim.text)).is_some()
                && !gates::speaks_to_reader(&claim.text)
        })
    };
    let title = |claim: &Claim| {
        let title = sentence_title(&claim.text);
        behind_label(&title).unwrap_or(title)
    };
    let requested = request_title(frame.request);
    // The only sentence is told below the request, rather than alone as a title.
    let lone = requested.clone().filter(|_| frame.details.len() == 1);
    lone.or_else(|| done(TITLE_WORTH_MIN).map(title))
        // The cause is over once the work is done; the narrative tells it.
        .or_else(|| report_title(&frame.report))
        .or_else(|| cause().map(title))
        .or(requested)
        .or_else(|| done(0.0).or_else(other).map(title))
        .or_else(|| task_title(frame))
}

/// The name of the task that a report opens with.
pub(super) fn task_title(frame: &ClaimFrame<'_>) -> Option<String> {
    let reported = |claim: &&Claim| claim.source == TextSource::FinalMessage && !claim.place.listed;
    let mut names = frame.details.iter().copied().filter(reported).filter_map(|claim| {
        task_name(&claim.text, claim.place.index as usize).filter(|_| !tells_status(&claim.text))
    });
    names.next().filter(|name| name.chars().count() <= TITLE_CHARS_MAX).map(capitalised)
}

/// The first item of a report that says what was done and stands alone, without the file in front of it.
fn report_title(report: &[&str]) -> Option<String> {
    report.iter().find_map(|item| {
        let bare = match item.split_once(": ") {
            Some((label, rest)) if label.starts_with('`') && label.ends_with('`') => rest,
            _ => item,
        };
        // The heading of a repaired fault.
        if bare.starts_with(report::FIXED_LABEL) && bare.chars().count() <= TITLE_CHARS_MAX {
            return Some(bare.trim_end_matches('.').to_owned());
        }
        // "Moved the cursor into the store: a; b": the list is told below it.
        let lead = bare.split_once(": ").map_or("", |(lead, _)| lead);
        let is_whole = ['`', '"'].iter().all(|mark| lead.matches(*mark).count().is_multiple_of(2));
        let leads = is_whole && gates::has_verb(lead) && content_words(lead).len() >= LEAD_WORDS_MIN;
        let title = sentence_title(if leads { lead } else { bare });
        let works = report::opens_with_work(&title) || (leads && report::is_passive(&title));
        let lower = format!(" {} ", title.to_lowercase());
        let points = POINTING.iter().any(|word| lower.contains(word));
        (works
            && !points
            && !gates::speaks_to_reader(&title)
            && reads_as_title(&title, bare)
            && !title.ends_with('…'))
        .then_some(title)
    })
}

/// Words that mean something in a sentence that introduces a list, if it is a title.
const LEAD_WORDS_MIN: usize = 3;

/// A sentence that neither says what was done nor why titles a change if it reads at least this well.
const OTHER_TITLE_SCORE_MIN: f32 = 0.35;

/// The title of a commit, pull request or plan. One that says only that a review was answered is completed by the
/// first statement of its body.
fn lead_title(lead: &Claim) -> String {
    let title = capitalised(&shorten(&lead.title, TITLE_CHARS_MAX));
    if is_clerical(&lead.title)
        && let Some(recorded) = recorded_statement(&lead.text)
    {
        return recorded;
    }
    if !is_vague(&lead.title) {
        return title;
    }
    let body = TextDocument::read(&lead.text);
    let first = body.sentences.iter().map(|sentence| sentence.text.trim_end_matches('.'));
    let mut first = first.filter(|text| content_words(text).len() >= 3 && !text.ends_with(':'));
    let completed = first.next().map(|first| format!("{title}: {}", lower_first(first)));
    completed.filter(|completed| completed.chars().count() <= COMPLETED_CHARS_MAX).unwrap_or(title)
}

/// Whether a subject names the act of writing something down, not what was written: "Add a learnings entry".
fn is_clerical(title: &str) -> bool {
    let lower = title.to_lowercase();
    let writes = ["add ", "update ", "document ", "record ", "capture ", "log ", "note "];
    let papers = ["learning", "insight", "lesson", "decision record", " adr", "gotcha", "memory"];
    writes.iter().any(|verb| lower.starts_with(verb)) && papers.iter().any(|paper| lower.contains(paper))
}

/// The first statement of a body that makes a title.
fn recorded_statement(body: &str) -> Option<String> {
    let document = TextDocument::read(body);
    let mut titles = document.sentences.iter().map(|sentence| sentence_title(&sentence.text));
    titles.find(|title| gates::stands_alone(title) && gates::has_verb(title) && !is_labelled(title))
}

/// Characters of a title that the first statement of its body completes. A longer one stays as it is.
const COMPLETED_CHARS_MAX: usize = TITLE_CHARS_MAX;

/// Words of subjects that name no part of the project.
#[rustfmt::skip]
const VAGUE_WORDS: &[&str] = &[
    "address", "addressed", "apply", "review", "reviews", "reviewer", "finding", "findings", "feedback", "comment", "comments",
    "remaining", "coderabbit", "copilot", "sonar", "sonarqube", "fix", "fixes", "fixed", "update", "updates", "updated", "change",
    "changes", "misc", "minor", "various", "small", "cleanup", "clean", "phase", "round", "more", "code", "issue", "issues", "some",
    "several", "final", "suggestions", "suggestion", "requested", "follow-up", "followup", "improvements", "pr", "bug", "bugs", "test",
    "tests", "lint", "security", "quality", "polish",
];

fn is_vague(title: &str) -> bool {
    let subject = title.split(" (").next().unwrap_or(title);
    let words = subject.split(|c: char| !(c.is_alphanumeric() || c == '-')).filter(|word| word.len() > 1);
    let mut told = words.map(str::to_lowercase).filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    told.all(|word| VAGUE_WORDS.contains(&word.as_str()) || content_words(&word).is_empty())
}

/// What a change did, for the account: its title, unless that is a cause.
pub(super) fn done_title(frame: &ClaimFrame<'_>) -> Option<String> {
    if frame.leads.iter().any(|lead| !lead.title.is_empty()) {
        return work_title(frame);
    }
    let done = best(frame, |claim| claim.kind == ClaimKind::Done && is_title(claim));
    request_title(frame.request).or_else(|| done.map(|claim| sentence_title(&claim.text)))
}

/// A sentence that reads worse than this as a title leaves its finding to the account. A cause, and the answer to a
/// question, may read worse.
const FINDING_TITLE_SCORE_MIN: f32 = 0.6;
const ANSWER_TITLE_SCORE_MIN: f32 = 0.3;

/// The sentence that titles a finding: its best one that stands alone, a cause first.
pub(super) fn finding_sentence<'c>(frame: &ClaimFrame<'c>) -> Option<&'c Claim> {
    let reads_well = |claim: &Claim, least: f32| is_title(claim) && own_title_score(claim) >= least;
    let cause = |claim: &Claim| {
        claim.kind == ClaimKind::Cause && claim.worth >= 0.6 && reads_well(claim, ANSWER_TITLE_SCORE_MIN)
    };
    let answers = frame.request.contains(['?', '？']);
    let least = if answers { ANSWER_TITLE_SCORE_MIN } else { FINDING_TITLE_SCORE_MIN };
    best(frame, cause).or_else(|| best(frame, |claim: &Claim| reads_well(claim, least)))
}

/// The title of a finding that this sentence titles; `None` if it is talk.
pub(super) fn finding_title(sentence: &Claim) -> Option<String> {
    without_talk(&sentence_title(&sentence.text))
}

/// The title up to the clause that goes on with the conversation: "The mirror has no cursor, so let's ask the
/// server" → "The mirror has no cursor". `None` if nothing that stands alone is left.
fn without_talk(title: &str) -> Option<String> {
    let is_talk = |text: &str| {
        let lower = format!(" {} ", text.to_lowercase());
        TALKING.iter().any(|phrase| lower.contains(phrase))
    };
    if !is_talk(title) {
        return Some(title.to_owned());
    }
    let ends = [", ", " — ", " – ", "; "].iter().flat_map(|mark| title.match_indices(mark));
    let heads = ends.map(|(end, _)| &title[..end]).filter(|head| !is_talk(head));
    let head = heads.max_by_key(|head| head.len())?;
    let stands = gates::stands_alone(head)
        && gates::has_verb(head)
        && gates::names_something(head)
        && gates::first_word(head) != "to";
    stands.then(|| head.to_owned())
}

/// The heading of a section of a memory file, if it states a lesson: "Partial indexes do not survive the export".
pub(super) fn lesson_title(heading: &str) -> Option<String> {
    let bare = match heading.split_once(": ") {
        Some((label, rest)) if label.split_whitespace().count() == 1 && !label.contains('`') => rest,
        _ => heading,
    };
    let asks = matches!(gates::first_word(bare).as_str(), "what" | "why" | "how" | "when" | "where");
    let states =
        content_words(bare).len() >= LESSON_WORDS_MIN && gates::has_verb(bare) && !gates::is_dangling(bare);
    (states && !asks && !is_order(bare) && !bare.ends_with([':', '…', '?'])).then(|| capitalised(bare))
}

/// Words that mean something in the heading of a lesson.
const LESSON_WORDS_MIN: usize = 4;

/// The fitting claim that makes the best title; the first of equals.
pub(super) fn best<'c>(frame: &ClaimFrame<'c>, fits: impl Fn(&Claim) -> bool) -> Option<&'c Claim> {
    let fitting = frame.details.iter().copied().filter(|claim| fits(claim));
    let scored = fitting.map(|claim| (own_title_score(claim), claim));
    let best = scored.fold(None, |best: Option<(f32, &'c Claim)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.map(|(_, claim)| claim)
}

fn own_title_score(claim: &Claim) -> f32 {
    title_score(claim, &sentence_title(&claim.text))
}

/// What a title loses by being one of several points.
pub(super) const LISTED_COST: f32 = 0.35;

/// How good a title the claim makes: its worth, less what a reader stumbles over.
pub(super) fn title_score(claim: &Claim, title: &str) -> f32 {
    let lower = format!(" {} ", title.to_lowercase());
    let first = gates::first_word(title);
    let chars = title.chars().count();
    let costs = [
        // "While that's safe, …": the statement comes late, or was cut off.
        (gates::opens_subordinate(title), 0.3),
        (title.starts_with('('), 0.3),
        (gates::speaks_to_reader(title), 0.4),
        (gates::is_mid_argument(title), 0.4),
        // A point of a list says one of several things.
        (claim.place.listed, LISTED_COST),
        ([" would ", " could ", " might "].iter().any(|word| lower.contains(word)), 0.15),
        (POINTING.iter().any(|word| lower.contains(word)), 0.15),
        (SEQUENCE.contains(&first.as_str()), 0.2),
        (chars < 35, 0.1),
        (chars > TITLE_CHARS_MAX || title.ends_with('…'), 0.1),
        (!gates::names_something(title), 0.1),
        (is_labelled(title), 0.2),
        (has_label(title), 0.15),
        (lower.starts_with(" the fix ") || lower.starts_with(" the failure"), 0.3),
    ];
    let cost: f32 = costs.iter().filter(|(holds, _)| *holds).map(|(_, cost)| cost).sum();
    let clear = STANDS_ALONE_WEIGHT * (claim.alone - STANDS_ALONE_MEAN);
    // The first sentence of a report says what the rest is about.
    let lead = if claim.place.index == 0 && !claim.place.listed { LEAD_BONUS } else { 0.0 };
    claim.worth + lead + clear - cost
}

/// What a title gains by being understood without its neighbours, and how likely a usual claim is so.
const STANDS_ALONE_WEIGHT: f32 = 0.4;
const STANDS_ALONE_MEAN: f32 = 0.6;

/// What a title gains by being the first sentence of its text.
const LEAD_BONUS: f32 = 0.25;

/// Words that point at something outside the title.
#[rustfmt::skip]
const POINTING: &[&str] = &[
    " this ", " that's ", " these ", " those ", " above ", " below ", " here ", " our ", " my ", " the same ",
    " earlier ", " just ",
];
/// First words of a step in a sequence.
const SEQUENCE: &[&str] = &["step", "first", "second", "third", "finally", "next", "now", "after", "before"];

/// Beginnings of a title that says what was done to something it does not name.
#[rustfmt::skip]
const SUBJECTLESS: &[&str] = &[
    "fixed by ", "caused by ", "changed to ", "moved to ", "renamed to ", "switched to ", "replaced with ", "replaced by ", "done by ", "solved by ", "before: ", "after: ", "before — ", "after — ", "just ", "builds ",
    "adds ", "creates ", "allows ", "makes ", "uses ", "shows ", "returns ", "displays ", "includes ", "handles ", "covers ",
    "provides ", "removes ", "updates ", "moves ", "replaces ", "extracts ", "normalizes ",
];

/// Phrases of a sentence that goes on with a conversation, which the reader of a title did not follow.
#[rustfmt::skip]
const TALKING: &[&str] = &[
    " let's ", " is right ", " are right ", " was right ", " notice the ", " notice that ", " somewhat ", " odd one out ", " either way ",
    " doesn't hurt ", " in this session ", " not quite ", " that pattern ", " we need ", " is a single-line ", " reason: ", " a new `", " can now build ", " as mentioned ",
    " as noted ", " as discussed ", " same way ", " the above ", " the remaining ", " this time ", " for you ", " proposal: ", " these into ",
];
fn is_title(claim: &Claim) -> bool {
    makes_title(claim, &claim.text, &sentence_title(&claim.text))
}

/// Whether a title made of a sentence of a claim says something by itself.
pub(super) fn makes_title(claim: &Claim, sentence: &str, title: &str) -> bool {
    if matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact | ClaimKind::Finished) {
        return false;
    }
    let row = sentence.split(" — ").next().is_some_and(|cell| cell.split_whitespace().count() < 2);
    gates::stands_alone(sentence)
        && (gates::has_verb(title) || is_labelled_clause(&claim.text))
        && !row
        && reads_as_title(title, sentence)
}

/// "The problem is that two readers share a cursor": behind such a label stands a clause, whatever its verb.
fn is_labelled_clause(text: &str) -> bool {
    text.strip_suffix(behind_labels(text)).is_some_and(|label| label.ends_with(" that "))
}

/// Whether a title made of a sentence says something by itself.
fn reads_as_title(title: &str, sentence: &str) -> bool {
    gates::stands_alone(title)
        && (gates::names_something(title) || content_words(title).len() >= PLAIN_TITLE_WORDS_MIN)
        && !is_labelled(title)
        && !is_labelled_step(title)
        && !gates::has_unbound_pronoun(title)
        && !ends_half(title, sentence)
        && !SUBJECTLESS.iter().any(|start| title.to_lowercase().starts_with(start))
        && !gates::is_passing_trouble(title)
        && !tells_status(title)
        && !format!(" {title} ").contains(" I ")
        && title.matches(" — ").count() < 2
        && sentence.chars().count() <= 280
}

/// "Cloud console — Create a client": a step that somebody is to take, behind the place where.
fn is_labelled_step(title: &str) -> bool {
    let parts = title.split_once(" — ").or_else(|| title.split_once(": "));
    parts.is_some_and(|(head, rest)| {
        let orders = gates::opens_with_step(rest) || is_order(rest);
        !gates::has_verb(head) && orders && rest.starts_with(char::is_uppercase)
    })
}

/// "Research: Completed": how far the work is.
fn tells_status(title: &str) -> bool {
    let lower = title.to_lowercase();
    [": complete", ": passed", ": done", ": pending", ": in progress"]
        .iter()
        .any(|state| lower.contains(state))
}

/// Whether a title that leaves out the end of its sentence ends in a clause that led to it: "`list()`: When
/// the cache is empty".
fn ends_half(title: &str, text: &str) -> bool {
    let cut = title.chars().count() + 4 < text.chars().count();
    // What stands in brackets is not the clause.
    let title = without_brackets(title);
    let clauses = title.rsplit([',', ':', '—', '–', '(']);
    let last = clauses.into_iter().map(str::trim).find(|clause| !clause.is_empty()).unwrap_or(&title);
    let late = |word: &str| matches!(word, "if" | "when" | "while" | "unless" | "once");
    let opens = last.split_whitespace().take(3).any(late) || gates::opens_subordinate(last);
    cut && opens
}

/// "Error cases — invalid key, self-share": a label and its members.
pub(super) fn is_labelled(title: &str) -> bool {
    let parts = title.split_once(": ").or_else(|| title.split_once(" — "));
    parts.is_some_and(|(head, rest)| {
        // A colon inside code is part of the code.
        let is_code = !head.matches('`').count().is_multiple_of(2);
        !is_code && head.split_whitespace().count() <= 5 && !gates::has_verb(head) && !gates::has_verb(rest)
    })
}

/// "Migration: existing users keep their keys": a label and a statement.
fn has_label(title: &str) -> bool {
    title.split_once(": ").is_some_and(|(head, _)| {
        head.split_whitespace().count() <= LABEL_WORDS_MAX && !head.contains('`') && !gates::has_verb(head)
    })
}

const LABEL_WORDS_MAX: usize = 5;

/// The statement behind the label of a title, or the title if it has none. `None` if no statement begins behind it.
fn behind_label(title: &str) -> Option<String> {
    let Some((_, rest)) = title.split_once(": ").filter(|_| has_label(title)) else {
        return Some(title.to_owned());
    };
    let opens = matches!(gates::first_word(rest).as_str(), "the" | "a" | "an" | "each" | "every")
        || rest.starts_with('`');
    (opens && gates::stands_alone(rest) && gates::has_verb(rest)).then(|| capitalised(rest))
}

/// Labels in front of a cause.
#[rustfmt::skip]
const LABELS: &[&str] = &[
    "key rule: ", "key learning: ", "key learnings: ", "lesson: ", "rule: ",
    "root cause found: ", "cause found: ", "found the cause: ", "found it: ", "ursache: ", "causa: ", "cause : ",
    "root cause: ", "the root cause: ", "root cause — ", "cause: ", "fix: ", "fixed: ", "problem: ", "issue: ",
    "the issue: ", "the problem: ", "the fix: ", "note: ", "important: ", "result: ", "solution: ", "finding: ",
    "key insight: ", "key finding: ", "bottom line: ", "short answer: ", "tl;dr: ", "summary: ", "done: ",
    "the root cause is that ", "the root cause was that ", "the root cause is ", "the root cause was ", "turns out ", "it turns out ", "the real issue is ",
    "the actual issue is ", "the issue is that ", "the problem is that ", "the issue was that ",
    "the answer is: because ", "the answer is: ", "the answer: ", "the answer is that ", "the short answer: ",
    "the issue is clear from the docs: ", "the issue is clear: ", "the problem is clear: ", "in short: ",
    "the issue is ", "the problem is ", "the issue was ", "the problem was ", "the fix is to ", "the fix was to ",
    "the fix is simple: ", "the fix was simple: ", "the simplest fix: ",
];

/// The statement behind the labels of a cause: "Root cause: the cursor is stale" → "The cursor is stale".
pub(super) fn without_cause_label(text: &str) -> String {
    capitalised(behind_labels(text))
}

pub(super) fn behind_labels(text: &str) -> &str {
    let mut rest = text.trim();
    // "Bug 2 — The cursor is stale".
    if let Some((head, numbered)) = rest.split_once(" — ").or_else(|| rest.split_once(": "))
        && report::is_numbered(head)
        && numbered.split_whitespace().count() >= LABEL_WORDS_MAX
    {
        rest = numbered.trim_start();
    }
    for _ in 0..2 {
        let lower = rest.to_lowercase();
        match LABELS.iter().find(|label| lower.starts_with(**label)) {
            Some(label) => rest = rest.get(label.len()..).unwrap_or(rest).trim_start(),
            None => break,
        }
    }
    // "The fix was switching to the other reader".
    let fixes = ["The fix was ", "The fix is "].iter().find_map(|label| rest.strip_prefix(label));
    fixes.filter(|fix| gates::first_word(fix).ends_with("ing")).unwrap_or(rest)
}

/// A sentence as a title: the label off, cut at a clause.
pub(super) fn sentence_title(text: &str) -> String {
    let rest = behind_labels(text);
    let first = crate::sentences::split(rest).first().copied().unwrap_or(rest);
    // "We moved the table" says that it was moved.
    let bare = without_speaker(first);
    let first = if report::opens_with_work(bare) && !bare.contains(" now ") { bare } else { first };
    headline(&without_line_numbers(first), Language::detect(rest)).trim_end_matches('.').to_owned()
}

/// Requests that are questions, whatever their punctuation.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "do you", "can you", "can we", "could you", "could we", "would you", "will you", "is there", "are there",
    "what", "why", "how", "when", "where", "who", "which",
];

/// Verbs by which a request asks for a change. Looking, trying and telling change nothing.
#[rustfmt::skip]
const WORK_ORDERS: &[&str] = &[
    "add", "fix", "create", "update", "remove", "delete", "write", "implement", "make", "rename", "move", "put",
    "set", "change", "replace", "refactor", "convert", "install", "build", "generate", "use", "apply", "resolve",
    "address", "clean", "split", "merge", "extract", "introduce", "support", "show", "hide", "enable", "disable",
    "allow", "prevent", "increase", "reduce", "improve", "simplify", "document", "bump", "migrate", "port", "drop",
];

/// Whether a title orders a change.
pub(super) fn is_order(title: &str) -> bool {
    WORK_ORDERS.contains(&gates::first_word(title).as_str())
}

/// The request, if it reads as a statement of work: "Add a filter to the list".
fn request_title(request: &str) -> Option<String> {
    let first = crate::sentences::split(request).first().map(|s| (*s).to_owned()).unwrap_or_default();
    let lower = first.to_lowercase();
    let plain = !first.contains(['?', ':'])
        && !gates::is_dangling(&first)
        && gates::first_word(&first) != "something"
        && !names_cause(&first, Language::English)
        && !ASKING.iter().any(|start| lower.starts_with(start));
    let words = content_words(&first).len();
    let wishes = first.contains(" should ") && !lower.contains("n't ") && !lower.contains(" not work");
    let asks = is_order(&first) || wishes;
    let concrete = words >= 5 || gates::names_something(&first);
    let fits = plain && asks && concrete && (3..=16).contains(&words) && first.chars().count() <= 140;
    fits.then(|| sentence_title(&crate::user_claims::as_statement(&first)))
}
