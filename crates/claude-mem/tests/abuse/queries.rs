//! Whatever is typed into search is an answer: never an error, never a foreign project's row,
//! never more work than a short query makes.

use std::collections::HashSet;

use claude_mem::clock::Millis;
use claude_mem::hook::event::ProjectHint;
use claude_mem::ids::{ClientSessionId, ProjectId};
use claude_mem::limits::{
    QUERY_CHARS_MAX, QUERY_DEMANDING_WORDS_MAX, QUERY_FILTERS_MAX, QUERY_WORDS_MAX,
};
use claude_mem::memory::{NewObservation, NewSummary, ObservationType, Origin};
use claude_mem::search::index::catch_up;
use claude_mem::search::query::FilterWord;
use claude_mem::search::{Ask, Encoder, Engine, Found, Query, Whose};
use claude_mem::store::{
    Expr, NewFinalMessage, NewPrompt, NewSession, Store, StoreError, Stored, VectorStore, Writes,
};

use crate::hostile::{self, Rng};

const OURS: &str = "shop";
const THEIRS: &str = "vault";
const NOW: Millis = Millis(2_000_000_000_000);

/// Every letter counts for a number: near enough to a meaning for these tests.
struct Letters;

impl Encoder for Letters {
    fn id(&self) -> &'static str {
        "letters"
    }

    fn width(&self) -> usize {
        64
    }

    fn query(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.01_f32; 64];
        for byte in text.bytes() {
            vector[usize::from(byte & 63)] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }

    fn texts(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        texts.iter().map(|text| self.query(text)).collect()
    }
}

/// Two projects that speak of the same things, and one row that speaks our index's own language.
struct Home {
    _dir: tempfile::TempDir,
    engine: Engine,
    ours: ProjectId,
}

impl Home {
    fn new(with_vectors: bool) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (db, vectors_db) = (dir.path().join("m.db"), dir.path().join("v.db"));
        let mut store = Store::open(&db).expect("a store");
        let ours = store
            .write(|tx| {
                let ours = furnish(tx, OURS)?;
                furnish(tx, THEIRS)?;
                Ok(ours)
            })
            .expect("rows");
        let engine = if with_vectors {
            let mut vectors = VectorStore::open(&vectors_db, Letters.id()).expect("vectors");
            catch_up(&mut store, &mut vectors, &Letters, |_| false).expect("embedded");
            Engine::open(store, &vectors_db, &Letters).staying()
        } else {
            Engine::of_words(store, &Letters)
        };
        Self {
            _dir: dir,
            engine,
            ours,
        }
    }

    /// Asks for our project alone and checks what comes: what fits, or else what is recent.
    fn survives(&mut self, typed: &str, or_recent: bool) {
        let shown: String = typed.chars().take(200).collect();
        is_bounded(&Query::parse(typed), &shown);
        let mut ask = Ask::new(typed, NOW).of(Whose::ProjectOnly(self.ours));
        ask.fall_back = or_recent;
        let found = self
            .engine
            .search(&ask)
            .unwrap_or_else(|e| panic!("{e} for {shown:?}"));
        assert!(found.without_vectors.is_none(), "{shown:?}");
        let whose = whose(&Query::parse(typed));
        is_of(&found, whose, &shown);
    }
}

/// The project that may answer: another than ours only where the filter names it, by its name or
/// its number.
fn whose(query: &Query) -> &'static str {
    let named = query.filters.iter().rev().find_map(|filter| match filter {
        FilterWord::Project(name) => match name.to_lowercase().as_str() {
            THEIRS => Some(THEIRS),
            OURS => Some(OURS),
            number => match number.parse() {
                Ok(1) => Some(OURS),
                Ok(2) => Some(THEIRS),
                _ => None,
            },
        },
        _ => None,
    });
    named.unwrap_or(OURS)
}

fn is_of(found: &Found, project: &str, typed: &str) {
    for item in &found.results {
        assert_eq!(item.project.as_deref(), Some(project), "{typed:?}");
    }
    assert_eq!(found.scope.project.as_deref(), Some(project), "{typed:?}");
}

/// Work is counted, not timed: all that a query makes the store and the encoder do follows from
/// these.
fn is_bounded(query: &Query, typed: &str) {
    assert!(query.words.len() <= QUERY_WORDS_MAX, "{typed:?}");
    assert!(query.filters.len() <= QUERY_FILTERS_MAX, "{typed:?}");
    assert!(
        query.plain.chars().count() <= QUERY_CHARS_MAX + 1,
        "{typed:?}"
    );
    let demanded = query.demand.as_ref().map_or(0, terms);
    assert!(demanded <= QUERY_DEMANDING_WORDS_MAX, "{typed:?}");
}

