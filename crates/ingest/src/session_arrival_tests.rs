//! Properties of consolidation with the real distiller and a real store: what a session leaves behind depends on
//! what was said, not on when its lines arrived.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use claude_mem_core::episode::{Episode, EpisodePrompt, EpisodeStep, EpisodeText, FinalMessage};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::memory::Origin;
use claude_mem_core::source::TextSource;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_distil::Carry;
use claude_mem_store::testing::{WorkerScratch, scratch, shop_project};
use claude_mem_store::{NewSession, OpenItemFilter, PageRequest, RowFilter, Store};

const PARTS: [&str; 3] = ["cart", "login", "invoice"];

/// What happens in one turn, about one part of a shop.
#[derive(Clone, Copy, Debug)]
enum ShopTurn {
    Fix,
    Rule,
    Failure,
    Passing,
    Remaining,
    Refuted,
}

fn turn() -> impl Strategy<Value = (ShopTurn, usize)> {
    use ShopTurn::{Failure, Fix, Passing, Refuted, Remaining, Rule};
    let kinds = vec![Fix, Rule, Failure, Passing, Remaining, Refuted];
    (prop::sample::select(kinds), 0..PARTS.len())
}

fn bash(command: &str, stdout: &str, failed: bool, at: Millis) -> EpisodeStep {
    EpisodeStep {
        tool: "Bash".into(),
        input: json!({ "command": command }),
        output: json!({ "stdout": stdout }),
        failed,
        at,
        ..EpisodeStep::default()
    }
}

fn episode(number: usize, (kind, part): (ShopTurn, usize)) -> Episode {
    let (part, at) = (PARTS[part], |second: i64| Millis(number as i64 * 60_000 + second * 1_000));
    let edit = EpisodeStep {
        tool: "Edit".into(),
        input: json!({ "file_path": format!("/src/shop/src/{part}.rs"),
            "old_string": format!("fn {part}_total() {{ 0 }}"), "new_string": format!("fn {part}_total() {{ {number} }}") }),
        at: at(10),
        ..EpisodeStep::default()
    };
    let subject = format!("fix({part}): recompute the {part} total");
    let commit = bash(
        &format!("git commit -am '{subject}'"),
        &format!("[main abc{number:04}] {subject}\n 1 file changed"),
        false,
        at(20),
    );
    let (prompt, steps, said) = match kind {
        ShopTurn::Fix => (
            format!("Repair the {part}"),
            vec![edit, commit],
            format!(
                "Root cause: the {part} kept a stale total because `{part}_total` cached its sum. Fixed it by \
                 recomputing the {part} total in `{part}_total`."
            ),
        ),
        ShopTurn::Rule => (
            format!("Never round the {part} total up, because customers complain about every cent of it."),
            vec![edit],
            format!("The {part} total is no longer rounded."),
        ),
        ShopTurn::Failure => (
            format!("Run the tests of the {part}"),
            vec![bash(
                &format!("cargo test {part}"),
                "test result: FAILED. 3 passed; 2 failed",
                true,
                at(15),
            )],
            format!("Two tests of the {part} fail."),
        ),
        ShopTurn::Passing => (
            format!("Run the tests of the {part} again"),
            vec![bash(&format!("cargo test {part}"), "test result: ok. 5 passed; 0 failed", false, at(15))],
            format!("All tests of the {part} pass."),
        ),
        ShopTurn::Remaining => (
            format!("What is left of the {part}?"),
            vec![edit],
            format!("Still open: a test for `{part}_total`, and the documentation of `{part}_total`."),
        ),
        ShopTurn::Refuted => (
            format!("Is the {part} slow because of the index?"),
            vec![bash("psql -c 'explain'", "Index Scan using carts_pkey", false, at(15))],
            format!("The index is not the cause: `{part}_total` loads every row of the {part} one by one."),
        ),
    };
    Episode {
        project: "shop".into(),
        root: "/src/shop".into(),
        branch: Some("main".into()),
        prompt: Some(EpisodePrompt {
            number: number as u32 + 1,
            text: prompt,
            at: at(0),
            source: TextSource::Prompt,
        }),
        steps,
        texts: vec![EpisodeText {
            source: TextSource::Message,
            text: format!("Looking at the {part} first."),
            at: at(5),
            ..EpisodeText::default()
        }],
        final_message: Some(FinalMessage { text: said, at: at(30) }),
        finished: true,
        ..Episode::default()
    }
}

/// The claims of a session, in the order of time.
fn claims_of(turns: &[(ShopTurn, usize)]) -> Vec<EpisodeClaims> {
    let (mut carry, vocabulary) = (Carry::default(), Vocabulary::default());
    let episodes = turns.iter().enumerate().map(|(number, turn)| episode(number, *turn));
    episodes.map(|episode| claude_mem_distil::extract_claims(&episode, &mut carry, &vocabulary).0).collect()
}

struct ArrivalFixture {
    _scratch: WorkerScratch,
    store: Store,
    session: SessionId,
    project: ProjectId,
}

