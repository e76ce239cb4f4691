use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::cases::{CHECKED_EVERYDAY, CHECKED_NEEDS, EVERYDAY, Memory, PROJECTS};
use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ClientSessionId, ObservationId, ProjectId};
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_core::vocabulary::AMENDMENT;
use claude_mem_store::{NewRowContext, NewSession, Store};

struct Home {
    store: Store,
    project: ProjectId,
    ids: Vec<ObservationId>,
    _dir: tempfile::TempDir,
}

/// Each memory is of a session of its own, a second after the one before.
fn home<'m>(memories: impl IntoIterator<Item = &'m Memory>) -> Home {
    with_concepts(memories.into_iter().map(|memory| (memory, &[][..])))
}

fn with_concepts<'m>(memories: impl Iterator<Item = (&'m Memory, &'m [&'m str])>) -> Home {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("m.db")).unwrap();
    let (project, ids) = store
        .write(|tx| {
            let hint = ProjectHint {
                name: "p".into(),
                keys: vec!["path:/p".into()],
                root: "/p".into(),
                branch: None,
            };
            let project = tx.ensure_project(&hint, Millis(1))?;
            let mut ids = Vec::new();
            for (at, ((kind, title, said), concepts)) in memories.enumerate() {
                let at = Millis(1_000 * at as i64);
                let session = tx.ensure_session(&NewSession {
                    client: "claude-code",
                    client_session: &ClientSessionId(format!("s{}", at.0)),
                    project: Some(project),
                    branch: None,
                    transcript_path: None,
                    origin: Origin::Agent,
                    import_run: None,
                    at,
                })?;
                let new = NewObservation::from_text(
                    ObservationText {
                        narrative: (*said).into(),
                        concepts: concepts.iter().map(|name| (*name).to_owned()).collect(),
                        ..ObservationText::new(ObservationType::named(*kind), *title)
                    },
                    Origin::User,
                    at,
                );
                let place = NewRowContext {
                    project: Some(project),
                    session: Some(session),
                    made_by: "test",
                    ..NewRowContext::default()
                };
                ids.push(tx.create_observation(&new, &place)?);
            }
            Ok((project, ids))
        })
        .unwrap();
    Home { store, project, ids, _dir: dir }
}

impl Home {
    fn told(&self, prompt: &str) -> String {
        let ask = RecallQuery {
            project: self.project,
            own: None,
            prompt,
            shown: &HashSet::new(),
            budget_tokens: 400,
            zone: &TimeZone::UTC,
            threshold: EvidenceThreshold::Prompt,
        };
        super::recall_for_prompt(&self.store.read(), &ask, None).unwrap().text
    }
}

#[test]
fn a_prompt_brings_the_memory_that_it_needs() {
    let (mut all, mut missed) = (0, Vec::new());
    let everything = home(PROJECTS.iter().flat_map(|project| project.memories));
    for project in PROJECTS {
        let alone = home(project.memories);
        for (prompt, needed) in project.needs {
            for home in [&alone, &everything] {
                all += 1;
                if !home.told(prompt).contains(needed) {
                    missed.push((project.name, prompt));
                }
            }
        }
    }
    assert!(missed.len() * 10 <= all, "{} of {all}: {missed:#?}", missed.len());
}

#[test]
fn everyday_prompts_bring_nothing() {
    let everything = home(PROJECTS.iter().flat_map(|project| project.memories));
    let projects = PROJECTS.iter().map(|project| home(project.memories));
    for home in projects.chain([everything]) {
        for prompt in EVERYDAY {
            assert_eq!(home.told(prompt), "", "{prompt}");
        }
    }
}

#[test]
fn the_bounds_hold_for_what_they_were_not_set_by() {
    let home = home(PROJECTS.iter().flat_map(|project| project.memories));
    let missed: Vec<_> =
        CHECKED_NEEDS.iter().filter(|(prompt, needed)| !home.told(prompt).contains(needed)).collect();
    let told: Vec<_> = CHECKED_EVERYDAY.iter().filter(|prompt| !home.told(prompt).is_empty()).collect();
    assert!(missed.len() <= 3 && told.is_empty(), "{missed:#?} {told:#?}");
}

