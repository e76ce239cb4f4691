//! The reason of a plan, told with the work that it led to.

use claude_mem_core::memory::ObservationType;

use crate::claim::ClaimKind;
use crate::gates;
use crate::sentences;
use crate::text::{capitalised, one_line};
use crate::verbs::has_verb;

use super::frames::ClaimFrame;
use super::overtaken::says_problem;
use super::story::StorySentence;
use super::title_label;

/// Characters of a plan's reason, and its weight among the sentences.
const REASON_CHARS: usize = 280;
const PLAN_REASON_WEIGHT: f32 = 0.725;

/// Why a plan was made. Its problem is past once the work is done, so it is told as the reason.
pub(super) fn plan_reason(frame: &ClaimFrame<'_>) -> Option<StorySentence> {
    let plan = frame.leads.iter().find(|lead| lead.kind == ClaimKind::Plan)?;
    let PlanReason { text: reason, is_present } = PlanReason::read(&plan.text);
    let cause = title_label::without_cause_label(&reason);
    // "Before" is how it was wrong or lacking, not what the work is about.
    let caused = frame.details.iter().any(|claim| claim.kind == ClaimKind::Cause);
    let fixes = frame.leads.iter().any(|lead| lead.work == Some(ObservationType::BUGFIX));
    // One sentence before a repair may only describe what is repaired.
    let repairs = caused || (fixes && sentences::split(&reason).len() > 1);
    let contrasts = sentences::split(&reason).into_iter().any(opens_with_contrast);
    let is_past = is_present || repairs || contrasts || says_problem(&reason) || says_limit(&reason);
    // A background that names no problem only sets the scene.
    let told = if cause == reason { format!("Before: {reason}") } else { format!("Cause: {cause}") };
    let says = !reason.is_empty() && (is_past || cause != reason);
    says.then(|| StorySentence::single(PLAN_REASON_WEIGHT, told))
}

