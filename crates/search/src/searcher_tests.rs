use std::sync::RwLock;

use super::*;
use crate::index::catch_up;
use crate::testing::{BagOfWordsEncoder, observation, project, session};
use crate::{SignatureCache, TextEncoder as _};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::{
    NewPrompt, NewRowContext, ObservationEdit, RowFilter, Store, StoreWriter, VectorStore,
};

/// Two projects: a shop with observations about a login, and a bakery.
struct SearcherFixture {
    _dir: tempfile::TempDir,
    store: Store,
    vectors: VectorStore,
    shop: ProjectId,
    bakery: ProjectId,
}

fn town() -> SearcherFixture {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
    let mut vectors = VectorStore::open(&dir.path().join("vectors.db"), BagOfWordsEncoder.id()).unwrap();
    let (shop, bakery) = store
        .write(|tx| {
            let (shop, bakery) = (project(tx, "shop")?, project(tx, "bakery")?);
            let story = session(tx, shop, "story")?;
            let stored = |project| NewRowContext {
                project: Some(project),
                made_by: "test",
                ..NewRowContext::default()
            };
            let login = {
                let base =
                    observation("Login loops on an expired cookie", "The session was never renewed.", 1_000);
                NewObservation {
                    text: ObservationText {
                        files_modified: vec!["src/auth/session.rs".into()],
                        concepts: vec!["gotcha".into()],
                        ..base.text
                    },
                    ..base
                }
            };
            let place = NewRowContext { session: Some(story), ..stored(shop) };
            tx.create_observation(&login, &place)?;
            let chosen = {
                let base = observation("Sessions live in Redis", "Postgres was too slow for this.", 2_000);
                NewObservation {
                    text: ObservationText { kind: ObservationType::DECISION, ..base.text },
                    ..base
                }
            };
            tx.create_observation(&chosen, &place)?;
            tx.create_observation(&observation("Cart shows old prices", "", 3_000), &stored(shop))?;
            tx.create_observation(&observation("Oven burns bread", "Too hot.", 4_000), &stored(bakery))?;
            Ok((shop, bakery))
        })
        .unwrap();
    catch_up(&mut store, &mut vectors, &BagOfWordsEncoder, |_| false).unwrap();
    SearcherFixture { _dir: dir, store, vectors, shop, bakery }
}

impl SearcherFixture {
    fn search(&mut self, ask: &SearchRequest) -> SearchResponse {
        let retriever = VectorRetriever::uncached(&mut self.vectors, &BagOfWordsEncoder);
        Searcher::new(self.store.read(), Some(retriever)).search(ask).unwrap()
    }

    fn titles(&mut self, ask: &SearchRequest) -> Vec<String> {
        let found = self.search(ask);
        found.results.into_iter().map(|item| item.title).collect()
    }

    fn ask(&self, text: &str) -> SearchRequest {
        SearchRequest::new(text, Millis(10_000)).in_scope(ProjectScope::ProjectFirst(self.shop))
    }
}

#[test]
fn best_match_is_first_and_explained() {
    let mut town = town();
    let ask = town.ask("expired cookies");
    let found = town.search(&ask);
    assert_eq!(found.scope.from, AnswerScope::Project);
    assert_eq!(found.scope.quality, MatchQuality::Full);
    assert!(found.scope.vectors);
    let best = &found.results[0];
    assert_eq!(best.title, "Login loops on an expired cookie");
    assert_eq!(best.why.matched, ["expired", "cookie"]);
    assert_eq!(best.session.as_ref().unwrap().0, "story");
    assert_eq!(best.files, ["src/auth/session.rs"]);
    assert!(best.why.words > 0.0 && best.why.cosine.is_some());
}

#[test]
fn query_without_accents_finds_and_ranks_accented_words() {
    let mut town = town();
    told(&mut town, "czech", &["První příklad použití", "Něco docela jiného"]);
    for (typed, matched) in
        [("priklad", "příklad"), ("PŘÍKLAD", "příklad"), ("pri\u{301}klad pouziti", "příklad")]
    {
        let ask = town.ask(typed);
        let found = Searcher::new(town.store.read(), None).search(&ask).unwrap();
        let best = &found.results[0];
        assert_eq!(best.title, "První příklad použití", "typed {typed:?}");
        assert_eq!(best.why.matched[0], matched, "typed {typed:?}");
        assert!(best.why.words > 0.0 && best.why.coverage > 0.0, "typed {typed:?}");
        assert_eq!(found.results.len(), 1, "typed {typed:?}");
    }
}

