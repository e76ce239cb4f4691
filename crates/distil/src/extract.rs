//! Extraction: the claims of one episode, from every text in it by its source.

use std::collections::{BTreeSet, HashSet};

use claude_mem_core::episode::Episode;
use claude_mem_core::memory::{NewSummary, Origin};
use claude_mem_core::source::{TextSource, Voice};
use claude_mem_core::vocabulary::Vocabulary;

use crate::acts;
use crate::agent_claims::{self, agent_claims};
use crate::answers::answer_claims;
use crate::carry::Carry;
use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::cues::Language;
use crate::decisions::{self, TurnTexts};
use crate::failures::OvercomeFailure;
use crate::gates;
use crate::named_causes;
use crate::obstacles::obstacle_claims;
use crate::outputs;
use crate::pitfalls::pitfall_claims;
use crate::plans;
use crate::prompts;
use crate::pull_requests;
use crate::remedies::remedy_claims;
use crate::report;
use crate::speech::SpokenText;
use crate::summary;
use crate::tasks::task_claims;
use crate::text::{clip, content_words, shared};
use crate::titles::shorten;
use crate::typed::typed_part;
use crate::user_claims::{offered_options, picked_option, user_claims};
use crate::work_log::WorkLog;

/// Maximum claims of one episode. More than this in one turn is a log, not memory.
const EPISODE_CLAIMS_MAX: usize = 80;
const REQUEST_CHARS_MAX: usize = 300;
/// The share of a title's words that the user must have said for it to be the user's.
const USERS_TITLE_SHARE: f32 = 0.6;
/// An answer of so few words settles what the agent asked.
const TERSE_ANSWER_WORDS_MAX: usize = 6;
/// The share of a sentence's word triples in a fetched page that makes it the page's.
const OUTSIDE_SHARE: f32 = 0.5;

