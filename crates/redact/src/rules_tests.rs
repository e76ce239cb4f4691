use std::borrow::Cow;
use std::collections::BTreeMap;

use super::rules::RULES;
use super::{rule_samples, secrets};

#[test]
fn rule_names_are_unique() {
    let names: std::collections::BTreeSet<_> = RULES.iter().map(super::rules::SecretRule::name).collect();
    assert!(RULES.len() >= 100, "{}", RULES.len());
    assert_eq!(names.len(), RULES.len());
}

#[test]
fn every_rule_has_two_examples_and_two_counterexamples() {
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for sample in rule_samples() {
        let count = counts.entry(sample.rule.clone()).or_default();
        if sample.is_secret() {
            count.0 += 1;
        } else {
            count.1 += 1;
        }
    }
    for rule in &RULES {
        assert_eq!(counts.get(rule.name()), Some(&(2, 2)), "rule {}", rule.name());
    }
}

#[test]
fn secrets_are_masked_by_their_own_rule() {
    let mut wrong = Vec::new();
    for sample in rule_samples().iter().filter(|sample| sample.is_secret()) {
        let masked = secrets(&sample.text);
        let mask = format!("[redacted:{}]", sample.rule);
        if masked.contains(&sample.secret) || !masked.contains(&mask) {
            wrong.push(format!("{}: {} -> {masked}", sample.rule, sample.text));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn counterexamples_are_unchanged() {
    let mut wrong = Vec::new();
    for sample in rule_samples().iter().filter(|sample| !sample.is_secret()) {
        if let Cow::Owned(masked) = secrets(&sample.text) {
            wrong.push(format!("{}: {} -> {masked}", sample.rule, sample.text));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
