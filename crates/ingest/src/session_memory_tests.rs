use super::*;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::memory::{AccountText, NewOpenItem, ObservationText, Origin, SessionAccount};
use claude_mem_core::source::TextSource;
use claude_mem_distil::{Claim, ClaimKind};
use claude_mem_store::testing::{WorkerScratch, scratch, shop_project};
use claude_mem_store::{
    ExposureLevel, FeedbackSignal, NewFeedback, NewSession, ObservationEdit, PageRequest, RowFilter, RowId,
    RowKind, RowResolution, Store,
};

const NOW: Millis = Millis(1_000_000_000);

struct Desk {
    _scratch: WorkerScratch,
    store: Store,
    project: ProjectId,
}

impl Desk {
    fn new() -> Self {
        let scratch = scratch();
        let mut store = Store::open(&scratch.dir.db()).unwrap();
        let project = store.write(|tx| tx.ensure_project(&shop_project(), NOW)).unwrap();
        Self { _scratch: scratch, store, project }
    }

    fn session(&mut self, name: &str) -> SessionMemoryWriter<'static> {
        let client_session = ClientSessionId(name.into());
        let new = NewSession {
            client: "claude-code",
            client_session: &client_session,
            project: Some(self.project),
            branch: Some("main"),
            transcript_path: None,
            origin: Origin::Agent,
            import_run: None,
            at: NOW,
        };
        let session = self.store.write(|tx| tx.ensure_session(&new)).unwrap();
        SessionMemoryWriter {
            session,
            project: Some(self.project),
            branch: Some("main"),
            import_run: None,
            prompt_number: 1,
            now: NOW,
            model: None,
        }
    }

    fn apply(&mut self, of: SessionMemoryWriter<'_>, memories: &SessionMemories) -> ConsolidationChanges {
        self.store.write(|tx| of.apply(tx, memories)).unwrap()
    }

    fn titles(&self) -> Vec<String> {
        let rows = self.store.read().observations(&RowFilter::default(), PageRequest::first(50)).unwrap();
        let mut titles: Vec<String> = rows.items.into_iter().map(|row| row.text.title).collect();
        titles.sort();
        titles
    }

    fn row(&self, id: ObservationId) -> Observation {
        self.store.read().observation(id).unwrap()
    }

    fn resolve(&self, id: ObservationId) -> RowResolution {
        self.store.read().resolve_row(handle(id)).unwrap()
    }
}

fn handle(id: ObservationId) -> RowId {
    RowId::new(RowKind::Observation, id.0)
}

fn observed(title: &str) -> NewObservation {
    NewObservation::from_text(
        ObservationText {
            narrative: format!("{title}, because it was so."),
            files_modified: vec!["src/cart.rs".into()],
            ..ObservationText::new(ObservationType::BUGFIX, title)
        },
        Origin::Agent,
        NOW,
    )
}

fn made(claims: &[&str], title: &str) -> ConsolidatedObservation {
    let claims = claims.iter().map(|&claim| claim.to_owned()).collect();
    ConsolidatedObservation { claims, observation: observed(title) }
}

fn memories(observations: Vec<ConsolidatedObservation>) -> SessionMemories {
    SessionMemories { observations, ..SessionMemories::default() }
}

fn account(purpose: &str, done: &[&str]) -> SessionAccount {
    SessionAccount {
        text: AccountText {
            purpose: purpose.into(),
            done: done.iter().map(|&line| line.into()).collect(),
            ..AccountText::default()
        },
        at: NOW,
    }
}

fn open_item(claim: &str, text: &str) -> NewOpenItem {
    NewOpenItem { claim: claim.into(), text: text.into(), at: NOW, closed: false }
}

