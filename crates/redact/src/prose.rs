//! Finds secrets in sentences: seed phrases, access codes, card and account numbers, and logins.

use super::class;
use super::judge::is_chosen;
use super::rules::{RuleId, SecretMatch};
use super::shape::word_begins;
use super::value::{self, ValueRandomness};
use super::value_form::is_mixed;

const SEED_PHRASE: RuleId = RuleId::named("seed-phrase");
const ACCESS_CODE: RuleId = RuleId::named("access-code");
const PAYMENT_NUMBER: RuleId = RuleId::named("payment-number");
const LOGIN: RuleId = RuleId::named("login");

/// How far after its name a value may start.
const GAP_BYTES_MAX: usize = 32;
/// How far after its introduction a login may stand.
const LOGIN_BYTES_MAX: usize = 160;
/// Fewest words of a seed phrase; one may have been mistyped.
const SEED_WORDS_MIN: usize = 11;
/// Most words of a seed phrase.
const SEED_WORDS_MAX: usize = 24;

/// The words of a seed phrase after its name, which ends at `end`.
pub(super) fn seed_phrase(bytes: &[u8], end: usize) -> Option<SecretMatch> {
    let gap = bytes[end..].iter().take(GAP_BYTES_MAX).position(|b| matches!(b, b':' | b'=' | b'\n'));
    let copula = [b" is ".as_slice(), b" are ", b" lautet ", b" ist "]
        .into_iter()
        .find(|word| bytes[end..].starts_with(word));
    let mut start = match (copula, gap) {
        (Some(word), _) => end + word.len(),
        (None, Some(gap)) => end + gap + 1,
        (None, None) => return None,
    };
    start += bytes[start..]
        .iter()
        .take(GAP_BYTES_MAX)
        .take_while(|b| b.is_ascii_whitespace() || b"\"'`:".contains(b))
        .count();
    let (mut here, mut words) = (start, 0);
    let mut stop = start;
    loop {
        here += list_number(&bytes[here..]);
        let length = class::run(&bytes[here..], class::LOWER, 12);
        if !(3..=8).contains(&length) {
            break;
        }
        stop = here + length;
        words += 1;
        here = stop + bytes[stop..].iter().take(4).take_while(|b| matches!(b, b' ' | b'\n' | b',')).count();
        if here == stop || words == SEED_WORDS_MAX {
            break;
        }
    }
    (words >= SEED_WORDS_MIN).then_some((start, stop, SEED_PHRASE))
}

/// The length of the number before a word of a list: `3. `.
fn list_number(bytes: &[u8]) -> usize {
    let digits = class::run(bytes, class::DIGIT, 2);
    match bytes.get(digits..) {
        Some([b'.' | b')' | b':', b' ', ..]) if digits > 0 => digits + 2,
        Some([b'.' | b')', ..]) if digits > 0 => digits + 1,
        _ => 0,
    }
}

/// Particles and verbs between a name and a value in languages that write without blanks.
const PARTICLES: [&str; 6] = ["は", "是", "为", "為", "：", "는"];
/// Codes that tests quote.
const EXAMPLE_CODES: [&[u8]; 4] = [b"123456", b"12345678", b"000000", b"111111"];
/// Words before `pin` that make it a pin of a chip.
const HARDWARE: &str =
    "gpio led header connector clock data reset analog digital output input chip board power";

