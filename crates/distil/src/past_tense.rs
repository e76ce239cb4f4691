//! Orders told as done: "Add a cursor and drop the table" → "Added a cursor and dropped the table".
//!
//! Commits, plans and requests are written as orders. Below a date, next to work that is still open, an order reads as a
//! task. English only: in other languages nothing is an order of these tables.

use crate::sentences::{TextBlock, TextSentence};
use crate::text::{is_name, lower_first};

/// Verbs of orders that are no nouns; sorted.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "adapt", "add", "adjust", "adopt", "align", "allow", "append", "apply", "attach", "auto-expand", "auto-open",
    "avoid", "bring", "bundle", "centralize", "choose", "clarify", "clean", "combine", "compute", "configure",
    "connect", "consolidate", "convert", "correct", "create", "declare", "decode", "decouple", "deduplicate",
    "define", "delete", "deny", "derive", "detect", "disable", "discard", "distinguish", "downgrade", "eliminate",
    "emit", "enable", "encode", "enforce", "enhance", "enrich", "ensure", "escape", "establish", "exclude", "expand",
    "expose", "extend", "extract", "fall", "fix", "flatten", "generate", "get", "give", "guarantee", "handle",
    "harden", "hide", "highlight", "hoist", "honor", "honour", "ignore", "implement", "improve", "include",
    "increase", "initialize", "inline", "insert", "install", "instruct", "integrate", "introduce", "investigate",
    "invoke", "isolate", "keep", "leave", "let", "make", "merge", "migrate", "minify", "minimize", "modify", "move",
    "normalize", "notify", "omit", "optimize", "parse", "persist", "populate", "prefer", "preserve", "prevent",
    "promote", "propagate", "protect", "provide", "prune", "publish", "put", "quote", "raise", "rebuild", "recover",
    "redact", "redesign", "reduce", "refactor", "refresh", "refuse", "register", "reject", "relax", "rely",
    "remember", "remove", "rename", "reorder", "reorganize", "repair", "replace", "require", "resolve", "restore",
    "restructure", "retire", "reuse", "revert", "rework", "rewrite", "sanitize", "save", "scan", "send", "serialize",
    "shorten", "show", "shrink", "simplify", "skip", "specify", "standardize", "stop", "strip", "substitute",
    "suppress", "swap", "switch", "sync", "synchronize", "take", "tell", "throw", "tighten", "tolerate", "trim",
    "truncate", "unblock", "unify", "unlink", "unregister", "unwrap", "upgrade", "use", "validate", "verify", "wire",
    "wrap", "write",
];
/// Verbs that are nouns, too: they are verbs at the head of a title, and before a word that only a verb stands before. Sorted.
#[rustfmt::skip]
const NOUNS_TOO: &[&str] = &[
    "address", "block", "build", "bump", "cache", "cap", "capture", "change", "charge", "check", "clear", "close",
    "count", "cover", "cut", "display", "document", "drop", "export", "filter", "fold", "force", "format", "gate",
    "guard", "hash", "hold", "import", "limit", "link", "list", "load", "lock", "log", "lower", "map", "mark", "open",
    "pass", "pin", "polish", "print", "queue", "read", "record", "rename", "render", "request", "reset", "retry",
    "return", "route", "run", "scope", "search", "separate", "set", "sort", "split", "start", "store", "support",
    "surface", "test", "throttle", "time", "track", "trigger", "update", "write", "zero",
];
/// Words that stand behind a verb rather than behind a noun; sorted.
#[rustfmt::skip]
const OBJECT_OPENERS: &[&str] = &[
    "a", "all", "an", "any", "both", "each", "every", "existing", "its", "missing", "new", "no", "obsolete", "only", "our", "redundant",
    "stale", "the", "their", "these", "this", "those", "two", "unused",
];
/// Verbs whose past is not made by a rule.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("bring", "brought"), ("build", "built"), ("choose", "chose"), ("cut", "cut"), ("fall", "fell"), ("get", "got"),
    ("give", "gave"), ("hide", "hid"), ("hold", "held"), ("keep", "kept"), ("leave", "left"), ("let", "let"), ("make", "made"),
    ("put", "put"), ("read", "read"), ("rebuild", "rebuilt"), ("reset", "reset"), ("rewrite", "rewrote"), ("run", "ran"),
    ("send", "sent"), ("set", "set"), ("shrink", "shrank"), ("split", "split"), ("take", "took"), ("tell", "told"),
    ("throw", "threw"), ("write", "wrote"),
];
/// Verbs that double their last letter; sorted.
const DOUBLING: &[&str] =
    &["cap", "drop", "log", "pin", "scan", "skip", "stop", "strip", "swap", "trim", "unwrap", "wrap"];
