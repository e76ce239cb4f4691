//! Classifies names that promise a secret: `DB_PASSWORD` does, `token_count` does not.
//!
//! A name is read from its end, word by word: the last noun says what the thing is, the words
//! before it say whose. An `access key` grants access, a `primary key` does not.

/// How strongly a name promises a secret, which sets how much its value must look like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NamePromise {
    /// `key`, `auth`: the value may be anything.
    Weak,
    /// `pass`: a password, or a passed test.
    Maybe,
    /// `api_key`, `access_token`: generated, long and random.
    Token,
    /// `password`: chosen by people, any word may be one.
    Password,
}

const WORD_BYTES_MAX: usize = 32;

/// What `name` promises, if anything.
pub(super) fn promise(name: &[u8]) -> Option<NamePromise> {
    // `string` is a qualifier elsewhere.
    if name.to_ascii_lowercase().ends_with(b"secretstring") {
        return Some(NamePromise::Password);
    }
    let mut words = NameWords(name).filter(|word| !word.is_empty());
    let last = words.by_ref().find(|word| !is_qualifier(word))?;
    let owner = words.next().unwrap_or_default();
    let mut folded = [0; WORD_BYTES_MAX];
    let last = fold(last, &mut folded)?;
    for noun in
        ["password", "passwords", "passwd", "passphrase", "passcode", "passwort", "kennwort", "pwd", "passw"]
    {
        if last.ends_with(noun) {
            return Some(NamePromise::Password);
        }
    }
    for noun in ["secret", "apikey", "apikeys", "credential", "credentials", "creds"] {
        if last.ends_with(noun) {
            return Some(NamePromise::Token);
        }
    }
    if let Some(owner_part) = last.strip_suffix("token") {
        return (!owns_harmless_token(owner, owner_part)).then_some(NamePromise::Token);
    }
    if let Some(owner_part) = last.strip_suffix("keys").or_else(|| last.strip_suffix("key")) {
        return key(owner, owner_part);
    }
    match last {
        "pass" if is_pass_of_many(owner) => None,
        "pass" | "pw" if owner.is_empty() => Some(NamePromise::Maybe),
        "pass" | "pw" | "mnemonic" | "seedphrase" | "psk" => Some(NamePromise::Password),
        _ if ends_like_a_password(last) || last == "phrase" && owner.eq_ignore_ascii_case(b"seed") => {
            Some(NamePromise::Password)
        }
        "keymaterial" | "authtok" => Some(NamePromise::Password),
        "auth" if owner.eq_ignore_ascii_case(b"REDISCLI") => Some(NamePromise::Password),
        "material" if owner.eq_ignore_ascii_case(b"key") => Some(NamePromise::Password),
        "salt" => Some(NamePromise::Weak),
        "jwt" | "pat" | "cred" if !owner.is_empty() => Some(NamePromise::Token),
        "sig" | "signature" | "auth" | "authorization" | "cookie" | "jwt" | "bearer" | "secrets" => {
            Some(NamePromise::Weak)
        }
        _ => None,
    }
}

/// Whether the word is glued to a short form of password: `requirepass`, `bindpw`, `wpapsk`.
fn ends_like_a_password(word: &str) -> bool {
    const OTHER: [&str; 8] =
        ["compass", "bypass", "trespass", "encompass", "overpass", "surpass", "underpass", "multipass"];
    let glued = ["pass", "pw", "psk"].iter().any(|end| word.len() > end.len() && word.ends_with(end));
    glued && !OTHER.iter().any(|other| word.ends_with(other))
}

/// Whether `pass` here counts passes, as in a `two-pass` compiler.
fn is_pass_of_many(owner: &[u8]) -> bool {
    let mut folded = [0; WORD_BYTES_MAX];
    let owner = fold(owner, &mut folded).unwrap_or_default();
    matches!(owner, "one" | "two" | "single" | "multi" | "first" | "second" | "double" | "proxy")
}

/// Whether a word after the noun qualifies whose or which form, not what: `PASSWORD_PROD`,
/// `tokenBase64`.
pub(super) fn is_qualifier(word: &[u8]) -> bool {
    let mut folded = [0; WORD_BYTES_MAX];
    let Some(word) = fold(word, &mut folded) else {
        return false;
    };
    word.bytes().all(|b| b.is_ascii_digit())
        || matches!(
            word,
            "value"
                | "val"
                | "data"
                | "raw"
                | "plain"
                | "plaintext"
                | "string"
                | "str"
                | "base"
                | "base64"
                | "b64"
                | "hex"
                | "hash"
                | "prod"
                | "production"
                | "dev"
                | "development"
                | "test"
                | "testing"
                | "staging"
                | "stage"
                | "live"
                | "sandbox"
                | "local"
                | "old"
                | "new"
                | "current"
                | "previous"
                | "primary"
                | "secondary"
                | "main"
                | "backup"
                | "default"
                | "v1"
                | "v2"
                | "v3"
                | "override"
                | "confirmation"
                | "confirm"
        )
}

