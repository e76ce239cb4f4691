//! Any input to search returns an answer: never an error, never a row of another project, never
//! more work than the documented bounds.

use std::collections::HashSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ClientSessionId, ProjectId};
use claude_mem_core::limits::{
    QUERY_CHARS_MAX, QUERY_DEMANDING_WORDS_MAX, QUERY_FILTERS_MAX, QUERY_WORDS_MAX,
};
use claude_mem_core::memory::{
    NewObservation, NewSummary, ObservationText, ObservationType, Origin, SummaryText,
};
use claude_mem_search::index::catch_up;
use claude_mem_search::query::QueryFilter;
use claude_mem_search::{
    ProjectScope, SearchEngine, SearchQuery, SearchRequest, SearchResponse, TextEncoder,
};
use claude_mem_store::{
    FtsQuery, NewFinalMessage, NewPrompt, NewRowContext, NewSession, Store, StoreError, StoreWriter,
    VectorStore,
};

use crate::hostile::{self, XorShift64};

const OURS: &str = "shop";
const THEIRS: &str = "vault";
const NOW: Millis = Millis(2_000_000_000_000);

/// An encoder that counts letters; good enough as a similarity for these tests.
struct LetterEncoder;

impl TextEncoder for LetterEncoder {
    fn id(&self) -> &'static str {
        "letters"
    }

    fn width(&self) -> usize {
        64
    }

    fn embed_query(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.01_f32; 64];
        for byte in text.bytes() {
            vector[usize::from(byte & 63)] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }

    fn embed_documents(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

/// Two projects with similar content, including one row that contains FTS5 syntax.
struct HostileFixture {
    _dir: tempfile::TempDir,
    engine: SearchEngine,
    ours: ProjectId,
}

impl HostileFixture {
    fn new(with_vectors: bool) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (db, vectors_db) = (dir.path().join("m.db"), dir.path().join("v.db"));
        let mut store = Store::open(&db).expect("a store");
        let ours = store
            .write(|tx| {
                let ours = insert_project(tx, OURS)?;
                insert_project(tx, THEIRS)?;
                Ok(ours)
            })
            .expect("rows");
        let engine = if with_vectors {
            let mut vectors = VectorStore::open(&vectors_db, LetterEncoder.id()).expect("vectors");
            catch_up(&mut store, &mut vectors, &LetterEncoder, |_| false).expect("embedded");
            SearchEngine::open(store, &vectors_db, &LetterEncoder).with_signature_cache()
        } else {
            SearchEngine::lexical_only(store, &LetterEncoder)
        };
        Self { _dir: dir, engine, ours }
    }

    /// Searches our project only and checks that no row of another project is returned.
    fn assert_answers(&mut self, typed: &str) {
        let shown: String = typed.chars().take(200).collect();
        assert_bounded(&SearchQuery::parse(typed), &shown);
        let ask = SearchRequest::new(typed, NOW).in_scope(ProjectScope::ProjectOnly(self.ours));
        let found = self.engine.search(&ask).unwrap_or_else(|e| panic!("{e} for {shown:?}"));
        assert!(found.vectors_unavailable.is_none(), "{shown:?}");
        let whose = queried_project(&SearchQuery::parse(typed));
        assert_only_project(&found, whose, &shown);
    }
}