/// Rows of one session, a minute apart.
fn told(town: &mut SearcherFixture, name: &str, titles: &[&str]) -> Vec<ObservationId> {
    let shop = town.shop;
    let ids = town.store.write(|tx| {
        let place = NewRowContext {
            project: Some(shop),
            session: Some(session(tx, shop, name)?),
            made_by: "test",
            ..NewRowContext::default()
        };
        let new = (1_i64..).zip(titles);
        let ids = new.map(|(at, title)| tx.create_observation(&observation(title, "", 60_000 * at), &place));
        ids.collect::<Result<Vec<_>, _>>()
    });
    catch_up(&mut town.store, &mut town.vectors, &BagOfWordsEncoder, |_| false).unwrap();
    ids.unwrap()
}

#[test]
fn nearest_in_meaning_is_first_without_shared_words() {
    let mut town = town();
    told(&mut town, "busy", &["One thing", "Another thing", "A third"]);
    // The encoder sees the stop words that lexical ranking drops.
    let near = told(&mut town, "quiet", &["Why so"]);
    let found = town.search(&town.ask("why so zebra"));
    assert_eq!(found.scope.quality, MatchQuality::Full);
    assert_eq!(found.results[0].id.row_id, near[0].0);
    for item in &found.results {
        assert!(item.why.matched.is_empty() && item.why.words.abs() < 1e-9);
    }
}

#[test]
fn context_alone_is_not_evidence() {
    let mut town = town();
    let ids = told(
        &mut town,
        "hooks",
        &[
            "Webhook signature validation in production",
            "Bumped eslint to nine",
            "Signature checks of webhooks",
        ],
    );
    let found = town.search(&town.ask("webhook signature validation production"));
    let rows: Vec<i64> = found.results.iter().map(|item| item.id.row_id).collect();
    assert_eq!(rows[..2], [ids[0].0, ids[2].0]);
    assert!(!rows.contains(&ids[1].0), "it shares nothing with the query");
}

#[test]
fn named_period_ranks_first_but_does_not_filter() {
    let mut town = town();
    let day = 86_400_000;
    let place = NewRowContext { project: Some(town.shop), made_by: "test", ..NewRowContext::default() };
    // 2026-03-10 and 2026-06-10, 2026-11-16.
    let (march, june, now) = (20_522 * day, 20_614 * day, Millis(1_794_830_400_000));
    let made = |at, text: &str| observation("Quotas were raised", text, at);
    let (old, new) = town
        .store
        .write(|tx| {
            let old = tx.create_observation(&made(march, "by one"), &place)?;
            let new = tx.create_observation(&made(june, "by two"), &place)?;
            Ok((old.0, new.0))
        })
        .unwrap();
    for (typed, first) in
        [("quotas raised in march", old), ("quotas raised in june", new), ("quotas raised", new)]
    {
        let ask = SearchRequest::new(typed, now).in_scope(ProjectScope::ProjectOnly(town.shop));
        let found = town.search(&ask).results;
        assert_eq!(found[0].id.row_id, first, "typed {typed:?}");
        assert!([old, new].iter().all(|id| found.iter().any(|item| item.id.row_id == *id)));
    }
}

#[test]
fn other_projects_answer_only_as_a_fallback() {
    let mut town = town();
    let ask = town.ask("burns bread");
    let found = town.search(&ask);
    assert_eq!(found.scope.from, AnswerScope::OtherProjects);
    assert_eq!(found.results[0].title, "Oven burns bread");
    let only = ProjectScope::ProjectOnly(town.shop);
    let found = town.search(&town.ask("bread").in_scope(only));
    assert!(found.results.iter().all(|item| item.project.as_deref() == Some("shop")));
    let nobody = town.ask("login").in_scope(ProjectScope::UnknownProject);
    assert_eq!(town.search(&nobody).scope.from, AnswerScope::OtherProjects);
}

