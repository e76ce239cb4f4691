//! Claims in the user's own words: rules, choices and facts.
//!
//! Invariant: only texts whose voice is the user's are read here, without what the user pasted into them.

use claude_mem_core::clock::Millis;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::cues::{CueKind, Language};
use crate::gates;
use crate::prompts::without_command;
use crate::ranker::{self, RankedSentence};
use crate::sentences;
use crate::speech::{MarkedSentence, SpokenText};
use crate::text::{capitalised, full_stop, one_line, without_bold, without_openers};
use crate::titles::without_lead_in;
use crate::typed::{typed_part, without_wrapped};
use crate::user_acts::{self, UserAct};

/// Bytes of a prompt from which its plain statements count only if most of it was typed.
const PASTED_PROMPT_MIN: usize = 400;
const TYPED_PROMPT_MAX: usize = 2000;

/// Extracts the claims of one text that the user typed.
pub(crate) fn user_claims(source: TextSource, text: &str, at: Millis, group: u32) -> Vec<Claim> {
    let text = without_command(text);
    let typed = typed_part(text);
    // Between pasted lines, a plain statement may be pasted too; nobody types a very long prompt.
    let pasted =
        text.len() > PASTED_PROMPT_MIN && (typed.len() * 2 < text.len() || text.len() > TYPED_PROMPT_MAX);
    let typed = if pasted { without_wrapped(&typed) } else { typed };
    let language = Language::detect(&typed);
    let speech = SpokenText::read(&typed);
    let own: Vec<_> = speech.own().collect();
    let mut claims: Vec<Claim> = Vec::new();
    for (index, statement) in own.iter().enumerate() {
        let place = RankedSentence { text: &statement.text, source, index, count: own.len() };
        let worth = ranker::worth(&place, language);
        let kind = match user_acts::user_act(statement, worth, language) {
            UserAct::Rule => ClaimKind::Rule,
            UserAct::Choice => ClaimKind::Choice,
            UserAct::Fact => ClaimKind::UserFact,
            UserAct::Nothing => continue,
        };
        if pasted && kind == ClaimKind::UserFact {
            continue;
        }
        let text = user_acts::remembered(&statement.text).unwrap_or(&statement.text);
        let said = without_openers(without_lead_in(text, language));
        let mut claim = Claim::new(kind, source, capitalised(&said), at);
        claim.group = group;
        claim.worth = worth.unwrap_or(0.6);
        if leans_on_neighbour(statement) {
            claim.before = quoted_beside(index.checked_sub(1).and_then(|before| own.get(before)));
        }
        claim.after = quoted_beside(own.get(index + 1).filter(|after| continues(after)));
        claim.block = quoted_line(&typed, &statement.text, !claim.before.is_empty()).unwrap_or_default();
        claims.push(claim);
    }
    claims
}

/// Characters of a line that is quoted whole.
const QUOTED_LINE_CHARS_MAX: usize = 320;

/// The line of the prompt that a sentence stands in, word for word: what the user said before and after it belongs to
/// it. Of a long line the sentence, with the one before it if it leans on that, and as many behind it as fit.
fn quoted_line(typed: &str, sentence: &str, leans: bool) -> Option<String> {
    let line = typed.lines().map(one_line).find(|line| line.contains(sentence))?;
    if line.chars().count() <= QUOTED_LINE_CHARS_MAX {
        return Some(line);
    }
    let parts = sentences::split(&line);
    let own = parts.iter().position(|part| part.contains(sentence))?;
    let start = if leans { own.saturating_sub(1) } else { own };
    let quoted = sentences::join_fitting(parts[start..].iter().copied(), QUOTED_LINE_CHARS_MAX);
    Some(quoted).filter(|quoted| quoted.contains(sentence))
}

/// A sentence with fewer words that mean something is told with the one before it.
const OWN_WORDS_MIN: usize = 7;

/// Whether a sentence needs the one before it to be understood.
fn leans_on_neighbour(statement: &MarkedSentence) -> bool {
    let last = statement.text.split_whitespace().next_back().unwrap_or_default();
    let last = last.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    gates::is_dangling(&statement.text)
        // "… because the eighth trips it": the sentence before says what it is.
        || matches!(last.as_str(), "it" | "them" | "this" | "that" | "these" | "those")
        || statement.words.len() < OWN_WORDS_MIN
        || !gates::names_something(&statement.text)
}

/// Whether a sentence goes on with the one before it: it refers to it or gives the reason for it.
fn continues(statement: &MarkedSentence) -> bool {
    gates::refers_back(&statement.text)
        || statement.marks.has(CueKind::Reason)
        || statement.text.contains(" instead")
}

/// Characters of a sentence beside a claim that is quoted with it.
const BESIDE_CHARS_MAX: usize = 160;

/// The sentence before or after a claim, if it states something: it says what the claim is about, or why.
fn quoted_beside(statement: Option<&&MarkedSentence>) -> String {
    let quoted = statement.filter(|statement| {
        !statement.question && !statement.is_bare() && statement.text.chars().count() <= BESIDE_CHARS_MAX
    });
    quoted.map(|statement| full_stop(&statement.text)).unwrap_or_default()
}

