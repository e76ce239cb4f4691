use super::*;
use crate::coverage::stable_prefix_len;

const ROOTS: &[&str] = &[
    "abil", "act", "agree", "apolog", "avoid", "bl", "capab", "care", "cast", "conflat", "cry", "decid",
    "defens", "depend", "digit", "dy", "electr", "fail", "fall", "fil", "fix", "form", "glad", "happ", "hop",
    "hopp", "index", "log", "migrat", "ness", "oper", "oscill", "pass", "plaster", "play", "possib",
    "predic", "probat", "r", "rat", "relat", "renew", "replac", "respons", "roll", "s", "sens", "siz", "sk",
    "stab", "tan", "tr", "troubl", "us", "valenc", "vietnam", "yoyo", "sha256", "x86",
];
const ENDS: &[&str] = &[
    "", "a", "e", "s", "y", "ed", "er", "al", "ic", "ll", "ss", "ies", "ied", "ing", "ion", "ity", "ive",
    "ize", "ous", "ful", "ism", "ate", "ent", "ant", "able", "ible", "ably", "ance", "ence", "ancy", "ency",
    "ical", "ally", "edly", "ingly", "ation", "ations", "ator", "ement", "ments", "ness", "fulness",
    "iveness", "ousness", "ously", "ively", "ality", "ivity", "ility", "bility", "alism", "ational",
    "tional", "ization", "izer", "icate", "ative", "alize", "iciti", "logy", "logical", "eed", "eeds",
    "sses", "yed", "ying", "zz", "tting", "lling",
];

/// Every root with every suffix.
fn words() -> Vec<String> {
    let each = ROOTS.iter().flat_map(|root| ENDS.iter().map(move |end| format!("{root}{end}")));
    each.collect()
}

/// The term that SQLite's index holds for each word.
fn as_indexed(words: &[String]) -> Vec<String> {
    let index = rusqlite::Connection::open_in_memory().unwrap();
    index
        .execute_batch(
            "CREATE VIRTUAL TABLE words USING fts5(word, tokenize = 'porter unicode61');
             CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance);",
        )
        .unwrap();
    for word in words {
        index.execute("INSERT INTO words VALUES (?1)", [word]).unwrap();
    }
    let mut stems = index.prepare("SELECT term FROM stems ORDER BY doc").unwrap();
    let stems = stems.query_map([], |row| row.get(0)).unwrap();
    stems.collect::<Result<_, _>>().unwrap()
}

#[test]
fn stems_equal_those_of_the_index() {
    let words = words();
    for (word, indexed) in words.iter().zip(as_indexed(&words)) {
        assert_eq!(stem(word), indexed, "of {word}");
    }
}

#[test]
fn stems_share_the_stable_prefix_of_their_word() {
    for word in words() {
        let stem = stem(&word);
        let same = stable_prefix_len(stem.as_bytes());
        assert_eq!(stem[..same], word[..same], "{stem} of {word}");
    }
}