/// Words behind which a verb belongs to another clause.
#[rustfmt::skip]
const CLAUSE_OPENERS: &[&str] = &[
    "because", "before", "can", "cannot", "could", "how", "if", "instead", "lets", "may", "must", "should", "so", "than", "that",
    "when", "where", "which", "while", "who", "will", "would",
];
/// Verbs that stand behind "to" and are in no other table: "allow users to upload and remove files". Sorted.
#[rustfmt::skip]
const INFINITIVES: &[&str] = &[
    "access", "be", "become", "check", "choose", "click", "display", "do", "download", "edit", "find", "get", "have", "help", "hide",
    "keep", "know", "let", "list", "match", "mention", "open", "pick", "print", "read", "receive", "reflect", "render", "request",
    "run", "see", "select", "send", "share", "show", "sign", "start", "support", "test", "upload", "view", "work",
];

/// What is written down to be done later: the orders below such a title are not done.
#[rustfmt::skip]
const PAPERS: &[&str] = &[
    "backlog", "idea", "ideas", "plan", "plans", "proposal", "proposals", "rfc", "roadmap", "todo", "todos",
];

/// How the sentences of a commit's body are told: orders as done, unless the commit only writes them down.
pub(crate) struct BodyTense {
    /// The commit files work: what its orders ask for is still to do.
    files_orders: bool,
    /// The items of its lists are orders, so that a word which is a noun, too, is a verb there.
    lists_orders: bool,
}

impl BodyTense {
    pub(crate) fn read(title: &str, body: &[TextSentence]) -> Self {
        let lower = title.to_lowercase();
        let files_orders = lower.split_whitespace().any(|word| PAPERS.contains(&word));
        let items = || body.iter().filter(|sentence| sentence.block == TextBlock::Item);
        let is_order = |item: &&TextSentence| item.text.split(' ').next().is_some_and(is_verb);
        let orders = items().filter(is_order).count();
        let lists_orders = orders > 0 && orders * 2 >= items().count();
        Self { files_orders, lists_orders }
    }

    /// The sentence, without its full stop.
    pub(crate) fn told(&self, sentence: &TextSentence) -> String {
        self.as_told(sentence.text.trim_end_matches('.'), sentence.block == TextBlock::Item)
    }

    /// A line that introduces a list.
    pub(crate) fn told_intro(&self, intro: &str) -> String {
        self.as_told(intro, false)
    }

    fn as_told(&self, text: &str, is_item: bool) -> String {
        let words: Vec<&str> = text.split(' ').collect();
        let writes = words.first().is_some_and(|verb| WRITING.contains(&verb.to_lowercase().as_str()));
        if !self.files_orders || writes {
            return as_done(text, self.lists_orders && is_item);
        }
        match order_start(&words, false) {
            Some(0) => format!("To do: {}", lower_first(text)),
            _ => text.to_owned(),
        }
    }
}

/// Verbs of writing down: the commit does this itself.
const WRITING: &[&str] =
    &["add", "capture", "describe", "document", "file", "list", "log", "note", "record", "update", "write"];

/// A title that may be an order, told as done.
pub(crate) fn title_as_done(title: &str) -> String {
    let Some(fault) = title.strip_prefix("Fix: ") else {
        return as_done(title, true);
    };
    let is_headline = fault.split(' ').nth(1).is_some_and(|word| word.starts_with(char::is_uppercase));
    format!("Fixed: {}", if is_headline { fault.to_owned() } else { lower_first(fault) })
}

/// Words of a label in front of an order: "H-01: Wrap …", "Desk page: remove …".
const LABEL_WORDS_MAX: usize = 5;

