//! What a session was for: its plan, its first request that says it, or the work that was done.

use claude_mem_core::memory::ConsolidatedObservation;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::gates;
use crate::prompts;
use crate::sentences;
use crate::text::{capitalised, clip, content_words, without_openers};
use crate::user_claims::as_statement;
use crate::verbs::has_verb;

use super::account_line::LINE_CHARS_MAX;

const PURPOSE_CHARS_MAX: usize = 240;
/// A request of fewer words that mean something does not say what a session is for.
const PURPOSE_WORDS_MIN: usize = 3;

/// What the session was for: the plan's title, else the first request that says it, else the first commit.
pub(super) fn purpose<'c>(
    episodes: &[&'c EpisodeClaims],
    claims: &[&Claim],
    observations: &[ConsolidatedObservation],
) -> String {
    let plan = claims.iter().find(|claim| claim.kind == ClaimKind::Plan && claim.source == TextSource::Plan);
    let first = episodes.first().map(|episode| episode.turn);
    if let Some(plan) = plan
        && episodes
            .iter()
            .any(|episode| Some(episode.turn) == first && episode.claims.iter().any(|c| c.key == plan.key))
    {
        return clip(&plan.title, LINE_CHARS_MAX);
    }
    // Episodes of older versions know only the request.
    let asked = |episode: &&'c EpisodeClaims| {
        if episode.outcome.asked.is_empty() {
            episode.request.as_str()
        } else {
            episode.outcome.asked.as_str()
        }
    };
    let requests = || episodes.iter().map(asked);
    let asked = requests().find(|request| says_purpose(request)).map(str::to_owned);
    // A session of nothing but "resume" and "commit" was for what it committed, changed or found out.
    let is_work = |claim: &&&Claim| {
        matches!(claim.kind, ClaimKind::Commit | ClaimKind::PullRequest)
            && !claim.title.to_lowercase().contains("todo")
    };
    let committed = || {
        let title = &claims.iter().find(is_work)?.title;
        Some(title.rsplit_once(" (PR #").map_or(title.as_str(), |(title, _)| title).to_owned())
    };
    let made = || observations.first().map(|made| made.observation.text.title.clone());
    let reported = || episodes.iter().flat_map(|episode| &episode.outcome.report).next().cloned();
    let any = || requests().find(|request| !request.is_empty()).map(str::to_owned);
    let plain = || any().filter(|request| !is_remark(request) && content_words(request).len() > 1);
    // A question, or a wish that points at something, is not what a session with commits was for.
    let asked = match asked {
        Some(asked) if is_unclear(&asked) => committed().or(Some(asked)),
        asked => asked,
    };
    let purpose = asked
        .or_else(committed)
        .or_else(plain)
        .or_else(made)
        .or_else(any)
        .or_else(reported)
        .unwrap_or_default();
    let purpose = capitalised(&without_openers(without_command(&purpose)));
    let whole = sentences::join_fitting(sentences::split(&purpose).into_iter(), PURPOSE_CHARS_MAX);
    if whole.is_empty() { clip(&purpose, PURPOSE_CHARS_MAX) } else { whole }
}

/// What the last turn was asked for. "Go on" asks for what the turn before it did not do. `None` if the request only
/// steers the conversation or puts work away.
pub(super) fn requested_work(episodes: &[&EpisodeClaims]) -> Option<String> {
    let (last, earlier) = episodes.split_last()?;
    let asked = bare_request(&last.outcome.asked);
    let first = gates::first_word(&asked);
    if asked.is_empty() || BOOKKEEPING.contains(&first.as_str()) {
        return None;
    }
    let assents = STEERING.contains(&first.as_str()) || ASSENTS.contains(&first.as_str());
    let assents = assents || first.chars().all(|c| c.is_ascii_digit());
    if !assents {
        return told_work(&asked);
    }
    let undone = |episode: &&&EpisodeClaims| episode.outcome.unanswered || episode.edited.is_empty();
    let open = earlier.iter().rev().take_while(undone);
    open.filter(|episode| !episode.outcome.asked.is_empty())
        .find_map(|episode| told_work(&bare_request(&episode.outcome.asked)))
}

/// A request as the name of its work, if it names any.
fn told_work(request: &str) -> Option<String> {
    let is_work = content_words(request).len() >= PURPOSE_WORDS_MIN || is_command(request);
    let asks = request.ends_with('?') && !is_polite_order(request);
    let orders = is_command(request) || prompts::is_asking(request);
    (is_work && orders && !asks && !is_remark(request))
        .then(|| capitalised(request.trim_end_matches(['.', '?'])))
}

