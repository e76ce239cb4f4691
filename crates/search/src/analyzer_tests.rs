use super::*;

/// What the bundled SQLite makes of each character between two letters.
fn as_indexed(characters: &[char]) -> Vec<CharClass> {
    let mut index = rusqlite::Connection::open_in_memory().unwrap();
    index
        .execute_batch(
            "CREATE VIRTUAL TABLE words USING fts5(word, tokenize = 'unicode61');
             CREATE VIRTUAL TABLE terms USING fts5vocab(words, instance);",
        )
        .unwrap();
    let tx = index.transaction().unwrap();
    for (row, c) in characters.iter().enumerate() {
        tx.prepare_cached("INSERT INTO words(rowid, word) VALUES (?1, ?2)")
            .unwrap()
            .execute((row as i64 + 1, format!("x{c}x")))
            .unwrap();
    }
    tx.commit().unwrap();
    let mut classes = vec![CharClass::Separator; characters.len()];
    let mut terms = index.prepare("SELECT doc, term FROM terms").unwrap();
    let mut rows = terms.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (doc, term): (i64, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let inner = term.strip_prefix('x').and_then(|term| term.strip_suffix('x'));
        let class = match (inner, inner.and_then(|inner| inner.chars().next())) {
            (Some(_), Some(letter)) => CharClass::Token(letter),
            (Some(_), None) => CharClass::Mark,
            (None, _) => CharClass::Separator,
        };
        classes[doc as usize - 1] = class;
    }
    classes
}

/// Every character but NUL, which ends a text in SQLite.
fn all_characters() -> Vec<char> {
    ('\u{1}'..=char::MAX).collect()
}

/// The table as the file holds it, from the index's answers.
fn render_table(characters: &[char], classes: &[CharClass]) -> String {
    let mut lines = Vec::new();
    for (kind, is_kind) in [
        ("t", (|class| matches!(class, CharClass::Token(_))) as fn(&CharClass) -> bool),
        ("m", |class| matches!(class, CharClass::Mark)),
    ] {
        let mut ranges: Vec<(char, char)> = Vec::new();
        for (&c, class) in characters.iter().zip(classes) {
            if c.is_ascii() || !is_kind(class) {
                continue;
            }
            match ranges.last_mut() {
                Some((_, last)) if *last as u32 + 1 == c as u32 => *last = c,
                _ => ranges.push((c, c)),
            }
        }
        lines.extend(ranges.iter().map(|(a, b)| format!("{kind} {:x} {:x}", *a as u32, *b as u32)));
    }
    for (&c, class) in characters.iter().zip(classes) {
        if let CharClass::Token(letter) = class
            && !c.is_ascii()
            && *letter != c
        {
            lines.push(format!("f {:x} {:x}", c as u32, *letter as u32));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn every_code_point_is_folded_as_in_the_index() {
    let characters = all_characters();
    let indexed = as_indexed(&characters);
    // After an update of SQLite: `CLAUDE_MEM_WRITE_TABLES=1 cargo test -p claude-mem-search`.
    if std::env::var_os("CLAUDE_MEM_WRITE_TABLES").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fold_table.txt");
        std::fs::write(path, render_table(&characters, &indexed)).unwrap();
        return;
    }
    let differ: Vec<String> = characters
        .iter()
        .zip(&indexed)
        .filter(|(c, indexed)| classify(**c) != **indexed)
        .map(|(c, indexed)| format!("U+{:04X}: {:?}, indexed {indexed:?}", *c as u32, classify(*c)))
        .collect();
    assert!(differ.is_empty(), "{} differ: {:?}", differ.len(), &differ[..differ.len().min(20)]);
}

#[test]
fn words_are_split_and_folded_as_in_the_index() {
    let split = |text| words(text).collect::<Vec<_>>();
    assert_eq!(split("Příklad, re\u{301}sume\u{301}!"), ["priklad", "resume"]);
    assert_eq!(split("\u{301}alpha--BETA 日本"), ["alpha", "beta", "日本"]);
    assert_eq!(split(" -- "), Vec::<String>::new());
}