#[test]
fn row_with_a_shared_claim_keeps_its_id() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let first = desk.apply(session, &memories(vec![made(&["a"], "Cart loses items")]));
    let id = first.inserted[0];
    let later = memories(vec![made(&["b", "a"], "Cart lost items after a stale session cookie")]);
    let second = desk.apply(session, &later);
    assert_eq!((second.inserted.len(), second.updated.clone()), (0, vec![id]));
    assert_eq!(desk.row(id).text.title, "Cart lost items after a stale session cookie");
    let found = desk.store.read().document(handle(id)).unwrap().unwrap();
    assert!(found.title.contains("stale session cookie"), "the index follows");
    assert_eq!(desk.apply(session, &later), ConsolidationChanges::default(), "again changes nothing");
}

#[test]
fn merged_number_resolves_and_takes_everything_along() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let ids = desk
        .apply(
            session,
            &memories(vec![made(&["a"], "Cart loses items"), made(&["b"], "Cookie expires early")]),
        )
        .inserted;
    let (kept, gone) = (ids[0], ids[1]);
    desk.store
        .write(|tx| {
            tx.record_feedback(&NewFeedback {
                kind: RowKind::Observation,
                row_id: gone.0,
                client: "claude-code",
                session: "later",
                agent_id: "",
                signal: FeedbackSignal::Fetched,
                place: "mcp",
                score: None,
                rank: None,
                tokens: 0,
                reason: "",
                at: NOW,
            })?;
            let wrong = ObservationEdit { wrong: Some(true), ..ObservationEdit::default() };
            tx.edit_observation(kept, &wrong, NOW)
        })
        .unwrap();
    let both = memories(vec![made(&["a", "b"], "Cart lost items: the cookie expired early")]);
    let changes = desk.apply(session, &both);
    assert_eq!(changes.removed, [gone]);
    assert_eq!(desk.resolve(gone), RowResolution::PartOf(handle(kept)));
    assert_eq!(desk.resolve(gone).notice(handle(gone)).unwrap(), "#2 is now part of #1");
    assert!(desk.row(kept).wrong, "the mark follows");
    let seen = desk
        .store
        .read()
        .rows_seen_by_agent("claude-code", "later", "", Millis(0), ExposureLevel::FullText)
        .unwrap();
    assert_eq!(seen, [handle(kept)], "the ledger follows");
    assert_eq!(desk.titles(), ["Cart lost items: the cookie expired early"]);
}

#[test]
fn pinned_row_keeps_its_number_when_rows_merge() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let ids = desk
        .apply(
            session,
            &memories(vec![made(&["a"], "Cart loses items"), made(&["b"], "Cookie expires early")]),
        )
        .inserted;
    let pin = ObservationEdit { pinned: Some(true), ..ObservationEdit::default() };
    desk.store.write(|tx| tx.edit_observation(ids[1], &pin, NOW)).unwrap();
    desk.apply(session, &memories(vec![made(&["a", "b"], "One cause")]));
    assert_eq!(desk.resolve(ids[0]), RowResolution::PartOf(handle(ids[1])));
    assert!(desk.row(ids[1]).pinned);
}

#[test]
fn hand_edit_is_never_overwritten() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let id = desk.apply(session, &memories(vec![made(&["a"], "Cart loses items")])).inserted[0];
    let edit = ObservationEdit { title: Some("What I say".into()), ..ObservationEdit::default() };
    desk.store.write(|tx| tx.edit_observation(id, &edit, NOW)).unwrap();
    desk.apply(session, &memories(vec![made(&["a", "b"], "What the rules say")]));
    assert_eq!(desk.row(id).text.title, "What I say");
    desk.apply(session, &memories(vec![]));
    assert_eq!(desk.row(id).text.title, "What I say", "nor withdrawn");
}

#[test]
fn vanished_claim_withdraws_its_row_and_returns_under_a_new_number() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let one = memories(vec![made(&["a"], "Cart loses items")]);
    let id = desk.apply(session, &one).inserted[0];
    let changes = desk.apply(session, &memories(vec![]));
    assert_eq!((changes.removed, desk.titles().len()), (vec![id], 0));
    assert_eq!(desk.resolve(id), RowResolution::Withdrawn);
    let back = desk.apply(session, &one).inserted[0];
    assert_ne!(back, id, "numbers are not reused");
    assert_eq!(desk.resolve(id), RowResolution::PartOf(handle(back)));
}

