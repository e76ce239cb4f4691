use rig::model::{ModelScript, ModelTurn, ScriptedModel, StopReason};

use super::*;
use crate::compressor_config::ProcessEnv;
use crate::live_compressor::LiveCompressor;
use crate::pipeline::EpisodePipeline;
use crate::pipeline_observer::PipelineObserver;
use crate::scheduler::Scheduler;
use claude_mem_core::event::Event;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::live_settings::LiveSettings;
use claude_mem_models::budget::BudgetLimits;
use claude_mem_models::model::ClaudeInstall;
use claude_mem_models::trouble::{MODEL_TROUBLE_KEY, ModelTrouble, TroubleKind};
use claude_mem_store::testing::{WorkerScratch, accept, edit, event, prompt, scratch, stop};
use claude_mem_store::{Observation, PageRequest, RowFilter, SpendRow};

const ANSWER: &str = "<observation><type>decision</type><title>Prices are kept in cents</title>\
    <narrative>Floating point loses money.</narrative></observation>\
    <summary><request>Fix the prices</request><completed>They are integers now</completed></summary>";

#[derive(Debug)]
struct LlmTestObserver;
impl PipelineObserver for LlmTestObserver {}

struct LlmFixture {
    scratch: WorkerScratch,
    store: Arc<SharedStore>,
    model: ScriptedModel,
    modelled: Arc<LiveCompressor>,
}

impl LlmFixture {
    fn with(script: ModelScript, limits: BudgetLimits) -> Self {
        let scratch = scratch();
        let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
        let model = ScriptedModel::start(script);
        let json = serde_json::json!({
            "provider": "openai", "base_url": format!("{}/v1", model.url()), "model": "m-1", "model_seconds": 60,
            "budget_tokens_per_day": limits.day_tokens, "budget_tokens_per_session": limits.session_tokens,
        });
        std::fs::write(scratch.dir.settings(), json.to_string()).unwrap();
        let process = ProcessEnv {
            env: Vec::new(),
            executable: "/proc/self/exe".into(),
            claude: |_| ClaudeInstall::default(),
        };
        let live = Arc::new(LiveSettings::new(scratch.dir.root().to_owned(), |_| None));
        let source = ConfigSource::new(scratch.dir.clone(), live, process);
        let log = claude_mem_store::testing::log(&scratch);
        let modelled = Arc::new(LiveCompressor::start(Arc::clone(&store), source, log));
        Self { scratch, store, model, modelled }
    }

    /// The recorded trouble of the model.
    fn trouble(&self) -> Option<ModelTrouble> {
        let stored = self.store.with(|store| store.read().meta(MODEL_TROUBLE_KEY)).unwrap();
        ModelTrouble::from_json(stored.as_deref())
    }

    fn set(&self, name: &str, value: serde_json::Value) {
        let text = std::fs::read_to_string(self.scratch.dir.settings()).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json[name] = value;
        std::fs::write(self.scratch.dir.settings(), json.to_string()).unwrap();
    }

    fn plenty(script: ModelScript) -> Self {
        Self::with(script, BudgetLimits { day_tokens: 10_000_000, session_tokens: 10_000_000 })
    }

    /// Queues events and processes them until the queue is empty.
    fn drain(&self, events: &[Event]) {
        self.store
            .with(|store| {
                accept(store, events);
                Ok(())
            })
            .unwrap();
        let pipeline = EpisodePipeline {
            store: Arc::clone(&self.store),
            backfill: None,
            compressor: self.modelled.clone(),
            observer: Arc::new(LlmTestObserver),
        };
        let drain = Scheduler::start(pipeline, 3).unwrap();
        assert!(drain.flush(|| false).unwrap());
        drain.stop(Duration::from_mins(1));
        let queue = self.store.with(|store| store.read().counts()).unwrap().queue;
        assert_eq!((queue.waiting, queue.leased, queue.dead), (0, 0, 0));
    }

