use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::governed_cases::{FILLER_PARTS, GOVERNED, GovernedPrompt, UNGOVERNED};
use super::{EvidenceThreshold, RecallQuery};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ClientSessionId, ProjectId};
use claude_mem_core::memory::{NewObservation, ObservationType, Origin};
use claude_mem_search::VectorRetriever;
use claude_mem_search::index::catch_up;
use claude_mem_store::{NewObservationMeta, NewSession, Store, VectorStore};

/// A store with vectors of the real encoder.
struct EncodedStore {
    _dir: tempfile::TempDir,
    store: Store,
    vectors: VectorStore,
    project: ProjectId,
}

fn encoded(governed: &[&GovernedPrompt], fillers: usize) -> EncodedStore {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
    let model = embed::EmbeddingModel::built_in();
    let mut vectors = VectorStore::open(&dir.path().join("vectors.db"), model.id()).unwrap();
    let [verbs, things, ways, ends] = FILLER_PARTS;
    let filler = |n: usize| {
        let part = |list: &[&'static str], at: usize| list[at % list.len()];
        let (verb, thing) = (part(verbs, n), part(things, n / verbs.len()));
        let rest = n / verbs.len() / things.len();
        let kind = part(&["change", "discovery", "bugfix", "decision", "feature"], n);
        let title = format!("{verb} {thing} {}", part(ways, rest));
        (kind, title, part(ends, n).to_owned(), Origin::Agent)
    };
    let told = governed.iter().map(|case| {
        let origin = if case.kind == "bugfix" { Origin::Agent } else { Origin::User };
        (case.kind, case.memory.to_owned(), case.narrative.to_owned(), origin)
    });
    let rows: Vec<_> = told.chain((0..fillers).map(filler)).collect();
    let project = store
        .write(|tx| {
            let hint = ProjectHint {
                name: "shop".into(),
                keys: vec!["path:/p".into()],
                root: "/p".into(),
                branch: None,
            };
            let project = tx.ensure_project(&hint, Millis(1))?;
            for (n, (kind, title, narrative, origin)) in rows.into_iter().enumerate() {
                let at = Millis(1_000 * n as i64);
                let session = tx.ensure_session(&NewSession {
                    client: "claude-code",
                    client_session: &ClientSessionId(format!("s{}", n / 3)),
                    project: Some(project),
                    branch: None,
                    transcript_path: None,
                    origin: Origin::Agent,
                    import_run: None,
                    at,
                })?;
                let new = NewObservation {
                    narrative,
                    ..NewObservation::new(ObservationType::named(kind), title, origin, at)
                };
                let place = NewObservationMeta {
                    project: Some(project),
                    session: Some(session),
                    made_by: "test",
                    ..NewObservationMeta::default()
                };
                tx.create_observation(&new, &place)?;
            }
            Ok(project)
        })
        .unwrap();
    catch_up(&mut store, &mut vectors, model, |_| false).unwrap();
    EncodedStore { _dir: dir, store, vectors, project }
}

impl EncodedStore {
    fn told(&mut self, prompt: &str) -> Vec<String> {
        let model = embed::EmbeddingModel::built_in();
        let mut leg = VectorRetriever::uncached(&mut self.vectors, model);
        let ask = RecallQuery {
            project: self.project,
            own: None,
            prompt,
            shown: &HashSet::new(),
            budget_tokens: 400,
            zone: &TimeZone::UTC,
            bar: EvidenceThreshold::Prompt,
        };
        let recalled = super::prompt(&self.store.read(), &ask, Some(&mut leg)).unwrap();
        recalled.items.into_iter().map(|item| item.title).collect()
    }
}

/// Two stores of twenty memories each, and one of two thousand rows.
fn stores() -> Vec<(EncodedStore, Vec<&'static GovernedPrompt>)> {
    let (even, odd): (Vec<_>, Vec<_>) = GOVERNED.iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let cases =
        |half: Vec<(usize, &'static GovernedPrompt)>| half.into_iter().map(|(_, case)| case).collect();
    let halves: [Vec<&GovernedPrompt>; 2] = [cases(even), cases(odd)];
    let all: Vec<&GovernedPrompt> = GOVERNED.iter().collect();
    let [even, odd] = halves;
    vec![(encoded(&even, 0), even), (encoded(&odd, 0), odd), (encoded(&all, 2_000 - all.len()), all)]
}

#[test]
fn prompts_get_the_memory_that_governs_them_and_others_get_none() {
    for (mut store, cases) in stores() {
        let missed: Vec<_> = cases
            .iter()
            .filter(|case| !store.told(case.prompt).iter().any(|title| title == case.memory))
            .map(|case| case.prompt)
            .collect();
        assert!(missed.len() * 5 <= cases.len(), "{} of {}: {missed:#?}", missed.len(), cases.len());
        let told: Vec<_> = UNGOVERNED
            .iter()
            .map(|prompt| (prompt, store.told(prompt)))
            .filter(|(_, told)| !told.is_empty())
            .collect();
        assert!(told.len() * 20 <= UNGOVERNED.len(), "{} of {}: {told:#?}", told.len(), UNGOVERNED.len());
        println!("missed {missed:?}; told {told:?}");
    }
}
