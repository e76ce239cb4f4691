use rig::model::{Script, ScriptedModel, Stop, Turn};

use super::*;
use crate::child::{Register, Spawner};
use crate::compress::model::{Launch, Network};
use crate::config;
use crate::hook::event::Event;
use crate::ids::ClientSessionId;
use crate::serve::drain::{Drain, Watcher};
use crate::serve::testing::{Scratch, accept, edit, event, prompt, scratch, stop};
use crate::store::{Filter, Observation, Page, SpendRow};

const ANSWER: &str = "<observation><type>decision</type><title>Prices are kept in cents</title>\
    <narrative>Floating point loses money.</narrative></observation>\
    <summary><request>Fix the prices</request><completed>They are integers now</completed></summary>";

#[derive(Debug)]
struct Quiet;
impl Watcher for Quiet {}

struct Stage {
    _scratch: Scratch,
    store: Arc<SharedStore>,
    model: ScriptedModel,
    modelled: Arc<Modelled>,
}

impl Stage {
    fn with(script: Script, limits: Limits) -> Self {
        let scratch = scratch();
        let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
        let model = ScriptedModel::start(script);
        let json = format!(
            r#"{{"provider": "openai", "base_url": "{}/v1", "model": "m-1"}}"#,
            model.url()
        );
        let settings = config::from_text(Some(&json), |_| None).settings;
        let plan = Plan {
            choice: Choice::of(&settings, false, &|_| None).unwrap(),
            vocabulary: Vocabulary::default(),
            language: String::new(),
            limits,
            call_max: Duration::from_mins(1),
        };
        let register = Register::open(&scratch.dir.root().join("children")).unwrap();
        let edge = Edge {
            network: Network::default(),
            spawner: Spawner::start("/proc/self/exe".into(), register).unwrap(),
            launch: Launch::none(),
        };
        let modelled = Arc::new(Modelled::new(
            Arc::clone(&store),
            plan,
            edge,
            None,
            crate::serve::testing::log(&scratch),
        ));
        Self {
            _scratch: scratch,
            store,
            model,
            modelled,
        }
    }

    fn plenty(script: Script) -> Self {
        Self::with(
            script,
            Limits {
                day_tokens: 10_000_000,
                session_tokens: 10_000_000,
            },
        )
    }

    /// Queues turns and works until the queue is empty.
    fn drain(&self, events: &[Event]) {
        self.store
            .with(|store| {
                accept(store, events);
                Ok(())
            })
            .unwrap();
        let compressor: Arc<dyn Compressor> = self.modelled.clone();
        let drain = Drain::start(Arc::clone(&self.store), compressor, Arc::new(Quiet), 3).unwrap();
        assert!(drain.flush(|| false).unwrap());
        drain.stop(Duration::from_mins(1));
        let queue = self
            .store
            .with(|store| store.read().counts())
            .unwrap()
            .queue;
        assert_eq!((queue.waiting, queue.leased, queue.dead), (0, 0, 0));
    }

    fn observations(&self) -> Vec<Observation> {
        let all = |store: &mut crate::store::Store| {
            store
                .read()
                .observations(&Filter::default(), Page::first(500))
        };
        self.store.with(all).unwrap().items
    }

    fn spend(&self) -> Vec<SpendRow> {
        self.store
            .with(|store| store.read().spend_rows(Page::first(500)))
            .unwrap()
            .items
    }
}

fn turn(session: &str, number: i64) -> [Event; 3] {
    let at = number * 10;
    [
        event(
            session,
            at,
            prompt(&format!("{session}: fix the prices, part {number}")),
        ),
        event(
            session,
            at + 1,
            edit("/src/shop/price.rs", &format!("{session}{number}")),
        ),
        event(
            session,
            at + 2,
            stop(&format!(
                "{session}: part {number} is done, prices are integers."
            )),
        ),
    ]
}