#[test]
fn unmet_clause_is_broadened_and_reported() {
    let mut town = town();
    let ask = town.ask("\"cookie expired twice\"");
    let found = town.search(&ask);
    assert_eq!(found.scope.quality, MatchQuality::Broader);
    assert_eq!(found.results[0].title, "Login loops on an expired cookie");
    let ask = town.ask("cookie NOT login");
    assert!(
        !town.titles(&ask).contains(&"Login loops on an expired cookie".to_owned())
            || town.search(&ask).scope.quality != MatchQuality::Full
    );
}

#[test]
fn no_match_is_reported_without_rows() {
    let mut town = town();
    let found = town.search(&town.ask("zzzzqqq"));
    assert_eq!(found.scope.quality, MatchQuality::Nothing);
    assert!(found.results.is_empty());
}

#[test]
fn exact_match_of_another_project_is_named_beside_partial_ones() {
    let mut town = town();
    filled(&mut town, &[("Bread is sold in the cart", "")]);
    let found = town.search(&town.ask("oven bread"));
    assert_eq!(found.scope.from, AnswerScope::Project);
    assert_eq!(found.results[0].title, "Bread is sold in the cart");
    assert_eq!(found.scope.notes, ["exact match in bakery: #4 Oven burns bread"]);
    // The project itself has the whole query: nothing is added.
    assert!(town.search(&town.ask("bread")).scope.notes.is_empty());
}

#[test]
fn memory_goes_before_the_prompt_that_says_the_same() {
    let mut town = town();
    let prompt = |tx: &StoreWriter<'_>| {
        let talk = session(tx, town.shop, "earlier talk")?;
        tx.create_prompt(&NewPrompt {
            session: talk,
            project: Some(town.shop),
            prompt_id: None,
            text: "Coupons of one order are not stackable",
            private: false,
            origin: Origin::User,
            import_run: None,
            at: Millis(5_000),
        })
    };
    town.store.write(prompt).unwrap();
    filled(&mut town, &[("Coupons of one order are not stackable", "")]);
    let found = town.search(&town.ask("coupons stackable")).results;
    let kinds: Vec<RowKind> = found.iter().map(|item| item.kind).collect();
    assert_eq!(kinds, [RowKind::Observation, RowKind::Prompt], "{found:?}");
}

#[test]
fn subtitle_that_is_the_prompt_of_the_session_is_not_searched() {
    let mut town = town();
    let said = "Please tidy up the coupon page";
    let write = |tx: &StoreWriter<'_>| {
        let talk = session(tx, town.shop, "earlier talk")?;
        tx.create_prompt(&NewPrompt {
            session: talk,
            project: Some(town.shop),
            prompt_id: None,
            text: said,
            private: false,
            origin: Origin::User,
            import_run: None,
            at: Millis(5_000),
        })?;
        let place = NewRowContext {
            project: Some(town.shop),
            session: Some(talk),
            made_by: "test",
            ..NewRowContext::default()
        };
        for (title, subtitle) in
            [("Prices are rounded", said), ("Taxes are rounded", "Seen on the coupon page")]
        {
            let mut new = observation(title, "", 6_000);
            new.text.subtitle = subtitle.into();
            tx.create_observation(&new, &place)?;
        }
        Ok(())
    };
    town.store.write(write).unwrap();
    let found = town.search(&town.ask("coupon page")).results;
    let titles: Vec<&str> = found.iter().map(|item| item.title.as_str()).collect();
    assert!(titles.contains(&"Taxes are rounded"), "{titles:?}");
    assert!(!titles.contains(&"Prices are rounded"), "{titles:?}");
}

#[test]
fn filters_restrict_ranked_results() {
    let mut town = town();
    for (typed, want) in [
        ("type:decision", vec!["Sessions live in Redis"]),
        ("session type:decision", vec!["Sessions live in Redis"]),
        ("concept:gotcha", vec!["Login loops on an expired cookie"]),
        ("file:session.rs", vec!["Login loops on an expired cookie"]),
        ("cookie file:src/auth/", vec!["Login loops on an expired cookie"]),
        ("project:bakery", vec!["Oven burns bread"]),
        ("after:1970-01-01T00:00:03Z", vec!["Cart shows old prices"]),
        ("session before:1970-01-01T00:00:02Z", vec!["Login loops on an expired cookie"]),
    ] {
        let ask = town.ask(typed);
        assert_eq!(town.titles(&ask), want, "typed {typed}");
    }
    let ask = town.ask("login before:soon");
    let found = town.search(&ask);
    assert_eq!(found.scope.notes, ["before:soon is not a date"]);
    assert_eq!(found.results[0].title, "Login loops on an expired cookie");
}

