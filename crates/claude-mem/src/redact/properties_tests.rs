//! What must hold of every text, not only of those somebody thought of.

use std::borrow::Cow;

use proptest::prelude::*;

use super::samples::{Sample, rules};
use super::{Cut, private, secrets, text};
use crate::limits::REDACT_MARGIN_BYTES;

/// Pieces that scanners look at, in any order: what nobody would write, but someone may send.
fn fragments() -> impl Strategy<Value = String> {
    let known: Vec<String> = rules().into_iter().map(|sample| sample.text).collect();
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

fn secret() -> impl Strategy<Value = Sample> {
    let samples: Vec<Sample> = rules().into_iter().filter(Sample::is_secret).collect();
    prop::sample::select(samples)
}

/// Whether a part of `secret` that would help anyone is in `text`.
fn leaks(text: &str, secret: &str) -> bool {
    let part = secret.len().min(12);
    secret
        .as_bytes()
        .windows(part)
        .any(|w| super::value::contains(text.as_bytes(), w))
}

/// More cases where the environment asks for more.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(1000),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn redacting_twice_is_redacting_once(input in fragments(), total in 60_usize..4000) {
        let once = secrets(&input).into_owned();
        prop_assert_eq!(secrets(&once), once.as_str());
        let once = private(&input).text.into_owned();
        prop_assert_eq!(private(&once).text, once.as_str());
        let keep = Cut::of(total);
        let once = text(&input, keep).text.into_owned();
        prop_assert!(once.len() <= keep.bytes_max());
        prop_assert_eq!(text(&once, keep).text, once.as_str());
    }

    #[test]
    fn no_text_makes_it_panic(input in ".{0,300}", total in 0_usize..200) {
        let keep = Cut::of(total);
        prop_assert!(text(&input, keep).text.len() <= keep.bytes_max());
    }

    #[test]
    fn a_planted_secret_is_never_in_the_output(
        sample in secret(),
        before in "([a-z]{1,9}[ \n]){0,40}",
        after in "([a-z]{1,9}[ \n]){0,40}",
    ) {
        let out = secrets(&format!("{before}\n{}\n{after}", sample.text)).into_owned();
        prop_assert!(!leaks(&out, &sample.secret), "{} in {out}", sample.secret);
    }

    #[test]
    fn a_secret_across_a_cut_leaves_no_half_of_itself(
        sample in secret(),
        before in 0_usize..2500,
        after in 0_usize..2500,
        head in 0_usize..1500,
        tail in 0_usize..1500,
    ) {
        let filler = |bytes: usize| "lorem ipsum dolor\n".repeat(bytes / 18);
        let middle = if (before + after) % 2 == 0 { 0 } else { 2 * REDACT_MARGIN_BYTES };
        let input = format!("{}\n{}\n{}{}", filler(before), sample.text, filler(middle), filler(after));
        let keep = Cut { head_bytes: head, tail_bytes: tail };
        let out = text(&input, keep).text.into_owned();
        prop_assert!(!leaks(&out, &sample.secret), "{} in {out}", sample.secret);
        let turned = format!("{}{}\n{}\n{}", filler(after), filler(middle), sample.text, filler(before));
        let out = text(&turned, keep).text.into_owned();
        prop_assert!(!leaks(&out, &sample.secret), "{} in {out}", sample.secret);
    }

    #[test]
    fn planted_private_text_is_never_in_the_output(
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
        prop_assert!(!text(&input, Cut::of(total)).text.contains("CANARY"));
    }

    #[test]
    fn a_clean_text_is_returned_as_it_was(input in "([A-Z]?[a-z]{1,10}[ ,.\n]){0,80}") {
        let out = text(&input, Cut::of(4096));
        prop_assert!(matches!(out.text, Cow::Borrowed(_)));
        prop_assert_eq!(out.masked, 0);
    }
}
