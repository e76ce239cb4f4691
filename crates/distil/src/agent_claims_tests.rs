//! Tests of the claims in the agent's texts.

use super::*;

fn claims(source: TextSource, text: &str) -> Vec<(ClaimKind, String)> {
    let made = agent_claims(source, text, Millis(0), 0);
    made.into_iter().map(|claim| (claim.kind, claim.text)).collect()
}

fn opens(text: &str) -> bool {
    claims(TextSource::FinalMessage, text).iter().any(|(kind, _)| *kind == ClaimKind::Open)
}

#[test]
fn stated_remaining_work_is_open() {
    for text in [
        "The importer works. The retry of failed uploads is not implemented yet.",
        "Next: move the session table to the new schema.",
        "## Open items\n\n- Delete expired sessions of the admin console",
        "Done. Two todos added:\n\n- Replace the polling in `queue.rs` by a notification",
        "Known issue: the CSV export drops the time zone.",
        "The upload failed because the bucket's keys (`BUCKET_KEY`, `BUCKET_SECRET`) aren't configured yet.",
        "`orders.spec.ts` 4.2 is flaky, a second run passed.",
    ] {
        assert!(opens(text), "{text}");
    }
}

#[test]
fn words_of_remaining_work_in_another_sense_are_not_open() {
    for text in [
        "Both files are committed; the remaining modified files are changes from before.",
        "It re-wraps the new key for the remaining recipients of the share.",
        "Next: commit and push when you're ready.",
        "Next: pick which of the three layouts you like.",
        "If you want to do something specific, here is what to do:\n\n- Run `shop explain` to see the checkpoints",
        "## Intentionally deferred\n\n- Extract the retry helper, the three places differ too much",
        "Follow-up turns within the same call carry no header in the answer.",
        "## Fixes applied\n\n- The buffer still needs a cast for the older compiler",
    ] {
        assert!(!opens(text), "{text}");
    }
}

#[test]
fn remaining_work_in_the_middle_of_a_turn_is_not_open() {
    let text = "The retry of failed uploads is not implemented yet.";
    let kinds = claims(TextSource::Message, text);
    assert!(kinds.iter().all(|(kind, _)| *kind != ClaimKind::Open), "{kinds:?}");
}

#[test]
fn offered_options_claim_nothing() {
    let text = "There are two ways to store the avatars.\n\n\
        A. In the database — the upload service writes them to the `avatars` table, because backups cover it.\n\n\
        B. On disk — the upload service writes them to `var/avatars`, because the table would grow too fast.\n\n\
        Which one do you want?";
    let made = claims(TextSource::FinalMessage, text);
    assert!(made.iter().all(|(_, text)| !text.contains("avatars`")), "{made:?}");
}

#[test]
fn supposed_causes_claim_nothing() {
    let supposed = "The login fails because the token may have expired before `renew()` was called.";
    let known = "The login fails because the token had expired before `renew()` was called.";
    let causes = |text: &str| {
        let made = claims(TextSource::FinalMessage, text);
        made.iter().filter(|(kind, _)| *kind == ClaimKind::Cause).count()
    };
    assert_eq!((causes(supposed), causes(known)), (0, 1));
}

#[test]
fn steps_in_a_table_of_what_to_configure_claim_nothing() {
    let text = "Receipts go out by mail now.\n\nBefore the next release, you need to configure:\n\n\
        | Where | What |\n|---|---|\n\
        | Mail console | Create an API key for `ReceiptService`, add `shop.example.com` to the allowed senders |\n";
    let claims = agent_claims(TextSource::FinalMessage, text, Millis(0), 0);
    assert!(!claims.iter().any(|claim| claim.text.contains("Create an API key")), "{claims:?}");
}

#[test]
fn options_of_a_question_before_the_last_sentence_claim_nothing() {
    let text = "The courier's API takes an address only when the parcel is created.\n\n\
        1. **Cancel and create** — `courier.cancel` followed by a new parcel, which changes the tracking number.\n\
        2. **Call the depot** — the clerk notes the change in `parcel.note`, which never reaches the driver.\n\n\
        Want me to go with (1) or (2)? I'll also write the limit down.";
    let claims = agent_claims(TextSource::FinalMessage, text, Millis(0), 0);
    assert!(!claims.iter().any(|claim| claim.text.contains("depot")), "{claims:?}");
}
