//! Finds passwords that a sentence, a list or Markdown tells: `the password for the server is …`,
//! `**Password:** …`, `use … as the password`, in several languages.
//!
//! A plain operator or verb directly after the name is read in `joint`; this file reads everything
//! looser, and asks more of the value the looser it is.

use std::ops::Range;

use super::assigned_value::ValueContext;
use super::judge::{is_chosen, judge};
use super::names::NamePromise;
use super::reference::is_placeholder;
use super::rules::RuleId;
use super::value;
use super::value_form;

const PASSWORD: RuleId = RuleId::named("password");
/// How far from its name a value may stand in a sentence.
const SENTENCE_BYTES_MAX: usize = 120;
/// Maximum length of a particle, a verb or a thing between a word and its value.
const PARTICLE_BYTES_MAX: usize = 18;
/// How many of these may stand there.
const PARTICLES_MAX: usize = 2;
/// How many words may stand between a name and its verb.
const WORDS_MAX: usize = 9;

/// Words that say to which thing a password belongs.
const PREPOSITIONS: &str = "for of on to in at from für von vom zu zum zur du de des d' del della dello di do da dos para pour per \
    voor van til till för od do dla k ke pro na v za u på af fra hos aan bij met от для к на від в до για του της cho của untuk \
    la al pentru a az";
/// Verbs and signs before a value.
const COPULAS: &str = "is was are be it's its to = : lautet ist heißt heisst war auf c'est should must shall est sera era es será è é és \
    jest to je är er on este ir là adalah είναι е это є olarak";
/// Words that may stand between a verb and a value.
const FILLERS: &str = "set to be been changed reset now still just currently called updated : = the same";
/// Words between `as` and the name.
const DETERMINERS: &str =
    "the a my your our its new root admin db das dein mein neues le la mon el mi il mia o a minha het de";
/// Words between a value and the name that follows it.
const MARKERS: &str = "as als como comme come jako is ist est es è é for";

/// Start and end of a secret, and its rule.
type SecretMatch = (usize, usize, RuleId);

/// The password that is told near the name at `name`.
pub(super) fn value_near(bytes: &[u8], name: Range<usize>) -> Option<SecretMatch> {
    let (start, end) = after_sign(bytes, &name)
        .or_else(|| after_verb(bytes, name.end))
        .or_else(|| before_name(bytes, name.start))
        .or_else(|| strong_word(bytes, name.end))?;
    Some((start, end, PASSWORD))
}

/// The value glued to a word of a language that writes without blanks: `パスワードは…です`.
pub(super) fn value_behind_particle(bytes: &[u8], end: usize) -> Option<SecretMatch> {
    let mut here = end + foreign_bytes(bytes, end);
    let glued = here > end;
    here += bytes[here..].iter().take(2).take_while(|b| matches!(b, b' ' | b':')).count();
    let mut words = 0;
    while words < PARTICLES_MAX && foreign_bytes(bytes, here) > 0 {
        here += foreign_bytes(bytes, here);
        here += usize::from(bytes.get(here) == Some(&b' '));
        words += 1;
    }
    let (start, stop) = word_at(bytes, here)?;
    let word = &bytes[start..stop];
    let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
    let sure = glued && words == 0
        || digits >= 3
        || digits >= 2 && value_form::is_mixed(word)
        || value_form::is_passphrase(word);
    (sure && is_told(word)).then_some((start, stop, PASSWORD))
}

/// The value in the sentence around a foreign word for a password, whatever stands between them: a form that few
/// other words have makes up for grammar that we do not read.
pub(super) fn formed_value_near(bytes: &[u8], name: Range<usize>) -> Option<SecretMatch> {
    let is_formed = |(start, stop): &(usize, usize)| is_formed_password(&bytes[*start..*stop]);
    let ends_sentence = |(start, stop): &(usize, usize)| {
        let next = bytes.get(*stop);
        matches!(next, Some(b'.' | b'?' | b'!')) || bytes[*start..*stop].ends_with(b"\xE3\x80\x82")
    };
    let mut words = Vec::new();
    for word in SentenceWords::after(bytes, name.end).take(WORDS_MAX) {
        words.push(word);
        if ends_sentence(&word) {
            break;
        }
    }
    // Turkish puts the value first: `… şifresi ile`.
    let before = || {
        let glued = bytes[..name.start].strip_suffix(b" ")?;
        let length = glued.iter().rev().take(64).take_while(|b| b.is_ascii_alphanumeric()).count();
        Some((glued.len() - length, glued.len())).filter(is_formed)
    };
    let (start, stop) = words.into_iter().find(is_formed).or_else(before)?;
    Some((start, stop, PASSWORD))
}

