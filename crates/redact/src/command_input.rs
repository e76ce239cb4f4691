//! Finds passwords that a program reads: from a pipe, a here-string or a here-document.

use super::judge::is_chosen;
use super::secrecy::OutputSecrecy;
use super::secret_words::{chosen_word, secret_word};
use super::shell_words::{self, ShellWord};
use super::value;
use super::value_form;

/// Words of programs that ask for a password.
const ASKING: &str = "login signin join passwd password unlock secret vault token su ipa pinentry luks";

/// What `echo` at `at` prints, if its command is in the place of a password or pipes into a program that
/// asks for one.
pub(super) fn printed(bytes: &[u8], at: usize, words: &[ShellWord]) -> Option<(usize, usize)> {
    let end = words.last()?.end;
    let rest = &bytes[end..bytes.len().min(end + 160)];
    let rest = rest.split(|b| matches!(b, b'\n' | b';' | b'&')).next().unwrap_or_default();
    let pipe = rest.trim_ascii_start().strip_prefix(b"|");
    let asks = pipe.is_some_and(|program| {
        program
            .split(|b| !b.is_ascii_alphanumeric())
            .any(|word| ASKING.split(' ').any(|known| word.eq_ignore_ascii_case(known.as_bytes())))
    });
    let before = &bytes[at.saturating_sub(24)..at];
    let before = before.trim_ascii_end();
    let opens = before.ends_with(b"'")
        || before.ends_with(b"\"")
        || before.ends_with(b"<(")
        || before.ends_with(b"$(");
    let lower = before.to_ascii_lowercase();
    let replaces = opens
        && [b"pass".as_slice(), b"-key", b"secret", b"token"]
            .iter()
            .any(|word| value_form::contains(&lower, word));
    if !asks && !replaces && !writes_secret_file(bytes, words) {
        return None;
    }
    let until = words.iter().position(|word| word.slice(bytes).starts_with(b">")).unwrap_or(words.len());
    let mut arguments = words[..until].iter().filter(|word| !word.is_option(bytes));
    let word = if replaces { arguments.next()? } else { arguments.next_back()? };
    chosen_word(bytes, *word).or_else(|| chosen_line(bytes, *word))
}

/// Whether the output goes into a file that is secret by its name: `> .vault_pass`.
fn writes_secret_file(bytes: &[u8], words: &[ShellWord]) -> bool {
    let Some(at) = words.iter().position(|word| word.slice(bytes).starts_with(b">")) else {
        return false;
    };
    let glued = words[at].slice(bytes).trim_ascii_start();
    let glued = &glued[glued.iter().take_while(|b| **b == b'>').count()..];
    let path = if glued.is_empty() { words.get(at + 1).map(|word| word.slice(bytes)) } else { Some(glued) };
    let path = path.and_then(|path| std::str::from_utf8(path).ok()).unwrap_or_default();
    OutputSecrecy::from_path(path.trim_matches(['"', '\''])) == OutputSecrecy::Whole
}

/// The password among the lines of a printed string: `"user\npassword\n"`.
fn chosen_line(bytes: &[u8], word: ShellWord) -> Option<(usize, usize)> {
    let (start, end) = word.unquoted(bytes);
    let first = memchr::memmem::find(&bytes[start..end], b"\\n")? + 2;
    let line = &bytes[start + first..end];
    is_chosen(line, value::classify_value(line)).then_some((start + first, end))
}

/// The password in the first line of a here-document: the last word, or what follows `NAME:`.
pub(super) fn here_document(bytes: &[u8], words: &[ShellWord]) -> Option<(usize, usize)> {
    let word = words.iter().find(|word| word.slice(bytes).starts_with(b"<<"))?;
    let start = word.end + memchr::memchr(b'\n', &bytes[word.end..])? + 1;
    let line = &bytes[start..memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |i| start + i)];
    let line = line.trim_ascii_end();
    let from = line.iter().rposition(|b| matches!(b, b' ' | b':')).map_or(0, |i| i + 1);
    let (start, end) = (start + from, start + line.len());
    let value = &bytes[start..end];
    is_chosen(value, value::classify_value(value)).then_some((start, end))
}

/// What `echo` or `printf` pipes into the command at `at`.
pub(super) fn piped(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let pipe = shell_words::pipe_before(bytes, at)?;
    let start = shell_words::command_start(bytes, pipe);
    let words = shell_words::split_until(bytes, start, pipe);
    // `RUN`, `sudo` or the dash of a list may stand before it.
    let is_printer =
        |word: &&ShellWord| matches!(word.slice(bytes), b"echo" | b"printf" | b"print" | b"Write-Output");
    let program = words.iter().take(4).position(|word| is_printer(&word))?;
    let mut arguments = words[program + 1..].iter().filter(|word| !word.is_option(bytes));
    let first = arguments.clone().find(|word| !word.slice(bytes).contains(&b'%'))?;
    let (start, end) = secret_word(bytes, *arguments.next_back()?)?;
    // `printf '%s\n%s\n' SECRET SECRET`
    let repeated = words[program].slice(bytes) == b"printf" && first.start < start;
    Some((if repeated { first.unquoted(bytes).0 } else { start }, end))
}

/// The here-string among the arguments: `<<< SECRET`.
pub(super) fn here_string(bytes: &[u8], words: &[ShellWord]) -> Option<(usize, usize)> {
    let (i, word) = words.iter().enumerate().find(|(_, word)| word.slice(bytes).starts_with(b"<<<"))?;
    if word.end - word.start > 3 {
        return secret_word(bytes, ShellWord { start: word.start + 3, ..*word });
    }
    words.get(i + 1).and_then(|word| secret_word(bytes, *word))
}
