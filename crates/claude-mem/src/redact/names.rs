//! Which names promise a secret: `DB_PASSWORD` does, `token_count` does not.
//!
//! A name is read from its end, word by word, because its last noun says what the thing is and
//! the words before say whose: an `access key` opens doors, a `primary key` does not.

/// What a name promises, and so how much its value must look like a secret to be taken for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Promise {
    /// `key`, `auth`: anything may stand there.
    Weak,
    /// `pass`: a password, or a test that passed.
    Maybe,
    /// `api_key`, `access_token`: made by a machine, long and without sense.
    Token,
    /// `password`: made by people, any word may be one.
    Password,
}

const WORD_BYTES_MAX: usize = 32;

/// What `name` promises, if anything.
pub(super) fn promise(name: &[u8]) -> Option<Promise> {
    let mut words = Words(name).filter(|word| !word.is_empty());
    let last = words.by_ref().find(|word| !is_qualifier(word))?;
    let owner = words.next().unwrap_or_default();
    let mut folded = [0; WORD_BYTES_MAX];
    let last = fold(last, &mut folded)?;
    for noun in [
        "password",
        "passwords",
        "passwd",
        "passphrase",
        "passcode",
        "passwort",
        "pwd",
    ] {
        if last.ends_with(noun) {
            return Some(Promise::Password);
        }
    }
    for noun in [
        "secret",
        "apikey",
        "apikeys",
        "credential",
        "credentials",
        "creds",
    ] {
        if last.ends_with(noun) {
            return Some(Promise::Token);
        }
    }
    if let Some(owner_part) = last.strip_suffix("token") {
        return (!owns_harmless_token(owner, owner_part)).then_some(Promise::Token);
    }
    if let Some(owner_part) = last
        .strip_suffix("keys")
        .or_else(|| last.strip_suffix("key"))
    {
        return key(owner, owner_part);
    }
    match last {
        "pass" if is_pass_of_many(owner) => None,
        "pass" if owner.is_empty() => Some(Promise::Maybe),
        "pass" | "dbpass" | "userpass" | "rootpass" | "mnemonic" | "seedphrase" => {
            Some(Promise::Password)
        }
        "jwt" | "pat" | "cred" if !owner.is_empty() => Some(Promise::Token),
        "phrase" if owner.eq_ignore_ascii_case(b"seed") => Some(Promise::Password),
        "sig" | "signature" | "auth" | "authorization" | "cookie" | "jwt" | "bearer"
        | "secrets" => Some(Promise::Weak),
        _ => None,
    }
}

/// A `two-pass` compiler asks for no password.
fn is_pass_of_many(owner: &[u8]) -> bool {
    let mut folded = [0; WORD_BYTES_MAX];
    let owner = fold(owner, &mut folded).unwrap_or_default();
    matches!(
        owner,
        "one" | "two" | "single" | "multi" | "first" | "second" | "double" | "proxy"
    )
}

/// Words after the noun that change whose or how, not what: `PASSWORD_PROD`, `tokenBase64`.
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

/// Tokens that are no keys to anything: places in a list, words of a language.
fn owns_harmless_token(owner: &[u8], part: &str) -> bool {
    let mut folded = [0; WORD_BYTES_MAX];
    let owner = if part.is_empty() {
        fold(owner, &mut folded).unwrap_or_default()
    } else {
        part
    };
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

/// A key by whose it is. Unknown owners make it weak; some make it no secret at all.
fn key(owner: &[u8], part: &str) -> Option<Promise> {
    let mut folded = [0; WORD_BYTES_MAX];
    let glued = !part.is_empty();
    let owner = if glued {
        part
    } else {
        fold(owner, &mut folded).unwrap_or_default()
    };
    match owner {
        "api" | "access" | "secret" | "private" | "priv" | "auth" | "encryption" | "encrypt"
        | "decryption" | "signing" | "sign" | "master" | "service" | "admin" | "root" | "app"
        | "application" | "client" | "consumer" | "account" | "storage" | "shared" | "ssh"
        | "deploy" | "license" | "licence" | "subscription" | "bot" | "webhook" | "session"
        | "cookie" | "jwt" | "hmac" | "aes" | "rsa" | "crypto" | "wrapping" | "recovery"
        | "server" | "integration" | "ingest" | "ingestion" | "write" | "security" | "openai"
        | "anthropic" | "gemini" | "claude" | "google" | "aws" | "azure" | "stripe" | "github"
        | "gitlab" | "sendgrid" | "twilio" | "mailgun" | "algolia" | "openrouter" | "groq"
        | "mistral" | "cohere" | "huggingface" | "datadog" | "sentry" | "cloudflare"
        | "digitalocean" => Some(Promise::Token),
        "public" | "pub" | "primary" | "foreign" | "sort" | "partition" | "hash" | "range"
        | "map" | "cache" | "object" | "row" | "idempotency" | "translation" | "i18n" | "hot"
        | "short" | "host" | "registry" | "index" | "lookup" | "group" | "unique" | "composite"
        | "natural" | "candidate" | "dict" | "json" | "query" | "metadata" | "attribute"
        | "parent" | "child" | "arrow" | "modifier" | "shortcut" | "press" => None,
        // `monkey`, `turkey`: the rest of some other word.
        _ if glued => None,
        _ => Some(Promise::Weak),
    }
}

/// The word in lower case without the digits at its end.
fn fold<'a>(word: &[u8], buffer: &'a mut [u8; WORD_BYTES_MAX]) -> Option<&'a str> {
    let digits = word.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let word = if digits == word.len() {
        word
    } else {
        &word[..word.len() - digits]
    };
    let folded = buffer.get_mut(..word.len())?;
    folded.copy_from_slice(word);
    folded.make_ascii_lowercase();
    std::str::from_utf8(folded).ok()
}

/// The words of a name from the last to the first: `apiKey`, `API_KEY`, `api-key`, `APIKey`.
struct Words<'a>(&'a [u8]);

impl<'a> Iterator for Words<'a> {
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

/// Whether a word begins at `at`, `at` being within a name and not its first byte.
fn word_starts(name: &[u8], at: usize) -> bool {
    let (before, here) = (name[at - 1], name[at]);
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let next_is_lower = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    here.is_ascii_uppercase() && (!before.is_ascii_uppercase() || next_is_lower)
}