fn as_done(text: &str, is_title: bool) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let Some(start) = order_start(&words, is_title) else {
        return text.to_owned();
    };
    let mut told: Vec<String> = words[..start].iter().map(|word| (*word).to_owned()).collect();
    told.push(past_of(words[start]));
    let mut is_same_clause = true;
    // What stands in brackets neither begins a clause nor goes on with the order.
    let mut brackets = 0_usize;
    for (at, word) in words.iter().enumerate().skip(start + 1) {
        let before = words[at - 1];
        brackets += word.matches('(').count();
        let opens = before.ends_with(':');
        let continues = opens || before.ends_with([',', ';']) || matches!(before, "and" | "&" | "+" | "then");
        if brackets == 0 {
            is_same_clause = opens || (is_same_clause && !opens_clause(&words, at));
        }
        let is_noun_too =
            NOUNS_TOO.binary_search(word).is_ok() && ((opens && is_title) || has_object(&words, at));
        let is_order = brackets == 0
            && continues
            && is_same_clause
            && (VERBS.binary_search(word).is_ok() || is_noun_too);
        told.push(if is_order { past_of(word) } else { (*word).to_owned() });
        brackets = brackets.saturating_sub(word.matches(')').count());
    }
    told.join(" ")
}

/// Where the order begins: at the first word, or behind "Also" or a label.
fn order_start(words: &[&str], is_title: bool) -> Option<usize> {
    let is_order = |at: usize, is_head: bool| {
        words.get(at).is_some_and(|word| {
            let is_noun_too = NOUNS_TOO.binary_search(&word.to_lowercase().as_str()).is_ok();
            is_verb(word) || (is_noun_too && (is_head || has_object(words, at) || goes_on(words, at)))
        }) && at + 1 < words.len()
    };
    if is_order(0, is_title) {
        return Some(0);
    }
    if words.first() == Some(&"Also") && is_order(1, false) {
        return Some(1);
    }
    let label = words.iter().take(LABEL_WORDS_MAX).position(|word| word.ends_with(':'))?;
    // "CRITICAL:", "H-01:" is no subject.
    let is_code = label == 0 && !words[0].contains(char::is_lowercase);
    // "depot: add a cursor": the part of the project that a commit changes.
    let is_scope = label == 0 && !words[0].contains(char::is_uppercase);
    (!is_title || is_code || is_scope)
        .then_some(label + 1)
        .filter(|start| is_order(*start, is_code || is_scope))
}

/// Whether a clause begins at this word whose verbs are not the order's: "… that …", "… to add …".
fn opens_clause(words: &[&str], at: usize) -> bool {
    let is_in = |table: &[&str], word: &str| table.binary_search(&word).is_ok();
    let word = words[at].trim_end_matches(',');
    let infinitive = |next: &&str| is_in(VERBS, next) || is_in(NOUNS_TOO, next) || is_in(INFINITIVES, next);
    is_in(CLAUSE_OPENERS, word) || (word == "to" && words.get(at + 1).is_some_and(infinitive))
}

/// Whether another order follows in the same clause: "Bump the sizes and add a border".
fn goes_on(words: &[&str], at: usize) -> bool {
    let clause = (at + 1..words.len()).take_while(|next| !opens_clause(words, *next));
    clause.into_iter().any(|next| {
        (words[next - 1] == "and" || words[next - 1].ends_with(','))
            && VERBS.binary_search(&words[next]).is_ok()
    })
}

fn is_verb(word: &str) -> bool {
    let lower = word.to_lowercase();
    VERBS.binary_search(&lower.strip_prefix("re-").unwrap_or(&lower)).is_ok()
}

/// Whether the word behind this one begins an object.
fn has_object(words: &[&str], at: usize) -> bool {
    words.get(at + 1).is_some_and(|next| {
        OBJECT_OPENERS.binary_search(next).is_ok()
            || next.starts_with(['`', '"', '\'', '/'])
            || next.contains(|c: char| c.is_ascii_digit() || c.is_uppercase())
            || is_name(next)
    })
}

/// "Add" → "Added"; capitals stay.
fn past_of(verb: &str) -> String {
    let lower = verb.to_lowercase();
    if let Some((_, past)) = IRREGULAR.iter().find(|(known, _)| *known == lower) {
        let rest = past.get(1..).unwrap_or_default();
        return verb.chars().take(1).chain(rest.chars()).collect();
    }
    let is_after_consonant = |stem: &str| !stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    match verb.strip_suffix('y').filter(|stem| is_after_consonant(stem)) {
        Some(stem) => format!("{stem}ied"),
        None if verb.ends_with('e') => format!("{verb}d"),
        None if DOUBLING.binary_search(&lower.as_str()).is_ok() => {
            format!("{verb}{}ed", verb.chars().last().unwrap_or_default())
        }
        None => format!("{verb}ed"),
    }
}