#[test]
fn split_row_keeps_its_number_where_most_claims_are() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let id = desk.apply(session, &memories(vec![made(&["a", "b", "c"], "All together")])).inserted[0];
    let split = memories(vec![made(&["a"], "Cookie expires early"), made(&["b", "c"], "Cart loses items")]);
    let changes = desk.apply(session, &split);
    assert_eq!((changes.inserted.len(), changes.updated.clone()), (1, vec![id]));
    assert_eq!(desk.row(id).text.title, "Cart loses items");
    assert_eq!(desk.apply(session, &split), ConsolidationChanges::default());
}

#[test]
fn the_same_in_another_session_is_one_row_with_two_sources() {
    let mut desk = Desk::new();
    let (first, second) = (desk.session("one"), desk.session("two"));
    let said = memories(vec![made(&["a"], "Retries stop after seven attempts")]);
    let id = desk.apply(first, &said).inserted[0];
    let changes = desk.apply(second, &memories(vec![made(&["x"], "Retries stop after seven attempts.")]));
    assert!(changes.inserted.is_empty());
    assert_eq!(desk.row(id).source_count, 2);
    let sessions = desk.store.read().sessions_of_observation(id).unwrap();
    assert_eq!(sessions, [first.session, second.session]);
    // The second session changes its mind: it gets its own row, and the first keeps its own.
    let other = desk.apply(second, &memories(vec![made(&["x"], "Retries never stop")])).inserted[0];
    assert_eq!((desk.row(id).source_count, desk.row(other).source_count), (1, 1));
}

#[test]
fn the_same_pitfall_in_other_words_is_one_row() {
    let mut desk = Desk::new();
    let (first, second) = (desk.session("one"), desk.session("two"));
    let pitfall = |claim: &str, title: &str| {
        let mut row = made(&[claim], title);
        row.observation.text.concepts = vec!["gotcha".into()];
        memories(vec![row])
    };
    let said = pitfall("a", "The hook picks up tests of old snapshots in `build/snapshots/`");
    let id = desk.apply(first, &said).inserted[0];
    let again = pitfall("x", "The hook runs tests of a snapshot in `build/snapshots/`, not our code");
    for _ in 0..2 {
        assert!(desk.apply(second, &again).inserted.is_empty());
        assert_eq!(desk.row(id).source_count, 2);
    }
}

#[test]
fn row_goes_over_to_the_session_that_still_states_it() {
    let mut desk = Desk::new();
    let (first, second) = (desk.session("one"), desk.session("two"));
    let said = memories(vec![made(&["a"], "Retries stop after seven attempts")]);
    let id = desk.apply(first, &said).inserted[0];
    desk.apply(second, &said);
    desk.apply(first, &memories(vec![]));
    assert_eq!((desk.row(id).session, desk.row(id).source_count), (Some(second.session), 1));
}

#[test]
fn account_keeps_its_id_and_is_searched() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let with = |done: &[&str]| SessionMemories {
        account: Some(account("Make the cart survive a login", done)),
        ..SessionMemories::default()
    };
    let id = desk.apply(session, &with(&["Moved the cart to the server"])).account.unwrap();
    let twice = with(&["Moved the cart to the server", "Wrote a walrus test"]);
    assert_eq!(desk.apply(session, &twice).account, Some(id));
    assert_eq!(desk.apply(session, &twice).account, None, "unchanged");
    let reads = desk.store.read();
    let row = reads.latest_account(desk.project, Some("main")).unwrap().unwrap();
    assert_eq!((row.id, row.text.done.len()), (id, 2));
    assert_eq!(reads.latest_account(desk.project, Some("other")).unwrap(), None);
    let document = reads.document(RowId::new(RowKind::Account, id.0)).unwrap().unwrap();
    assert!(document.body.contains("walrus"));
}