/// Extracts the claims of one episode, and its summary if the turn is finished.
pub fn extract_claims(
    episode: &Episode,
    carry: &mut Carry,
    vocabulary: &Vocabulary,
) -> (EpisodeClaims, Option<NewSummary>) {
    let prompt = episode.prompt.as_ref();
    let typed = prompt.filter(|prompt| prompt.source.is_user());
    let spoken = typed.map(|prompt| prompts::spoken(&prompt.text)).unwrap_or_default();
    let said = SpokenText::read(&typed_part(&spoken));
    let answer = episode.final_message.as_ref().map_or("", |message| message.text.as_str());
    let answered = SpokenText::read(answer);
    carry.open_turn(prompt.map(|prompt| prompt.number), &said, &spoken);

    let mut groups = GroupCounter::default();
    let mut claims: Vec<Claim> = Vec::new();
    if !carry.same_turn {
        claims.extend(prompt_claims(episode, &spoken, carry, groups.next()));
    }
    claims.extend(text_claims(episode, &mut groups));
    let log = WorkLog::read(episode, carry, groups.next());
    claims.extend(step_claims(episode, &mut groups));
    claims.extend(task_claims(episode, carry, groups.next()));
    if let Some(message) = &episode.final_message {
        claims.extend(agent_claims(TextSource::FinalMessage, &message.text, message.at, groups.next()));
        carry.options = offered_options(&message.text);
    }
    // The name of a slash command is part of the request, but not of what the user stated.
    let words = prompts::without_command(&spoken);
    let stated = (words.len() < spoken.len()).then(|| SpokenText::read(&typed_part(words)));
    settle(episode, stated.as_ref().unwrap_or(&said), &answered, &log, carry, &mut claims);
    let refusals = obstacle_claims(episode, &log.obstacles, groups.next());
    // A refused commit that the agent explained is told once.
    let is_told = |over: &&OvercomeFailure| over.failure.program == "git" && !refusals.is_empty();
    let overcome = log.overcome.iter().filter(|over| !is_told(over));
    let remedies = remedy_claims(episode, overcome, groups.next());
    // A sentence that a remedy quotes is no finding of its own.
    if log.edited.is_empty() {
        let is_finding =
            |claim: &Claim| matches!(claim.kind, ClaimKind::Fact | ClaimKind::Cause | ClaimKind::Done);
        let is_quoted = |claim: &Claim| remedies.iter().any(|remedy| remedy.text.contains(&claim.text));
        claims.retain(|claim| !(is_finding(claim) && is_quoted(claim)));
    }
    let told: Vec<Claim> = refusals.into_iter().chain(remedies).collect();
    let pitfalls = pitfall_claims(episode, &told, groups.next());
    claims.extend(told.into_iter().chain(pitfalls));
    claims.extend(log.claims);
    mark_outside(episode, &mut claims);
    shorten_paths(&episode.root, &mut claims);
    claims.sort_by_key(|claim| claim.at);
    remove_repeated(&mut claims);
    claims.truncate(EPISODE_CLAIMS_MAX);

    let mut outcome = log.outcome;
    if answer_says_committed(answer) {
        outcome.committed = true;
        outcome.uncommitted.clear();
        outcome.refused = None;
    }
    outcome.report = report::report_items(episode);
    outcome.unanswered = is_unanswered(episode);
    outcome.next = report::next_command(answer, episode.ended_at());
    outcome.merged.extend(pull_requests::stated_merged(&spoken));
    outcome.merged.extend(agent_texts(episode).flat_map(pull_requests::stated_merged));
    outcome.stated_done = prompts::stated_done(&said);
    outcome.asked = if carry.same_turn { String::new() } else { prompts::asked(&spoken, &said) };
    let extracted = EpisodeClaims {
        turn: prompt.map_or(0, |prompt| prompt.number),
        at: episode.ended_at(),
        request: request(&said),
        asks: said.own().any(|statement| statement.question),
        takes_back: takes_back(episode),
        objects: prompts::objects(&spoken),
        claims,
        edited: log.edited,
        read: log.read,
        runs: log.runs,
        outcome,
        vocabulary: (*vocabulary != Vocabulary::default()).then(|| Box::new(vocabulary.clone())),
    };
    let summary = if episode.finished { summary::summarize_turn(&extracted, &said, carry) } else { None };
    (extracted, summary)
}

/// What the agent said during the turn and at its end.
fn agent_texts(episode: &Episode) -> impl Iterator<Item = &str> {
    let messages = episode.texts.iter().filter(|text| text.source == TextSource::Message);
    let last = episode.final_message.iter().map(|message| message.text.as_str());
    messages.map(|text| text.text.as_str()).chain(last)
}

/// Whether the agent did not come to the end of its turn. Clients that report no messages only say that it ended.
fn is_unanswered(episode: &Episode) -> bool {
    let spoke = episode.texts.iter().any(|text| text.source == TextSource::Message);
    episode.prompt.is_some() && episode.final_message.is_none() && (spoke || !episode.finished)
}

/// Whether the agent reports a commit that the record does not show, or that a wrapper called failed.
fn answer_says_committed(answer: &str) -> bool {
    let lower = answer.to_lowercase();
    let phrases = [
        "commit succeeded",
        "commit went through",
        "commit landed",
        "in commit `",
        "committed as",
        "committed and pushed",
        "already committed",
        "are committed",
        "is committed",
        "committed in ",
    ];
    // A report of several parts may say both.
    let waits = ["awaiting commit", "not committed", "uncommitted", "retry the commit", "commit yourself"];
    let said = lower.starts_with("committed") || phrases.iter().any(|phrase| lower.contains(phrase));
    said && !waits.iter().any(|phrase| lower.contains(phrase))
}

/// Whether the agent's first words of the turn take back what it said before.
fn takes_back(episode: &Episode) -> bool {
    let mut spoken = episode.texts.iter().filter(|text| text.source == TextSource::Message);
    let first = spoken.next().map(|text| text.text.as_str());
    let last = episode.final_message.as_ref().map(|message| message.text.as_str());
    first.or(last).is_some_and(agent_claims::takes_back)
}