/// A request without the words by which people begin: "ok now please", "can we maybe".
fn bare_request(request: &str) -> String {
    if is_command(request) {
        return request.to_owned();
    }
    let mut rest = without_openers(without_command(request));
    loop {
        let first = gates::first_word(&rest);
        let shorter = match rest.split_once(char::is_whitespace) {
            Some((_, shorter)) if BEGINNINGS.contains(&first.as_str()) => shorter.trim_start().to_owned(),
            _ => return as_statement(&rest),
        };
        rest = shorter;
    }
}

/// Words before a request that say nothing.
const BEGINNINGS: &[&str] =
    &["ok", "okay", "now", "so", "and", "also", "then", "alright", "great", "cool", "please"];
/// First words of requests that agree with what was proposed.
const ASSENTS: &[&str] = &["yeah", "yep", "sure", "right", "perfect", "sounds", "go", "lgtm"];
/// First words of requests that only put work away.
const BOOKKEEPING: &[&str] = &["commit", "push", "pull", "merge", "merged", "stop", "exit", "back"];

/// Whether a request is a question, or points at something that it does not name.
fn is_unclear(request: &str) -> bool {
    let lower = request.to_lowercase();
    let points = [
        "something like this",
        "like this one",
        "like that",
        "the following:",
        "see below",
        "as above",
        "read this",
        "look at this",
        "check this",
    ];
    // "Why is it slow? Make it faster." asks for work in the end.
    let asks = sentences::split(request).last().is_some_and(|last| last.trim_end().ends_with('?'));
    (asks && !is_polite_order(request))
        || is_publishing(request)
        || points.iter().any(|phrase| lower.contains(phrase))
}

/// "Open a pull request": what the session is for is what it holds.
fn is_publishing(request: &str) -> bool {
    let order = format!("{} ", as_statement(&without_openers(request)).to_lowercase());
    matches!(gates::first_word(&order).as_str(), "create" | "open" | "make" | "raise")
        && [" pr ", " pr,", " pull request"].iter().any(|name| order.contains(name))
}

/// "Can you fix the parser?": an order in the form of a question.
fn is_polite_order(request: &str) -> bool {
    let lower = without_openers(request).to_lowercase();
    let last = sentences::split(&lower).last().map_or("", |last| last.trim()).to_owned();
    ["can you ", "could you ", "can we ", "could we ", "would you ", "will you ", "please "].iter().any(
        |polite| {
            last.starts_with(polite)
                || [", ", "- "].iter().any(|mark| last.contains(&format!("{mark}{polite}")))
        },
    )
}

/// First words of requests that only steer the conversation or the branch.
#[rustfmt::skip]
const STEERING: &[&str] = &[
    "switch", "checkout", "resume", "continue", "proceed", "commit", "push", "pull", "merge", "rebase", "go", "get",
    "back", "merged", "yes", "no", "start", "do", "retry", "try", "run", "rerun", "again", "done", "clear", "compact", "stop",
];

/// Whether a request says what the session is for.
fn says_purpose(request: &str) -> bool {
    if is_command(request) {
        return true;
    }
    let request = without_openers(without_command(request));
    let first = gates::first_word(&request);
    // "I made some changes, can you commit everything": the work was something else.
    let steers = |sentence: &&str| {
        let order = as_statement(sentence);
        STEERING.contains(&gates::first_word(&order).as_str())
            && content_words(&order).len() < PURPOSE_WORDS_MIN
    };
    content_words(&request).len() >= PURPOSE_WORDS_MIN
        && !sentences::split(&request).last().is_some_and(steers)
        && !STEERING.contains(&first.as_str())
        && !is_remark(&request)
}

/// Whether a request picks an option or remarks on what is there.
fn is_remark(request: &str) -> bool {
    let first = gates::first_word(request);
    first.chars().all(|c| c.is_ascii_digit()) || REMARKS.contains(&first.as_str())
}

/// First words of remarks on what is there already; what they are for only the work tells.
#[rustfmt::skip]
const REMARKS: &[&str] = &[
    "this", "that", "that's", "thats", "there", "there's", "theres", "these", "those", "some", "it", "its", "it's", "still", "looks", "seems",
    "thanks", "great", "nice", "good", "hmm", "wait", "sorry", "same", "they", "now", "while", "all",
];

/// "/release 1.2": a slash command with its argument.
fn is_command(request: &str) -> bool {
    let name = request.strip_prefix('/').and_then(|rest| rest.split_once(' '));
    name.is_some_and(|(name, argument)| !name.contains('/') && !argument.is_empty() && !has_verb(argument))
}

/// The words after a slash command.
fn without_command(request: &str) -> &str {
    match request.trim().strip_prefix('/').and_then(|rest| rest.split_once(' ')) {
        // "/review the last release": without a verb of its own, the command is part of the sentence.
        Some((command, rest)) if !command.contains('/') && has_verb(rest) => rest.trim(),
        _ => request.trim(),
    }
}
