//! The Porter stemmer as FTS5 implements it, so that ranking counts the terms FTS5 matched.
//!
//! Algorithm: M. F. Porter, "An algorithm for suffix stripping", 1980. A differential test compares
//! it with the bundled SQLite on a long list of ASCII words.

/// The stem of one lower-case word. As in FTS5, words shorter than 3 bytes, longer than 64 or not
/// ASCII are returned unchanged.
pub fn stem(word: &str) -> String {
    if !(3..=64).contains(&word.len()) || !word.is_ascii() {
        return word.to_owned();
    }
    let mut w = word.as_bytes().to_vec();
    step_1a(&mut w);
    step_1b(&mut w);
    step_1c(&mut w);
    table_step(&mut w, STEP_2, 0);
    table_step(&mut w, STEP_3, 0);
    step_4(&mut w);
    step_5(&mut w);
    // The bytes are ASCII throughout, so this cannot fail.
    String::from_utf8(w).unwrap_or_else(|_| word.to_owned())
}

const STEP_2: &[(&[u8], &[u8])] = &[
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"logi", b"log"),
    (b"bli", b"ble"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
];

const STEP_3: &[(&[u8], &[u8])] = &[
    (b"icate", b"ic"),
    (b"ative", b""),
    (b"alize", b"al"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ful", b""),
    (b"ness", b""),
];

const STEP_4: &[&[u8]] = &[
    b"al", b"ance", b"ence", b"er", b"ic", b"able", b"ible", b"ant", b"ement", b"ment", b"ent", b"ion",
    b"ou", b"ism", b"ate", b"iti", b"ous", b"ive", b"ize",
];

fn is_vowel(w: &[u8], at: usize) -> bool {
    match w[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => true,
        b'y' => at > 0 && !is_vowel(w, at - 1),
        _ => false,
    }
}

/// Porter's measure: the number of vowel-consonant transitions.
fn measure(w: &[u8]) -> usize {
    (1..w.len()).filter(|&at| is_vowel(w, at - 1) && !is_vowel(w, at)).count()
}

fn has_vowel(w: &[u8]) -> bool {
    (0..w.len()).any(|at| is_vowel(w, at))
}

/// As in FTS5, which counts `yy` as a double consonant in any position.
fn ends_double_consonant(w: &[u8]) -> bool {
    let n = w.len();
    n >= 2 && w[n - 1] == w[n - 2] && !matches!(w[n - 1], b'a' | b'e' | b'i' | b'o' | b'u')
}

/// Ends with consonant, vowel, consonant, the last not w, x or y: `hop`, not `snow`.
fn ends_cvc(w: &[u8]) -> bool {
    let n = w.len();
    n >= 3
        && !is_vowel(w, n - 3)
        && is_vowel(w, n - 2)
        && !is_vowel(w, n - 1)
        && !matches!(w[n - 1], b'w' | b'x' | b'y')
}

fn step_1a(w: &mut Vec<u8>) {
    let n = w.len();
    if w.ends_with(b"sses") || w.ends_with(b"ies") {
        w.truncate(n - 2);
    } else if w.ends_with(b"s") && !w.ends_with(b"ss") {
        w.truncate(n - 1);
    }
}

fn step_1b(w: &mut Vec<u8>) {
    let n = w.len();
    if w.ends_with(b"eed") {
        if measure(&w[..n - 3]) > 0 {
            w.truncate(n - 1);
        }
        return;
    }
    let cut = if w.ends_with(b"ed") && has_vowel(&w[..n - 2]) {
        n - 2
    } else if w.ends_with(b"ing") && has_vowel(&w[..n - 3]) {
        n - 3
    } else {
        return;
    };
    w.truncate(cut);
    if w.ends_with(b"at") || w.ends_with(b"bl") || w.ends_with(b"iz") {
        w.push(b'e');
    } else if ends_double_consonant(w) && !matches!(w.last(), Some(b'l' | b's' | b'z')) {
        w.pop();
    } else if measure(w) == 1 && ends_cvc(w) {
        w.push(b'e');
    }
}

fn step_1c(w: &mut [u8]) {
    let n = w.len();
    if w.ends_with(b"y") && has_vowel(&w[..n - 1]) {
        w[n - 1] = b'i';
    }
}

/// Applies the first matching suffix rule; later rules are not tried even if its condition fails.
fn table_step(w: &mut Vec<u8>, table: &[(&[u8], &[u8])], more_than: usize) {
    for (suffix, put) in table {
        if w.ends_with(suffix) {
            let stem = w.len() - suffix.len();
            if measure(&w[..stem]) > more_than {
                w.truncate(stem);
                w.extend_from_slice(put);
            }
            return;
        }
    }
}

fn step_4(w: &mut Vec<u8>) {
    for suffix in STEP_4 {
        if w.ends_with(suffix) {
            let stem = w.len() - suffix.len();
            let fits = *suffix != b"ion" || matches!(w[..stem].last(), Some(b's' | b't'));
            if fits && measure(&w[..stem]) > 1 {
                w.truncate(stem);
            }
            return;
        }
    }
}

fn step_5(w: &mut Vec<u8>) {
    let n = w.len();
    if w.ends_with(b"e") {
        let m = measure(&w[..n - 1]);
        if m > 1 || (m == 1 && !ends_cvc(&w[..n - 1])) {
            w.pop();
        }
    }
    if w.ends_with(b"ll") && measure(&w[..w.len() - 1]) > 1 {
        w.pop();
    }
}

#[cfg(test)]
#[path = "stem_tests.rs"]
mod tests;
