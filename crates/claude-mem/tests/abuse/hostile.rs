//! Strings that have broken search engines, and random strings from the same fragments.

/// Operators, quotes and columns of FTS5, our own query syntax, SQL, and look-alikes.
const FRAGMENTS: &[&str] = &[
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "NEAR(",
    "NEAR(a b, 3)",
    "NEAR/3",
    "and",
    "not",
    "\"",
    "\"\"",
    "\"\"\"",
    "'",
    "''",
    "`",
    "(",
    ")",
    "((",
    "))",
    "()",
    "[",
    "]",
    "{",
    "}",
    "{title body}:",
    "{",
    "*",
    "**",
    "a*",
    "*a",
    "\"a\"*",
    "^",
    "^a",
    "+",
    "a + b",
    "-",
    "- a",
    "--",
    "-title:a",
    ":",
    "::",
    ":a",
    "a:",
    "title:",
    "title:a",
    "title:\"a b\"",
    "title:\"",
    "title:(a OR b)",
    "scope:xproj2x",
    "scope : xproj2x",
    "xproj2x",
    "xuserx",
    "xkindpromptx",
    "split:a",
    "rowid:1",
    "rank:a",
    "texts_fts:a",
    "body:*",
    "type:",
    "type:bugfix",
    "type:\"",
    "type:a,b,,c",
    "type:bugfix') OR 1=1 --",
    "concept:gotcha",
    "concept:\"a' OR 'a'='a\"",
    "file:session.rs",
    "file:%",
    "file:_",
    "file:../../etc/passwd",
    "file:/",
    "file:",
    "project:shop",
    "project:*",
    "project:%",
    "project:' OR 1=1 --",
    "project:0",
    "project:-1",
    "project:99999999999999999999",
    "before:yesterday",
    "before:99999999d",
    "before:-1d",
    "before:2026-02-31",
    "after:\u{221e}",
    "after:0000-00-00",
    "after:9999999999999999999y",
    ";",
    "; DROP TABLE observations",
    "'; DROP TABLE observations; --",
    "' OR '1'='1",
    "\" OR 1=1 --",
    "1; SELECT * FROM sqlite_master",
    "UNION SELECT uid FROM observations",
    "/* a */",
    "?1",
    "@a",
    "$a",
    "%s%n%x",
    "${jndi:ldap://a}",
    "<script>alert(1)</script>",
    "\\",
    "\\\"",
    "\\x00",
    "\u{0}",
    "a\u{0}b",
    "\u{0}\"",
    "\u{1}",
    "\u{1b}[31m",
    "\r\n",
    "\t",
    "\u{200b}",
    "\u{200f}",
    "\u{202e}abc\u{202c}",
    "\u{2066}a\u{2069}",
    "\u{feff}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{10ffff}",
    "e\u{301}",
    "\u{130}",
    "\u{df}",
    "\u{fb01}",
    "\u{661}\u{662}",
    "\u{bd}",
    "\u{2460}",
    "\u{1d400}",
    "\u{65e5}\u{672c}\u{8a9e}",
    "\u{ac00}",
    "\u{e01}\u{e33}",
    "\u{1f600}",
    "\u{1f468}\u{200d}\u{1f469}",
    "\u{5d0}\u{5d1}",
    "\u{640}",
    "\u{2f}",
    "login",
    "cookie",
    "getUserById",
    "src/auth/session.rs",
    "std::sync::Mutex",
    "the",
    "a",
    "0",
    "1e309",
    "-0",
    "0x0",
    "NULL",
    "nan",
    "true",
];

/// Frames that embed a fragment among words.
const FRAMES: &[fn(&str) -> String] = &[
    |hostile| hostile.to_owned(),
    |hostile| format!("login {hostile} cookie"),
    |hostile| format!("{hostile}{hostile}{hostile}"),
    |hostile| format!("\"login {hostile}"),
    |hostile| format!("title:{hostile} AND {hostile} NOT {hostile}"),
];

/// Each fragment in each frame, plus oversized strings.
pub(crate) fn strings() -> Vec<String> {
    let mut strings: Vec<String> =
        FRAGMENTS.iter().flat_map(|hostile| FRAMES.iter().map(move |frame| frame(hostile))).collect();
    for hostile in [
        "a", "a ", "\"", "(", "\" ", "a OR ", "NOT ", "title:a ", "file:a ", "type:a,", "\u{202e}", "\u{0}",
        "\u{65e5}", "a*",
    ] {
        strings.push(hostile.repeat((1 << 20) / hostile.len()));
    }
    // Very many distinct words, and a word of one megabyte among others.
    strings.push((0..200_000).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" "));
    strings.push(format!("login {} cookie", "x".repeat(1 << 20)));
    strings.push((0..500).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(" OR ") + " OR ");
    strings
}

/// A deterministic random number generator.
pub(crate) struct XorShift64(u64);

impl XorShift64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit
    }
}

/// A string of one to eight pieces: fragments, and characters from all of Unicode or from ASCII.
pub(crate) fn random(rng: &mut XorShift64) -> String {
    let mut typed = String::new();
    for _ in 0..=rng.below(8) {
        match rng.below(4) {
            0 => typed.extend((0..rng.below(6)).filter_map(|_| any_char(rng))),
            1 => typed.extend((0..rng.below(6)).map(|_| char::from(rng.below(128) as u8))),
            _ => typed.push_str(FRAGMENTS[rng.below(FRAGMENTS.len())]),
        }
        if rng.below(3) > 0 {
            typed.push(' ');
        }
    }
    typed
}

fn any_char(rng: &mut XorShift64) -> Option<char> {
    let most = [0x250, 0x3000, 0xffff, 0x0011_0000][rng.below(4)];
    char::from_u32(rng.below(most) as u32)
}