/// The digits of an access code after its name at `bytes[at..end]`.
pub(super) fn access_code(bytes: &[u8], at: usize, end: usize) -> Option<SecretMatch> {
    let own_word = word_begins(bytes, at) && bytes.get(end).is_none_or(|b| !class::has(class::URL, *b));
    let before = bytes[..at].trim_ascii_end();
    let word_before = &before[before.len() - class::run_back(before, class::ALPHA, 16)..];
    let hardware = HARDWARE.split(' ').any(|word| word_before.eq_ignore_ascii_case(word.as_bytes()));
    if !own_word || hardware {
        return None;
    }
    let quoted = bytes.get(end) == Some(&b'"');
    let end_of_name = end + usize::from(quoted);
    let mut here = end_of_name + blanks(bytes, end_of_name);
    for word in [b"code".as_slice(), b"number", b"pin"] {
        if starts_with_ignore_case(&bytes[here..], word) {
            here += word.len();
            here += blanks(bytes, here);
        }
    }
    // `unlock code for the phone is …`
    if starts_with_ignore_case(&bytes[here..], b"for ") {
        let near = &bytes[here..bytes.len().min(here + LOGIN_BYTES_MAX / 4)];
        here += memchr::memmem::find(near, b" is ").map_or(0, |verb| verb + 1);
    }
    let sign = match &bytes[here..] {
        [b':' | b'=', ..] => 1,
        rest if starts_with_ignore_case(rest, b"is ") => 3,
        rest if starts_with_ignore_case(rest, b"ist ") || starts_with_ignore_case(rest, b"est ") => 4,
        rest if starts_with_ignore_case(rest, b"lautet ") => 7,
        rest if starts_with_ignore_case(rest, b"es ") => 3,
        rest if PARTICLES.iter().any(|particle| rest.starts_with(particle.as_bytes())) => "は".len(),
        _ if is_card_code(&bytes[at..end]) => 0,
        _ => return None,
    };
    let start = here + sign + blanks(bytes, here + sign);
    if quoted && bytes.get(start) != Some(&b'"') {
        return None;
    }
    let start = start + usize::from(matches!(bytes.get(start), Some(b'"' | b'\'' | b'`')));
    let length = class::run(&bytes[start..], class::DIGIT, 12);
    let mut stop = start + length;
    // `482 913`
    if length == 3
        && matches!(bytes.get(stop), Some(b' ' | b'-'))
        && class::run(&bytes[stop + 1..], class::DIGIT, 4) == 3
    {
        stop += 4;
    }
    let digits = bytes[start..stop].iter().filter(|b| b.is_ascii_digit()).count();
    let in_quotes = matches!(bytes[..start].last(), Some(b'"' | b'\''));
    if in_quotes && EXAMPLE_CODES.contains(&&bytes[start..stop]) {
        return None;
    }
    let ends = bytes.get(stop).is_none_or(|b| !class::has(class::WORD, *b));
    let least = if is_card_code(&bytes[at..end]) { 3 } else { 4 };
    ((least..=10).contains(&digits) && ends).then_some((start, stop, ACCESS_CODE))
}

/// Whether the name is that of the code on the back of a card.
fn is_card_code(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"cvc") || name.eq_ignore_ascii_case(b"cvv")
}

/// The number of a card or account after its name, which ends at `end`.
pub(super) fn payment_number(bytes: &[u8], at: usize, end: usize) -> Option<SecretMatch> {
    if !word_begins(bytes, at) {
        return None;
    }
    let name = &bytes[at..end];
    if name.eq_ignore_ascii_case(b"iban") || name.eq_ignore_ascii_case(b"konto") {
        return account_number(bytes, end);
    }
    if starts_with_ignore_case(name, b"ssn") {
        return insurance_number(bytes, end);
    }
    let near = &bytes[end..bytes.len().min(end + GAP_BYTES_MAX)];
    let start = end + near.iter().position(u8::is_ascii_digit)?;
    let of_number = |b: &&u8| b.is_ascii_digit() || matches!(**b, b' ' | b'-');
    let length = bytes[start..].iter().take(32).take_while(of_number).count();
    let text = bytes[start..start + length].trim_ascii_end();
    // A date or a code may follow without a sign between.
    let ends = |stop: &usize| !text.get(*stop).is_some_and(u8::is_ascii_digit);
    (0..=text.len())
        .rev()
        .filter(ends)
        .find(|stop| is_card_number(&text[..*stop]))
        .map(|stop| (start, start + stop, PAYMENT_NUMBER))
}

/// A number of the form `123-45-6789`.
fn insurance_number(bytes: &[u8], end: usize) -> Option<SecretMatch> {
    let near = &bytes[end..bytes.len().min(end + GAP_BYTES_MAX)];
    let start = end + near.iter().position(u8::is_ascii_digit)?;
    let number = bytes.get(start..start + 11)?;
    let fits = number
        .iter()
        .enumerate()
        .all(|(i, b)| if matches!(i, 3 | 6) { *b == b'-' } else { b.is_ascii_digit() });
    let ends = bytes.get(start + 11).is_none_or(|b| !class::has(class::URL, *b));
    (fits && ends).then_some((start, start + 11, PAYMENT_NUMBER))
}

/// Whether these are the digits of a card, in groups or not, with the right check digit.
fn is_card_number(text: &[u8]) -> bool {
    let digits: Vec<u8> = text.iter().filter(|b| b.is_ascii_digit()).map(|b| b - b'0').collect();
    if !(13..=19).contains(&digits.len()) || !text.ends_with(&[digits.last().map_or(0, |d| d + b'0')]) {
        return false;
    }
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, &d)| {
            let d = u32::from(d) << (i % 2);
            if d > 9 { d - 9 } else { d }
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|d| *d != digits[0])
}