/// Adds observations with these titles and texts to the shop.
fn filled(town: &mut SearcherFixture, rows: &[(&str, &str)]) -> Vec<ObservationId> {
    let shop = town.shop;
    let place = NewRowContext { project: Some(shop), made_by: "test", ..NewRowContext::default() };
    let ids = town.store.write(|tx| {
        let new = (1_i64..).zip(rows);
        let ids = new
            .map(|(at, (title, text))| tx.create_observation(&observation(title, text, 60_000 * at), &place));
        ids.collect::<Result<Vec<_>, _>>()
    });
    catch_up(&mut town.store, &mut town.vectors, &BagOfWordsEncoder, |_| false).unwrap();
    ids.unwrap()
}

#[test]
fn a_pasted_error_finds_the_row_that_has_it() {
    let mut town = town();
    filled(
        &mut town,
        &[
            ("Unique error", "UNIQUE constraint failed: users.name"),
            ("Insert", "NOT NULL constraint failed: users.email"),
            ("Network", "the client could NOT connect to the pool"),
            ("Query", "SELECT a FROM b WHERE x IS NOT NULL was slow"),
            (
                "Module",
                "TypeError: Cannot read properties of undefined (reading 'map') at \
                 file:///home/me/app/server.mjs:10:5",
            ),
            ("Package", "npm ERR! file:/app/package.json"),
            ("Bundle", "type:error in module"),
            ("Gradle", "project:app:compileJava FAILED"),
        ],
    );
    for (typed, first) in [
        ("NOT NULL constraint failed: users.email", "Insert"),
        ("could NOT connect", "Network"),
        ("SELECT a FROM b WHERE x IS NOT NULL", "Query"),
        (
            "TypeError: Cannot read properties of undefined (reading 'map') at \
             file:///home/me/app/server.mjs:10:5",
            "Module",
        ),
        ("npm ERR! file:/app/package.json", "Package"),
        ("type:error in module", "Bundle"),
        ("project:app:compileJava FAILED", "Gradle"),
    ] {
        let found = town.search(&town.ask(typed));
        assert_eq!(found.results[0].title, first, "typed {typed:?}");
        assert_eq!(found.scope.quality, MatchQuality::Full, "typed {typed:?}");
    }
}

#[test]
fn excluded_terms_stay_excluded_when_broadened() {
    let mut town = town();
    let long = format!("fast {} zebra", "lorem ipsum dolor. ".repeat(100));
    filled(&mut town, &[("Long", &long), ("Short", "fast"), ("Loop", "login cookie")]);
    assert_eq!(town.titles(&town.ask("fast NOT zebra")), ["Short"]);
    let found = town.search(&town.ask("login NOT loops NOT cookie"));
    for item in &found.results {
        assert!(item.title != "Loop" && !item.title.starts_with("Login"), "{item:?}");
    }
}

#[test]
fn unknown_filter_values_become_words() {
    let mut town = town();
    for (typed, note, first) in [
        ("project:nosuch redis", "no project is named \"nosuch\"", "Sessions live in Redis"),
        ("file:nosuch.rs redis", "no memory is about the file \"nosuch.rs\"", "Sessions live in Redis"),
        ("concept:redis", "no memory has the concept \"redis\"", "Sessions live in Redis"),
        (
            "type:bugix redis",
            "no memory has the type \"bugix\"; known types: bugfix, decision",
            "Sessions live in Redis",
        ),
    ] {
        let found = town.search(&town.ask(typed));
        assert_eq!(found.scope.notes, [note], "typed {typed:?}");
        assert_eq!(found.results[0].title, first, "typed {typed:?}");
    }
}

