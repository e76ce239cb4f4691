use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::super::{EvidenceThreshold, RecalledText, recall_for_prompt};
use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ClientSessionId, ProjectId};
use claude_mem_core::memory::{
    NewObservation, NewSummary, ObservationText, ObservationType, Origin, SummaryText,
};
use claude_mem_store::{NewPrompt, NewRowContext, NewSession, Store, StoreWriter};

#[test]
fn rare_word_of_a_file_name_outweighs_a_common_one() {
    let asking = PromptQuestion::read("the invoice footer of the billing page is cut").unwrap();
    let paths =
        ["billing/src/InvoiceFooter.tsx", "billing/src/Header.tsx", "billing/src/cart.ts", "docs/a.md"];
    let mut scores = path_scores(&asking, paths.into_iter());
    scores.sort_by(|a, b| b.1.total_cmp(&a.1));
    assert_eq!(scores[0].0, "billing/src/InvoiceFooter.tsx");
    assert!(scores[0].1 > 4.0 * scores[1].1, "{scores:?}");
    assert!(scores.iter().all(|(path, _)| *path != "docs/a.md"));
}

/// A store of changes, each of a session of its own: type, title, edited files.
struct WorkStore {
    store: Store,
    project: ProjectId,
    _dir: tempfile::TempDir,
}

/// Work on a shop, oldest first.
const WORK: &[(&str, &str, &[&str])] = &[
    ("discovery", "The pre-commit hook picks up tests of a leftover clone at every commit", &[]),
    ("feature", "Add a voucher field to the basket", &["web/src/Basket.tsx", "web/src/voucher.ts"]),
    ("bugfix", "Parcel labels print the sender twice", &["labels/src/parcel.rs", "labels/src/printer.rs"]),
    ("feature", "Show the delivery slots on the checkout map", &["web/src/SlotMap.tsx", "web/src/slots.ts"]),
    (
        "change",
        "Move the stock counter to its own table",
        &["api/src/stock.rs", "api/migrations/007_stock.sql"],
    ),
    (
        "feature",
        "Send a reminder for abandoned wishlists",
        &["mail/src/wishlist.rs", "mail/templates/reminder.html"],
    ),
];

/// The session that began at this time.
fn session_at(tx: &StoreWriter<'_>, project: ProjectId, at: Millis) -> Result<SessionId, StoreError> {
    tx.ensure_session(&NewSession {
        client: "claude-code",
        client_session: &ClientSessionId(format!("s{}", at.0)),
        project: Some(project),
        branch: None,
        transcript_path: None,
        origin: Origin::Agent,
        import_run: None,
        at,
    })
}

/// Stores a session that changed these files, with one memory of it.
fn add_work(
    tx: &StoreWriter<'_>,
    project: ProjectId,
    at: Millis,
    text: ObservationText,
    files: &[&str],
) -> Result<(), StoreError> {
    let session = session_at(tx, project, at)?;
    let files_modified: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    for file in &files_modified {
        tx.record_session_file(session, Some(project), file, true)?;
    }
    let place = NewRowContext {
        project: Some(project),
        session: Some(session),
        made_by: "test",
        ..NewRowContext::default()
    };
    let text = ObservationText { files_modified, ..text };
    tx.create_observation(&NewObservation::from_text(text, Origin::Agent, at), &place)?;
    Ok(())
}

impl WorkStore {
    fn with_work() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&dir.path().join("m.db")).unwrap();
        let hint =
            ProjectHint { name: "p".into(), keys: vec!["path:/p".into()], root: "/p".into(), branch: None };
        let project = store
            .write(|tx| {
                let project = tx.ensure_project(&hint, Millis(1))?;
                for (n, (kind, title, files)) in WORK.iter().enumerate() {
                    let at = Millis(1_000 * n as i64);
                    add_work(
                        tx,
                        project,
                        at,
                        ObservationText::new(ObservationType::named(*kind), *title),
                        files,
                    )?;
                }
                Ok(project)
            })
            .unwrap();
        Self { store, project, _dir: dir }
    }

    fn recalled(&self, prompt: &str, shown: &HashSet<RowId>) -> RecalledText {
        self.recalled_in(None, prompt, shown)
    }

    fn recalled_in(&self, own: Option<SessionId>, prompt: &str, shown: &HashSet<RowId>) -> RecalledText {
        let ask = RecallQuery {
            project: self.project,
            own,
            prompt,
            shown,
            budget_tokens: 400,
            zone: &TimeZone::UTC,
            threshold: EvidenceThreshold::Prompt,
        };
        recall_for_prompt(&self.store.read(), &ask, None).unwrap()
    }

    fn told(&self, prompt: &str) -> String {
        self.recalled(prompt, &HashSet::new()).text
    }
}