    fn observations(&self) -> Vec<Observation> {
        let all = |store: &mut claude_mem_store::Store| {
            store.read().observations(&RowFilter::default(), PageRequest::first(500))
        };
        self.store.with(all).unwrap().items
    }

    fn spend(&self) -> Vec<SpendRow> {
        self.store.with(|store| store.read().spend_rows(PageRequest::first(500))).unwrap().items
    }
}

fn turn(session: &str, number: i64) -> [Event; 3] {
    let at = number * 10;
    [
        event(session, at, prompt(&format!("{session}: fix the prices, part {number}"))),
        event(session, at + 1, edit("/src/shop/price.rs", &format!("{session}{number}"))),
        event(session, at + 2, stop(&format!("{session}: part {number} is done, prices are integers."))),
    ]
}

#[test]
fn model_makes_memories_and_ledger_records_cost() {
    let bill = rig::model::BilledUsage { input: 1_500, output: 100, cache_read: 0, cache_write: 0 };
    let stage = LlmFixture::plenty(ModelScript::new().turn(ModelTurn::text(ANSWER).usage(bill)));
    stage.drain(&turn("a", 0));
    let made = stage.observations().remove(0);
    assert_eq!(made.text.title, "Prices are kept in cents");
    assert_eq!(made.made_by, "m-1");
    assert_eq!(made.text.files_modified, ["price.rs"]);
    let spend = stage.spend().remove(0);
    assert_eq!((spend.provider.as_str(), spend.model.as_str()), ("openai", "m-1"));
    assert_eq!((spend.input_tokens, spend.output_tokens, spend.estimated), (1_500, 100, false));
    assert_eq!((spend.outcome.as_str(), spend.purpose.as_str()), ("answered", PURPOSE));
    assert_eq!(stage.modelled.status_warning(Millis(0)), None);
}

#[test]
fn next_request_carries_the_rolling_summary() {
    let script = ModelScript::new().turn(ModelTurn::text(ANSWER)).fallback(ModelTurn::text("<skip/>"));
    let stage = LlmFixture::plenty(script);
    stage.drain(&turn("a", 0));
    stage.drain(&turn("a", 1));
    let asked = stage.model.messages();
    assert!(!asked[0].contains_text("<so_far>"));
    assert!(
        asked[1].contains_text("completed: They are integers now\nalready kept:\n- Prices are kept in cents")
    );
}

#[test]
fn missing_summary_comes_from_heuristics() {
    let stage = LlmFixture::plenty(ModelScript::new().fallback(ModelTurn::text("<skip/>")));
    stage.drain(&turn("a", 0));
    let session = ClientSessionId("a".into());
    let summary = stage.store.with(|store| {
        let reads = store.read();
        let session = reads.session_of_client("claude-code", &session)?.unwrap().id;
        reads.summaries(&RowFilter { session: Some(session), ..RowFilter::default() }, PageRequest::first(9))
    });
    assert_eq!(summary.unwrap().items.len(), 1);
    assert!(stage.observations().is_empty(), "and nothing else");
}

#[test]
fn failed_model_falls_back_to_heuristics() {
    for fault in [
        ModelTurn::error(401),
        ModelTurn::error(404),
        ModelTurn::error(400),
        ModelTurn::error(413),
        ModelTurn::text("No.").stop(StopReason::Refusal),
    ] {
        let stage = LlmFixture::plenty(ModelScript::new().fallback(fault.clone()));
        let mut events = turn("a", 0).to_vec();
        events.insert(1, event("a", 0, prompt("Always keep prices in cents, because floats lose money.")));
        stage.drain(&events);
        let made = stage.observations();
        assert!(made.iter().all(|row| row.made_by == heuristic_compressor::LOCAL), "{fault:?}");
        assert!(stage.spend().iter().all(|row| row.outcome != "reserved"));
    }
}