#[test]
fn files_of_one_name_are_distinguished_by_path() {
    let mut town = town();
    let place = NewRowContext { project: Some(town.shop), made_by: "test", ..NewRowContext::default() };
    let of = |title: &str, path: &str| {
        let base = observation(title, "", 9_000);
        NewObservation { text: ObservationText { files_modified: vec![path.into()], ..base.text }, ..base }
    };
    town.store
        .write(|tx| {
            tx.create_observation(&of("Root", "README.md"), &place)?;
            tx.create_observation(&of("Docs", "docs/README.md"), &place)
        })
        .unwrap();
    for (typed, want) in [
        ("file:docs/README.md", vec!["Docs"]),
        ("file:./docs/README.md", vec!["Docs"]),
        ("file:/src/shop/docs/README.md", vec!["Docs"]),
        ("file:/src/shop/README.md", vec!["Docs", "Root"]),
        ("file:/src/shop/docs", vec!["Docs"]),
        ("file:README.md", vec!["Docs", "Root"]),
    ] {
        let mut found = town.titles(&town.ask(typed));
        found.sort();
        assert_eq!(found, want, "typed {typed:?}");
    }
    let reads = town.store.read();
    for (path, want) in [("README.md", 1), ("docs/README.md", 1), ("a/README.md", 0)] {
        let found = reads.refs_of_path(town.shop, path).unwrap();
        assert_eq!(found.len(), want, "{path}");
    }
}

#[test]
fn identifiers_match_any_spelling_style() {
    let mut town = town();
    filled(
        &mut town,
        &[
            ("Raised MAX_RETRY_COUNT", ""),
            ("Cache of getUserById", ""),
            ("users.id in the importer", "the users and their ids"),
            ("auditLogger is quiet", ""),
        ],
    );
    for (typed, first) in [
        ("maxRetryCount", "Raised MAX_RETRY_COUNT"),
        ("UserById", "Cache of getUserById"),
        ("get_user_by_id", "Cache of getUserById"),
        ("getUserById", "Cache of getUserById"),
        ("audit_logger", "auditLogger is quiet"),
    ] {
        assert_eq!(town.titles(&town.ask(typed))[0], first, "typed {typed:?}");
    }
}

#[test]
fn other_scripts_are_found() {
    let mut town = town();
    filled(
        &mut town,
        &[
            ("修复登录错误", ""),
            ("ログインの修正", ""),
            ("로그인 오류를 고쳤다", ""),
            ("แก้ไขการเข้าสู่ระบบ", ""),
            ("Исправлена ошибка входа", ""),
        ],
    );
    for (typed, first) in [
        ("登录", "修复登录错误"),
        ("登录错误", "修复登录错误"),
        ("错误的登录", "修复登录错误"),
        ("\"登录错误\"", "修复登录错误"),
        ("ログイン", "ログインの修正"),
        ("로그인", "로그인 오류를 고쳤다"),
        ("เข้าสู่ระบบ", "แก้ไขการเข้าสู่ระบบ"),
        ("ошибка", "Исправлена ошибка входа"),
    ] {
        let found = Searcher::new(town.store.read(), None).search(&town.ask(typed));
        let found = found.unwrap();
        assert_eq!(found.results[0].title, first, "typed {typed:?}");
        assert_eq!(found.scope.quality, MatchQuality::Full, "typed {typed:?}");
    }
}

#[test]
fn every_prefix_finds_the_word() {
    let mut town = town();
    let titles = ["Configuration", "Authentication", "Validation", "Running", "Libraries", "Requirement"];
    let rows: Vec<(&str, &str)> = titles.iter().map(|title| (*title, "")).collect();
    filled(&mut town, &rows);
    filled(&mut town, &[("Valid and required", "to run in a library")]);
    for title in titles {
        for letters in 3..=title.len() {
            let typed = format!("{}*", &title[..letters]);
            let found = town.search(&town.ask(&typed));
            assert_eq!(found.scope.quality, MatchQuality::Full, "typed {typed}");
            let titles: Vec<&str> = found.results.iter().map(|item| item.title.as_str()).collect();
            assert!(titles.contains(&title), "typed {typed}: {titles:?}");
            let is_begun = |text: &str| text.to_lowercase().contains(&title[..letters].to_lowercase());
            let beside = "Valid and required to run in a library";
            assert_eq!(titles.contains(&"Valid and required"), is_begun(beside), "{typed}");
        }
    }
}

#[test]
fn search_as_you_type_finds_the_finished_word() {
    let mut town = town();
    filled(&mut town, &[("Middleware checks signatures", "")]);
    for word in ["middleware", "signatures"] {
        for letters in 3..=word.len() {
            let mut ask = town.ask(&word[..letters]);
            ask.is_incomplete = true;
            let found = town.search(&ask);
            assert_eq!(found.scope.quality, MatchQuality::Full, "{}", &word[..letters]);
            assert_eq!(found.results[0].title, "Middleware checks signatures");
        }
    }
}

