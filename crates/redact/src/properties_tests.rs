//! Properties that hold for every text, not only for hand-picked examples.

use std::borrow::Cow;

use proptest::prelude::*;

use super::samples::{RuleSample, rule_samples};
use super::{HeadTailLimit, private, secrets, text};
use claude_mem_core::limits::REDACT_MARGIN_BYTES;

/// Fragments that scanners react to, in random order: unlikely to be written, but possible to be
/// sent.
fn fragments() -> impl Strategy<Value = String> {
    let known: Vec<String> = rule_samples().into_iter().map(|sample| sample.text).collect();
    let piece = prop_oneof![
        2 => prop::sample::select(vec![
            "password", "API_KEY", "token", "secret_key", "key", "auth", "Cookie", "kind", "Bearer ",
            "Basic ", "curl ", "mysql ", "-u ", "-p", "=", ":", " = ", ": ", ",", "=>", "\"", "'", "`",
            "\\\"", "\\n", "\n", " ", "\t", "://", "@", "/", "?", "&", "#", ";", "$", "{", "}", "<", ">",
            "(", ")", "[", "]", "|", "\\", "%3D", "&quot;", "value", "is ", "--", "-----BEGIN ",
            "PRIVATE KEY-----", "-----END ", "eyJ", ".", "sk-", "ghp_", "[redacted:", "]", "\u{1b}[31m",
            "ü", "日本", "\u{200B}", "\0", "<private>", "</private>", "<private ", "&lt;private&gt;",
            "<system-reminder>", "</system-reminder>", "<pri", "vate>", "login ", "data:\n  ",
            "Secret\n", "…", "[… ",
        ]).prop_map(str::to_owned),
        1 => "[a-zA-Z0-9+/_-]{1,40}",
        1 => prop::sample::select(known),
        1 => "\\PC{0,6}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn secret() -> impl Strategy<Value = RuleSample> {
    let samples: Vec<RuleSample> = rule_samples().into_iter().filter(RuleSample::is_secret).collect();
    prop::sample::select(samples)
}

/// Whether `text` contains a useful part of `secret`.
fn leaks(text: &str, secret: &str) -> bool {
    let part = secret.len().min(12);
    secret.as_bytes().windows(part).any(|w| super::value_form::contains(text.as_bytes(), w))
}

/// The number of cases can be raised through the environment.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(1000), failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn redaction_is_idempotent(input in fragments(), total in 60_usize..4000) {
        let once = secrets(&input).into_owned();
        prop_assert_eq!(secrets(&once), once.as_str());
        let once = private(&input).text.into_owned();
        prop_assert_eq!(private(&once).text, once.as_str());
        let keep = HeadTailLimit::from_total(total);
        let once = text(&input, keep).text.into_owned();
        prop_assert!(once.len() <= keep.bytes_max());
        prop_assert_eq!(text(&once, keep).text, once.as_str());
    }

    #[test]
    fn no_text_panics(input in ".{0,300}", total in 0_usize..200) {
        let keep = HeadTailLimit::from_total(total);
        prop_assert!(text(&input, keep).text.len() <= keep.bytes_max());
    }

    #[test]
    fn planted_secret_never_reaches_the_output(
        sample in secret(),
        before in "([a-z]{1,9}[ \n]){0,40}",
        after in "([a-z]{1,9}[ \n]){0,40}",
    ) {
        let out = secrets(&format!("{before}\n{}\n{after}", sample.text)).into_owned();
        prop_assert!(!leaks(&out, &sample.secret), "{} in {out}", sample.secret);
    }

    #[test]
    fn secret_across_a_cut_leaves_no_part(
        sample in secret(),
        before in 0_usize..2500,
        after in 0_usize..2500,
        head in 0_usize..1500,
        tail in 0_usize..1500,
    ) {
        let filler = |bytes: usize| "lorem ipsum dolor\n".repeat(bytes / 18);
        let middle = if (before + after) % 2 == 0 { 0 } else { 2 * REDACT_MARGIN_BYTES };
        let input = format!("{}\n{}\n{}{}", filler(before), sample.text, filler(middle), filler(after));
        let keep = HeadTailLimit { head_bytes: head, tail_bytes: tail };
        let out = text(&input, keep).text.into_owned();
        prop_assert!(!leaks(&out, &sample.secret), "{} in {out}", sample.secret);
        let turned = format!("{}{}\n{}\n{}", filler(after), filler(middle), sample.text, filler(before));
        let out = text(&turned, keep).text.into_owned();
        prop_assert!(!leaks(&out, &sample.secret), "{} in {out}", sample.secret);
    }

    #[test]
    fn planted_private_text_never_reaches_the_output(
        opener in prop::sample::select(vec!["<private>", "<PRIVATE x=\"1\">", "< private\n>", "&lt;private&gt;"]),
        closer in prop::sample::select(vec!["</private>", "</ Private >", "&lt;/private&gt;", ""]),
        nested in 0_usize..4,
        before in "[a-z <>/\n]{0,60}",
        after in "[a-z <>/\n]{0,60}",
        total in 60_usize..400,
    ) {
        let (open, close) = (opener.repeat(nested + 1), closer.repeat(nested + 1));
        let input = format!("{before}{open}CANARY{close}{after}");
        prop_assert!(!private(&input).text.contains("CANARY"));
        prop_assert!(!text(&input, HeadTailLimit::from_total(total)).text.contains("CANARY"));
    }

    #[test]
    fn clean_text_is_returned_unchanged(input in "([A-Z]?[a-z]{1,10}[ ,.\n]){0,80}") {
        let out = text(&input, HeadTailLimit::from_total(4096));
        prop_assert!(matches!(out.text, Cow::Borrowed(_)));
        prop_assert_eq!(out.masked, 0);
    }
}