#[test]
fn open_item_lives_until_later_work_finishes_it() {
    let mut desk = Desk::new();
    let (first, second) = (desk.session("one"), desk.session("two"));
    let left = SessionMemories {
        open_items: vec![open_item("i", "A retry test for upload_part is still missing")],
        ..SessionMemories::default()
    };
    desk.apply(first, &left);
    let open = |desk: &Desk| desk.store.read().open_items(desk.project, Some("main"), 10).unwrap();
    assert_eq!(open(&desk).len(), 1);
    let done = SessionMemories {
        finished: vec!["Wrote the retry test for `upload_part`".into()],
        ..SessionMemories::default()
    };
    desk.apply(second, &done);
    assert_eq!(open(&desk), []);
    desk.apply(first, &left);
    assert_eq!(open(&desk), [], "its own session does not reopen it");
    desk.apply(second, &SessionMemories::default());
    let item = &open(&desk)[0];
    assert_eq!(item.closed_by, None, "reopened: the later session no longer says so");
    // By hand: whatever sessions say afterwards.
    let id = item.id;
    assert!(desk.store.write(|tx| tx.close_item(id, "not needed", NOW)).unwrap());
    desk.apply(first, &left);
    desk.apply(first, &SessionMemories::default());
    assert_eq!(
        (open(&desk).len(), desk.store.read().open_item(id).unwrap().reason),
        (0, "not needed".into())
    );
    assert!(desk.store.write(|tx| tx.reopen_item(id)).unwrap());
    desk.apply(second, &done);
    assert_eq!(open(&desk).len(), 1);
}

#[test]
fn own_session_closes_its_item() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let item = open_item("i", "Write the retry test");
    let with = |closed| SessionMemories {
        open_items: vec![NewOpenItem { closed, ..item.clone() }],
        ..SessionMemories::default()
    };
    desk.apply(session, &with(false));
    desk.apply(session, &with(true));
    assert_eq!(desk.store.read().open_items(desk.project, None, 10).unwrap(), []);
    desk.apply(session, &with(false));
    assert_eq!(desk.store.read().open_items(desk.project, None, 10).unwrap().len(), 1);
}

fn claims(keys: &[(&str, &str)]) -> EpisodeClaims {
    let claim = |(key, title): &(&str, &str)| {
        let mut claim = Claim::new(ClaimKind::Fact, TextSource::FinalMessage, *title, Millis(0));
        claim.key = (*key).into();
        claim.composed = Some(Box::new(observed(title)));
        claim
    };
    EpisodeClaims { claims: keys.iter().map(claim).collect(), ..EpisodeClaims::default() }
}

/// Every claim is an observation and a line of the account.
fn told(episodes: &[EpisodeClaims]) -> SessionMemories {
    let all = || episodes.iter().flat_map(|episode| &episode.claims);
    let observations = all().map(|claim| ConsolidatedObservation {
        claims: vec![claim.key.clone()],
        observation: claim.composed.as_deref().cloned().unwrap(),
    });
    let done: Vec<&str> = all().map(|claim| claim.text.as_str()).collect();
    SessionMemories {
        observations: observations.collect(),
        account: Some(account("Repair the cart", &done)),
        ..SessionMemories::default()
    }
}

#[test]
fn forgotten_claim_leaves_no_text_and_never_returns() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let episode = claims(&[("a", "Walrus in the cart"), ("b", "Cookie expires early")]);
    let changes = desk
        .store
        .write(|tx| {
            session.append_claims(tx, &episode, false)?;
            session.consolidate(tx, &told)
        })
        .unwrap();
    let id = changes.inserted[0];
    desk.store.write(|tx| tx.forget(handle(id), NOW)).unwrap();
    let texts = |desk: &Desk| {
        let reads = desk.store.read();
        let bodies = reads.session_claims(session.session).unwrap();
        let account = reads.account_of_session(session.session).unwrap().unwrap();
        format!("{bodies:?} {account:?}")
    };
    assert!(!texts(&desk).contains("Walrus"), "{}", texts(&desk));
    assert!(texts(&desk).contains("Cookie"));
    // The same lines arrive again, late.
    let left = desk
        .store
        .write(|tx| {
            assert_eq!(session.append_claims(tx, &episode, false)?, 1);
            session.consolidate(tx, &told)
        })
        .unwrap();
    assert!(left.inserted.is_empty());
    assert!(!texts(&desk).contains("Walrus"));
    assert!(desk.store.write(|tx| tx.undo_forget(handle(id))).unwrap());
    let again = desk.store.write(|tx| session.consolidate(tx, &told)).unwrap();
    assert!(again.inserted.is_empty(), "the row is known by its claim");
    assert!(texts(&desk).contains("Walrus"));
    assert_eq!(desk.row(id).text.title, "Walrus in the cart");
}