/// A request as a statement of work: "could you also add a filter" → "add a filter".
pub(crate) fn as_statement(text: &str) -> String {
    const ASKING: &[&str] = &[
        "could you also ",
        "can you also ",
        "could you please ",
        "can you please ",
        "can we please ",
        "could you ",
        "can you ",
        "can we ",
        "could we ",
        "i want you to ",
        "i would like you to ",
        "i'd like you to ",
        "i want to ",
        "i'd like to ",
        "i would like to ",
        "we need to ",
        "we should ",
        "please ",
        "now ",
        "let's ",
        "lets ",
    ];
    let mut rest = without_openers(text);
    for _ in 0..3 {
        let lower = rest.to_lowercase();
        let Some(asking) = ASKING.iter().find(|asking| lower.starts_with(**asking)) else {
            break;
        };
        rest = rest.get(asking.len()..).unwrap_or_default().trim_start().to_owned();
    }
    rest
}

/// The option of the agent's last message that a short reply picks: "1", "option b", "2, please".
pub(crate) fn picked_option<'o>(reply: &str, options: &'o [String]) -> Option<&'o str> {
    let lower = reply.trim().to_lowercase();
    let bare = lower.trim_start_matches("option ").trim_start_matches('#');
    if bare.chars().count() > 40 {
        return None;
    }
    let first = bare.split(|c: char| !c.is_alphanumeric()).next()?;
    let index = match first.parse::<usize>() {
        Ok(number) => number.checked_sub(1)?,
        Err(_) => {
            let mut letters = first.chars();
            let letter = letters.next().filter(char::is_ascii_lowercase)?;
            let single = letters.next().is_none() && bare.len() <= 12;
            if !single {
                return None;
            }
            (letter as usize) - ('a' as usize)
        }
    };
    options.get(index).map(String::as_str)
}

/// The numbered or lettered options that a message ends with.
pub(crate) fn offered_options(text: &str) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['-', '*', ' ']).trim_start_matches("**");
        let lower = line.to_lowercase();
        let body = lower.strip_prefix("option ").map_or(line, |rest| &line[line.len() - rest.len()..]);
        let mark: String = body.chars().take_while(char::is_ascii_alphanumeric).collect();
        let expected_number = (options.len() + 1).to_string();
        let expected_letter = char::from(b'a' + u8::try_from(options.len().min(25)).unwrap_or(0)).to_string();
        let rest = body.get(mark.len()..).unwrap_or_default();
        let marked = rest.starts_with(['.', ')', ':']) || rest.starts_with(" —") || rest.starts_with(" -");
        let fits = mark == expected_number || mark.to_lowercase() == expected_letter;
        if fits && marked {
            let option = rest.trim_start_matches(|c: char| ".):—- *".contains(c)).trim();
            options.push(one_line(&without_bold(option)));
        } else if mark == "1" && marked {
            options.clear();
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_reply_picks_an_offered_option() {
        let options =
            offered_options("Which one?\n1. Store shares on the server\n2. Keep them in the folder");
        assert_eq!(picked_option("2", &options), Some("Keep them in the folder"));
        assert_eq!(picked_option("1, please", &options), Some("Store shares on the server"));
        assert_eq!(picked_option("3", &options), None);
        assert_eq!(picked_option("a longer answer that is not a choice at all, really", &options), None);
    }

    #[test]
    fn user_is_quoted_word_for_word_to_the_end_of_the_line() {
        let quoted = |text: &str| -> String {
            let claims = user_claims(TextSource::Prompt, text, Millis(0), 0);
            claims.first().map(|claim| claim.block.clone()).unwrap_or_default()
        };
        let short = "hm, look at the log. please never restart the broker by hand. mend the queue.";
        assert_eq!(quoted(&format!("The broker is down.\n{short}")), short);
        let story = "The broker went down at night and nobody noticed it before the depot called. ".repeat(5);
        let rule = "Never restart the `broker` service by hand while depots book parcels on weekdays. Mend the queue.";
        assert_eq!(quoted(&format!("{story}{rule}")), rule);
    }

    #[test]
    fn user_sentences_become_rules_choices_or_nothing() {
        let kinds = |text: &str| -> Vec<ClaimKind> {
            user_claims(TextSource::Prompt, text, Millis(0), 0).iter().map(|claim| claim.kind).collect()
        };
        for rule in [
            "Never run migrations by hand on the staging server.",
            "Use pnpm, not npm.",
            "We deploy from the release branch only.",
            "I want every commit to be signed.",
            "Ask before you add a dependency.",
            "Remember: the images are only built for amd64.",
            "Запомни: образы собираем только под amd64, arm не поддерживаем.",
            "Merk dir: die Tabelle heißt jetzt `buchungen`.",
        ] {
            assert_eq!(kinds(rule), [ClaimKind::Rule], "{rule}");
        }
        for fact in [
            "ok, but all checks can be run without a login with the --offline flag",
            "staging runs at https://staging.example.com",
            "the integration tests need the broker on 10.0.4.7",
        ] {
            assert_eq!(kinds(fact), [ClaimKind::UserFact], "{fact}");
        }
        for nothing in [
            "Push it",
            "check again please",
            "yes and yes",
            "1",
            "why does the login fail?",
            "Use the second layout instead of the first one",
            "I allow you to commit with --no-verify",
            "check the tests before the demo",
        ] {
            assert_eq!(kinds(nothing), [], "{nothing}");
        }
    }
}
