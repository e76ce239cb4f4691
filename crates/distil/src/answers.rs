//! Choices that the user made by answering a question tool, with the question and the option's own text.

use claude_mem_core::episode::{AnsweredQuestion, EpisodeStep};
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::sentences;
use crate::text::{capitalised, clip, content_words, lower_first, one_line};
use crate::titles::shorten;
use crate::user_claims::user_claims;

/// Words of questions about the process, whose answers mean nothing later.
#[rustfmt::skip]
const PROCESS_WORDS: &[&str] = &[
    "proceed", "continue", "next step", "what next", "what would you like", "would you like me", "ready to", "want me to",
    "should i", "shall i", "commit", "push", "discuss", "where should i write", "how would you like",
    "which todo", "work on", "start with", "look good", "looks good", "move on", "next area", "anything else",
    "which areas", "approve", "do you want to", "more questions", "selected", "create context", "what now",
];
const PROCESS_HEADERS: &[&str] =
    &["next", "next step", "action", "continue", "proceed", "todo", "confirm", "ready"];
const PROCESS_LABELS: &[&str] =
    &["you decide", "next area", "continue", "proceed", "yes", "no", "skip", "other"];

/// Characters of a typed answer, of the chosen option's description, and of the answer in a title.
const ANSWER_CHARS_MAX: usize = 600;
const DESCRIPTION_CHARS_MAX: usize = 240;
const TITLE_ANSWER_CHARS: usize = 90;
/// Words of questions that do not say what they are about, without their endings.
#[rustfmt::skip]
const VAGUE_QUESTION: &[&str] = &[
    "fit", "best", "closest", "want", "approach", "prefer", "option", "sound", "choice", "work", "based", "tradeoff", "should", "use",
    "direction", "right", "better", "choose", "pick", "would",
];
/// Characters of a choice that is told with the description of its option.
const TOLD_CHARS_MAX: usize = 300;

/// Extracts one claim per answered question that is about the work.
pub(crate) fn answer_claims(step: &EpisodeStep, group: u32) -> Vec<Claim> {
    let mut claims = Vec::new();
    for question in step.answered_questions() {
        let (asked, answer) = (one_line(question.question), one_line(question.answer));
        let header = one_line(question.header);
        if is_process(&asked, &header, &answer) {
            // What the user typed beside the options may still be a rule.
            if answer.split_whitespace().count() > 6 {
                claims.extend(user_claims(TextSource::Answer, &answer, step.at, group));
            }
            continue;
        }
        if let Some(mut claim) = choice_claim(step, &question, &asked, &header, &answer) {
            claim.group = group;
            claims.push(claim);
        }
    }
    claims
}

fn choice_claim(
    step: &EpisodeStep,
    question: &AnsweredQuestion<'_>,
    asked: &str,
    header: &str,
    answer: &str,
) -> Option<Claim> {
    let lines = |(label, description): &(&str, &str)| (one_line(label), one_line(description));
    let options: Vec<(String, String)> = question.options.iter().map(lines).collect();
    let (chosen, refused): (Vec<_>, Vec<_>) = options
        .iter()
        .filter(|(label, _)| !label.is_empty())
        .partition(|(label, _)| answer.contains(label.as_str()));
    if chosen.is_empty() && is_undecided(answer) {
        return None;
    }
    let answer = without_hint(answer);
    let said = clip(&answer, ANSWER_CHARS_MAX);
    // One sentence, so that an excerpt cannot part the answer from its question.
    let verb = if chosen.is_empty() { SAID } else { CHOSE };
    let mut text = format!("Asked “{asked}”, {verb}{said}”");
    let described = chosen.iter().filter(|(_, description)| !description.is_empty());
    for (_, description) in described.take(2) {
        text.push_str(&format!(": {}", clip(description, DESCRIPTION_CHARS_MAX).trim_end_matches('.')));
    }
    text.push('.');
    if !refused.is_empty() && !chosen.is_empty() {
        let labels: Vec<String> = refused.iter().map(|(label, _)| without_hint(label)).collect();
        text.push_str(&format!("{NOT_CHOSEN}{}.", labels.join("; ")));
    }
    let subject = if header.is_empty() { clip(asked, 60) } else { header.to_owned() };
    let title = format!("{subject}: {}", shorten(without_option_mark(&answer), TITLE_ANSWER_CHARS));
    if content_words(&format!("{title} {asked}")).len() < 3 {
        return None;
    }
    let mut claim = Claim::new(ClaimKind::Choice, TextSource::Answer, text, step.at).titled(title);
    claim.worth = 0.8;
    asked.trim_end_matches(['?', '？', ' ']).clone_into(&mut claim.section);
    Some(claim)
}

/// Whether a claim is an option of the agent's message that the user picked by a short reply.
pub(crate) fn is_picked(claim: &Claim) -> bool {
    claim.kind == ClaimKind::Choice && claim.source != TextSource::Answer && !claim.title.is_empty()
}

/// Whether an answer is one of the options that were offered, rather than typed.
pub(crate) fn is_chosen(claim: &Claim) -> bool {
    claim.text.contains(&format!("”, {CHOSE}"))
}

/// "Mockups: Terminal — dense, like a command line": the heading, the option and the first sentence of its description.
pub(crate) fn described_title(claim: &Claim) -> Option<String> {
    let (_, rest) = claim.text.split_once(CHOSE)?;
    let (_, description) = rest.split(NOT_CHOSEN).next()?.split_once("”: ")?;
    let first = sentences::split(description).first().copied()?.trim_end_matches('.');
    (content_words(first).len() >= 2).then(|| format!("{} — {}", claim.title, lower_first(first)))
}

