use insta::assert_snapshot;

use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::memory::{
    NewObservation, NewSummary, ObservationText, ObservationType, Origin, SummaryText,
};
use claude_mem_store::{NewMember, NewPrompt, NewRowContext, NewSession, RowId, RowKind, Store, TeamPlace};

const NOW: Millis = Millis(1_700_000_000_000);

fn note(title: &str) -> NewObservation {
    NewObservation::from_text(
        ObservationText {
            narrative: "# It was\nthe cookie.".to_owned(),
            facts: vec!["TTL is 24 h".to_owned()],
            concepts: vec!["gotcha".to_owned()],
            files_modified: vec!["src/cart.rs".to_owned()],
            ..ObservationText::new(ObservationType::BUGFIX, title)
        },
        Origin::Agent,
        Millis(NOW.0 + 60_000),
    )
}

fn furnished(dir: &Path) -> Store {
    let mut store = Store::open(&dir.join("ours.db")).unwrap();
    let hint = ProjectHint {
        name: "The Shop".to_owned(),
        keys: vec!["path:/work/shop".to_owned()],
        root: "/work/shop".to_owned(),
        branch: None,
    };
    store
        .write(|tx| {
            let project = tx.ensure_project(&hint, NOW)?;
            let session = tx.ensure_session(&NewSession {
                project: Some(project),
                branch: Some("main"),
                ..NewSession::new("claude-code", &ClientSessionId("s1".to_owned()), NOW)
            })?;
            tx.create_prompt(&NewPrompt {
                session,
                project: Some(project),
                prompt_id: None,
                text: "Fix the cart\n\nplease",
                private: false,
                origin: Origin::User,
                import_run: None,
                at: NOW,
            })?;
            let place = NewRowContext {
                session: Some(session),
                project: Some(project),
                prompt_number: 1,
                made_by: "local",
                ..NewRowContext::default()
            };
            tx.create_observation(&note("Carts expire"), &place)?;
            let summary = NewSummary {
                text: SummaryText {
                    request: "Fix the cart".to_owned(),
                    completed: "Fixed.".to_owned(),
                    next_steps: "Ship it.".to_owned(),
                    ..SummaryText::default()
                },
                created_at: Millis(NOW.0 + 120_000),
                ..NewSummary::default()
            };
            tx.create_summary(&summary, session, &place)?;
            let by_hand =
                NewRowContext { project: Some(project), made_by: "hand", ..NewRowContext::default() };
            tx.create_observation(&note("By hand"), &by_hand)
        })
        .unwrap();
    store
}

/// Replaces random public ids.
fn tidy(text: &str) -> String {
    let is_id = |word: &str| word.len() == 36 && word.matches('-').count() == 4;
    let line = |line: &str| {
        let words = line.split(' ').map(|word| if is_id(word) { "[UID]" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn session_page_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let store = furnished(dir.path());
    let out = dir.path().join("out");
    let done = write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Session, &out).unwrap();
    assert_eq!((done.written, done.unchanged, done.removed), (2, 0, 0));
    let mut names: Vec<_> = std::fs::read_dir(out.join("the-shop")).unwrap().flatten().collect();
    names.sort_by_key(std::fs::DirEntry::file_name);
    let text = std::fs::read_to_string(names[0].path()).unwrap();
    assert_snapshot!(tidy(&text), @r"
    <!-- claude-mem session [UID] -->

    # Fix the cart

    - project: The Shop
    - when: 2023-11-14 22:13
    - branch: `main`
    - session: claude-code s1

    ## 2023-11-14 22:13 · Fix the cart please

    > Fix the cart
    >
    > please

    ### bugfix: Carts expire

    \# It was
    the cookie.

    - TTL is 24 h

    _2023-11-14 22:14 · changed `src/cart.rs` · gotcha_

    ### What was done · 2023-11-14 22:15

    **Asked:** Fix the cart

    **Done:** Fixed.

    **Next:** Ship it.
    ");
    let notes = std::fs::read_to_string(names[1].path()).unwrap();
    assert_snapshot!(tidy(&notes), @r"
    <!-- claude-mem notes -->

    # Notes for The Shop

    ### bugfix: By hand

    \# It was
    the cookie.

    - TTL is 24 h

    _2023-11-14 22:14 · changed `src/cart.rs` · gotcha_
    ");
}

#[test]
fn project_page_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let store = furnished(dir.path());
    let mut text = Vec::new();
    write_text(&store.read(), ExportScope::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let headings: Vec<_> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_snapshot!(headings.join("\n"), @"
    # The Shop
    ## Fix the cart
    ### 2023-11-14 22:13 · Fix the cart please
    #### bugfix: Carts expire
    #### What was done · 2023-11-14 22:15
    ## Notes for The Shop
    #### bugfix: By hand
    ");
}

#[test]
fn only_changed_files_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = furnished(dir.path());
    let out = dir.path().join("out");
    write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Session, &out).unwrap();
    std::fs::write(out.join("README.md"), "mine").unwrap();
    let again = write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Session, &out).unwrap();
    assert_eq!((again.written, again.unchanged, again.removed), (0, 2, 0));
    let by_hand = store
        .read()
        .observations(&claude_mem_store::RowFilter::default(), claude_mem_store::PageRequest::first(9));
    let by_hand = by_hand.unwrap().items.into_iter().find(|row| row.text.title == "By hand").unwrap();
    store.write(|tx| tx.forget(RowId::new(RowKind::Observation, by_hand.id.0), NOW)).unwrap();
    let then = write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Session, &out).unwrap();
    assert_eq!((then.written, then.unchanged, then.removed), (0, 1, 1));
    assert!(out.join("README.md").exists());
    std::fs::write(out.join("the-shop.md"), "mine").unwrap();
    assert!(
        write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Project, &out).is_err(),
        "it was written over"
    );
}

