use super::samples::fill;
use super::{HeadTailLimit, text};
use claude_mem_core::limits::{ELISION_BYTES_MAX, REDACT_MARGIN_BYTES};

fn redact(input: &str, head_bytes: usize, tail_bytes: usize) -> String {
    text(input, HeadTailLimit { head_bytes, tail_bytes }).text.into_owned()
}

#[test]
fn short_text_is_unchanged() {
    let input = "x y ".repeat(40);
    assert_eq!(redact(&input, 100, 60), input);
}

#[test]
fn long_text_keeps_head_and_tail() {
    let input = format!("first {}last", "middle ".repeat(1000));
    let out = redact(&input, 20, 20);
    assert_eq!(out, "first middle middle [… 6,971 bytes elided …] middle middle last");
}

#[test]
fn elided_and_kept_bytes_add_up() {
    for size in [200, 1_000, 12_345, 200_000] {
        let input = "ab ".repeat(size / 3);
        let out = redact(&input, 40, 30);
        let (head, rest) = out.split_once("[… ").unwrap();
        let (count, tail) = rest.split_once(" bytes elided …]").unwrap();
        let elided: usize = count.replace(',', "").parse().unwrap();
        assert_eq!(head.len() + elided + tail.len(), input.len());
    }
}

#[test]
fn cuts_fall_on_character_and_word_boundaries() {
    let input = "日本語の文章 ".repeat(200);
    let out = redact(&input, 50, 50);
    assert!(out.starts_with("日本語の文章 日本語"), "{out}");
    assert!(out.ends_with("日本語の文章 "), "{out}");
    assert!(out.len() <= 100 + ELISION_BYTES_MAX);
}

#[test]
fn one_overlong_word_is_elided() {
    let input = "a".repeat(100_000);
    assert_eq!(redact(&input, 100, 100), "[… 100,000 bytes elided …]");
}

#[test]
fn secret_longer_than_the_margin_leaves_no_trace() {
    let (token, _) = fill(&format!("eyJ{{url:30}}.eyJ{{url:{}}}.{{url:43}}", 3 * REDACT_MARGIN_BYTES));
    let input = format!("{}{token} the end", "word ".repeat(100));
    let out = redact(&input, 100, 2 * REDACT_MARGIN_BYTES);
    assert!(out.ends_with(" the end"), "{out}");
    assert!(!out.contains(&token[token.len() - 50..token.len() - 30]));
}

#[test]
fn elided_private_key_hides_the_tail_to_its_end() {
    let (line, _) = fill("{b64:64}\n");
    let key = line.repeat(400);
    let begin = "-----BEGIN RSA PRIVATE KEY-----\n";
    let end = "-----END RSA PRIVATE KEY-----\n";
    let input = format!("{}{begin}{key}{end}the end", "word ".repeat(200));
    let out = redact(&input, 100, 2000);
    assert!(out.ends_with("the end"), "{out}");
    assert!(!out.contains(&line[..20]), "{out}");
    let unclosed = format!("{}{begin}{key}", "word ".repeat(200));
    let out = redact(&unclosed, 100, 2000);
    assert!(!out.contains(&line[..20]), "{out}");
}

#[test]
fn masks_count_towards_the_size() {
    let input = "PASSWORD=ab\n".repeat(100);
    let keep = HeadTailLimit::from_total(400);
    let out = text(&input, keep);
    assert!(out.text.len() <= keep.bytes_max(), "{}", out.text.len());
    assert!(!out.text.contains("=ab"));
    assert!(out.text.contains("bytes elided"));
    // No mask is split.
    assert_eq!(out.text.matches("[redacted:").count(), out.text.matches("[redacted:password]").count());
}

#[test]
fn private_blocks_are_removed_before_the_cut() {
    let input = format!("{}<private>{}</private> the end", "word ".repeat(10), "x ".repeat(10_000));
    assert_eq!(redact(&input, 100, 100), format!("{} the end", "word ".repeat(10)));
    let input = format!("<private>{}", "CANARY ".repeat(10_000));
    assert_eq!(redact(&input, 100, 100), "");
}
