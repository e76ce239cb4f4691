//! Byte classes (alphabets of tokens), one bit each in a table by byte.

/// A set of byte classes.
pub(super) type ByteClass = u32;

pub(super) const DIGIT: ByteClass = 1 << 0;
/// `0-9a-f`
pub(super) const HEX: ByteClass = 1 << 1;
/// `0-9a-fA-F`
pub(super) const XHEX: ByteClass = 1 << 2;
/// `a-z0-9`
pub(super) const LOWER: ByteClass = 1 << 3;
/// `A-Z0-9`
pub(super) const UPPER: ByteClass = 1 << 4;
/// `a-zA-Z`
pub(super) const ALPHA: ByteClass = 1 << 5;
/// `a-zA-Z0-9`
pub(super) const ALNUM: ByteClass = 1 << 6;
/// `a-zA-Z0-9_`
pub(super) const WORD: ByteClass = 1 << 7;
/// `a-zA-Z0-9_-`: base64url, and names.
pub(super) const URL: ByteClass = 1 << 8;
/// `a-zA-Z0-9+/=`
pub(super) const B64: ByteClass = 1 << 9;
/// `A-Z2-7`
pub(super) const B32: ByteClass = 1 << 10;
/// `a-zA-Z0-9_.=-`
pub(super) const DOTTED: ByteClass = 1 << 11;
/// `a-zA-Z0-9_~.-`
pub(super) const TILDE: ByteClass = 1 << 12;
/// The part of a URL after its host: no blanks, quotes, brackets or commas.
pub(super) const PATH: ByteClass = 1 << 13;

/// `a-zA-Z0-9./`: hashes as `crypt` writes them.
pub(super) const CRYPT: ByteClass = 1 << 14;
/// `a-zA-Z0-9+/=$,-`: what follows the name of an Argon2 hash.
pub(super) const ARGON: ByteClass = 1 << 15;
/// `a-zA-Z0-9%_.~+/=-`: base64 of any kind, escaped or not.
pub(super) const PCT: ByteClass = 1 << 16;

static TABLE: [ByteClass; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = classes_of(i as u8);
        i += 1;
    }
    table
};

const fn classes_of(b: u8) -> ByteClass {
    let mut set = 0;
    if b.is_ascii_digit() {
        set |= DIGIT;
    }
    if matches!(b, b'0'..=b'9' | b'a'..=b'f') {
        set |= HEX;
    }
    if b.is_ascii_hexdigit() {
        set |= XHEX;
    }
    if matches!(b, b'0'..=b'9' | b'a'..=b'z') {
        set |= LOWER;
    }
    if matches!(b, b'0'..=b'9' | b'A'..=b'Z') {
        set |= UPPER;
    }
    if b.is_ascii_alphabetic() {
        set |= ALPHA;
    }
    if matches!(b, b'A'..=b'Z' | b'2'..=b'7') {
        set |= B32;
    }
    if b.is_ascii_alphanumeric() {
        set |= ALNUM;
    }
    if b.is_ascii_alphanumeric() || b == b'_' {
        set |= WORD;
    }
    if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-') {
        set |= URL;
    }
    if b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=') {
        set |= B64;
    }
    if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'=') {
        set |= DOTTED;
    }
    if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'~') {
        set |= TILDE;
    }
    if b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/') {
        set |= CRYPT;
    }
    if b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'$' | b',' | b'-') {
        set |= ARGON;
    }
    if b.is_ascii_alphanumeric() || matches!(b, b'%' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=' | b'-') {
        set |= PCT;
    }
    if b.is_ascii_graphic()
        && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'(' | b')' | b'[' | b']' | b',' | b'\\')
    {
        set |= PATH;
    }
    set
}

/// Whether `byte` belongs to `class`.
pub(super) const fn has(class: ByteClass, byte: u8) -> bool {
    TABLE[byte as usize] & class != 0
}

/// The number of leading bytes in `class`, at most `max`.
pub(super) fn run(bytes: &[u8], class: ByteClass, max: usize) -> usize {
    bytes.iter().take(max).take_while(|&&b| has(class, b)).count()
}

/// The number of trailing bytes in `class`, at most `max`.
pub(super) fn run_back(bytes: &[u8], class: ByteClass, max: usize) -> usize {
    bytes.iter().rev().take(max).take_while(|&&b| has(class, b)).count()
}