/// Whether the token grants no access: a page token, a token of a language.
fn owns_harmless_token(owner: &[u8], part: &str) -> bool {
    let mut folded = [0; WORD_BYTES_MAX];
    let owner = if part.is_empty() { fold(owner, &mut folded).unwrap_or_default() } else { part };
    matches!(
        owner,
        "next"
            | "page"
            | "nextpage"
            | "continuation"
            | "pagination"
            | "sync"
            | "resume"
            | "cancel"
            | "cancellation"
            | "eos"
            | "bos"
            | "pad"
            | "mask"
            | "unk"
            | "sep"
            | "cls"
            | "special"
            | "stop"
            | "start"
            | "end"
            | "begin"
            | "first"
            | "last"
            | "prev"
            | "lex"
            | "syntax"
            | "trailing"
            | "leading"
            | "max"
            | "min"
            | "per"
            | "num"
            | "total"
    )
}

/// What a key promises by its owner. An unknown owner makes it weak, some make it no secret.
fn key(owner: &[u8], part: &str) -> Option<NamePromise> {
    let mut folded = [0; WORD_BYTES_MAX];
    let glued = !part.is_empty();
    let owner = if glued { part } else { fold(owner, &mut folded).unwrap_or_default() };
    match owner {
        "api" | "access" | "unseal" | "authentication" | "setup" | "totp" | "otp" | "mfa" | "secret"
        | "private" | "priv" | "auth" | "encryption" | "encrypt" | "decryption" | "signing" | "sign"
        | "master" | "service" | "admin" | "root" | "app" | "application" | "client" | "consumer"
        | "account" | "storage" | "shared" | "ssh" | "deploy" | "license" | "licence" | "subscription"
        | "bot" | "webhook" | "session" | "cookie" | "jwt" | "hmac" | "aes" | "rsa" | "crypto"
        | "wrapping" | "recovery" | "server" | "integration" | "ingest" | "ingestion" | "write"
        | "security" | "openai" | "anthropic" | "gemini" | "claude" | "google" | "aws" | "azure"
        | "stripe" | "github" | "gitlab" | "sendgrid" | "twilio" | "mailgun" | "algolia" | "openrouter"
        | "groq" | "mistral" | "cohere" | "huggingface" | "datadog" | "sentry" | "cloudflare"
        | "digitalocean" => Some(NamePromise::Token),
        "public" | "pub" | "primary" | "foreign" | "sort" | "partition" | "hash" | "range" | "map"
        | "cache" | "object" | "row" | "idempotency" | "translation" | "i18n" | "hot" | "short" | "host"
        | "registry" | "index" | "lookup" | "group" | "unique" | "composite" | "natural" | "candidate"
        | "dict" | "json" | "query" | "metadata" | "attribute" | "parent" | "child" | "arrow"
        | "modifier" | "shortcut" | "press" => None,
        // `monkey`, `turkey`: the end of another word.
        _ if glued => None,
        _ => Some(NamePromise::Weak),
    }
}

/// The word in lower case without trailing digits.
fn fold<'a>(word: &[u8], buffer: &'a mut [u8; WORD_BYTES_MAX]) -> Option<&'a str> {
    let digits = word.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let word = if digits == word.len() { word } else { &word[..word.len() - digits] };
    let folded = buffer.get_mut(..word.len())?;
    folded.copy_from_slice(word);
    folded.make_ascii_lowercase();
    std::str::from_utf8(folded).ok()
}

/// The words of a name, last to first: `apiKey`, `API_KEY`, `api-key`, `APIKey`.
struct NameWords<'a>(&'a [u8]);

impl<'a> Iterator for NameWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.0;
        let end = name.iter().rposition(u8::is_ascii_alphanumeric)? + 1;
        let mut start = end - 1;
        while start > 0 && !word_starts(name, start) {
            start -= 1;
        }
        self.0 = &name[..start];
        Some(&name[start..end])
    }
}

/// Whether a word starts at `at`, which must not be the first byte.
fn word_starts(name: &[u8], at: usize) -> bool {
    let (before, here) = (name[at - 1], name[at]);
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let next_is_lower = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    here.is_ascii_uppercase() && (!before.is_ascii_uppercase() || next_is_lower)
}

/// Whether a name promises a password or token.
pub(super) fn promises(name: &str) -> bool {
    matches!(promise(name.as_bytes()), Some(NamePromise::Password | NamePromise::Token))
}

/// Whether a word, without its quotes, is one of a list.
pub(super) fn is_one_of(word: &str, list: &str) -> bool {
    let word = word.trim_matches(['"', '\'']);
    list.split_ascii_whitespace().any(|known| known == word)
}
