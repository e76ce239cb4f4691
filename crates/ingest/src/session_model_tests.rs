use rig::model::{BilledUsage, ModelScript, ModelTurn, ScriptedModel};

use super::*;
use crate::compressor_config::ProcessEnv;
use claude_mem_core::episode::{EpisodePrompt, FinalMessage};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::live_settings::LiveSettings;
use claude_mem_core::memory::Origin;
use claude_mem_models::model::ClaudeInstall;
use claude_mem_store::NewSession;
use claude_mem_store::testing::{WorkerScratch, scratch};

struct SessionModelFixture {
    _scratch: WorkerScratch,
    script: ScriptedModel,
    model: SessionModel,
    session: SessionId,
}

impl SessionModelFixture {
    fn new(script: ModelScript, limits: BudgetLimits) -> Self {
        let scratch = scratch();
        let script = ScriptedModel::start(script);
        let json = serde_json::json!({
            "provider": "local", "base_url": format!("{}/v1", script.url()), "model": "m-1", "model_seconds": 60,
            "budget_tokens_per_day": limits.day_tokens, "budget_tokens_per_session": limits.session_tokens,
        });
        std::fs::write(scratch.dir.settings(), json.to_string()).unwrap();
        let process = ProcessEnv {
            env: Vec::new(),
            executable: "/proc/self/exe".into(),
            claude: |_| ClaudeInstall::default(),
        };
        let live = Arc::new(LiveSettings::new(scratch.dir.root().to_owned(), |_| None));
        let choice = ProviderChoice { provider: Provider::OpenAi, model: Some("m-2".into()) };
        let source = ConfigSource::new(scratch.dir.clone(), live, process).with_provider(choice);
        let log = claude_mem_store::testing::log(&scratch);
        let mut store = Store::open(&scratch.dir.db()).unwrap();
        let session = store.write(|tx| {
            tx.ensure_session(&NewSession {
                client: "claude-code",
                client_session: &ClientSessionId("s".into()),
                project: None,
                branch: None,
                transcript_path: None,
                origin: Origin::Agent,
                import_run: None,
                at: Millis(1),
            })
        });
        let model = SessionModel::open(store, source, log).unwrap();
        Self { _scratch: scratch, script, model, session: session.unwrap() }
    }

    fn plenty(script: ModelScript) -> Self {
        Self::new(script, BudgetLimits { day_tokens: 10_000_000, session_tokens: 10_000_000 })
    }

    fn write(&self, count: i64) -> Result<WrittenSession, CallTrouble> {
        self.model.write_session(self.session, (0..count).map(recorded).collect())
    }
}

fn recorded(number: i64) -> RecordedEpisode {
    let at = Millis(number * 1_000 + 1);
    let prompt = EpisodePrompt { text: format!("Part {number} of it"), at, ..EpisodePrompt::default() };
    let episode = Episode {
        prompt: Some(prompt),
        final_message: Some(FinalMessage { text: "Done.".into(), at }),
        finished: true,
        ..Episode::default()
    };
    RecordedEpisode { episode: Some(episode), claims: EpisodeClaims::default() }
}

fn answer(title: &str, replaces: &str) -> ModelTurn {
    ModelTurn::text(format!(
        "<observation><type>bugfix</type><title>{title}</title><replaces>{replaces}</replaces></observation>\
         <summary><request>r</request><completed>{title}</completed></summary>"
    ))
    .usage(BilledUsage { input: 1_000, output: 50, cache_read: 0, cache_write: 0 })
}

fn by_model(written: &WrittenSession) -> Vec<bool> {
    written.episodes.iter().map(|episode| episode.by_model).collect()
}

#[test]
fn later_answer_takes_earlier_observations_in() {
    let script = ModelScript::new()
        .turn(answer("The cart is empty after login", ""))
        .turn(answer("The menu is slow", "No such title"))
        .turn(answer("Login cleared the cart by its cookie", "the cart is empty after login."));
    let stage = SessionModelFixture::plenty(script);
    let written = stage.write(3).unwrap();
    let made: Vec<_> = written
        .observations
        .iter()
        .map(|made| (made.observation.text.title.as_str(), made.claims.len()))
        .collect();
    assert_eq!(made, [("The menu is slow", 1), ("Login cleared the cart by its cookie", 2)]);
    assert_eq!((by_model(&written), written.summaries.len()), (vec![true; 3], 3));
    let asked = stage.script.messages();
    assert!(asked[2].contains_text("already kept:\n- The cart is empty after login\n- The menu is slow"));
    assert_eq!(asked[0].model(), "m-2");
}

#[test]
fn unusable_answer_leaves_its_episode_local() {
    let script = ModelScript::new()
        .turns((0..3).map(|_| ModelTurn::text("I cannot help with that.")))
        .fallback(answer("T", ""));
    let stage = SessionModelFixture::plenty(script);
    let written = stage.write(1).unwrap();
    assert_eq!((by_model(&written), written.observations.len()), (vec![false], 0));
}

#[test]
fn rejected_key_returns_nothing() {
    let script = ModelScript::new().turn(answer("T", "")).fallback(ModelTurn::error(401));
    let stage = SessionModelFixture::plenty(script);
    assert_eq!(stage.write(2).unwrap_err().kind, TroubleKind::Credentials);
}

#[test]
fn budget_ends_the_calls_of_a_session() {
    let limits = BudgetLimits { day_tokens: 10_000_000, session_tokens: 8_000 };
    let stage = SessionModelFixture::new(ModelScript::new().fallback(answer("T", "")), limits);
    let written = stage.write(6).unwrap();
    let asked = stage.script.messages().len();
    assert!((1..6).contains(&asked), "{asked}");
    let want: Vec<bool> = (0..6).map(|number| number < asked).collect();
    assert_eq!(by_model(&written), want);
    assert_eq!(stage.model.session_tokens_left(stage.session).unwrap(), 8_000 - 1_050 * asked as u64);
    // Nothing was written of the next one, so it is left as it is.
    assert_eq!(stage.write(1).unwrap_err().kind, TroubleKind::SessionBudget);
}
