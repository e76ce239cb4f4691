use std::borrow::Cow;
use std::collections::BTreeMap;

use super::rules::RULES;
use super::{rules, secrets};

#[test]
fn there_are_many_rules_and_no_two_have_one_name() {
    let names: std::collections::BTreeSet<_> = RULES.iter().map(super::rules::Rule::name).collect();
    assert!(RULES.len() >= 100, "{}", RULES.len());
    assert_eq!(names.len(), RULES.len());
}

#[test]
fn every_rule_has_two_examples_of_each_kind() {
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for sample in rules() {
        let count = counts.entry(sample.rule.clone()).or_default();
        if sample.is_secret() {
            count.0 += 1;
        } else {
            count.1 += 1;
        }
    }
    for rule in &RULES {
        assert_eq!(
            counts.get(rule.name()),
            Some(&(2, 2)),
            "rule {}",
            rule.name()
        );
    }
}

#[test]
fn every_secret_is_masked_by_its_own_rule() {
    let mut wrong = Vec::new();
    for sample in rules().iter().filter(|sample| sample.is_secret()) {
        let masked = secrets(&sample.text);
        let mask = format!("[redacted:{}]", sample.rule);
        if masked.contains(&sample.secret) || !masked.contains(&mask) {
            wrong.push(format!("{}: {} -> {masked}", sample.rule, sample.text));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_only_resembles_a_secret_stays_as_it_is() {
    let mut wrong = Vec::new();
    for sample in rules().iter().filter(|sample| !sample.is_secret()) {
        if let Cow::Owned(masked) = secrets(&sample.text) {
            wrong.push(format!("{}: {} -> {masked}", sample.rule, sample.text));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