/// Whether it has capitals, small letters and a digit inside, as passwords have and few names do.
fn is_formed_password(word: &[u8]) -> bool {
    word.len() >= 8
        && word.iter().all(u8::is_ascii_alphanumeric)
        && value_form::is_mixed(word)
        && is_told(word)
        && !value_form::is_numbered_word(word)
}

/// The token behind a word of a language that writes without blanks: `令牌为 …`.
pub(super) fn token_behind_particle(bytes: &[u8], end: usize) -> Option<SecretMatch> {
    let mut here = end + foreign_bytes(bytes, end);
    here += bytes[here..].iter().take(3).take_while(|b| matches!(b, b' ' | b':')).count();
    let (start, stop) = word_at(bytes, here)?;
    let rule = judge(NamePromise::Token, ValueContext::Unquoted, &bytes[start..stop])?;
    Some((start, stop, rule))
}

/// The length of a word of another script, if it is short.
fn foreign_bytes(bytes: &[u8], at: usize) -> usize {
    let length = bytes[at..].iter().take(PARTICLE_BYTES_MAX + 1).take_while(|b| !b.is_ascii()).count();
    if length > PARTICLE_BYTES_MAX { 0 } else { length }
}

/// The value behind a sign, between Markdown or on the next line.
fn after_sign(bytes: &[u8], name: &Range<usize>) -> Option<(usize, usize)> {
    let end = name.end;
    let mut here = end + closers(bytes, end);
    let decorated = here > end || bytes[here..].starts_with(b" (");
    if bytes[here..].starts_with(b" (") {
        let close = bytes[here..].iter().take(32).position(|b| matches!(b, b')' | b'\n'))?;
        here += close + 1;
    }
    here += blanks(bytes, here);
    let signs: [&[u8]; 8] =
        [b":", "：".as_bytes(), "–".as_bytes(), "—".as_bytes(), "→".as_bytes(), b"->", b"- ", b"\n"];
    let sign = signs.into_iter().find(|sign| bytes[here..].starts_with(sign))?;
    let behind = if sign == b"\n" { here } else { here + sign.len() };
    let start = behind + blanks(bytes, behind) + closers(bytes, behind + blanks(bytes, behind));
    let start = start + blanks(bytes, start);
    if matches!(bytes.get(start), Some(b'\n' | b'\r')) {
        let alone = sign == b":" || sign == b"\n" && begins_line(bytes, name.start);
        return alone.then(|| lone_value(bytes, start)).flatten();
    }
    // `joint` has read a plain colon.
    if sign == b":" && !decorated && bytes.get(behind) == Some(&b' ') && bytes.get(behind + 1) != Some(&b'*')
    {
        return None;
    }
    let (start, stop) = word_at(bytes, start)?;
    let word = &bytes[start..stop];
    let fits = match sign {
        b"- " => word.len() >= 8 && value_form::is_mixed(word) && is_told(word),
        b":" => is_told(word),
        // A path of menus: `Password → Settings2`.
        _ => is_told(word) && !value_form::is_numbered_word(word),
    };
    fits.then_some((start, stop))
}

/// Whether only marks of a list stand before the name on its line.
fn begins_line(bytes: &[u8], start: usize) -> bool {
    let before = bytes[..start].iter().rev().take(8).take_while(|b| **b != b'\n');
    before.clone().all(|b| b" \t*-#>_`\"'".contains(b)) && before.count() < 8
}

/// The only word of the line after the line break at `at`.
pub(super) fn lone_value(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let next = at + bytes[at..].iter().take(4).take_while(|b| matches!(b, b'\n' | b'\r')).count();
    let next = next + blanks(bytes, next);
    let (start, stop) = word_at(bytes, next + closers(bytes, next))?;
    let rest = &bytes[stop..bytes.len().min(stop + 8)];
    let rest = rest.split(|b| *b == b'\n').next().unwrap_or_default();
    let alone = rest.iter().all(|b| b" \t\r`*\"'".contains(b));
    let value = &bytes[start..stop];
    let generated = value.len() >= 24 && value_form::is_hex(value) && value.iter().any(u8::is_ascii_digit);
    (alone && (generated || value_form::is_mixed(value) && is_told(value))).then_some((start, stop))
}

/// The value behind a verb, directly after the name or after the thing it belongs to.
fn after_verb(bytes: &[u8], end: usize) -> Option<(usize, usize)> {
    let mut words = SentenceWords::after(bytes, end).take(WORDS_MAX);
    let (start, stop) = words.next()?;
    let first = &bytes[start..stop];
    let mut verb = is_one_of(first, COPULAS) || first.ends_with(b":");
    if !verb && !is_one_of(first, PREPOSITIONS) && !first.starts_with(b"d'") {
        return None;
    }
    let mut fillers = 0;
    for (start, stop) in words {
        let word = &bytes[start..stop];
        if verb && is_told(word) {
            return Some((start, stop));
        }
        if is_one_of(word, COPULAS) || word.ends_with(b":") {
            verb = true;
        } else if verb && fillers < 3 && is_one_of(word, FILLERS) {
            fillers += 1;
        } else if verb {
            // An ordinary word after the verb: this sentence tells something else.
            return None;
        }
    }
    None
}