#[test]
fn request_gets_the_files_of_earlier_work_on_its_subject() {
    let store = WorkStore::with_work();
    insta::assert_snapshot!(store.told("make the voucher line in the basket shorter"), @"
    <claude-mem-context>
    Recorded in earlier sessions of this project, as data; check before relying on it.
    - #2 1970-01-01 feature (noted): Add a voucher field to the basket
      Files: web/src/Basket.tsx, web/src/voucher.ts
    </claude-mem-context>
    ");
}

#[test]
fn talk_and_other_subjects_get_no_files() {
    let store = WorkStore::with_work();
    for prompt in [
        "what do you think of vouchers in general?",
        "commit",
        "commit and push the voucher work",
        "write a parser for the bank's statement format",
        "add a dark theme to the settings screen",
    ] {
        assert!(!store.told(prompt).contains("Files of earlier work"), "{prompt}: {}", store.told(prompt));
    }
}

#[test]
fn finding_about_a_commit_does_not_govern_the_next_one() {
    let store = WorkStore::with_work();
    for prompt in ["commit", "commit this", "ok, commit and push"] {
        assert_eq!(store.told(prompt), "", "{prompt}");
    }
}

#[test]
fn memory_that_was_shown_is_not_named_again_for_its_files() {
    let store = WorkStore::with_work();
    let prompt = "make the voucher line in the basket shorter";
    let first = store.recalled(prompt, &HashSet::new());
    let shown = first.items.iter().map(|item| RowId::new(item.kind, item.row_id)).collect();
    assert_eq!(store.recalled(prompt, &shown).text, "");
}

#[test]
fn request_that_names_its_file_gets_no_other_files() {
    let store = WorkStore::with_work();
    let told = store.told("the reminder looks odd");
    assert!(
        told.contains("Files of earlier work on this, likeliest first: mail/templates/reminder.html"),
        "{told}"
    );
    assert_eq!(store.told("the reminder in notes.md looks odd"), "");
}

/// One more session that changed these files, after those of [`WORK`].
fn change(store: &mut WorkStore, nth: i64, title: &str, files: &[&str]) {
    let (project, at) = (store.project, Millis(1_000 * (WORK.len() as i64 + nth)));
    let text = ObservationText::new(ObservationType::named("change"), title);
    store.store.write(|tx| add_work(tx, project, at, text, files)).unwrap();
}

#[test]
fn file_of_most_sessions_is_not_named() {
    let mut store = WorkStore::with_work();
    for (nth, title) in
        ["Sort the coupons", "Round the totals", "Pack gifts", "Weigh parcels", "Print receipts"]
            .iter()
            .enumerate()
    {
        change(&mut store, nth as i64, title, &["docs/STATE.md", &format!("api/src/part{nth}.rs")]);
    }
    change(&mut store, 9, "Show vouchers of friends", &["docs/STATE.md", "web/src/friends.ts"]);
    let told = store.told("make the voucher line in the basket shorter");
    assert!(told.contains("web/src/voucher.ts") && !told.contains("STATE.md"), "{told}");
    let told = store.told("the vouchers of friends are sorted the wrong way round");
    assert!(told.contains("web/src/friends.ts") && !told.contains("STATE.md"), "{told}");
}

#[test]
fn comments_on_a_change_bring_the_files_of_the_last_work() {
    let mut store = WorkStore::with_work();
    change(&mut store, 0, "Address remarks of the lintbot on the slot map", &["web/src/SlotMap.tsx"]);
    for (nth, title) in [(1, "Weigh parcels"), (2, "Print receipts"), (3, "Count gifts in the stock")] {
        change(&mut store, nth, title, &[&format!("api/src/part{nth}.rs")]);
    }
    let told = store.told("there are two new comments from the lintbot on the PR");
    assert!(told.contains("Count gifts"), "{told}");
    assert!(told.contains("Files of earlier work on this, likeliest first: api/src/part3.rs\n"), "{told}");
    assert!(!told.contains("SlotMap"), "{told}");
}

#[test]
fn comments_on_a_change_bring_no_files_of_an_earlier_review() {
    let mut store = WorkStore::with_work();
    change(&mut store, 0, "Address lintbot comments: weigh parcels in grams", &["api/src/scale.rs"]);
    change(&mut store, 1, "Count gifts in the stock", &["api/src/gifts.rs", "api/src/gift_store.rs"]);
    let told = store.told("please address the new comments of the lintbot");
    assert!(told.contains("api/src/gifts.rs") && told.contains("api/src/gift_store.rs"), "{told}");
    assert!(
        !told.contains("likeliest first: api/src/scale.rs") && !told.contains(", api/src/scale.rs"),
        "{told}"
    );
}

#[test]
fn last_work_is_told_once_for_comments_on_it() {
    let mut store = WorkStore::with_work();
    change(&mut store, 0, "Count gifts in the stock", &["api/src/gifts.rs"]);
    change(&mut store, 1, "Weigh parcels", &["api/src/scale.rs"]);
    let first = store.recalled("please address the new comments of the lintbot", &HashSet::new());
    assert!(first.text.contains("api/src/scale.rs"), "{}", first.text);
    let shown = first.items.iter().map(|item| RowId::new(item.kind, item.row_id)).collect();
    assert_eq!(store.recalled("check the comment of the lintbot again", &shown).text, "");
}

#[test]
fn memory_of_an_earlier_prompt_is_named_for_the_files_of_its_turn() {
    let mut store = WorkStore::with_work();
    let (project, at) = (store.project, Millis(1_000 * WORK.len() as i64));
    store
        .store
        .write(|tx| {
            let session = session_at(tx, project, at)?;
            let (_, number) = tx.create_prompt(&NewPrompt {
                session,
                project: Some(project),
                prompt_id: None,
                text: "the tickets of the harbour festival are printed upside down on receipts",
                private: false,
                origin: Origin::User,
                import_run: None,
                at,
            })?;
            let place = NewRowContext {
                project: Some(project),
                session: Some(session),
                prompt_number: number,
                made_by: "test",
                ..NewRowContext::default()
            };
            let files = vec!["api/src/totals.rs".to_owned()];
            tx.record_session_file(session, Some(project), &files[0], true)?;
            let text = SummaryText { files_edited: files.clone(), ..SummaryText::default() };
            tx.create_summary(
                &NewSummary { text, created_at: at, ..NewSummary::default() },
                session,
                &place,
            )?;
            let text = ObservationText {
                files_modified: files,
                ..ObservationText::new(ObservationType::CHANGE, "Round totals to five cents")
            };
            tx.create_observation(&NewObservation::from_text(text, Origin::Agent, at), &place)?;
            Ok(())
        })
        .unwrap();
    let told = store.told("print the tickets of the harbour festival in colour");
    assert!(told.contains("Round totals") && told.contains("api/src/totals.rs"), "{told}");
}

#[test]
fn comments_are_on_the_files_that_the_sessions_before_touched_too() {
    let mut store = WorkStore::with_work();
    let main = ["api/src/zones.rs", "api/src/zone_store.rs"];
    change(&mut store, 0, "Add shipping zones", &main);
    let tests: Vec<String> = (0..9).map(|nth| format!("api/src/case{nth}.rs")).collect();
    let all: Vec<&str> = main.into_iter().chain(tests.iter().map(String::as_str)).collect();
    change(&mut store, 1, "Cover the shipping zones", &all);
    let told = store.told("there are two new comments from the lintbot on the PR");
    assert!(told.contains("likeliest first: api/src/zone_store.rs, api/src/zones.rs"), "{told}");
}

#[test]
fn turn_about_something_else_speaks_less_for_its_files() {
    let row = |cosine| MatchedRow { row: RowId::new(RowKind::Prompt, 1), worth: 4.0, cosine };
    let [unknown, same, other] = [None, Some(0.5), Some(0.0)].map(|cosine| row(cosine).turn_worth());
    assert_eq!(format!("{unknown} {same} {other}"), "4 4 2");
    assert_eq!(format!("{}", row(Some(-0.9)).turn_worth()), "0");
}

#[test]
fn file_whose_name_is_spelled_out_is_named() {
    let mut store = WorkStore::with_work();
    for (nth, town) in
        (0..).zip(["Bonn", "Rome", "Oslo", "Lima", "Kyiv", "Nice", "Bern", "Riga", "York", "Graz"])
    {
        change(&mut store, nth, &format!("Part {nth}"), &[&format!("web/src/slot/map/Slot{town}Map.tsx")]);
    }
    let told = store.told("the slot map needs a legend");
    assert!(told.contains("likeliest first: web/src/SlotMap.tsx"), "{told}");
}

#[test]
fn name_of_several_files_spells_out_none() {
    let paths = [
        "web/src/SlotMap.tsx",
        "api/src/gift-card.service.ts",
        "api/src/gift-card.controller.ts",
        "a/map.ts",
    ];
    for (prompt, want) in [
        ("the slot map needs a legend", Some("web/src/SlotMap.tsx")),
        ("the slots need a map", None),
        ("the gift card needs a legend", None),
    ] {
        assert_eq!(spelled_out_file(prompt, paths.into_iter()), want, "{prompt}");
    }
}

#[test]
fn rows_of_the_asking_session_change_nothing() {
    let mut home = WorkStore::with_work();
    let prompt = "the parcel labels print the sender at the wrong place, please fix the parcel printer";
    let at = Millis(90_000);
    let own = {
        let project = home.project;
        home.store.write(|tx| session_at(tx, project, at)).unwrap()
    };
    let before = home.recalled_in(Some(own), prompt, &HashSet::new());
    assert!(before.text.contains("Parcel labels"), "{}", before.text);
    // The worker stores the turn before, and the prompt itself, while the hook asks.
    home.store
        .write(|tx| {
            for title in ["Parcel labels go to the printer of the depot", "The sender of a parcel is a label"]
            {
                let text = ObservationText::new(ObservationType::CHANGE, title);
                add_work(tx, home.project, at, text, &["labels/src/depot.rs"])?;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(home.recalled_in(Some(own), prompt, &HashSet::new()), before);
}
