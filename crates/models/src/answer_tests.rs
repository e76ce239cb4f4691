use proptest::prelude::*;

use super::*;

#[path = "answer_cases.rs"]
mod cases;

/// Formats a result in the notation of the table.
fn show(result: &Result<ParsedAnswer, InvalidAnswer>) -> String {
    let answer = match result {
        Err(invalid) => return format!("!{invalid:?}"),
        Ok(answer) => answer,
    };
    let mut items: Vec<String> = answer.observations.iter().map(show_observation).collect();
    items.extend(answer.summary.as_ref().map(show_summary));
    if items.is_empty() { "nothing".into() } else { items.join(" + ") }
}

fn show_observation(o: &AnswerObservation) -> String {
    let lists = o.text.lists().map(|list| list.join(";"));
    let texts = std::iter::once(o.text.kind.as_str()).chain(o.text.texts().map(String::as_str));
    let all: Vec<&str> = texts.chain(lists.iter().map(String::as_str)).collect();
    all.join("|").trim_end_matches('|').into()
}

fn show_summary(s: &SummaryText) -> String {
    let lists = s.lists().map(|list| list.join(";"));
    let all: Vec<&str> = s.texts().into_iter().chain(lists.iter().map(String::as_str)).collect();
    format!("S:{}", all.join("|").trim_end_matches('|'))
}

#[test]
fn every_case_parses_as_listed() {
    assert!(cases::CASES.len() >= 200, "{} cases", cases::CASES.len());
    let wrong: Vec<String> = cases::CASES
        .iter()
        .filter_map(|(answer, want)| {
            let got = show(&parse_answer(answer));
            (got != *want).then(|| format!("{answer:?}\n  want {want:?}\n  got  {got:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cases_are_distinct() {
    let mut answers: Vec<&str> = cases::CASES.iter().map(|(answer, _)| *answer).collect();
    answers.sort_unstable();
    let before = answers.len();
    answers.dedup();
    assert_eq!(answers.len(), before);
}

const WHOLE: &str = "Here:\n```xml\n<observation><type>bugfix</type><title>Login no longer \
    loops</title><narrative>The cookie had expired.</narrative><facts><fact>The check was \
    inverted</fact></facts></observation>\n<summary><request>Fix the login</request>\
    <completed>It is fixed</completed></summary>\n```";

#[test]
fn truncated_answer_keeps_whole_fields_only() {
    let whole = parse_answer(WHOLE).unwrap();
    for end in 0..WHOLE.len() {
        let Ok(cut) = parse_answer(&WHOLE[..end]) else {
            continue;
        };
        for observation in &cut.observations {
            let full = &whole.observations[0];
            assert_eq!(observation.text.title, full.text.title, "cut at {end}");
            assert_eq!(observation.text.narrative, full.text.narrative, "cut at {end}");
            assert!(
                observation.text.facts.is_empty() || observation.text.facts == full.text.facts,
                "at {end}"
            );
        }
        if cut.summary.is_some() {
            assert_eq!(cut.summary, whole.summary, "cut at {end}");
        }
    }
}

#[test]
fn items_above_the_limit_are_dropped() {
    let items = (0..200).map(|i| format!("<observation><title>t{i}</title></observation>"));
    let many = items.collect::<Vec<_>>().concat();
    assert_eq!(parse_answer(&many).unwrap().observations.len(), ANSWER_ITEMS_MAX);
}

#[test]
fn oversized_answer_is_rejected() {
    let long = format!("<skip/>{}", " ".repeat(ANSWER_BYTES_MAX));
    assert_eq!(parse_answer(&long), Err(InvalidAnswer::TooLarge));
}

/// Each of these takes minutes if any step is quadratic.
#[test]
fn hostile_repetition_parses_in_linear_time() {
    for piece in [
        "<",
        "</",
        "<title>",
        "</title>",
        "<observation>",
        "<summary>",
        "<facts>",
        "<fact>",
        "&",
        "&lt;",
        "<![CDATA[",
        "<!--",
        "<title a=\"",
        "<observation title=\"",
        "<think>",
        "]]>",
        "<observation><title>",
        "<observation><facts><fact>",
        "<summary><request>",
        "<skip/>",
        "<observation></observation>",
        "<title></title>",
        "<observation><summary>",
        "\u{202e}",
    ] {
        let text = piece.repeat(ANSWER_BYTES_MAX / 4 / piece.len());
        drop(parse_answer(&text));
        drop(parse_answer(&format!("<observation><title>A</title><narrative>{text}")));
        drop(parse_answer(&format!("<observation>{text}</observation>")));
    }
}

/// Fragments of answers, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<observation>"),
        Just("</observation>"),
        Just("<summary>"),
        Just("</summary>"),
        Just("<title>"),
        Just("</title>"),
        Just("<narrative>"),
        Just("</narrative>"),
        Just("<facts>"),
        Just("</facts>"),
        Just("<fact>"),
        Just("</fact>"),
        Just("<type>"),
        Just("</type>"),
        Just("<completed>"),
        Just("</completed>"),
        Just("<![CDATA["),
        Just("]]>"),
        Just("<!--"),
        Just("-->"),
        Just("&amp;"),
        Just("&"),
        Just("<"),
        Just(">"),
        Just("\""),
        Just("<skip/>"),
        Just("<observation type=\""),
        Just("word "),
        Just("记"),
        Just("\n"),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_answer_respects_the_limits(text in prop_oneof![pieces(), ".{0,400}"]) {
        prop_assert_eq!(crate::fuzz::check_answer(text.as_bytes()), Ok(()));
    }

    #[test]
    fn any_text_survives_escaping(title in "[^\\p{C}\\s]{1,40}x", story in "[^\\p{C}]{0,80}y") {
        let escape = |s: &str| s.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let answer = format!(
            "<observation><title>{}</title><narrative>{}</narrative></observation>",
            escape(&title), escape(&story),
        );
        let read = parse_answer(&answer).unwrap().observations.remove(0);
        prop_assert_eq!(read.text.title, title);
        prop_assert_eq!(read.text.narrative, story.trim());
    }
}