#[test]
fn what_another_project_needs_brings_nothing() {
    for project in PROJECTS {
        let home = home(project.memories);
        for other in PROJECTS.iter().filter(|other| other.name != project.name) {
            for (prompt, _) in other.needs {
                assert_eq!(home.told(prompt), "", "{prompt} of {}", project.name);
            }
        }
    }
}

const FIRST: Memory =
    ("decision", "UPLOAD_RETRIES must be 5", "User: “Hotel wifi drops large video files in bursts of four.”");
const SECOND: Memory =
    ("decision", "UPLOAD_RETRIES must be 2 from now on", "User: “Phones get hot and batteries die.”");

#[test]
fn who_asks_in_the_words_of_a_replaced_rule_is_told_the_new_one() {
    let mut home = home(&[FIRST, SECOND]);
    let (old, new) = (home.ids[0], home.ids[1]);
    home.store.write(|tx| tx.replace_observation(old, new)).unwrap();
    let told = home.told("Large video files are dropped over hotel wifi, look into the bursts");
    assert!(told.contains("must be 2 from now on"), "{told}");
    assert!(told.contains(", replaces #1)") && !told.contains("bursts of four"), "{told}");
}

const BY_IP: Memory = (
    "decision",
    "allow_request counts 600 per hour and client address",
    "Agent: “allow_request counts per client address in a fixed window of an hour.”",
);
const BY_KEY: Memory = (
    "decision",
    "allow_request uses a token bucket per key",
    "Agent: “allow_request has a bucket of 40 per key, refilled with 2 per second.”",
);

#[test]
fn of_two_rules_about_one_thing_the_newer_goes_first_and_the_older_says_so() {
    let home = home(&[BY_IP, BY_KEY]);
    let told = home.told("partners are refused by allow_request though their client is idle");
    let newer = told.find("token bucket").expect("the newer one");
    let older = told.find("before #2 and perhaps replaced by it").expect("the older one");
    assert!(newer < older && !told.contains("fixed window"), "{told}");
    assert!(!told.contains("600 per hour"), "it is named, not told: {told}");
}

#[test]
fn another_side_of_the_same_thing_is_told_beside_it() {
    let logged: Memory = (
        "decision",
        "allow_request logs one line per refusal at debug level",
        "User: “Operators want to see refusals without flooding the journal, so debug and never warn.”",
    );
    let home = home(&[logged, BY_KEY]);
    let told = home.told("partners are refused by allow_request and operators see nothing of it");
    assert!(told.contains("token bucket") && told.contains("debug level"), "{told}");
}

#[test]
fn what_an_amendment_takes_up_again_is_left_out() {
    let amended: Memory = (
        "decision",
        "allow_request counts 900 per hour and client address",
        "Agent: “allow_request counts 900 per client address in a fixed window.”",
    );
    let memories = [(&BY_IP, &[][..]), (&amended, &[AMENDMENT][..])];
    let home = with_concepts(memories.into_iter());
    let told = home.told("partners are refused by allow_request though their client is idle");
    assert!(told.contains("900") && !told.contains("600"), "{told}");
}

#[test]
fn name_and_a_word_are_no_evidence_in_a_long_text() {
    let certain = Some(claude_mem_search::names::NameConfidence::Certain);
    for (prompt_size, want) in [(PromptSize::Usual, true), (PromptSize::Long, false)] {
        let evidence = MatchEvidence { name: certain, besides: 1.0, prompt_size, ..MatchEvidence::default() };
        assert_eq!(EvidenceThreshold::Prompt.clears(&evidence), want, "{prompt_size:?}");
    }
}

#[test]
fn plan_is_not_told_what_it_says_itself() {
    let home = home(&[BY_KEY]);
    let steps = "Then do one more step. ".repeat(30);
    let plan =
        |said: &str| format!("Implement this plan. Change src/limits.rs and its callers. {said} {steps}");
    let part = plan("Partners are refused by allow_request: give each key a token bucket.");
    assert!(home.told(&part).contains("token bucket"), "{}", home.told(&part));
    let whole = plan(
        "The agent found that allow_request uses a token bucket per key: it has a bucket of 40 per key, refilled with 2 per second.",
    );
    assert_eq!(home.told(&whole), "");
}
