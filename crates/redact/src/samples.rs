//! Generates texts from the examples in `rules.txt`, for unit and program tests: after an event
//! with a secret was accepted, the secret must not be found anywhere.

use super::class::{self, ByteClass};

/// One example of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSample {
    pub rule: String,
    pub text: String,
    /// The random part that must be masked; empty for a counterexample.
    pub secret: String,
}

impl RuleSample {
    /// Whether the text contains a secret.
    pub fn is_secret(&self) -> bool {
        !self.secret.is_empty()
    }
}

/// All examples of all rules in file order; deterministic.
pub fn rule_samples() -> Vec<RuleSample> {
    let mut rule = "";
    let mut samples = Vec::new();
    for line in include_str!("rules.txt").lines() {
        match line.split_once(' ') {
            Some(("rule", name)) => rule = name,
            Some(("yes", example)) => samples.push(sample(rule, example, true)),
            Some(("no", example)) => samples.push(sample(rule, example, false)),
            _ => {}
        }
    }
    samples
}

fn sample(rule: &str, example: &str, secret: bool) -> RuleSample {
    let (text, longest) = fill(&example.replace("\\n", "\n"));
    // `«` and `»` mark a secret that is not random.
    let marked =
        text.split_once('«').and_then(|(_, rest)| rest.split_once('»')).map(|(marked, _)| marked.to_owned());
    let text = text.replace(['«', '»'], "");
    let secret = if secret { marked.unwrap_or(longest) } else { String::new() };
    RuleSample { rule: rule.to_owned(), text, secret }
}

/// Expands `{alphabet:12}` placeholders; also returns the longest expansion.
pub(super) fn fill(example: &str) -> (String, String) {
    let mut seed = example.bytes().fold(7, |seed, b| mix(seed ^ u64::from(b)));
    let example = example.replace("{uuid}", "{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}");
    let (mut out, mut longest, mut rest) = (String::new(), String::new(), example.as_str());
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((alphabet, count, behind)) = placeholder(after) else {
            out.push('{');
            rest = after;
            continue;
        };
        let mut random = String::new();
        for _ in 0..count {
            seed = mix(seed);
            random.push(alphabet[(seed >> 33) as usize % alphabet.len()]);
        }
        // Real tokens of this length practically always contain a digit.
        if count >= 8 && alphabet.contains(&'7') && !random.contains(|c: char| c.is_ascii_digit()) {
            random.replace_range(count / 2..=count / 2, "7");
        }
        out.push_str(&random);
        if random.len() > longest.len() {
            longest = random;
        }
        rest = behind;
    }
    out.push_str(rest);
    (out, longest)
}

/// Parses `alphabet:12}…`.
fn placeholder(text: &str) -> Option<(Vec<char>, usize, &str)> {
    let (inside, behind) = text.split_once('}')?;
    let (name, count) = inside.split_once(':')?;
    let class = class_of(name)?;
    // Without padding and separators, which do not occur inside tokens.
    let alphabet = (b'!'..=b'~').filter(|&b| class::has(class, b) && !b"=.,$%".contains(&b));
    Some((alphabet.map(char::from).collect(), count.parse().ok()?, behind))
}

fn class_of(name: &str) -> Option<ByteClass> {
    Some(match name {
        "digit" => class::DIGIT,
        "hex" => class::HEX,
        "lower" => class::LOWER,
        "upper" => class::UPPER,
        "alnum" => class::ALNUM,
        "url" => class::URL,
        "b64" => class::B64,
        "b32" => class::B32,
        "crypt" => class::CRYPT,
        _ => return None,
    })
}

/// One step of SplitMix64.
const fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
