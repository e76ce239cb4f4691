//! What kind of text a prompt is: a request, a question, or a hand-off that brings its own context.

use super::request_words::is_lead_in;
use claude_mem_search::analyzer::words;
use claude_mem_search::stem::stem;

/// How a prompt asks for something, which decides what can help it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptKind {
    /// Work is asked for: the files of earlier work on its subject help to find the place.
    Request,
    /// An answer or an opinion is asked for, or a step that needs no file ("push it"): knowledge helps, places do
    /// not.
    Talk,
    /// A plan or brief that names its files: whoever wrote it had the context, so only knowledge that it may
    /// have missed helps.
    HandOff,
}

/// Words from which a prompt that names its files is a hand-off.
const HAND_OFF_WORDS_MIN: usize = 120;
/// Distinct files that a hand-off names.
const HAND_OFF_FILES_MIN: usize = 1;

/// First words of a question, lower case; sorted.
#[rustfmt::skip]
const INTERROGATIVES: &[&str] = &[
    "are", "come", "comment", "como", "cual", "did", "do", "does", "has", "have", "how", "is", "kann", "pourquoi", "que", "should",
    "wann", "warum", "was", "were", "what", "when", "where", "which", "who", "why", "wie", "wo", "а", "где", "зачем", "как", "какая",
    "какие", "какой", "когда", "кто", "почему", "сколько", "что",
];
/// Verbs that follow "when" in a question; sorted.
#[rustfmt::skip]
const AUXILIARIES: &[&str] =
    &["are", "can", "could", "did", "do", "does", "has", "have", "is", "shall", "should", "was", "were", "will", "would"];
/// Words before the first one that counts; sorted.
#[rustfmt::skip]
const OPENERS: &[&str] = &[
    "actually", "also", "and", "but", "great", "hey", "hm", "hmm", "hmmm", "no", "nope", "oh", "ok", "okay", "so", "sure", "thanks",
    "then", "wait", "well", "yeah", "yes", "да", "и", "но", "ну", "ок", "так",
];
/// Pairs by which a question asks for work: "can you fix it?".
const REQUEST_PAIRS: &[[&str; 2]] = &[
    ["can", "we"],
    ["can", "you"],
    ["could", "we"],
    ["could", "you"],
    ["let", "s"],
    ["we", "must"],
    ["we", "need"],
    ["we", "should"],
    ["you", "can"],
    ["можешь", "ли"],
];
/// Words that only a request has; sorted.
const REQUEST_WORDS: &[&str] = &["bitte", "lets", "please", "давай", "пожалуйста", "сделай"];
/// Verbs after "I" by which somebody thinks aloud; sorted.
const THINKING: &[&str] =
    &["am", "feel", "guess", "honestly", "like", "mean", "think", "thought", "wanted", "wonder"];
/// Verbs at the start of a request, which may end as a question: "make it wider, and perhaps blue?". Sorted.
#[rustfmt::skip]
const IMPERATIVES: &[&str] = &[
    "add", "adjust", "align", "allow", "build", "change", "clean", "create", "disable", "display", "enable", "ensure", "extract",
    "fix", "hide", "implement", "improve", "increase", "insert", "make", "move", "put", "reduce", "refactor", "remove", "rename",
    "replace", "rewrite", "show", "sort", "split", "update", "use", "write",
];
/// Stems of verbs whose work is done outside of files; sorted.
const PROCESS_STEPS: &[&str] = &[
    "commit", "deploi", "merg", "publish", "pull", "push", "rebas", "releas", "ship", "squash", "switch",
    "tag",
];

impl PromptKind {
    pub(super) fn of_prompt(text: &str) -> Self {
        let all: Vec<String> = words(text).collect();
        if all.len() >= HAND_OFF_WORDS_MIN && named_files(text) >= HAND_OFF_FILES_MIN {
            return Self::HandOff;
        }
        let is_request_pair = |pair: &[String]| REQUEST_PAIRS.contains(&[&pair[0], &pair[1]]);
        let asks_for_work = all.iter().any(|word| REQUEST_WORDS.contains(&word.as_str()))
            || all.windows(2).any(is_request_pair);
        let rest = all.iter().skip_while(|word| is_lead_in(word) || OPENERS.contains(&word.as_str()));
        if rest.clone().next().is_some_and(|verb| PROCESS_STEPS.contains(&stem(verb).as_str())) {
            return Self::Talk;
        }
        let is_imperative = rest.clone().next().is_some_and(|verb| IMPERATIVES.contains(&verb.as_str()));
        let is_interrogative = all
            .iter()
            .find(|word| !OPENERS.contains(&word.as_str()))
            .is_some_and(|first| INTERROGATIVES.contains(&first.as_str()));
        if asks_for_work || (is_imperative && !is_interrogative) {
            return Self::Request;
        }
        let mut said = all.iter().map(String::as_str).skip_while(|word| OPENERS.contains(word));
        let (first, second) = (said.next().unwrap_or_default(), said.next().unwrap_or_default());
        // "When there is only one file, select it" asks nothing.
        let is_condition = first == "when" && !AUXILIARIES.contains(&second);
        let is_asked = (INTERROGATIVES.contains(&first) && !is_condition)
            || text.lines().any(|line| line.trim_end().ends_with('?'));
        let thinks_aloud = first == "my" || (first == "i" && THINKING.contains(&second));
        if is_asked || thinks_aloud { Self::Talk } else { Self::Request }
    }
}