/// The option without its mark: "Option A: Terminal" → "Terminal".
fn without_option_mark(answer: &str) -> &str {
    let Some((head, rest)) = answer.split_once(": ").or_else(|| answer.split_once(" — ")) else {
        return answer;
    };
    let mut words = head.split_whitespace();
    let named = words
        .next()
        .is_some_and(|word| matches!(word.to_lowercase().as_str(), "option" | "approach" | "variant"));
    let marked = words.next().is_some_and(|mark| mark.chars().count() == 1) && words.next().is_none();
    if named && marked { rest.trim_start() } else { answer }
}

/// A choice as a line: "Where are shares stored? On the server: a table with one row per share". The claim's text
/// holds the answer and the option's description, its section the question.
pub(crate) fn told_answer(claim: &Claim) -> Option<String> {
    let (question, rest) = [CHOSE, SAID].iter().find_map(|verb| claim.text.split_once(verb))?;
    let question = question.strip_prefix("Asked “").and_then(|asked| asked.split_once('”'));
    let question = question.map_or("", |(asked, _)| asked.trim_end_matches(['?', '？', ' ']));
    let chosen = rest.split(NOT_CHOSEN).next().unwrap_or(rest);
    let (answer, description) = chosen.rsplit_once('”')?;
    let description = description.trim_matches(|c: char| ".: ".contains(c));
    let asked = if claim.section.is_empty() { question } else { claim.section.as_str() };
    if is_process(asked, "", answer) || content_words(&format!("{asked} {answer}")).len() < 3 {
        return None;
    }
    // "Which fits best": the heading of the question says more than the question.
    let is_vague = content_words(asked).iter().all(|word| VAGUE_QUESTION.contains(&word.as_str()));
    let heading = claim.title.split_once(": ").map_or("", |(heading, _)| heading);
    let (asked, mark) = if is_vague { (heading, ':') } else { (asked, '?') };
    let chars = asked.chars().count() + answer.chars().count() + description.chars().count();
    let described = !description.is_empty() && chars <= TOLD_CHARS_MAX;
    let told = match (asked.is_empty(), !described) {
        (true, true) => answer.to_owned(),
        (true, false) => format!("{answer}: {description}"),
        (false, true) => format!("{asked}{mark} {}", capitalised(answer)),
        (false, false) if is_vague => format!("{asked}: {answer} — {}", lower_first(description)),
        (false, false) => format!("{asked}? {answer}: {description}"),
    };
    Some(told)
}

/// What stands before an answer: an option that was offered, or words that the user typed.
const CHOSE: &str = "the user chose “";
const SAID: &str = "the user said “";
/// Introduces the options that were not chosen.
const NOT_CHOSEN: &str = " Not chosen: ";

/// What the client writes behind the option that it would take.
const HINT: &str = " (Recommended)";

fn without_hint(label: &str) -> String {
    label.replace(HINT, "")
}

/// Beginnings of an answer that settles nothing.
#[rustfmt::skip]
const UNDECIDED: &[&str] = &[
    "hmm", "not sure", "i'm not sure", "im not sure", "i don't know", "i dont know", "no idea", "depends", "it depends", "what ",
    "why ", "how ", "which ", "can you", "could you", "explain", "weiß nicht", "no sé", "je ne sais pas",
];

/// Whether typed words ask back or hesitate rather than answer.
fn is_undecided(answer: &str) -> bool {
    let lower = answer.to_lowercase();
    answer.trim_end().ends_with(['?', '？']) || UNDECIDED.iter().any(|start| lower.starts_with(start))
}

fn is_process(asked: &str, header: &str, answer: &str) -> bool {
    let (header, answer) = (header.to_lowercase(), answer.to_lowercase());
    // Whole words: whether work "should be committed in between" is a choice.
    let asked = asked.to_lowercase();
    let asked: Vec<&str> = asked.split(|c: char| !(c.is_alphanumeric() || c == '\'')).collect();
    let asked = format!(" {} ", asked.join(" "));
    PROCESS_HEADERS.contains(&header.as_str())
        || PROCESS_LABELS.contains(&answer.as_str())
        || PROCESS_WORDS.iter().any(|words| asked.contains(&format!(" {words} ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn step(question: &str, header: &str, answer: &str) -> EpisodeStep {
        let questions = json!([{"question": question, "header": header, "options": [
            {"label": "On the server", "description": "a table with one row per share"},
            {"label": "In the folder", "description": "keys in the metadata"},
        ]}]);
        EpisodeStep {
            tool: "AskUserQuestion".into(),
            output: json!({"questions": questions, "answers": {question: answer}}),
            ..EpisodeStep::default()
        }
    }

    #[test]
    fn answer_is_kept_with_its_question_and_option() {
        let claims = answer_claims(&step("Where are shares stored?", "Shares", "On the server"), 3);
        assert_eq!(claims.len(), 1);
        assert_eq!(claims[0].title, "Shares: On the server");
        assert_eq!(claims[0].section, "Where are shares stored");
        assert_eq!(
            told_answer(&claims[0]).as_deref(),
            Some("Where are shares stored? On the server: a table with one row per share")
        );
        assert_eq!(
            claims[0].text,
            "Asked “Where are shares stored?”, the user chose “On the server”: a table with one row per share. \
             Not chosen: In the folder."
        );
    }

    #[test]
    fn answers_about_the_process_are_dropped() {
        for (question, header, answer) in [
            ("Ready to proceed?", "Next step", "Yes"),
            ("What would you like to do with this?", "Action", "In the folder"),
        ] {
            assert_eq!(answer_claims(&step(question, header, answer), 0), [], "{question}");
        }
    }

    #[test]
    fn question_about_a_design_is_no_process() {
        let question = "Should the keys be committed with the folder before the export proceeds?";
        assert_eq!(answer_claims(&step(question, "Keys", "In the folder"), 0).len(), 1);
    }
}