#[test]
fn rejected_credentials_are_tried_once_and_reported() {
    let stage = LlmFixture::plenty(ModelScript::new().fallback(ModelTurn::error(401)));
    for number in 0..4 {
        stage.drain(&turn("a", number));
    }
    assert_eq!(stage.model.messages().len(), 1);
    let trouble = stage.trouble().unwrap();
    assert_eq!(trouble.kind, TroubleKind::Credentials);
    assert!(trouble.why.contains("credentials"), "{}", trouble.why);
}

#[test]
fn spend_exceeds_budget_by_at_most_one_call() {
    let bill = rig::model::BilledUsage { input: 6_000, output: 100, cache_read: 0, cache_write: 0 };
    let answer = ModelTurn::text("<skip/>").usage(bill);
    let limits = BudgetLimits { day_tokens: 30_000, session_tokens: 14_000 };
    let stage = LlmFixture::with(ModelScript::new().fallback(answer), limits);
    let mut events = Vec::new();
    for number in 0..10 {
        for session in ["a", "b", "c", "d", "e"] {
            events.extend(turn(session, number));
        }
    }
    stage.drain(&events);
    let spend = stage.spend();
    let total: u64 = spend.iter().map(|row| row.input_tokens + row.output_tokens).sum();
    assert!(total <= limits.day_tokens + 6_100, "{total} tokens");
    assert!(spend.len() >= 4, "{} calls: the budget is used", spend.len());
    for session in spend.iter().map(|row| row.session) {
        let of = spend.iter().filter(|row| row.session == session);
        let total: u64 = of.map(|row| row.input_tokens + row.output_tokens).sum();
        assert!(total <= limits.session_tokens + 6_100, "{total} tokens of one session");
    }
}

#[test]
fn every_failure_of_the_model_is_recorded_until_a_call_succeeds() {
    for (fault, kind) in [
        (ModelTurn::error(401), TroubleKind::Credentials),
        (ModelTurn::error(404), TroubleKind::Misconfigured),
        (ModelTurn::error(400), TroubleKind::Rejected),
        (ModelTurn::error(429).header("retry-after", "86400"), TroubleKind::Quota),
        (ModelTurn::text("Sure! I have saved it."), TroubleKind::InvalidAnswer),
        (ModelTurn::text(""), TroubleKind::InvalidAnswer),
    ] {
        let stage = LlmFixture::plenty(ModelScript::new().fallback(fault.clone()));
        stage.drain(&turn("a", 0));
        assert_eq!(stage.trouble().map(|trouble| trouble.kind), Some(kind), "{fault:?}");
        // A changed setting gives the provider a new chance at once.
        let repaired = ScriptedModel::start(ModelScript::new().fallback(ModelTurn::text(ANSWER)));
        stage.set("base_url", format!("{}/v1", repaired.url()).into());
        stage.drain(&turn("a", 1));
        assert_eq!(stage.trouble(), None, "{fault:?}");
        assert_eq!(repaired.messages().len(), 1, "{fault:?}");
    }
}

#[test]
fn used_up_budget_is_recorded() {
    let limits = BudgetLimits { day_tokens: 100, session_tokens: 10_000_000 };
    let stage = LlmFixture::with(ModelScript::new().fallback(ModelTurn::text(ANSWER)), limits);
    stage.drain(&turn("a", 0));
    assert_eq!(stage.trouble().map(|trouble| trouble.kind), Some(TroubleKind::DayBudget));
    assert!(stage.model.messages().is_empty() && stage.spend().is_empty());
}

#[test]
fn no_call_goes_to_an_address_that_was_configured_away() {
    let stage = LlmFixture::plenty(ModelScript::new().fallback(ModelTurn::text(ANSWER)));
    stage.drain(&turn("a", 0));
    assert_eq!(stage.model.messages().len(), 1);
    let other = ScriptedModel::start(ModelScript::new().fallback(ModelTurn::text(ANSWER)));
    stage.set("base_url", format!("{}/v1", other.url()).into());
    stage.drain(&turn("a", 1));
    assert_eq!((stage.model.messages().len(), other.messages().len()), (1, 1));
    stage.set("provider", "local".into());
    stage.drain(&turn("a", 2));
    assert_eq!((stage.model.messages().len(), other.messages().len()), (1, 1));
}

