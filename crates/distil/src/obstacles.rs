//! Obstacles: commits that a hook refused for a reason outside the change, as the agent explained it.
//!
//! A refused commit that edits let through is ordinary work. If it went through without an edit, or never
//! did, the reason lies in the environment and will come back: stale directories that the tests pick up,
//! a service that is not running. The agent's own sentence tells it; without one nothing is claimed.

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::Episode;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::gates;
use crate::sentences::{TextBlock, TextDocument};
use crate::text::{content_words, full_stop, overlap};
use crate::titles::headline;

/// A refused commit: when it was refused, when it went through, and the last command that changed something
/// between the two.
#[derive(Clone, Debug)]
pub(crate) struct CommitObstacle {
    pub refused_at: Millis,
    pub landed_at: Option<Millis>,
    pub remedy: Option<String>,
}

/// Phrases of a reason that lies outside the change.
#[rustfmt::skip]
const OUTSIDE_REASONS: &[&str] = &[
    "picks up", "picking up", "picked up", "leftover", "left over", "stale", "not our code", "not from our", "previous run",
    "not running", "not installed", "missing depend",
];
/// Phrases that say which reason it was.
const TELLING: &[&str] = &["caused by", "because", "due to", "picks up", "picking up", "picked up", "from "];
/// Two sentences that share this much say the same.
const SAME_REASON: f32 = 0.6;
/// Characters that a title must leave out of its sentence for the sentence to be told as well.
const TITLE_CUT_MIN: usize = 12;
/// Worth of a reason that the agent gave.
const REASON_WORTH: f32 = 0.65;

/// Makes one claim of each obstacle that the agent explained.
pub(crate) fn obstacle_claims(episode: &Episode, obstacles: &[CommitObstacle], group: u32) -> Vec<Claim> {
    obstacles.iter().filter_map(|obstacle| explain(episode, obstacle, group)).collect()
}

fn explain(episode: &Episode, obstacle: &CommitObstacle, group: u32) -> Option<Claim> {
    let messages = episode.texts.iter().filter(|text| text.source == TextSource::Message);
    let messages = messages.map(|text| (text.text.as_str(), text.at));
    let last = episode.final_message.iter().map(|message| (message.text.as_str(), message.at));
    let mut reasons: Vec<(u32, String)> = Vec::new();
    for (text, _) in messages.chain(last).filter(|(_, at)| *at >= obstacle.refused_at) {
        for sentence in TextDocument::read(text).sentences {
            if sentence.block == TextBlock::Prose
                && let Some(score) = reason_score(&sentence.text)
            {
                reasons.push((score, sentence.text));
            }
        }
    }
    // The later of equals: it was said with more knowledge.
    let best = reasons.iter().enumerate().max_by_key(|(index, (score, _))| (*score, *index));
    let (_, (_, reason)) = best?;
    let words = content_words(reason);
    let mut others = reasons.iter().map(|(_, other)| other);
    let more = others.find(|other| overlap(&content_words(other), &words) < SAME_REASON);
    let title = headline(reason, Language::detect(reason));
    let mut told: Vec<String> = Vec::new();
    if title.chars().count() + TITLE_CUT_MIN < reason.chars().count() {
        told.push(full_stop(reason));
    }
    told.extend(more.map(|other| full_stop(other)));
    match (&obstacle.remedy, obstacle.landed_at) {
        (Some(remedy), Some(_)) => {
            let root = format!("{}/", episode.root);
            let remedy = if episode.root.is_empty() { remedy.clone() } else { remedy.replace(&root, "") };
            let removes = if remedy.starts_with("rm ") { " removed what was left there" } else { "" };
            told.push(format!("The commit went through after `{remedy}`{removes}."));
        }
        (None, Some(_)) => {}
        (_, None) => told.push("The commit was refused.".to_owned()),
    }
    let at = obstacle.landed_at.unwrap_or(obstacle.refused_at);
    let mut claim = Claim::new(ClaimKind::Remedy, TextSource::Message, told.join(" "), at).titled(title);
    claim.group = group;
    claim.worth = REASON_WORTH;
    Some(claim)
}

/// How well a sentence explains an obstacle; `None` if it does not.
fn reason_score(text: &str) -> Option<u32> {
    let lower = text.to_lowercase();
    let outside = OUTSIDE_REASONS.iter().any(|phrase| lower.contains(phrase));
    let placed = text.contains('`') && text.contains(['/', '.']);
    let guesses =
        ["might", "perhaps", "maybe", "seems", "should ", "?"].iter().any(|word| lower.contains(word));
    if !outside || !placed || guesses || gates::is_commentary(text) || !gates::stands_alone(text) {
        return None;
    }
    let telling = TELLING.iter().filter(|phrase| lower.contains(**phrase)).count();
    Some(u32::try_from(telling).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_mem_core::episode::{EpisodeText, FinalMessage};

    fn obstacle(remedy: Option<&str>) -> CommitObstacle {
        let at = Millis(10);
        CommitObstacle { refused_at: at, landed_at: Some(at), remedy: remedy.map(str::to_owned) }
    }

    fn episode(message: &str) -> Episode {
        let text = EpisodeText {
            source: TextSource::Message,
            text: message.to_owned(),
            at: Millis(11),
            ..EpisodeText::default()
        };
        Episode { texts: vec![text], ..Episode::default() }
    }

    #[test]
    fn explained_obstacle_is_kept_with_its_remedy() {
        let episode = episode(
            "The commit was blocked. The hook picks up tests of old snapshots in `build/snapshots/`, not our code. \
             Let me remove them.",
        );
        let claims = obstacle_claims(&episode, &[obstacle(Some("rm -rf build/snapshots"))], 1);
        assert_eq!(claims.len(), 1);
        assert!(
            claims[0].title.starts_with("The hook picks up tests of old snapshots"),
            "{}",
            claims[0].title
        );
        assert!(claims[0].text.ends_with("after `rm -rf build/snapshots` removed what was left there."));
    }

    #[test]
    fn obstacle_without_a_reason_outside_the_change_is_dropped() {
        for message in ["The hook found a missing semicolon in `src/list.rs`.", "Trying once more.", ""] {
            assert!(obstacle_claims(&episode(message), &[obstacle(None)], 1).is_empty(), "{message}");
        }
    }

    #[test]
    fn message_before_the_refusal_explains_nothing() {
        let mut early =
            episode("The hook picks up stale tests in `build/old/`, because nobody removed them.");
        early.texts[0].at = Millis(3);
        early.final_message = Some(FinalMessage { text: "Committed.".into(), at: Millis(12) });
        assert!(obstacle_claims(&early, &[obstacle(None)], 1).is_empty());
    }
}