#[test]
fn a_model_makes_the_memories_and_the_books_say_what_they_cost() {
    let bill = rig::model::Usage {
        input: 1_500,
        output: 100,
        cache_read: 0,
        cache_write: 0,
    };
    let stage = Stage::plenty(Script::new().turn(Turn::text(ANSWER).usage(bill)));
    stage.drain(&turn("a", 0));
    let made = stage.observations().remove(0);
    assert_eq!(made.title, "Prices are kept in cents");
    assert_eq!(made.made_by, "m-1");
    assert_eq!(made.files_modified, ["price.rs"]);
    let spend = stage.spend().remove(0);
    assert_eq!(
        (spend.provider.as_str(), spend.model.as_str()),
        ("openai", "m-1")
    );
    assert_eq!(
        (spend.input_tokens, spend.output_tokens, spend.estimated),
        (1_500, 100, false)
    );
    assert_eq!(
        (spend.outcome.as_str(), spend.purpose.as_str()),
        ("answered", PURPOSE)
    );
    assert_eq!(stage.modelled.trouble(Millis(0)), None);
}

#[test]
fn the_next_question_says_what_was_kept_already() {
    let script = Script::new()
        .turn(Turn::text(ANSWER))
        .otherwise(Turn::text("<skip/>"));
    let stage = Stage::plenty(script);
    stage.drain(&turn("a", 0));
    stage.drain(&turn("a", 1));
    let asked = stage.model.messages();
    assert!(!asked[0].says("<so_far>"));
    assert!(
        asked[1]
            .says("completed: They are integers now\nalready kept:\n- Prices are kept in cents")
    );
}

#[test]
fn an_account_that_the_model_forgets_is_the_distillers() {
    let stage = Stage::plenty(Script::new().otherwise(Turn::text("<skip/>")));
    stage.drain(&turn("a", 0));
    let session = ClientSessionId("a".into());
    let summary = stage.store.with(|store| {
        let reads = store.read();
        let session = reads
            .session_of_client("claude-code", &session)?
            .unwrap()
            .id;
        reads.summaries(
            &Filter {
                session: Some(session),
                ..Filter::default()
            },
            Page::first(9),
        )
    });
    assert_eq!(summary.unwrap().items.len(), 1);
    assert!(stage.observations().is_empty(), "and nothing else");
}

#[test]
fn what_no_model_does_the_distiller_does() {
    for fault in [
        Turn::error(401),
        Turn::error(404),
        Turn::error(400),
        Turn::error(413),
        Turn::text("No.").stop(Stop::Refusal),
    ] {
        let stage = Stage::plenty(Script::new().otherwise(fault.clone()));
        let mut events = turn("a", 0).to_vec();
        events.insert(
            1,
            event(
                "a",
                0,
                prompt("Always keep prices in cents, because floats lose money."),
            ),
        );
        stage.drain(&events);
        let made = stage.observations();
        assert!(
            made.iter().all(|row| row.made_by == local::LOCAL),
            "{fault:?}"
        );
        assert!(stage.spend().iter().all(|row| row.outcome != "reserved"));
    }
}

#[test]
fn a_provider_that_does_not_let_us_in_is_asked_once_and_said_so() {
    let stage = Stage::plenty(Script::new().otherwise(Turn::error(401)));
    for number in 0..4 {
        stage.drain(&turn("a", number));
    }
    assert_eq!(stage.model.messages().len(), 1);
    let why = stage.modelled.trouble(stage.modelled.now()).unwrap();
    assert!(
        why.contains("credentials") && why.contains("asked again at"),
        "{why}"
    );
}

#[test]
fn ten_times_the_budget_of_work_costs_the_budget_and_at_most_one_call_more() {
    let bill = rig::model::Usage {
        input: 6_000,
        output: 100,
        cache_read: 0,
        cache_write: 0,
    };
    let answer = Turn::text("<skip/>").usage(bill);
    let limits = Limits {
        day_tokens: 30_000,
        session_tokens: 14_000,
    };
    let stage = Stage::with(Script::new().otherwise(answer), limits);
    let mut events = Vec::new();
    for number in 0..10 {
        for session in ["a", "b", "c", "d", "e"] {
            events.extend(turn(session, number));
        }
    }
    stage.drain(&events);
    let spend = stage.spend();
    let total: u64 = spend
        .iter()
        .map(|row| row.input_tokens + row.output_tokens)
        .sum();
    assert!(total <= limits.day_tokens + 6_100, "{total} tokens");
    assert!(
        spend.len() >= 4,
        "{} calls: the budget is used",
        spend.len()
    );
    for session in spend.iter().map(|row| row.session) {
        let of = spend.iter().filter(|row| row.session == session);
        let total: u64 = of.map(|row| row.input_tokens + row.output_tokens).sum();
        assert!(
            total <= limits.session_tokens + 6_100,
            "{total} tokens of one session"
        );
    }
}