/// Whether a sentence of a plan says that it speaks of the state before the work.
fn says_present(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase());
    [" currently", " the current ", " right now", " today ", " at the moment"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a sentence says how little there was: "It only shows counts".
fn says_limit(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase());
    [
        " only ",
        " just ",
        " hard",
        " always ",
        " instead of ",
        " manual",
        " too ",
        " unclear",
        " confus",
        " static",
        " minimal",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// The first sentences of a plan's reason.
struct PlanReason {
    text: String,
    /// They say that they speak of the state before the work.
    is_present: bool,
}

impl PlanReason {
    /// Reads the reason without sentences that refer to something before it and those about the plan itself.
    fn read(text: &str) -> Self {
        let line = one_line(text);
        let sentences =
            sentences::split(&line).into_iter().skip_while(|sentence| gates::refers_back(sentence));
        let stated: Vec<&str> = sentences.filter(|sentence| !speaks_of_plan(sentence)).collect();
        let past = stated.iter().map(|sentence| {
            let said =
                sentence.replace(" currently ", " ").replace(" now ", " ").replace("The current ", "The ");
            let bare = said.strip_prefix("Currently, ").or_else(|| said.strip_prefix("Currently "));
            capitalised(bare.unwrap_or(&said))
        });
        let past: Vec<String> = past.collect();
        let start = told_start(&past, problem_start(&past, &stated));
        let told = &past[start..];
        let first = told.first().map(|first| without_label(&without_contrast(first)));
        let sentences = first.iter().map(String::as_str).chain(told.iter().skip(1).map(String::as_str));
        let text = sentences::join_fitting(sentences, REASON_CHARS);
        let count = sentences::split(&text).len();
        let is_present = stated.iter().skip(start).take(count).any(|sentence| says_present(sentence));
        Self { text, is_present }
    }
}

/// Openings of a sentence that says what is wrong with what the sentence before it describes.
const CONTRASTS: &[&str] = &["However, ", "But ", "Unfortunately, ", "Instead, "];

/// Whether a sentence says how it was wrong or lacking.
fn says_lack(sentence: &str) -> bool {
    opens_with_contrast(sentence) || says_problem(sentence) || says_limit(sentence)
}

fn opens_with_contrast(sentence: &str) -> bool {
    CONTRASTS.iter().any(|opening| sentence.starts_with(opening))
}

/// Where the problem of a plan begins: at the first sentence that says how it was wrong, or at one before it that says
/// how it was; the first sentences may only set the scene. A contrast needs the sentence before it, if both fit.
fn problem_start(sentences: &[String], stated: &[&str]) -> usize {
    let Some(lack) = stated.iter().position(|sentence| says_lack(sentence)) else {
        return 0;
    };
    if let Some(present) = stated[..lack].iter().position(|sentence| says_present(sentence)) {
        return present;
    }
    let both = |at: usize| sentences[at - 1].chars().count() + sentences[at].chars().count();
    if lack > 0 && opens_with_contrast(&sentences[lack]) && both(lack) < REASON_CHARS {
        lack - 1
    } else {
        lack
    }
}

/// The problem with the sentence that it refers to; behind it, if both do not fit.
fn told_start(sentences: &[String], problem: usize) -> usize {
    let refers = |at: usize| sentences.get(at).is_some_and(|sentence| gates::refers_back(sentence));
    if !refers(problem) {
        return problem;
    }
    let chars = |at: usize| sentences[at].chars().count();
    if problem > 0 && !refers(problem - 1) && chars(problem - 1) + chars(problem) < REASON_CHARS {
        return problem - 1;
    }
    (problem..sentences.len()).find(|at| !refers(*at)).unwrap_or(sentences.len())
}

/// Words of a label in front of a problem.
const LABEL_WORDS_MAX: usize = 2;

/// The sentence without a label that says that it is about a problem: "The bug: a plan chose …".
fn without_label(sentence: &str) -> String {
    let bare = sentence.split_once(": ").filter(|(label, rest)| {
        let words = label.split_whitespace().count();
        words <= LABEL_WORDS_MAX && !label.contains('`') && has_verb(rest) && says_trouble(label)
    });
    bare.map_or_else(|| sentence.to_owned(), |(_, rest)| capitalised(rest))
}

fn says_trouble(label: &str) -> bool {
    let lower = label.to_lowercase();
    ["bug", "problem", "issue", "symptom"].iter().any(|word| lower.contains(word))
}

/// The sentence without the word that contrasts it with one that is not told.
fn without_contrast(sentence: &str) -> String {
    let bare = CONTRASTS.iter().find_map(|opening| sentence.strip_prefix(opening));
    capitalised(bare.unwrap_or(sentence))
}

/// Whether a sentence of a plan tells what is to be done.
pub(super) fn speaks_of_plan(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    [
        "this plan",
        "this task",
        "will ",
        "we need",
        "needs to ",
        "need to ",
        "should ",
        "the goal",
        "goal: ",
        "this adds",
        "solution",
        "approach",
        "the fix ",
        "want",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::PlanReason;

    #[test]
    fn reason_needs_no_sentence_that_is_not_told() {
        let read = |text: &str| PlanReason::read(text).text;
        assert_eq!(
            read(
                "The desk prints receipts for all depots. It picks the default printer. However, each depot has one."
            ),
            "The desk prints receipts for all depots. It picks the default printer. However, each depot has one."
        );
        assert_eq!(
            read("The bug: the desk prints every receipt twice."),
            "The desk prints every receipt twice."
        );
        // What names a part of the project is no label.
        assert_eq!(read("`desk` problem: it prints twice."), "`desk` problem: it prints twice.");
    }

    #[test]
    fn reason_is_the_state_before_only_if_it_says_so() {
        let read = |text: &str| {
            let reason = PlanReason::read(text);
            (reason.text, reason.is_present)
        };
        assert_eq!(
            read("The receipts are currently printed at the desk. The new mail client will send them."),
            ("The receipts are printed at the desk.".to_owned(), true)
        );
        // What the plan proposes is not how it was, and a word further down does not date the reason.
        assert_eq!(
            read(
                "`ReceiptService` renders receipts for all depots. Since the header is sticky, adding the depot \
                 there is the smallest solution. The current header has room."
            )
            .0,
            "`ReceiptService` renders receipts for all depots. The header has room."
        );
        assert!(!read("`ReceiptService` renders receipts for all depots.").1);
    }
}