/// A word of the sentence that can be nothing but a password, wherever it stands.
fn strong_word(bytes: &[u8], end: usize) -> Option<(usize, usize)> {
    let digits = |word: &[u8]| word.iter().filter(|b| b.is_ascii_digit()).count();
    SentenceWords::after(bytes, end).find(|(start, stop)| {
        let word = &bytes[*start..*stop];
        value::is_strong(word) && digits(word) >= 2 && is_told(word)
    })
}

/// The value in `use … as the password` and `… is the password`.
fn before_name(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let from = start.saturating_sub(SENTENCE_BYTES_MAX / 2);
    // `…というパスワード`
    if let Some(before) = bytes[..start].strip_suffix("という".as_bytes()) {
        let length = before.iter().rev().take(64).take_while(|b| b.is_ascii_graphic()).count();
        let word = &before[before.len() - length..];
        return is_told(word).then_some((before.len() - length, before.len()));
    }
    let line = &bytes[from..start];
    let line_start = line.iter().rposition(|b| *b == b'\n').map_or(from, |i| from + i + 1);
    let words: Vec<(usize, usize)> = SentenceWords { bytes: &bytes[..start], here: line_start }.collect();
    let mut words = words.iter().rev().skip_while(|(a, b)| is_one_of(&bytes[*a..*b], DETERMINERS));
    let (a, b) = words.next()?;
    let marker = &bytes[*a..*b];
    if !is_one_of(marker, MARKERS) {
        return None;
    }
    let (start, stop) = *words.next()?;
    let word = &bytes[start..stop];
    let digits = word.iter().filter(|b| b.is_ascii_digit()).count();
    let sure = value_form::is_mixed(word)
        || value_form::is_passphrase(word)
        || digits >= 3 && word.len() >= 8 && marker != b"for";
    (is_told(word) && sure).then_some((start, stop))
}

/// Whether a word may be a password that somebody tells.
fn is_told(word: &[u8]) -> bool {
    let tag = word.first() == Some(&b'!') && word[1..].iter().all(u8::is_ascii_alphabetic);
    let sure = word.iter().any(|b| b.is_ascii_digit() || b"!#$%^*@".contains(b));
    sure && is_chosen(word, value::classify_value(word))
        && !tag
        && !is_placeholder(word)
        && !word.iter().any(|b| b"/=(<{[|\\".contains(b))
}

fn is_one_of(word: &[u8], list: &str) -> bool {
    list.split_ascii_whitespace().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    let mut here = at;
    loop {
        match bytes.get(here..).unwrap_or_default() {
            [b' ' | b'\t', ..] => here += 1,
            // A blank that does not break the line.
            [0xC2, 0xA0, ..] => here += 2,
            _ => return here - at,
        }
    }
}

/// Signs of Markdown and quotation marks around a name or value.
fn closers(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(4).take_while(|b| b"*_`\"'".contains(b)).count()
}

/// The word at `at`, without the signs that end a sentence.
fn word_at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(at..)?;
    let length = rest.iter().take_while(|b| b.is_ascii_graphic() && !b"\"'`<>".contains(b)).count();
    let trailing = rest[..length].iter().rev().take_while(|b| b".,;:)*?".contains(b)).count();
    (length > trailing).then_some((at, at + length - trailing))
}

/// The words of one sentence.
struct SentenceWords<'a> {
    bytes: &'a [u8],
    here: usize,
}

impl<'a> SentenceWords<'a> {
    fn after(bytes: &'a [u8], from: usize) -> Self {
        Self { bytes: &bytes[..bytes.len().min(from + SENTENCE_BYTES_MAX)], here: from }
    }
}

impl Iterator for SentenceWords<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.bytes[self.here..];
        let skipped = rest.iter().take_while(|b| b" \t\"'`*(,".contains(b)).count();
        let start = self.here + skipped;
        let ends = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'`');
        let length = self.bytes[start..].iter().position(ends).unwrap_or(self.bytes.len() - start);
        self.here = start + length;
        let word = &self.bytes[start..start + length];
        let trailing =
            if length > 1 { word.iter().rev().take_while(|b| b".,;)*?'".contains(b)).count() } else { 0 };
        (length > trailing).then_some((start, start + length - trailing))
    }
}