fn terms(expr: &Expr) -> usize {
    match expr {
        Expr::Term(_) | Expr::Prefix(..) => 1,
        Expr::Column(_, inner) => terms(inner),
        Expr::And(all) | Expr::Or(all) => all.iter().map(terms).sum(),
        Expr::Not(keep, drop) => terms(keep) + terms(drop),
    }
}

fn furnish(tx: &Writes<'_>, name: &str) -> Result<ProjectId, StoreError> {
    let hint = ProjectHint {
        name: name.into(),
        keys: vec![format!("path:/src/{name}")],
        root: format!("/src/{name}"),
        branch: None,
    };
    let project = tx.ensure_project(&hint, Millis(1))?;
    let session = tx.ensure_session(&NewSession {
        client: "claude-code",
        client_session: &ClientSessionId(format!("{name}-1")),
        project: Some(project),
        branch: None,
        transcript_path: None,
        origin: Origin::Agent,
        import_run: None,
        at: Millis(1),
    })?;
    let place = Stored {
        project: Some(project),
        session: Some(session),
        made_by: "test",
        ..Stored::default()
    };
    for (at, title, narrative) in [
        (
            1,
            "Login loops after the cookie expired",
            "getUserById saw a stale row in src/auth/session.rs.",
        ),
        (
            2,
            "A row that speaks the index's language",
            "xproj1x xproj2x xuserx scope : xkindobservationx",
        ),
    ] {
        let new = NewObservation {
            kind: ObservationType::BUGFIX,
            title: title.into(),
            subtitle: String::new(),
            narrative: format!("{narrative} Only in {name}."),
            facts: vec!["NEAR misses are words, AND so are OR and NOT".into()],
            concepts: vec!["gotcha".into()],
            files_read: Vec::new(),
            files_modified: vec!["src/auth/session.rs".into()],
            origin: Origin::Agent,
            created_at: Millis(at),
            discovery_tokens: 0,
        };
        tx.create_observation(&new, &place)?;
    }
    let summary = NewSummary {
        request: "Fix the login loop".into(),
        learned: "Cookies outlive sessions".into(),
        created_at: Millis(3),
        ..NewSummary::default()
    };
    tx.create_summary(&summary, session, &place)?;
    tx.create_prompt(&NewPrompt {
        session,
        project: Some(project),
        prompt_id: None,
        text: "why does select * from users loop?",
        private: false,
        origin: Origin::User,
        import_run: None,
        at: Millis(4),
    })?;
    tx.create_final_message(&NewFinalMessage {
        session,
        project: Some(project),
        prompt_number: 1,
        text: "The cookie is cleared where the session is looked up.",
        agent_id: None,
        agent_type: None,
        origin: Origin::Agent,
        import_run: None,
        at: Millis(5),
    })?;
    Ok(project)
}

#[test]
fn hostile_strings_are_words_like_any_other() {
    let strings = hostile::strings();
    let distinct: HashSet<&String> = strings.iter().collect();
    assert!(distinct.len() >= 400, "only {}", distinct.len());
    for with_vectors in [false, true] {
        let mut home = Home::new(with_vectors);
        for typed in &strings {
            home.survives(typed, true);
        }
    }
}

#[test]
fn what_is_stored_is_still_there_afterwards() {
    let mut home = Home::new(false);
    for typed in hostile::strings() {
        home.survives(&typed, true);
    }
    for (typed, rows) in [("cookie login", 3), ("", 5)] {
        let ask = Ask::new(typed, NOW).of(Whose::ProjectOnly(home.ours));
        let found = home.engine.search(&ask).expect("an answer");
        assert_eq!(found.results.len(), rows, "typed {typed:?}");
    }
}

/// A hundred thousand in all, from fixed seeds, in parts that run side by side.
fn random_strings_from(seed: u64) {
    let mut home = Home::new(seed == 4);
    let mut rng = Rng::new(seed);
    for number in 0..25_000 {
        let typed = hostile::random(&mut rng);
        home.survives(&typed, number % 16 == 0);
    }
}

#[test]
fn random_strings_are_answers_1() {
    random_strings_from(1);
}

#[test]
fn random_strings_are_answers_2() {
    random_strings_from(2);
}

#[test]
fn random_strings_are_answers_3() {
    random_strings_from(3);
}

#[test]
fn random_strings_are_answers_4() {
    random_strings_from(4);
}