#[test]
fn forgotten_claim_is_not_quoted_by_its_neighbour() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let mut episode = claims(&[("a", "Walrus in the cart"), ("b", "Cookie expires early")]);
    episode.claims[1].before = "Walrus in the cart.".into();
    episode.outcome.report = vec!["Taught the walrus to leave: Walrus".into()];
    let changes = desk
        .store
        .write(|tx| {
            session.append_claims(tx, &episode, false)?;
            session.consolidate(tx, &told)
        })
        .unwrap();
    let id = changes.inserted[0];
    let bodies = |desk: &Desk| format!("{:?}", desk.store.read().session_claims(session.session).unwrap());
    let stored = bodies(&desk);
    desk.store.write(|tx| tx.forget(handle(id), NOW)).unwrap();
    assert!(!bodies(&desk).contains("Walrus"), "{}", bodies(&desk));
    assert!(bodies(&desk).contains("Cookie"));
    episode.forget(&["a".to_owned()]);
    assert_eq!(episode.claims.len(), 1);
    assert_eq!(episode.claims[0].before, "", "the same for claims that arrive late");
    assert!(episode.outcome.report.is_empty());
    assert!(desk.store.write(|tx| tx.undo_forget(handle(id))).unwrap());
    assert_eq!(bodies(&desk).matches("Walrus").count(), stored.matches("Walrus").count());
}

#[test]
fn forgetting_through_the_store_equals_forgetting_the_claims() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let mut episode = claims(&[("a", "One"), ("b", "Two"), ("c", "Three")]);
    let changes = desk
        .store
        .write(|tx| {
            session.append_claims(tx, &episode, false)?;
            session.consolidate(tx, &told)
        })
        .unwrap();
    desk.store.write(|tx| tx.forget(handle(changes.inserted[1]), NOW)).unwrap();
    episode.forget(&["b".to_owned()]);
    let stored = desk.store.read().session_claims(session.session).unwrap();
    assert_eq!(serde_json::from_str::<EpisodeClaims>(&stored[0].body).unwrap(), episode);
}

#[test]
fn claims_of_a_model_episode_serve_the_account_only() {
    let mut desk = Desk::new();
    let session = desk.session("s");
    let changes = desk
        .store
        .write(|tx| {
            session.append_claims(tx, &claims(&[("a", "By a model")]), true)?;
            session.append_claims(tx, &claims(&[("b", "By the rules")]), false)?;
            session.consolidate(tx, &told)
        })
        .unwrap();
    assert_eq!((changes.inserted.len(), desk.titles()), (1, vec!["By the rules".to_owned()]));
    let account = desk.store.read().account_of_session(session.session).unwrap().unwrap();
    assert_eq!(account.text.done, ["By a model", "By the rules"]);
}

#[test]
fn changed_decision_is_compared_again() {
    let mut desk = Desk::new();
    let (first, second) = (desk.session("one"), desk.session("two"));
    let decided = |claim: &str, title: &str, at: i64| {
        let observation = {
            let base = observed(title);
            NewObservation {
                text: ObservationText {
                    kind: ObservationType::DECISION,
                    narrative: String::new(),
                    ..base.text
                },
                created_at: Millis(NOW.0 + at),
                ..base
            }
        };
        memories(vec![ConsolidatedObservation { claims: vec![claim.into()], observation }])
    };
    let old = desk.apply(first, &decided("a", "The retry limit for uploads is 7", 0)).inserted[0];
    let new = desk.apply(second, &decided("b", "Talked about uploads", 10)).inserted[0];
    assert_eq!(desk.row(old).replaced_by, None);
    let changed = decided("b", "The retry limit for uploads changed to 9 instead", 10);
    desk.apply(second, &changed);
    assert_eq!(desk.row(old).replaced_by, Some(new));
    desk.apply(second, &decided("b", "Talked about uploads", 10));
    assert_eq!(desk.row(old).replaced_by, None, "and back");
}