#[test]
fn exact_words_elsewhere_beat_weak_matches_here() {
    let mut town = town();
    // Only two stop words of seven are shared: near, but weakly.
    filled(&mut town, &[("Why so one two three four five six", "")]);
    let found = town.search(&town.ask("why so burns bread"));
    assert_eq!(found.scope.from, AnswerScope::OtherProjects);
    assert_eq!(found.results[0].title, "Oven burns bread");
    assert!(found.scope.notes.is_empty());
    // If no project contains the words, the nearest rows are marked as such.
    let found = town.search(&town.ask("why so zebra giraffe"));
    assert_eq!(found.scope.quality, MatchQuality::Near);
    assert!(found.results[0].title.starts_with("Why so one") && found.results[0].near);
}

#[test]
fn score_parts_add_up_to_the_score() {
    let mut town = town();
    let turn = |tx: &StoreWriter<'_>| {
        let talk = session(tx, town.shop, "talk")?;
        let prompt = NewPrompt {
            session: talk,
            project: Some(town.shop),
            prompt_id: None,
            text: "Why does the login loop after a refresh",
            private: false,
            origin: Origin::User,
            import_run: None,
            at: Millis(5_000),
        };
        tx.create_prompt(&prompt)?;
        let place = NewRowContext {
            session: Some(talk),
            project: Some(town.shop),
            prompt_number: 1,
            made_by: "test",
            ..NewRowContext::default()
        };
        let seen = observation("The login loop after a refresh is a stale token", "", 6_000);
        let old = tx.create_observation(&seen, &place)?;
        let newer = observation("Login refresh asks for a new token", "", 7_000);
        let newer = tx.create_observation(&newer, &NewRowContext { session: None, ..place })?;
        tx.replace_observation(old, newer)
    };
    town.store.write(turn).unwrap();
    let found = town.search(&town.ask("login loop after a refresh"));
    assert!(found.results.iter().any(|item| item.why.rerank_delta < 0.0));
    for item in &found.results {
        assert!((item.why.sum() - item.score).abs() < 1e-9, "{item:?}");
    }
}

#[test]
fn one_turn_does_not_fill_the_top() {
    let mut town = town();
    let turn = |tx: &StoreWriter<'_>| {
        let talk = session(tx, town.shop, "talk")?;
        let place = NewRowContext {
            session: Some(talk),
            project: Some(town.shop),
            prompt_number: 1,
            made_by: "test",
            ..NewRowContext::default()
        };
        let told = "Invoices are rounded twice";
        tx.create_prompt(&NewPrompt {
            session: talk,
            project: Some(town.shop),
            prompt_id: None,
            text: told,
            private: false,
            origin: Origin::User,
            import_run: None,
            at: Millis(5_000),
        })?;
        tx.create_observation(&observation(told, "", 6_000), &place)?;
        let other = session(tx, town.shop, "other")?;
        let place = NewRowContext { session: Some(other), prompt_number: 0, ..place };
        tx.create_observation(&observation("Invoices were rounded twice as well", "", 4_000), &place)
    };
    let other = town.store.write(turn).unwrap();
    let found = town.search(&town.ask("invoices rounded twice")).results;
    let other = RowId::new(RowKind::Observation, other.0);
    assert_eq!(found[1].id, other, "{found:?}");
    assert_eq!(found[2].kind, RowKind::Prompt);
}

#[test]
fn request_constructors_filter_as_named() {
    let mut town = town();
    let (now, shop) = (Millis(10_000), ProjectScope::ProjectOnly(town.shop));
    assert_eq!(town.titles(&SearchRequest::by_concept("gotcha", now).in_scope(shop)).len(), 1);
    assert_eq!(town.titles(&SearchRequest::by_file("src/auth", now).in_scope(shop)).len(), 1);
    assert_eq!(town.titles(&SearchRequest::by_type(ObservationType::BUGFIX, now).in_scope(shop)).len(), 2);
    assert_eq!(town.titles(&SearchRequest::recent(shop, now))[0], "Cart shows old prices");
    let all = SearchRequest::new("login", now).kinds(&[RowKind::Summary]);
    assert!(town.search(&all).results.is_empty());
}

