use super::*;

fn statement(text: &str) -> Statement {
    Statement::parse(text).unwrap_or_else(|| panic!("{text:?} says too little"))
}

const RULE: &str = "From now on never log the customer's IBAN, also not in debug mode.";

#[test]
fn openers_and_small_words_make_no_difference() {
    for (one, other, is_same) in [
        (RULE, "Never log the customer's IBAN, also not in debug mode.", true),
        (RULE, "Please remember: never log a customer's IBAN, not even in debug mode", true),
        (RULE, "Always log the customer's IBAN, also in debug mode", false),
        (RULE, "Never log the customer's address, also not in debug mode", false),
        ("Use 7 retry attempts", "From now on use 7 retry attempts", true),
        ("Use 7 retry attempts", "Use 5 retry attempts", false),
        ("Use pnpm for the web app", "Use pnpm for the mobile app", false),
        ("Use pnpm for the app", "Use pnpm for the web app", false),
        ("Ab jetzt bitte nie die IBAN des Kunden loggen", "Nie die IBAN des Kunden loggen", true),
    ] {
        assert_eq!(statement(one).says_same(&statement(other)), is_same, "{one} / {other}");
        assert_eq!(statement(other).says_same(&statement(one)), is_same, "{other} / {one}");
    }
}

#[test]
fn a_note_of_the_session_may_shorten_or_extend_the_statement() {
    use Restatement::{Covered, Extended};
    for (note, want) in [
        ("Never log the customer's IBAN, also not in debug mode.", Some(Covered)),
        ("Never log the customer's IBAN", Some(Covered)),
        ("Customer IBANs must never appear in logs, not even at debug level", Some(Extended)),
        ("Never log the customer's IBAN, also not in debug mode, since the audit of 2024", Some(Extended)),
        ("Log the customer's IBAN in debug mode", None),
        ("The customer's orders are never deleted", None),
    ] {
        assert_eq!(statement(RULE).restated_by(&statement(note)).map(|(_, how)| how), want, "{note}");
    }
}

#[test]
fn a_sentence_of_one_content_word_is_not_compared() {
    for text in ["", "so be it", "Please don't", "From now on: never."] {
        assert_eq!(Statement::parse(text), None, "{text:?}");
    }
}