/// Characters of the chosen option in a title.
const OPTION_TITLE_CHARS: usize = 110;

/// Numbers the texts of an episode.
#[derive(Default)]
struct GroupCounter(u32);

impl GroupCounter {
    const fn next(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

fn prompt_claims(episode: &Episode, spoken: &str, carry: &Carry, group: u32) -> Vec<Claim> {
    let Some(prompt) = &episode.prompt else {
        return Vec::new();
    };
    if prompt.source == TextSource::Plan {
        return plans::plan_claims(&prompt.text, prompt.at, group);
    }
    if !prompt.source.is_user() {
        return Vec::new();
    }
    if let Some(option) = picked_option(spoken, &carry.options)
        && content_words(option).len() >= 3
    {
        let asked = &carry.last_words.question;
        let text = if asked.is_empty() {
            format!("Of the options offered, the user chose “{option}”.")
        } else {
            format!("Asked “{asked}”, the user chose “{option}”.")
        };
        let first = crate::sentences::split(option).first().map_or(option, |first| *first);
        let title = shorten(first.trim_end_matches('.'), OPTION_TITLE_CHARS);
        let mut claim = Claim::new(ClaimKind::Choice, prompt.source, text, prompt.at).titled(title);
        claim.group = group;
        claim.worth = 0.6;
        return vec![claim];
    }
    user_claims(prompt.source, spoken, prompt.at, group)
}

fn text_claims(episode: &Episode, groups: &mut GroupCounter) -> Vec<Claim> {
    let mut claims = Vec::new();
    for text in &episode.texts {
        let group = groups.next();
        claims.extend(match (text.source, text.source.voice()) {
            (TextSource::Plan, _) => plans::plan_claims(&text.text, text.at, group),
            (_, Voice::User) => user_claims(text.source, &text.text, text.at, group),
            (
                TextSource::Message
                | TextSource::FinalMessage
                | TextSource::Recap
                | TextSource::CompactSummary
                | TextSource::SubagentReport,
                _,
            ) => agent_claims(text.source, &text.text, text.at, group),
            _ => Vec::new(),
        });
    }
    claims
}

fn step_claims(episode: &Episode, groups: &mut GroupCounter) -> Vec<Claim> {
    let mut claims = Vec::new();
    for step in &episode.steps {
        let group = groups.next();
        claims.extend(answer_claims(step, group));
        if let Some(plan) = plans::plan_of_step(step) {
            claims.extend(plans::plan_claims(plan, step.at, group));
        }
    }
    claims
}

/// Adds what the conversation settled in a turn without work: the user's rule with the agent's restatement.
fn settle(
    episode: &Episode,
    said: &SpokenText,
    answered: &SpokenText,
    log: &WorkLog,
    carry: &mut Carry,
    claims: &mut Vec<Claim>,
) {
    let at = episode.ended_at();
    let turn = TurnTexts { said, answered, at, files: &log.edited };
    let recapped = decisions::has_recap(&turn, carry);
    let restated = decisions::is_restated(&turn, carry);
    let decided = decisions::decide(&turn, carry);
    carry.close_turn(answered, &decided);
    let worked = !log.edited.is_empty() || log.claims.iter().any(|claim| claim.kind == ClaimKind::Commit);
    let of_user =
        |claim: &Claim| matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact);
    let stated = claims.iter().any(|claim| matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice));
    carry.worked |= worked;
    if worked || !(stated || ((recapped || restated) && !carry.worked)) {
        return;
    }
    let spoken: BTreeSet<String> = said.own().flat_map(|statement| statement.words.iter().cloned()).collect();
    let is_terse = spoken.len() <= TERSE_ANSWER_WORDS_MAX;
    for mut observation in decided {
        // Only the user's own sentence is the user's. What the agent made of a long musing is not settled.
        let title = content_words(&observation.text.title);
        let is_users = shared(&title, &spoken) as f32 >= USERS_TITLE_SHARE * title.len().max(1) as f32;
        if !(is_users || recapped || (restated && is_terse)) {
            continue;
        }
        // What the agent found out after an objection is a cause, not a decision.
        if !is_users
            && named_causes::names_cause(&observation.text.title, Language::detect(&observation.text.title))
        {
            continue;
        }
        if !is_users {
            observation.origin = Origin::Agent;
        }
        if gates::is_commentary(&observation.text.title) || !gates::is_rule_title(&observation.text.title) {
            continue;
        }
        let words = content_words(&format!("{} {}", observation.text.title, observation.text.narrative));
        let told = |claim: &Claim| {
            let own = content_words(&claim.text);
            let voices = of_user(claim) || claim.source == TextSource::FinalMessage;
            voices && claim.kind != ClaimKind::Open && shared(&own, &words) * 10 >= own.len() * 8
        };
        claims.retain(|claim| !told(claim));
        let source =
            if observation.origin == Origin::User { TextSource::Prompt } else { TextSource::FinalMessage };
        let mut claim = Claim::new(ClaimKind::Settled, source, observation.text.narrative.clone(), at)
            .titled(observation.text.title.clone());
        claim.worth = if recapped && observation.text.narrative.contains("Agent: “") { 0.9 } else { 0.7 };
        claim.composed = Some(Box::new(observation));
        claims.push(claim);
    }
}