/// The project whose rows may be returned: ours, unless a filter names another one by name or id.
fn queried_project(query: &SearchQuery) -> &'static str {
    let named = query.filters.iter().rev().find_map(|filter| match filter {
        QueryFilter::Project(name) => match name.to_lowercase().as_str() {
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

fn assert_only_project(found: &SearchResponse, project: &str, typed: &str) {
    for item in &found.results {
        assert_eq!(item.project.as_deref(), Some(project), "{typed:?}");
    }
    assert_eq!(found.scope.project.as_deref(), Some(project), "{typed:?}");
}

/// Checks bounds instead of time: these numbers determine the work of the store and the encoder.
fn assert_bounded(query: &SearchQuery, typed: &str) {
    assert!(query.words.len() <= QUERY_WORDS_MAX, "{typed:?}");
    assert!(query.filters.len() <= QUERY_FILTERS_MAX, "{typed:?}");
    assert!(query.semantic_text.chars().count() <= QUERY_CHARS_MAX + 1, "{typed:?}");
    let demanded = query.must.as_ref().map_or(0, terms);
    assert!(demanded <= QUERY_DEMANDING_WORDS_MAX, "{typed:?}");
}

fn terms(expr: &FtsQuery) -> usize {
    match expr {
        FtsQuery::Term(_) | FtsQuery::Prefix(..) => 1,
        FtsQuery::Column(_, inner) => terms(inner),
        FtsQuery::And(all) | FtsQuery::Or(all) => all.iter().map(terms).sum(),
        FtsQuery::Not(keep, drop) => terms(keep) + terms(drop),
    }
}

fn insert_project(tx: &StoreWriter<'_>, name: &str) -> Result<ProjectId, StoreError> {
    let hint = ProjectHint {
        name: name.into(),
        keys: vec![format!("path:/src/{name}")],
        root: format!("/src/{name}"),
        branch: None,
    };
    let project = tx.ensure_project(&hint, Millis(1))?;
    let session = tx.ensure_session(&NewSession {
        project: Some(project),
        ..NewSession::new("claude-code", &ClientSessionId(format!("{name}-1")), Millis(1))
    })?;
    let place = NewRowContext {
        project: Some(project),
        session: Some(session),
        made_by: "test",
        ..NewRowContext::default()
    };
    for (at, title, narrative) in [
        (1, "Login loops after the cookie expired", "getUserById saw a stale row in src/auth/session.rs."),
        (2, "A row that speaks the index's language", "xproj1x xproj2x xuserx scope : xkindobservationx"),
    ] {
        let new = NewObservation::from_text(
            ObservationText {
                narrative: format!("{narrative} Only in {name}."),
                facts: vec!["NEAR misses are words, AND so are OR and NOT".into()],
                concepts: vec!["gotcha".into()],
                files_modified: vec!["src/auth/session.rs".into()],
                ..ObservationText::new(ObservationType::BUGFIX, title)
            },
            Origin::Agent,
            Millis(at),
        );
        tx.create_observation(&new, &place)?;
    }
    let summary = NewSummary {
        text: SummaryText {
            request: "Fix the login loop".into(),
            learned: "Cookies outlive sessions".into(),
            ..SummaryText::default()
        },
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
fn hostile_strings_are_searched_as_words() {
    let strings = hostile::strings();
    let distinct: HashSet<&String> = strings.iter().collect();
    assert!(distinct.len() >= 400, "only {}", distinct.len());
    for with_vectors in [false, true] {
        let mut home = HostileFixture::new(with_vectors);
        for typed in &strings {
            home.assert_answers(typed);
        }
    }
}

#[test]
fn hostile_queries_change_no_data() {
    let mut home = HostileFixture::new(false);
    for typed in hostile::strings() {
        home.assert_answers(&typed);
    }
    for (typed, rows) in [("cookie login", 3), ("", 5)] {
        let ask = SearchRequest::new(typed, NOW).in_scope(ProjectScope::ProjectOnly(home.ours));
        let found = home.engine.search(&ask).expect("an answer");
        assert_eq!(found.results.len(), rows, "typed {typed:?}");
    }
}

/// A hundred thousand random strings in total, from fixed seeds, split into parallel tests.
fn random_strings_from(seed: u64) {
    let mut home = HostileFixture::new(seed == 4);
    let mut rng = XorShift64::new(seed);
    for _ in 0..25_000 {
        let typed = hostile::random(&mut rng);
        home.assert_answers(&typed);
    }
}

#[test]
fn random_strings_return_answers_1() {
    random_strings_from(1);
}

#[test]
fn random_strings_return_answers_2() {
    random_strings_from(2);
}

#[test]
fn random_strings_return_answers_3() {
    random_strings_from(3);
}

#[test]
fn random_strings_return_answers_4() {
    random_strings_from(4);
}