/// One word for each claim, so that no two groups of claims say the same.
const WORDS: [&str; 8] = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];

/// The memories in which each claim is in the group that `groups` names; group 0 is left out.
fn grouped(groups: &[u8]) -> SessionMemories {
    let mut by_group: BTreeMap<u8, Vec<&str>> = BTreeMap::new();
    for (word, group) in WORDS.into_iter().zip(groups).filter(|(_, group)| **group > 0) {
        by_group.entry(*group).or_default().push(word);
    }
    memories(by_group.into_values().map(|claims| made(&claims, &claims.join(" "))).collect())
}

fn expected_titles(memories: &SessionMemories) -> Vec<String> {
    let mut titles: Vec<String> =
        memories.observations.iter().map(|made| made.observation.text.title.clone()).collect();
    titles.sort();
    titles
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    /// Whatever a session stated before, the rows are those of its last consolidation, applying it again
    /// changes nothing, and every number that was ever given leads to a row or was withdrawn.
    #[test]
    fn rows_follow_the_last_consolidation(
        steps in proptest::collection::vec(proptest::array::uniform8(0_u8..5), 1..8)
    ) {
        let mut desk = Desk::new();
        let session = desk.session("s");
        let mut given = Vec::new();
        for step in &steps {
            let memories = grouped(step);
            given.extend(desk.apply(session, &memories).inserted);
            proptest::prop_assert_eq!(desk.apply(session, &memories), ConsolidationChanges::default());
            proptest::prop_assert_eq!(desk.titles(), expected_titles(&memories));
        }
        for id in given {
            match desk.resolve(id) {
                RowResolution::Itself => drop(desk.row(id)),
                RowResolution::PartOf(row) => drop(desk.row(ObservationId(row.row_id))),
                RowResolution::Withdrawn => {}
            }
        }
        let last = grouped(steps.last().unwrap());
        for (claim, id) in desk.store.read().claim_links(session.session).unwrap() {
            let stated = last.observations.iter().any(|made| made.claims.contains(&claim));
            if stated {
                proptest::prop_assert!(desk.row(id).text.title.contains(&claim), "{} is in another row", claim);
            }
        }
    }

    /// The order in which late lines arrive does not matter.
    #[test]
    fn order_of_arrival_does_not_matter(order in proptest::sample::subsequence(vec![0_usize, 1, 2, 3], 4), seed in 0_u64..24) {
        let mut order = order;
        let mut left = seed as usize;
        for at in (1..order.len()).rev() {
            order.swap(at, left % (at + 1));
            left /= at + 1;
        }
        let joined = |episodes: &[EpisodeClaims]| {
            let mut keys: Vec<&str> =
                episodes.iter().flat_map(|episode| &episode.claims).map(|claim| claim.key.as_str()).collect();
            keys.sort_unstable();
            let halves: Vec<&[&str]> = keys.chunks(3).collect();
            memories(halves.into_iter().map(|claims| made(claims, &claims.join(" "))).collect())
        };
        let mut desk = Desk::new();
        let session = desk.session("s");
        for at in order {
            let episode = claims(&[(WORDS[2 * at], "one"), (WORDS[2 * at + 1], "two")]);
            desk.store
                .write(|tx| {
                    session.append_claims(tx, &episode, false)?;
                    session.consolidate(tx, &joined)
                })
                .unwrap();
        }
        proptest::prop_assert_eq!(desk.titles(), ["alpha bravo charlie", "delta echo foxtrot", "golf hotel"]);
    }
}