#[test]
fn emptied_folder_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let store = furnished(dir.path());
    let out = dir.path().join("out");
    let folders = || {
        let entries = std::fs::read_dir(&out).unwrap().flatten();
        entries.filter(|entry| entry.path().is_dir()).count()
    };
    write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Session, &out).unwrap();
    assert!(folders() > 0);
    write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Project, &out).unwrap();
    assert_eq!(folders(), 0);
}

#[test]
fn exported_text_is_inert() {
    let hostile = "<script>alert(1)</script> [x](javascript:alert(1)) \u{202e}gpj.exe <b>\u{2028}# heading";
    let dir = tempfile::tempdir().unwrap();
    let mut store = furnished(dir.path());
    let new = {
        let base = note(hostile);
        NewObservation {
            text: ObservationText {
                narrative: hostile.to_owned(),
                subtitle: hostile.to_owned(),
                facts: vec![hostile.to_owned()],
                ..base.text
            },
            ..base
        }
    };
    store.write(|tx| tx.create_observation(&new, &NewRowContext::default())).unwrap();
    store
        .write(|tx| {
            let session = tx.session_of_client("claude-code", &ClientSessionId("s1".to_owned()))?.unwrap();
            tx.create_prompt(&NewPrompt {
                session: session.id,
                project: session.project,
                prompt_id: None,
                text: hostile,
                private: false,
                origin: Origin::User,
                import_run: None,
                at: NOW,
            })
        })
        .unwrap();
    let out = dir.path().join("out");
    write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Session, &out).unwrap();
    let folders = std::fs::read_dir(&out).unwrap().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
    let text: String = files.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect();
    for raw in ["<script", "<b>", "](javascript:", "\u{202e}", "\u{2028}"] {
        assert!(!text.contains(raw), "{raw:?} in {text}");
    }
    assert!(text.contains("alert(1)"), "the words stay: {text}");
}

/// A store with own rows, and with an observation and an account of Mira.
fn with_a_colleague(dir: &Path) -> Store {
    let mut store = furnished(dir);
    store
        .write(|tx| {
            let project = tx.projects()?[0].id;
            let uid = PublicId::new();
            let new = NewMember { uid, handle: "mira", name: "Mira Vogt", role: "member", gone: false };
            let member = Some(tx.put_member(&new)?);
            let session = tx.ensure_team_session(PublicId::new(), member, Some(project), None, NOW)?;
            let place =
                TeamPlace { member, session: Some(session), project: Some(project), held_back: false };
            let observation = serde_json::json!({
                "uid": PublicId::new(), "type": "decision", "title": "Round <script> up", "origin": "user",
                "created_at": NOW,
            });
            tx.put_team_observation(&serde_json::from_value(observation)?, None, place)?;
            let account = serde_json::json!({
                "uid": PublicId::new(), "session": PublicId::new(), "for": "Fix rounding", "created_at": NOW,
                "done": ["Uses [ceil](http://x) <i>now</i>"], "files_edited": ["src/`a`.rs"],
            });
            tx.put_team_account(&serde_json::from_value(account)?, None, session, place)
        })
        .unwrap();
    store
}

#[test]
fn rows_of_others_have_a_page_with_their_name() {
    let dir = tempfile::tempdir().unwrap();
    let store = with_a_colleague(dir.path());
    let scope = ExportScope { with_team: true, ..ExportScope::default() };
    let mut text = Vec::new();
    write_text(&store.read(), scope, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let (_, page) = text.split_once("## Mira ").unwrap();
    assert_snapshot!(page, @r"
    Vogt on The Shop

    - shared by: Mira Vogt (mira), a member of the team; recorded by others, not verified here

    ### Session of 2023-11-14 22:13

    Fix rounding

    **Done:**

    - Uses \[ceil\](http://x) ‹i>now‹/i>

    _changed `src/'a'.rs`_

    #### decision: Round ‹script> up

    _2023-11-14 22:13_
    ");
    let out = dir.path().join("out");
    assert_eq!(write_folder(&store.read(), scope, MarkdownGrouping::Session, &out).unwrap().written, 3);
    // Without others their page goes.
    let own = write_folder(&store.read(), ExportScope::default(), MarkdownGrouping::Session, &out).unwrap();
    assert_eq!((own.unchanged, own.removed), (2, 1));
    let mut text = Vec::new();
    write_text(&store.read(), ExportScope::default(), &mut text).unwrap();
    assert!(!String::from_utf8(text).unwrap().contains("Mira"));
}
