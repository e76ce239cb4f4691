use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::{
    ConsolidatedObservation, NewObservation, ObservationType, Origin, SessionMemories,
};
use claude_mem_store::testing::{WorkerScratch, scratch, shop_project};
use claude_mem_store::{
    MANUAL, MemoryLevel, NewRowContext, NewSession, Observation, ObservationEdit, PageRequest, RowFilter,
    Store,
};

use crate::session_memory::SessionMemoryWriter;

const NOW: Millis = Millis(1_000_000_000);
const RULE: &str = "From now on never log the customer's IBAN, also not in debug mode";
const NOTE: &str = "Never log the customer's IBAN, also not in debug mode.";

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
            branch: None,
            transcript_path: None,
            origin: Origin::Agent,
            import_run: None,
            at: NOW,
        };
        let session = self.store.write(|tx| tx.ensure_session(&new)).unwrap();
        SessionMemoryWriter {
            session,
            project: Some(self.project),
            branch: None,
            import_run: None,
            prompt_number: 1,
            now: NOW,
            model: None,
        }
    }

    fn note(&mut self, session: Option<SessionId>, text: &str, origin: Origin) -> ObservationId {
        let new = NewObservation::new(ObservationType::DISCOVERY, text, origin, NOW);
        let meta = NewRowContext {
            session,
            project: Some(self.project),
            made_by: MANUAL,
            ..NewRowContext::default()
        };
        self.store.write(|tx| tx.create_observation(&new, &meta)).unwrap()
    }

    /// Consolidates a session in which the user stated this.
    fn state(&mut self, of: SessionMemoryWriter<'_>, rules: &[&str]) {
        let stated = |rule: &&str| {
            let mut observation = NewObservation::new(ObservationType::DECISION, *rule, Origin::User, NOW);
            observation.text.narrative = format!("User: “{rule}.”");
            ConsolidatedObservation { claims: vec![format!("claim {rule}")], observation }
        };
        let memories = SessionMemories {
            observations: rules.iter().map(stated).collect(),
            ..SessionMemories::default()
        };
        self.store.write(|tx| of.apply(tx, &memories)).unwrap();
    }

    fn rows(&self) -> Vec<Observation> {
        self.store.read().observations(&RowFilter::default(), PageRequest::first(50)).unwrap().items
    }

    /// The one row, which must be the user's decision.
    fn only_rule(&self) -> Observation {
        let rows = self.rows();
        let titles: Vec<&str> = rows.iter().map(|row| row.text.title.as_str()).collect();
        assert_eq!(titles.len(), 1, "{titles:?}");
        assert_eq!((&rows[0].text.kind, rows[0].origin), (&ObservationType::DECISION, Origin::User));
        rows[0].clone()
    }
}

#[test]
fn a_note_of_the_session_becomes_the_users_decision() {
    let cases = [
        (NOTE, Origin::Agent),
        (NOTE, Origin::Manual),
        (RULE, Origin::Agent),
        (RULE, Origin::Manual),
        ("Never log the customer's IBAN", Origin::Agent),
    ];
    for (text, origin) in cases {
        let mut desk = Desk::new();
        let of = desk.session("s");
        let note = desk.note(Some(of.session), text, origin);
        desk.state(of, &[RULE]);
        let row = desk.only_rule();
        assert_eq!((row.text.title.as_str(), row.text.facts.len()), (RULE, 0), "{text}");
        let handle = claude_mem_store::RowId::new(claude_mem_store::RowKind::Observation, note.0);
        let resolved = desk.store.read().resolve_row(handle).unwrap();
        assert!(
            format!("{resolved:?}").contains(&row.id.0.to_string()),
            "the note's number follows: {resolved:?}"
        );
        // A second consolidation changes nothing.
        desk.state(of, &[RULE]);
        assert_eq!(desk.only_rule(), row);
    }
}

#[test]
fn a_note_of_another_session_or_of_none_is_the_same_memory() {
    for of_another in [true, false] {
        let mut desk = Desk::new();
        let other = desk.session("other").session;
        desk.note(of_another.then_some(other), NOTE, Origin::Manual);
        let of = desk.session("s");
        desk.state(of, &[RULE]);
        desk.only_rule();
    }
}

#[test]
fn what_a_note_adds_is_kept_as_a_fact() {
    let mut desk = Desk::new();
    let of = desk.session("s");
    let longer = "Never log the customer's IBAN, not in debug mode either: auditors read the logs";
    desk.note(Some(of.session), longer, Origin::Agent);
    desk.state(of, &[RULE]);
    let row = desk.only_rule();
    assert_eq!(row.text.facts, [format!("Noted by the agent: {longer}")]);
    // The next episode of the session does not lose it.
    desk.state(of, &[RULE, "Only Marta may change the invoice layout"]);
    let rows = desk.rows();
    let kept = rows.iter().find(|row| row.text.title == RULE).unwrap();
    assert_eq!((rows.len(), &kept.text.facts), (2, &row.text.facts));
}

#[test]
fn each_rule_takes_its_own_note() {
    let mut desk = Desk::new();
    let of = desk.session("s");
    for app in ["web", "mobile"] {
        desk.note(Some(of.session), &format!("Use pnpm for the {app} app, never npm"), Origin::Agent);
    }
    desk.note(Some(of.session), "Staging is rebuilt every night", Origin::Agent);
    desk.state(
        of,
        &["From now on use pnpm for the web app, never npm", "Use pnpm for the mobile app, never npm"],
    );
    let mut titles: Vec<String> = desk.rows().into_iter().map(|row| row.text.title).collect();
    titles.sort();
    let want = [
        "From now on use pnpm for the web app, never npm",
        "Staging is rebuilt every night",
        "Use pnpm for the mobile app, never npm",
    ];
    assert_eq!(titles, want);
    assert!(desk.rows().iter().all(|row| row.text.facts.is_empty()), "{:#?}", desk.rows());
}

#[test]
fn the_opposite_and_another_number_are_other_memories() {
    for other in ["Log the customer's IBAN, also in debug mode", "Keep the IBAN of the customer for 30 days"]
    {
        let mut desk = Desk::new();
        let of = desk.session("s");
        desk.note(Some(of.session), other, Origin::Agent);
        desk.state(of, &[RULE]);
        assert_eq!(desk.rows().len(), 2, "{other}");
    }
}

#[test]
fn a_note_that_a_person_corrected_stays_and_becomes_the_decision() {
    let mut desk = Desk::new();
    let of = desk.session("s");
    let note = desk.note(Some(of.session), NOTE, Origin::Agent);
    let edit =
        ObservationEdit { narrative: Some(format!("{NOTE} Ask Marta.")), ..ObservationEdit::default() };
    desk.store.write(|tx| tx.edit_observation(note, &edit, NOW)).unwrap();
    for _ in 0..2 {
        desk.state(of, &[RULE]);
        let row = desk.only_rule();
        assert_eq!((row.id, row.text.title.as_str(), row.level), (note, NOTE, MemoryLevel::Project));
    }
}