/// Marks the claims whose words come from a page that was fetched in this episode.
fn mark_outside(episode: &Episode, claims: &mut [Claim]) {
    let foreign = |tool: &str| {
        let lower = tool.to_lowercase();
        lower.starts_with("web") || lower.starts_with("mcp__") || lower.contains("web_")
    };
    let steps = episode.steps.iter().filter(|step| foreign(&step.tool) && !acts::is_ours(&step.tool));
    let pages: HashSet<[String; 3]> =
        steps.flat_map(|step| word_triples(&outputs::text(&step.output))).collect();
    if pages.is_empty() {
        return;
    }
    for claim in claims.iter_mut().filter(|claim| claim.source.voice() != Voice::User) {
        let is_outside = |text: &str| {
            let own = word_triples(text);
            let known = own.iter().filter(|triple| pages.contains(*triple)).count();
            known as f32 >= OUTSIDE_SHARE * own.len().max(1) as f32
        };
        claim.outside = is_outside(&claim.text) || is_outside(&claim.block);
    }
}

/// Makes paths below the project's root relative to it, as files are named everywhere else.
fn shorten_paths(root: &str, claims: &mut [Claim]) {
    let root = format!("{}/", root.trim_end_matches('/'));
    if root.len() < ROOT_BYTES_MIN {
        return;
    }
    for claim in claims {
        let texts =
            [&mut claim.title, &mut claim.text, &mut claim.before, &mut claim.after, &mut claim.block];
        for text in texts {
            if text.contains(&root) {
                *text = text.replace(&root, "");
            }
        }
    }
}

/// A root that is shorter than this, such as `/`, stands in other paths too.
const ROOT_BYTES_MIN: usize = 4;

/// All runs of three words, lower-cased.
fn word_triples(text: &str) -> Vec<[String; 3]> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(3).map(|run| [run[0].clone(), run[1].clone(), run[2].clone()]).collect()
}

/// The same claim twice in one episode is one.
fn remove_repeated(claims: &mut Vec<Claim>) {
    let mut seen = BTreeSet::new();
    claims.retain(|claim| seen.insert(claim.key.clone()));
}

/// What the user asked for, in one line.
fn request(said: &SpokenText) -> String {
    if said.is_bare() {
        return String::new();
    }
    let text: Vec<&str> = said.own().take(3).map(|statement| statement.text.as_str()).collect();
    clip(&prompts::without_pictures(&text.join(" ")), REQUEST_CHARS_MAX)
}
