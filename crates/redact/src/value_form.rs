//! Classifies the form of a value: words, hexadecimal digits, a token, a pattern.

use super::class;

/// Maximum length of a word.
const WORD_BYTES_MAX: usize = 24;

/// Whether it consists of words a person would write, with a few digits at most.
pub(super) fn is_wordlike(value: &[u8]) -> bool {
    let is_letter = |b: &u8| b.is_ascii_alphabetic() || !b.is_ascii();
    let is_joint = |b: &u8| b"_-./: \\@,".contains(b);
    let letters = value.iter().filter(|b| is_letter(b)).count();
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let joints = value.iter().filter(|b| is_joint(b)).count();
    let lower = value.split(|b| !b.is_ascii_lowercase()).map(<[u8]>::len).max();
    if letters + digits + joints < value.len() || letters == 0 || lower > Some(WORD_BYTES_MAX) {
        return false;
    }
    // `sha256`, `user_1`, `v2`: digits are few and end a word.
    let inside = value.windows(2).filter(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic());
    digits == 0 || (digits * 4 <= letters && joints > 0 && inside.count() <= 1)
}

/// Whether it has only bytes that occur in generated tokens.
pub(super) fn is_token(value: &[u8]) -> bool {
    value.iter().all(|b| b.is_ascii_alphanumeric() || b"_-+/=.~:%!@|".contains(b))
}

/// Whether it has only hexadecimal digits and dashes: checksums, commits, UUIDs.
pub(super) fn is_hex(value: &[u8]) -> bool {
    value.iter().all(|&b| class::has(class::XHEX, b) || b == b'-')
}

/// Whether it is a checksum, or a name that ends with one: `linux-cargo-5d41402a…`.
pub(super) fn ends_with_hash(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|&&b| class::has(class::XHEX, b)).count();
    let rest = &value[..value.len() - digits];
    is_hex(value) || digits >= 32 && matches!(rest.last(), Some(b'-' | b'_' | b'.' | b':'))
}

/// Whether it has a sign, or small and capital letters and digits.
pub(super) fn is_mixed(word: &[u8]) -> bool {
    let any = |is: fn(&u8) -> bool| word.iter().any(is);
    word.iter().any(|b| b"!#$%^&*".contains(b))
        || any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase) && any(u8::is_ascii_digit)
}

/// Whether it is the name of an algorithm, an encoding or a protocol: `sha256`, `aes-256-gcm`,
/// `HmacSHA256`, `OAuth2`.
pub(super) fn is_technical(value: &[u8]) -> bool {
    const PARTS: &str = "sha md aes des rc hmac rsa dsa ecdsa eddsa ed x secp r k hs rs es ps argon id i d bcrypt scrypt \
        pbkdf base utf oauth oidc saml http https tls ssl v ipv iso gzip crc chacha poly blake b s gcm cbc ctr ecb cfb \
        ofb with nopadding pkcs padding prime p curve hmacsha zxcvbn mysql postgres node web oauth_ ascii latin sql";
    if value.len() > 32 {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let mut long = false;
    let known = lower.split(|b| !b.is_ascii_alphabetic()).filter(|part| !part.is_empty()).all(|part| {
        long |= part.len() > 1;
        PARTS.split_ascii_whitespace().any(|known| part == known.as_bytes())
    });
    let plain = lower.iter().all(|b| b.is_ascii_alphanumeric() || b"-_/.".contains(b));
    known && long && plain
}

/// Whether it is a word with one or two digits at its end: `tokio1`, `replica2`.
pub(super) fn is_numbered_word(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let word = &value[..value.len() - digits];
    (1..=2).contains(&digits)
        && !is_passphrase(value)
        && word.len() >= 2
        && word.iter().all(|b| b.is_ascii_alphabetic() || b"_-".contains(b))
}

/// Whether it consists of words and a number with dashes between them, as generators of passphrases make it:
/// `amber-falcon-58`; or of four groups of four letters, as app passwords are printed.
pub(super) fn is_passphrase(value: &[u8]) -> bool {
    if value.len() > 64 || !value.contains(&b'-') {
        return false;
    }
    let is_word = |part: &&[u8]| {
        (3..=12).contains(&part.len())
            && part[1..].iter().all(u8::is_ascii_lowercase)
            && part[0].is_ascii_alphabetic()
    };
    let is_number = |part: &&[u8]| (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let parts = || value.split(|b| *b == b'-');
    let numbers = parts().filter(is_number).count();
    let words = parts().filter(is_word).count();
    let groups = value.len() == 19
        && words == 4
        && parts().all(|part| part.len() == 4 && part.iter().all(u8::is_ascii_lowercase));
    let numbered = numbers == 1 && words >= 2 && words + numbers == parts().count();
    (numbered || groups) && !is_common(value)
}

/// Whether it consists of capitalised words with a joint between them and a digit, as people make passwords and
/// no convention names variables: `Amber_Falcon8`.
pub(super) fn is_joined_password(value: &[u8]) -> bool {
    let is_word = |part: &[u8]| {
        let digits = part.iter().filter(|b| b.is_ascii_digit()).count();
        let letters = &part[..part.len() - digits];
        letters.len() >= 3
            && letters[0].is_ascii_uppercase()
            && letters[1..].iter().all(u8::is_ascii_lowercase)
            && part[letters.len()..].iter().all(u8::is_ascii_digit)
    };
    let mut parts = value.split(|b| matches!(b, b'_' | b'-'));
    value.iter().any(|b| matches!(b, b'_' | b'-'))
        && value.iter().any(u8::is_ascii_digit)
        && parts.all(is_word)
        && !is_technical(value)
        && !is_common(value)
}

/// Whether it looks like a regular expression.
pub(super) fn is_pattern(value: &[u8]) -> bool {
    const SIGNS: &str = r"\d \w \s \b .* .+ [^ ]+ ]* (? [a- [0-";
    SIGNS.split(' ').any(|sign| contains(value, sign.as_bytes()))
}

/// Whether it is a word commonly found in place of a password: a type, a state, a form's label, or
/// a text that contains the field's own name.
pub(super) fn is_common(value: &[u8]) -> bool {
    const WORDS: &str = "string str text bytes buffer char varchar bool boolean number int integer \
        any unknown never object optional required missing invalid valid incorrect wrong expired \
        hidden default changed enabled disabled input field value type self this request body form \
        option flag parameter argument optional password keyword data label include omit same-origin ask prompt env config settings options args";
    const PARTS: &str = "pass pwd secret token key your example placeholder dummy user cred";
    let lower = value.to_ascii_lowercase();
    WORDS.split(' ').any(|word| lower == word.as_bytes())
        || PARTS.split(' ').any(|part| contains(&lower, part.as_bytes()))
}

pub(super) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}