#[test]
fn prefix_finds_the_whole_word() {
    let mut town = town();
    for (typed, want) in [
        ("redi*", "Sessions live in Redis"),
        ("title:redi*", "Sessions live in Redis"),
        ("expir* nonsense", "Login loops on an expired cookie"),
    ] {
        let found = town.search(&town.ask(typed));
        assert_eq!(found.scope.quality, MatchQuality::Full, "typed {typed}");
        assert_eq!(found.results[0].title, want, "typed {typed}");
    }
    assert_eq!(town.search(&town.ask("title:postg*")).scope.quality, MatchQuality::Nothing);
}

#[test]
fn excluded_terms_are_excluded_from_lists() {
    let mut town = town();
    let only =
        |text: &str| SearchRequest::new(text, Millis(10_000)).in_scope(ProjectScope::ProjectOnly(town.shop));
    let (without, decisions) = (only("NOT redis"), only("type:decision NOT redis"));
    assert_eq!(town.titles(&without), ["Cart shows old prices", "Login loops on an expired cookie"]);
    assert!(town.titles(&decisions).is_empty());
}

#[test]
fn pages_have_no_gaps_or_repeats() {
    let mut town = town();
    let whole = SearchRequest::new("session login prices bread", Millis(10_000));
    let all = town.titles(&whole);
    let mut paged = Vec::new();
    for offset in 0..10 {
        let found = town.search(&whole.clone().page(PageRequest { offset, limit: 1 }));
        paged.extend(found.results.into_iter().map(|item| item.title));
        if !found.has_more {
            break;
        }
    }
    assert_eq!(paged, all);
    assert!(all.len() >= 3);
}

#[test]
fn wrong_rows_are_hidden_and_superseded_ones_demoted() {
    let mut town = town();
    let place = NewRowContext { project: Some(town.shop), made_by: "test", ..NewRowContext::default() };
    let (old, new) = town
        .store
        .write(|tx| {
            let old =
                tx.create_observation(&observation("Timeout is 30 seconds", "timeout", 5_000), &place)?;
            let new = tx.create_observation(
                &observation("The timeout has become 60 seconds now", "", 6_000),
                &place,
            )?;
            tx.replace_observation(old, new)?;
            Ok((old, new))
        })
        .unwrap();
    let ask = town.ask("timeout seconds 30");
    let found = town.search(&ask);
    let ids: Vec<i64> = found.results.iter().map(|item| item.id.row_id).collect();
    assert_eq!(ids[..2], [new.0, old.0]);
    let wrong = ObservationEdit { wrong: Some(true), ..ObservationEdit::default() };
    town.store.write(|tx| tx.edit_observation(old, &wrong, Millis(7_000))).unwrap();
    assert!(town.search(&ask).results.iter().all(|item| item.id.row_id != old.0));
    let asked = SearchRequest { include_wrong: true, ..ask };
    assert!(town.search(&asked).results.iter().any(|item| item.id.row_id == old.0));
}

#[test]
fn old_words_find_the_superseding_decision() {
    let mut town = town();
    let asked = town.store.write(|tx| {
        let first = session(tx, town.shop, "first")?;
        let second = session(tx, town.shop, "second")?;
        let at = |session| NewRowContext {
            session: Some(session),
            project: Some(town.shop),
            made_by: "test",
            ..NewRowContext::default()
        };
        let text = "Contacts appear twice after a sync: duplicate contacts in the merged list";
        tx.create_prompt(&NewPrompt {
            session: first,
            project: Some(town.shop),
            prompt_id: None,
            text,
            private: false,
            origin: Origin::User,
            import_run: None,
            at: Millis(5_000),
        })?;
        let old = observation("Duplicate contacts merge to the newest", "sync", 5_000);
        let new = observation("On a merge the fuller record of contacts wins", "", 6_000);
        let old = tx.create_observation(&old, &at(first))?;
        let new = tx.create_observation(&new, &at(second))?;
        tx.replace_observation(old, new)?;
        Ok(new)
    });
    let new = asked.unwrap();
    let found = town.search(&town.ask("duplicate contacts after a sync in the merged list"));
    let first = &found.results[0].id;
    assert_eq!(RowId::new(first.kind, first.row_id), RowId::new(RowKind::Observation, new.0));
}