/// First words of a question about how things are, as opposed to one whether something may be done; sorted.
const WH_WORDS: &[&str] = &["how", "what", "when", "where", "which", "who", "why"];

/// Whether a prompt asks how things are: "which version is running?". "Can we deploy at 2?" asks for a rule.
pub(super) fn asks_how_things_are(text: &str) -> bool {
    words(text)
        .find(|word| !OPENERS.contains(&word.as_str()))
        .is_some_and(|first| WH_WORDS.binary_search(&first.as_str()).is_ok())
}

/// Stems of words by which somebody says that something is not as it should be: negations ("t" is that of "can't"), words for what went wrong,
/// and words that compare with an earlier time; sorted.
#[rustfmt::skip]
const TROUBLE: &[&str] = &[
    "again", "anymor", "blank", "broke", "broken", "bug", "cannot", "complain", "corrupt", "crash", "deni", "differ",
    "disappear", "disconnect", "doubl", "drop", "duplic", "earli", "empti", "error", "evict", "except", "fail", "failur",
    "flaki", "flicker", "forev", "forget", "freez", "full", "gone", "grei", "hang", "hung", "incorrect", "instead",
    "invalid", "issu", "kill", "late", "leak", "lose", "lost", "miss", "never", "no", "none", "not", "noth", "onli",
    "panic", "problem", "reboot", "refus", "reject", "reset", "restart", "sinc", "sit", "slow", "slowli", "stale", "still",
    "stuck", "sudden", "suddenli", "t", "timeout", "traceback", "twice", "unavail", "undefin", "unexpect", "unreach",
    "vanish", "wait", "warn", "weird", "why", "wrong",
];

/// Whether a prompt reports that something is not as it should be.
pub(super) fn reports_trouble(text: &str) -> bool {
    // A word of another script is not in the table; its prompts are not excluded.
    let is_foreign_script = text.chars().filter(|c| c.is_alphabetic()).any(|c| !c.is_ascii());
    is_foreign_script
        || text.contains("rror")
        || words(text).any(|word| TROUBLE.binary_search(&stem(&word).as_str()).is_ok())
}

/// Distinct words with a file's extension.
pub(super) fn named_files(text: &str) -> usize {
    let tokens = text.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;*".contains(c));
    let files = tokens.map(|token| token.trim_matches(|c: char| !c.is_alphanumeric())).filter(|token| {
        token.rsplit_once('.').is_some_and(|(stem, end)| {
            let is_extension =
                (1..=4).contains(&end.len()) && end.starts_with(|c: char| c.is_ascii_lowercase());
            is_extension && stem.len() > 2 && end.chars().all(|c| c.is_ascii_alphanumeric())
        })
    });
    files.collect::<std::collections::HashSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_talk_and_hand_offs_are_told_apart() {
        let plan = format!("Change src/cart.rs and src/order.rs. {}", "Then do one more step. ".repeat(30));
        for (prompt, want) in [
            ("make the header sticky", PromptKind::Request),
            ("can you fix the failing login test?", PromptKind::Request),
            ("ok, lets move the button", PromptKind::Request),
            ("there is a warning in the console", PromptKind::Request),
            ("When there is only one row, it should be selected", PromptKind::Request),
            ("when does the lease end", PromptKind::Talk),
            ("do you think you can make the header sticky?", PromptKind::Request),
            ("I think we should move the button", PromptKind::Request),
            ("how does the retry work", PromptKind::Talk),
            ("so why is the queue empty?", PromptKind::Talk),
            ("The queue is empty again. Did we change the lease?", PromptKind::Talk),
            ("I think the lease is a neat idea", PromptKind::Talk),
            ("ok, please push it", PromptKind::Talk),
            ("can we merge this and release it", PromptKind::Talk),
            ("почему очередь пуста", PromptKind::Talk),
            ("исправь форму входа", PromptKind::Request),
            ("Make both buttons wider, and maybe put a frame around them?", PromptKind::Request),
            ("do we use the buttons?", PromptKind::Talk),
            (&plan, PromptKind::HandOff),
        ] {
            assert_eq!(PromptKind::of_prompt(prompt), want, "{prompt}");
        }
    }

    #[test]
    fn trouble_is_told_from_work() {
        for (prompt, want) in [
            ("the nightly export failed again", true),
            ("our emails arrive hours late", true),
            ("uploads over 5 MB do not arrive", true),
            ("why does the build take an hour", true),
            ("TypeError: x is undefined", true),
            ("put the weekday into the name of the nightly export", false),
            ("make the header sticky", false),
        ] {
            assert_eq!(reports_trouble(prompt), want, "{prompt}");
        }
    }

    #[test]
    fn question_how_things_are_is_told_from_one_what_may_be_done() {
        for (prompt, want) in [
            ("which version is running?", true),
            ("and what does the exporter do with hidden meshes?", true),
            ("can we deploy at 2?", false),
            ("deploy what we have", false),
        ] {
            assert_eq!(asks_how_things_are(prompt), want, "{prompt}");
        }
    }

    #[test]
    fn tables_are_sorted() {
        assert!(WH_WORDS.is_sorted() && TROUBLE.is_sorted());
        assert!(INTERROGATIVES.is_sorted() && OPENERS.is_sorted() && REQUEST_WORDS.is_sorted());
        assert!(THINKING.is_sorted() && PROCESS_STEPS.is_sorted() && AUXILIARIES.is_sorted());
    }
}
