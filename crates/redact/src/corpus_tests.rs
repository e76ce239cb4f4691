//! How much is masked of a corpus of places where secrets stand, with secrets of several forms.
//!
//! The places and the secrets are invented. The figures are floors: a rule that loses places shows
//! here, whichever mechanism found them before.

use serde_json::{Value, json};

use super::{HeadTailLimit, OutputSecrecy, json as redact_json, json_output, secrets};

const PLACES: &str = include_str!("../corpus/secrets.txt");
const HARMLESS: &str = include_str!("../corpus/harmless.txt");

/// Secrets of one form, and how many of all places must mask them.
struct SecretForm {
    name: &'static str,
    secret: &'static str,
    masked_min: usize,
}

const FORMS: [SecretForm; 6] = [
    SecretForm { name: "letters, digits and a sign", secret: "hqzKT418#mX2pw", masked_min: 138 },
    SecretForm { name: "letters and digits", secret: "vbnRD593Yk2wLs", masked_min: 138 },
    SecretForm { name: "a word, a year and a sign", secret: "Falcon4821?", masked_min: 138 },
    SecretForm { name: "a word and digits", secret: "harbor729", masked_min: 138 },
    SecretForm { name: "words and a number with dashes", secret: "amber-falcon-quartz-58", masked_min: 134 },
    SecretForm { name: "letters and several signs", secret: "oxek#DKB~UH2nM", masked_min: 138 },
];

fn lines(corpus: &str) -> impl Iterator<Item = String> {
    let lines = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        line.replace("\\n", "\n").replace("\\t", "\t").replace("\\e", "\u{1b}").replace("\\\\", "\\")
    })
}

/// What is kept of the place after redaction, as one text.
fn kept(carrier: &str, text: &str) -> String {
    let keep = HeadTailLimit::from_total(64 << 10);
    let (mut input, mut output) = match carrier {
        "text" => return secrets(text).into_owned(),
        "command" => (json!({"command": text}), Value::Null),
        "json" => (serde_json::from_str(text).expect("a line of JSON"), Value::Null),
        _ => {
            let (asked, answer) = text.split_once(" => ").expect("a command or path and its output");
            let key = if carrier == "file" { "file_path" } else { "command" };
            (json!({key: asked}), json!({"stdout": answer}))
        }
    };
    let secrecy = OutputSecrecy::from_input(&input);
    redact_json(&mut input, keep);
    json_output(&mut output, keep, secrecy);
    format!("{input}{output}")
}

#[test]
fn corpus_of_places_is_masked_with_secrets_of_every_form() {
    let mut report = String::new();
    let mut failed = false;
    for form in FORMS {
        let mut leaks = Vec::new();
        let mut total = 0;
        for line in lines(PLACES) {
            let (_, rest) = line.split_once(' ').expect("a class");
            let (carrier, text) = rest.split_once(' ').expect("a carrier");
            total += 1;
            if kept(carrier, &text.replace("@@", form.secret)).contains(form.secret) {
                leaks.push(line);
            }
        }
        let masked = total - leaks.len();
        failed |= masked < form.masked_min;
        report += &format!("{}: {masked} of {total} masked\n  {}\n", form.name, leaks.join("\n  "));
    }
    assert!(!failed, "{report}");
}

#[test]
fn harmless_corpus_is_unchanged() {
    let changed: Vec<String> = lines(HARMLESS)
        .filter_map(|text| {
            let out = secrets(&text).into_owned();
            (out != text).then(|| format!("{text}\n  -> {out}"))
        })
        .collect();
    assert!(changed.is_empty(), "{} changed:\n{}", changed.len(), changed.join("\n"));
}