#[test]
fn stale_vectors_are_ignored() {
    let mut town = town();
    let edit = ObservationEdit { title: Some("Cart shows new prices".into()), ..ObservationEdit::default() };
    let ask = town.ask("prices");
    let id = ObservationId(town.search(&ask).results[0].id.row_id);
    town.store.write(|tx| tx.edit_observation(id, &edit, Millis(9))).unwrap();
    assert_eq!(town.search(&ask).results[0].why.cosine, None);
}

#[test]
fn signature_cache_follows_the_file() {
    let mut town = town();
    let shelves = RwLock::new(SignatureCache::default());
    let near = |town: &mut SearcherFixture| {
        let mut retriever = VectorRetriever::cached(&mut town.vectors, &shelves, &BagOfWordsEncoder);
        let probe = retriever.quantized_query(retriever.start_encoding("prices"));
        let scope = RowFilter::default();
        retriever.nearest(&probe, &scope, None).unwrap().len()
    };
    assert_eq!(near(&mut town), 4);
    let place = NewRowContext { project: Some(town.bakery), made_by: "test", ..NewRowContext::default() };
    let id =
        town.store.write(|tx| tx.create_observation(&observation("New prices", "", 9_000), &place)).unwrap();
    catch_up(&mut town.store, &mut town.vectors, &BagOfWordsEncoder, |_| false).unwrap();
    assert_eq!(near(&mut town), 5);
    town.store.write(|tx| tx.forget(RowId::new(RowKind::Observation, id.0), Millis(9))).unwrap();
    catch_up(&mut town.store, &mut town.vectors, &BagOfWordsEncoder, |_| false).unwrap();
    assert_eq!(near(&mut town), 4);
    assert!(shelves.read().unwrap().bytes() > 0);
}

#[test]
fn large_folders_are_checked_row_by_row() {
    let mut town = town();
    let shop = town.shop;
    let place = NewRowContext { project: Some(shop), made_by: "test", ..NewRowContext::default() };
    // Enough files that their rows are not listed up front.
    let below = |row: i64, folder: &str| {
        let base = observation(&format!("Tariff {row}"), "The tariffs are rounded", row);
        NewObservation {
            text: ObservationText {
                files_modified: (0..100).map(|n| format!("{folder}/{row}/{n}.rs")).collect(),
                ..base.text
            },
            ..base
        }
    };
    let mut wanted = Vec::new();
    for row in 0..40 {
        let inside = town.store.write(|tx| tx.create_observation(&below(row, "ledger"), &place)).unwrap();
        wanted.push(RowId::new(RowKind::Observation, inside.0));
        let beside = below(row + 100, if row < 5 { "ledgers" } else { "src" });
        town.store.write(|tx| tx.create_observation(&beside, &place)).unwrap();
    }
    let folder = ["ledger".to_owned()];
    let wide = |of| town.store.read().wide_folder(of, &folder).unwrap();
    assert!(wide(Some(shop)).is_some() && wide(None).is_some());
    assert!(wide(Some(town.bakery)).is_none());
    for text in ["tariffs", ""] {
        let mut ask = SearchRequest::new(text, Millis(1_000_000)).in_scope(ProjectScope::ProjectOnly(shop));
        ask.files = folder.to_vec();
        ask.page = PageRequest::first(100);
        let found = town.search(&ask).results.into_iter();
        let mut found: Vec<RowId> = found.map(|item| item.id).collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{text:?}");
    }
    let filter = RowFilter { files: folder.to_vec(), ..RowFilter::default() };
    let page = PageRequest { offset: 10, limit: 100 };
    let listed = town.store.read().observations(&filter, page).unwrap();
    assert_eq!(listed.items.len(), 30);
}

#[test]
fn paging_shows_every_match_once() {
    let mut town = town();
    let titles: Vec<String> = (0..200).map(|n| format!("Module {n} was tidied")).collect();
    let rows: Vec<_> = titles.iter().map(|title| (title.as_str(), "")).collect();
    filled(&mut town, &rows);
    let mut shown = Vec::new();
    loop {
        let page = PageRequest { offset: shown.len() as u32, limit: 30 };
        let found = town.search(&SearchRequest { page, ..town.ask("module") });
        shown.extend(found.results.into_iter().map(|item| item.id));
        if !found.has_more {
            break;
        }
    }
    let different: HashSet<RowId> = shown.iter().copied().collect();
    assert_eq!((shown.len(), different.len()), (200, 200));
}