impl ArrivalFixture {
    fn new() -> Self {
        let scratch = scratch();
        let mut store = Store::open(&scratch.dir.db()).unwrap();
        let (project, session) = store
            .write(|tx| {
                let project = tx.ensure_project(&shop_project(), Millis(0))?;
                let session = tx.ensure_session(&NewSession {
                    client: "claude-code",
                    client_session: &ClientSessionId("s".into()),
                    project: Some(project),
                    branch: Some("main"),
                    transcript_path: None,
                    origin: Origin::Agent,
                    import_run: None,
                    at: Millis(0),
                })?;
                Ok((project, session))
            })
            .unwrap();
        Self { _scratch: scratch, store, session, project }
    }

    fn writer(&self) -> SessionMemoryWriter<'static> {
        SessionMemoryWriter {
            session: self.session,
            project: Some(self.project),
            branch: Some("main"),
            import_run: None,
            prompt_number: 1,
            now: Millis(1_000_000),
            model: None,
        }
    }

    /// Stores what has arrived together and consolidates.
    fn arrive(&mut self, episodes: &[&EpisodeClaims]) -> ConsolidationChanges {
        let writer = self.writer();
        self.store
            .write(|tx| {
                for episode in episodes {
                    writer.append_claims(tx, episode, false)?;
                }
                writer.consolidate(tx, &claude_mem_distil::consolidate)
            })
            .unwrap()
    }

    /// Everything that the session left behind, without row ids.
    fn state(&self) -> BTreeSet<String> {
        let reads = self.store.read();
        let mut state = BTreeSet::new();
        for row in reads.observations(&RowFilter::default(), PageRequest::first(100)).unwrap().items {
            let claims: BTreeSet<String> =
                reads.claims_of_observation(row.id).unwrap().into_iter().map(|(_, claim)| claim).collect();
            let text = (
                &row.text.kind,
                &row.text.title,
                &row.text.narrative,
                &row.text.facts,
                &row.text.files_modified,
                row.created_at,
            );
            state.insert(format!("observation {text:?} of {claims:?}"));
        }
        if let Some(account) = reads.account_of_session(self.session).unwrap() {
            state.insert(format!("account {:?} {:?}", account.text.purpose, account.sections()));
        }
        let filter = OpenItemFilter { with_closed: true, ..OpenItemFilter::default() };
        for item in reads.list_open_items(&filter, PageRequest::first(100)).unwrap().items {
            state.insert(format!("item {:?} closed {:?}", item.text, item.closed_at));
        }
        state
    }
}

/// A session's turns, the order in which they arrive, and how many arrive at once.
fn arrivals() -> impl Strategy<Value = (Vec<(ShopTurn, usize)>, Vec<usize>, usize)> {
    prop::collection::vec(turn(), 1..7).prop_flat_map(|turns| {
        let order: Vec<usize> = (0..turns.len()).collect();
        (Just(turns), Just(order).prop_shuffle(), 1_usize..4)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn late_lines_leave_the_state_of_lines_in_order((turns, order, at_once) in arrivals()) {
        let claims = claims_of(&turns);
        let mut in_order = ArrivalFixture::new();
        in_order.arrive(&claims.iter().collect::<Vec<_>>());
        let mut late = ArrivalFixture::new();
        for arrived in order.chunks(at_once) {
            let arrived: Vec<_> = arrived.iter().map(|number| &claims[*number]).collect();
            late.arrive(&arrived);
        }
        prop_assert_eq!(late.state(), in_order.state());
    }

    #[test]
    fn consolidating_again_changes_nothing((turns, order, at_once) in arrivals()) {
        let claims = claims_of(&turns);
        let mut desk = ArrivalFixture::new();
        for arrived in order.chunks(at_once) {
            let arrived: Vec<_> = arrived.iter().map(|number| &claims[*number]).collect();
            desk.arrive(&arrived);
            let before = desk.state();
            prop_assert_eq!(desk.arrive(&[]), ConsolidationChanges::default());
            prop_assert_eq!(desk.state(), before);
        }
    }
}

#[test]
fn generated_sessions_leave_memories() {
    // The properties above must not hold for want of memories.
    let turns: Vec<_> = [
        ShopTurn::Fix,
        ShopTurn::Rule,
        ShopTurn::Failure,
        ShopTurn::Passing,
        ShopTurn::Remaining,
        ShopTurn::Refuted,
    ]
    .into_iter()
    .map(|kind| (kind, 0))
    .collect();
    let mut desk = ArrivalFixture::new();
    desk.arrive(&claims_of(&turns).iter().collect::<Vec<_>>());
    let state = desk.state();
    for kind in ["observation", "account", "item"] {
        assert!(state.iter().any(|line| line.starts_with(kind)), "no {kind}: {state:#?}");
    }
    assert!(state.iter().filter(|line| line.starts_with("observation")).count() >= 2, "{state:#?}");
}
