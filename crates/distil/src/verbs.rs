//! Verbs: whether a line states something or only names it.

use crate::cues::Language;

/// Verbs by which a clause is told from a label.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "is", "are", "was", "were", "be", "been", "has", "have", "had", "does", "do", "did", "can", "cannot",
    "can't", "could", "must", "should", "will", "won't", "would", "may", "isn't", "aren't", "doesn't", "don't",
    "didn't", "wasn't", "needs", "need", "uses", "use", "fails", "fail", "returns", "return", "requires",
    "require", "means", "mean", "works", "work", "runs", "run", "makes", "make", "gives", "keeps", "keep",
    "takes", "gets", "get", "sets", "shows", "calls", "breaks", "causes", "lets", "stores", "contains", "lives",
    "depends", "supports", "expects", "handles", "adds", "add", "fix", "fixes", "remove", "removes", "allows",
    "allow", "enable", "enables", "move", "moves", "replace", "replaces", "create", "creates", "update",
    "updates", "rename", "avoid", "avoids", "prevent", "prevents", "sends", "reads", "writes", "starts",
    "stops", "stop", "trip", "trips", "call", "lose", "loses", "crash", "crashes", "hang", "hangs", "block",
    "blocks", "ignore", "ignores", "reject", "rejects", "close", "closes", "open", "opens", "expire", "expires",
    "grow", "grows", "leak", "leaks", "drop", "drops", "reset", "resets", "overwrite", "overwrites", "point",
    "points", "map", "maps", "load", "loads", "resolve", "resolves", "render", "renders", "produce", "produces",
    "trigger", "triggers", "happen", "happens", "come", "comes", "hold", "holds", "leave", "leaves", "lack",
    "lacks", "miss", "misses", "says", "say", "treats", "wins", "exists", "defaults", "matches", "checks", "skips", "belongs", "stays",
    "hides", "hide", "throws", "throw", "fires", "logs", "prints", "detects", "detect", "assumes", "accepts", "refuses", "forces",
    "begins", "chooses", "computes", "converts", "decides", "differs", "emits", "fetches", "follows", "grants", "imports", "inserts",
    "invokes", "listens", "merges", "overrides", "parses", "passes", "picks", "polls", "publishes", "refers", "relies", "remains",
    "retries", "rounds", "selects", "serves", "tells", "varies", "waits", "begin", "began", "became", "becomes", "broke", "built", "came",
    "chose", "found", "gave", "held", "kept", "knew", "led", "lost", "made", "meant", "ran", "said", "sent", "took", "went", "wrote",
    "generates", "includes", "covers", "shares", "share", "wraps", "lists", "copies", "deletes", "sorts", "strips",
];

/// Whether a line has a verb, so that it says something rather than naming it.
pub(crate) fn has_verb(text: &str) -> bool {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
    let is_verb = |word: &str| VERBS.contains(&word) || (word.len() > 4 && word.ends_with("ed"));
    if Language::detect(text) != Language::English {
        return true;
    }
    let words: Vec<String> = text.split_whitespace().map(bare).collect();
    words.iter().any(|word| is_verb(word)) || words.windows(3).any(is_third_person)
}

/// "… dashboard groups the …": a word in "-s" between the noun that does something and an object is a verb, also one that
/// no table has. Nouns in the plural have no article behind them.
fn is_third_person(words: &[String]) -> bool {
    let [subject, verb, object] = words else {
        return false;
    };
    let is_plural = |word: &str| word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us");
    let is_word = |word: &str| word.len() > 3 && word.chars().all(char::is_alphabetic);
    is_word(verb)
        && is_plural(verb)
        && !subject.is_empty()
        && !is_plural(subject)
        && NO_SUBJECTS.binary_search(&subject.as_str()).is_err()
        && OBJECTS.contains(&object.as_str())
}

/// Words by which an object begins.
const OBJECTS: &[&str] =
    &["a", "all", "an", "any", "both", "each", "every", "it", "its", "no", "only", "the", "them"];

/// Words before a plural noun rather than before a verb; sorted.
#[rustfmt::skip]
const NO_SUBJECTS: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "as", "at", "between", "both", "but", "by", "every", "few", "for", "four", "from", "in",
    "into", "many", "more", "most", "no", "of", "on", "only", "or", "other", "our", "over", "several", "some", "such", "than", "the",
    "their", "these", "those", "three", "to", "two", "via", "when", "where", "which", "while", "with", "without", "your",
];

#[cfg(test)]
mod tests {
    use super::{NO_SUBJECTS, has_verb};

    #[test]
    fn statement_has_a_verb_that_no_table_holds() {
        for statement in [
            "The dashboard groups the orders in UTC",
            "A timeout pays the customer twice",
            "The depot charges every parcel",
            "`route.py` decides in three steps",
        ] {
            assert!(has_verb(statement), "{statement}");
        }
        for label in [
            "User groups and roles",
            "The test results of the module",
            "All parcels the depot",
            "Rules for all depots",
        ] {
            assert!(!has_verb(label), "{label}");
        }
        assert!(NO_SUBJECTS.is_sorted());
    }
}
