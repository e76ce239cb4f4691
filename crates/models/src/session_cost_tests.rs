use super::*;
use claude_mem_core::episode::EpisodePrompt;
use claude_mem_core::vocabulary::Vocabulary;

fn episodes(count: usize) -> Vec<Episode> {
    let prompt = EpisodePrompt { text: "Fix the login loop. ".repeat(50), ..EpisodePrompt::default() };
    vec![Episode { prompt: Some(prompt), finished: true, ..Episode::default() }; count]
}

#[test]
fn cost_counts_the_prompt_of_each_call() {
    let vocabulary = Vocabulary::default();
    let rules = CompressionRules { vocabulary: &vocabulary, language: None, answer_tokens_max: 4_096 };
    let cost = |count, has_conversation| estimate_session(episodes(count).iter(), rules, has_conversation);
    assert_eq!(cost(0, false), TokenEstimate { input: 0, output: 0 });
    let system = u64::from(tokens::estimate(&prompt::system_prompt(&vocabulary, None)));
    let message = u64::from(tokens::estimate(&prompt::episode_message(&episodes(1)[0])));
    assert_eq!(cost(1, false), TokenEstimate { input: system + message, output: ANSWER_TOKENS_EXPECTED });
    let three = 3 * (system + message) + 3 * SO_FAR_TOKENS_PER_EPISODE;
    assert_eq!(cost(3, false).input, three, "the second call tells of one episode, the third of two");
    // A conversation sends all earlier messages and answers again instead of the system text.
    let carried = system + message + (system + 2 * message + ANSWER_TOKENS_EXPECTED);
    assert_eq!(cost(2, true).input, carried);
    // It is begun anew before it gets long, so the cost of many calls stays in proportion.
    let (few, many) = (cost(50, true).input, cost(100, true).input);
    assert!(many < few * 5 / 2, "{few} {many}");
}
