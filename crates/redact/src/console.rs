//! Finds secrets in recorded consoles: a line `$ command`, and below it what the command printed.

use super::rules::RuleId;
use super::secrecy::OutputSecrecy;
use super::secret_span::SecretSpan;
use super::value::{self, ValueRandomness};

const SECRET_SOURCE: RuleId = RuleId::named("secret-source");

/// Appends the first line of output of each command that prints a secret.
pub(super) fn find(text: &str, spans: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    for at in memchr::memchr_iter(b'$', bytes) {
        let is_prompt = bytes.get(at + 1) == Some(&b' ') && (at == 0 || bytes[at - 1] == b'\n');
        if !is_prompt {
            continue;
        }
        let Some((command, output)) = text[at + 2..].split_once('\n') else {
            continue;
        };
        let line = output.lines().next().unwrap_or_default().trim();
        let is_value = line.len() >= 6 && value::classify_value(line.as_bytes()) >= ValueRandomness::Mixed;
        if is_value && OutputSecrecy::from_command(command) >= OutputSecrecy::Answer {
            let start = at + 3 + command.len() + output.find(line).unwrap_or(0);
            spans.push(SecretSpan { start, end: start + line.len(), rule: SECRET_SOURCE });
        }
    }
}