/// The first attempt fails while the settings change: the retry goes to the new address.
#[test]
fn retry_after_a_change_goes_to_the_new_address() {
    let gate = rig::model::TestGate::shut();
    let held = ModelTurn::error(500).fault(rig::model::ResponseFault::Hold(gate.clone()));
    let stage = LlmFixture::plenty(ModelScript::new().turn(held).fallback(ModelTurn::text(ANSWER)));
    let other = ScriptedModel::start(ModelScript::new().fallback(ModelTurn::text(ANSWER)));
    std::thread::scope(|scope| {
        let draining = scope.spawn(|| stage.drain(&turn("a", 0)));
        while stage.model.messages().is_empty() {
            std::thread::yield_now();
        }
        stage.set("base_url", format!("{}/v1", other.url()).into());
        gate.open();
        draining.join().unwrap();
    });
    assert_eq!((stage.model.messages().len(), other.messages().len()), (1, 1));
}

#[test]
fn lowered_budget_holds_for_the_next_call() {
    let bill = rig::model::BilledUsage { input: 6_000, output: 100, cache_read: 0, cache_write: 0 };
    let answer = ModelTurn::text(ANSWER).usage(bill);
    let stage = LlmFixture::plenty(ModelScript::new().fallback(answer));
    stage.drain(&turn("a", 0));
    stage.set("budget_tokens_per_day", 6_000.into());
    stage.drain(&turn("a", 1));
    assert_eq!((stage.model.messages().len(), stage.spend().len()), (1, 1));
    stage.set("budget_tokens_per_day", 1_000_000.into());
    stage.drain(&turn("a", 2));
    assert_eq!(stage.model.messages().len(), 2);
}

#[test]
fn later_answer_takes_the_place_of_an_earlier_observation() {
    let answer = |title: &str, replaces: &str| {
        ModelTurn::text(format!(
            "<observation><type>bugfix</type><title>{title}</title><replaces>{replaces}</replaces></observation>"
        ))
    };
    let script = ModelScript::new()
        .turn(answer("Prices are off by a cent", ""))
        .turn(answer("Taxes are rounded up", ""))
        .turn(answer("Floats made prices off by a cent", "prices are off by a cent."))
        .turn(answer("Taxes are rounded half to even", "Taxes are rounded up"));
    let stage = LlmFixture::plenty(script);
    stage.drain(&turn("a", 0));
    stage.drain(&turn("a", 1));
    let first = stage.observations();
    let (cent, taxes) = (first[1].id, first[0].id);
    stage.drain(&turn("a", 2));
    let by_hand = claude_mem_store::ObservationEdit {
        narrative: Some("As I know it".into()),
        ..claude_mem_store::ObservationEdit::default()
    };
    stage.store.with(|store| store.write(|tx| tx.edit_observation(taxes, &by_hand, Millis(1)))).unwrap();
    stage.drain(&turn("a", 3));
    let titles: Vec<String> = stage.observations().into_iter().map(|row| row.text.title).collect();
    // What a person edited stays beside the new one.
    assert_eq!(
        titles,
        ["Taxes are rounded half to even", "Floats made prices off by a cent", "Taxes are rounded up"]
    );
    let old = claude_mem_store::RowId::new(claude_mem_store::RowKind::Observation, cent.0);
    let now = stage.store.with(|store| store.read().resolve_row(old)).unwrap();
    let row = stage.observations()[1].id;
    let want = claude_mem_store::RowId::new(claude_mem_store::RowKind::Observation, row.0);
    assert_eq!(now, claude_mem_store::RowResolution::PartOf(want));
    assert!(stage.model.messages()[3].contains_text("- Floats made prices off by a cent"));
    assert!(!stage.model.messages()[3].contains_text("- Prices are off by a cent"));
}