/// "switching" → "switched", "making" → "made". `None` if the word is no gerund.
pub(crate) fn past_of_gerund(gerund: &str) -> Option<String> {
    let bare = gerund.strip_suffix("ing").filter(|bare| bare.len() > 1)?;
    let is_base = |base: &str| {
        let stem = base.strip_suffix('e').unwrap_or(base);
        // "setting": the last letter is doubled.
        bare == stem || bare.strip_prefix(stem).is_some_and(|more| stem.ends_with(more) && more.len() == 1)
    };
    if let Some((_, past)) = IRREGULAR.iter().find(|(base, _)| is_base(base)) {
        return Some((*past).to_owned());
    }
    let is_after_consonant = |stem: &&str| !stem.ends_with(['a', 'e', 'o', 'u']);
    Some(match bare.strip_suffix('y').filter(is_after_consonant) {
        Some(stem) => format!("{stem}ied"),
        None => format!("{bare}ed"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::TextDocument;

    #[test]
    fn orders_are_told_as_done() {
        for (order, done) in [
            ("Add a cursor to the list", "Added a cursor to the list"),
            (
                "Apply the discount, strip the label and rewrite the page",
                "Applied the discount, stripped the label and rewrote the page",
            ),
            ("Fix: The list stays empty", "Fixed: the list stays empty"),
            ("Fix: Desk Page Shows Old Rows", "Fixed: Desk Page Shows Old Rows"),
            ("depot: add a cursor", "depot: added a cursor"),
            ("Clear the basket after a booking", "Cleared the basket after a booking"),
            ("Make the desk wider and remove the lamp", "Made the desk wider and removed the lamp"),
            // What others may do stays an order of theirs.
            ("Allow managers to add and remove desks", "Allowed managers to add and remove desks"),
            (
                "Ensure that the desk prints once, and handle refusals",
                "Ensured that the desk prints once, and handle refusals",
            ),
            ("Move the fee to a table and add a test", "Moved the fee to a table and added a test"),
            (
                "Fix the map: use tiles, drop the old image",
                "Fixed the map: used tiles, dropped the old image",
            ),
            (
                "H-01: Wrap the booking (before it retries) and drop the lock",
                "H-01: Wrapped the booking (before it retries) and dropped the lock",
            ),
            ("The list adds a row", "The list adds a row"),
            ("Füge eine Spalte hinzu", "Füge eine Spalte hinzu"),
        ] {
            assert_eq!(title_as_done(order), done);
        }
    }

    #[test]
    fn verb_that_is_a_noun_too_heads_a_title_or_has_an_object() {
        assert_eq!(title_as_done("Update depot page"), "Updated depot page");
        assert_eq!(
            as_done("Update requests fail without a token", false),
            "Update requests fail without a token"
        );
        assert_eq!(as_done("Bump sizes and add a border", false), "Bumped sizes and added a border");
        assert_eq!(as_done("Re-apply the label", false), "Re-applied the label");
        assert_eq!(
            as_done("Update the depot page, and log `desk_id`", false),
            "Updated the depot page, and logged `desk_id`"
        );
    }

    /// The body of a commit as it is told.
    fn told(title: &str, body: &str) -> Vec<String> {
        let document = TextDocument::read(body);
        let tense = BodyTense::read(title, &document.sentences);
        document.sentences.iter().map(|sentence| tense.told(sentence)).collect()
    }

    #[test]
    fn items_among_orders_are_orders() {
        let list = "- Add a cursor to the list\n- Count progress without a bound\n- Remove the old table";
        assert_eq!(told("Rework the list", list)[1], "Counted progress without a bound");
        let parts = "- Count progress bar of the list\n- Depot page of the desk";
        assert_eq!(told("Rework the list", parts)[0], "Count progress bar of the list");
    }

    #[test]
    fn order_that_is_only_written_down_stays_one() {
        let order = "Move the fee to a table.";
        assert_eq!(told("Add a todo for the fee", order), ["To do: move the fee to a table"]);
        assert_eq!(told("Refactor the fee", order), ["Moved the fee to a table"]);
        let written = "Document the idea of a table.";
        assert_eq!(told("Add a todo for the fee", written), ["Documented the idea of a table"]);
        let reason = "The fee is computed in two places.";
        assert_eq!(told("Add plans for phase 3", reason), ["The fee is computed in two places"]);
    }

    #[test]
    fn tables_are_sorted() {
        for table in [VERBS, NOUNS_TOO, OBJECT_OPENERS, DOUBLING, CLAUSE_OPENERS, INFINITIVES] {
            assert!(table.is_sorted(), "{table:?}");
        }
    }
}