/// An IBAN with the right check digits.
fn account_number(bytes: &[u8], end: usize) -> Option<SecretMatch> {
    let near = &bytes[end..bytes.len().min(end + GAP_BYTES_MAX)];
    let start = end
        + near.windows(4).position(|w| {
            w[0].is_ascii_uppercase()
                && w[1].is_ascii_uppercase()
                && w[2].is_ascii_digit()
                && w[3].is_ascii_digit()
        })?;
    let of_number = |b: &&u8| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b' ';
    let length = bytes[start..].iter().take(42).take_while(of_number).count();
    let text = bytes[start..start + length].trim_ascii_end();
    (15..=text.len())
        .rev()
        .find(|stop| is_iban(&text[..*stop]))
        .map(|stop| (start, start + stop, PAYMENT_NUMBER))
}

fn is_iban(text: &[u8]) -> bool {
    let signs: Vec<u8> = text.iter().copied().filter(|b| *b != b' ').collect();
    if !(15..=34).contains(&signs.len()) {
        return false;
    }
    let rest = signs[4..].iter().chain(&signs[..4]).fold(0_u32, |rest, &b| {
        if b.is_ascii_digit() {
            (rest * 10 + u32::from(b - b'0')) % 97
        } else {
            (rest * 100 + u32::from(b - b'A' + 10)) % 97
        }
    });
    rest == 1
}

/// The password after `log in with NAME / PASSWORD`, `NAME:PASSWORD` or `NAME and PASSWORD`.
pub(super) fn login(bytes: &[u8], end: usize) -> Option<SecretMatch> {
    let line = &bytes[end..bytes.len().min(end + LOGIN_BYTES_MAX)];
    let line = &line[..line.iter().position(|b| *b == b'\n').unwrap_or(line.len())];
    let words: Vec<(usize, usize)> = LineWords { bytes: line, here: 0 }.take(8).collect();
    let is_password = |start: usize, stop: usize| {
        let value = trim_sentence(&line[start..stop]);
        let weight = value::classify_value(value);
        let chosen =
            is_chosen(value, weight) || is_spelled_with_digits(value) && weight > ValueRandomness::NotSecret;
        (chosen && !value.contains(&b'=')).then_some((end + start, end + start + value.len(), LOGIN))
    };
    words.iter().enumerate().find_map(|(i, &(start, stop))| {
        let word = &line[start..stop];
        if matches!(word, b"/" | b":" | b"|") && i > 0 {
            let (start, stop) = *words.get(i + 1)?;
            return is_password(start, stop);
        }
        if matches!(word, b"and" | b"und" | b"et" | b"y") && i > 0 {
            let (start, stop) = *words.get(i + 1)?;
            let word = trim_sentence(&line[start..stop]);
            let numbered = word.iter().rev().skip_while(|b| b.is_ascii_digit()).all(u8::is_ascii_alphabetic);
            return is_password(start, stop).filter(|_| is_mixed(word) && !numbered);
        }
        // `admin/password`, `admin:password`
        let sign = word.iter().position(|b| matches!(b, b'/' | b':')).filter(|sign| *sign > 0)?;
        let address = word[sign..].starts_with(b"://")
            || word[sign + 1..].contains(&b'/')
            || !is_mixed(&word[sign + 1..]);
        if address { None } else { is_password(start + sign + 1, stop) }
    })
}

/// Whether a digit stands for a letter: `n3ctar-Lamp`.
fn is_spelled_with_digits(word: &[u8]) -> bool {
    word.len() >= 8
        && is_mixed(word)
        && word
            .windows(3)
            .any(|w| w[0].is_ascii_alphabetic() && w[1].is_ascii_digit() && w[2].is_ascii_lowercase())
}

/// The word without the signs that end a sentence or a quotation.
fn trim_sentence(word: &[u8]) -> &[u8] {
    let trailing = word.iter().rev().take_while(|b| b",;).'\"`".contains(b)).count();
    &word[..word.len() - trailing]
}

/// The words of a line, without the quotes before them.
struct LineWords<'a> {
    bytes: &'a [u8],
    here: usize,
}

impl Iterator for LineWords<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let skipped = self.bytes[self.here..]
            .iter()
            .take_while(|b| b.is_ascii_whitespace() || b"'\"`(".contains(b))
            .count();
        let start = self.here + skipped;
        let length = self.bytes[start..].iter().take_while(|b| !b.is_ascii_whitespace()).count();
        self.here = start + length;
        (length > 0).then_some((start, start + length))
    }
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take(4).take_while(|b| **b == b' ').count()
}

fn starts_with_ignore_case(bytes: &[u8], word: &[u8]) -> bool {
    bytes.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}
