use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_core::project;
use claude_mem_store::{NewRowContext, NewSession, Store};
use insta::assert_snapshot;
use rig::Sandbox;

use crate::common::{NOW, sandbox, shown};

/// A store with three observations of the sandbox's project and one of another project.
fn with_memories() -> Sandbox {
    let home = sandbox();
    home.mem(&["install", "--no-check"]).ok();
    let mut store = Store::open(&home.data_dir().join("claude-mem.db")).expect("opened");
    let other = home.home().join("bakery");
    std::fs::create_dir_all(&other).expect("made");
    let rows = [
        (home.project(), "bugfix", "Login no longer loops on an expired cookie", 50),
        (home.project(), "decision", "Sessions are kept in Redis, not in Postgres", 40),
        (home.project(), "feature", "The cart remembers what was in it", 30),
        (other.as_path(), "change", "Ovens are preheated at five", 20),
    ];
    store
        .write(|tx| {
            for (dir, kind, title, minutes) in rows {
                let at = Millis(NOW).plus_seconds(-60 * minutes);
                let project = tx.ensure_project(&project::identify(dir), at)?;
                let session = tx.ensure_session(&NewSession {
                    project: Some(project),
                    ..NewSession::new("claude-code", &ClientSessionId(format!("session-of-{minutes}")), at)
                })?;
                let new = NewObservation::from_text(
                    ObservationText {
                        narrative: "It was told at length.".into(),
                        facts: vec!["One fact".into()],
                        concepts: vec!["gotcha".into()],
                        files_modified: vec!["src/auth/session.rs".into()],
                        ..ObservationText::new(ObservationType::named(kind), title)
                    },
                    Origin::Agent,
                    at,
                );
                let place = NewRowContext {
                    session: Some(session),
                    project: Some(project),
                    made_by: "local",
                    ..NewRowContext::default()
                };
                tx.create_observation(&new, &place)?;
            }
            Ok(())
        })
        .expect("stored");
    home
}

#[test]
fn search_finds_observations() {
    let home = with_memories();
    assert_snapshot!(shown(&home, &home.mem(&["search", "expired", "cookies"])), @"
    id  type    when              title
    #1  bugfix  2026-01-31 09:10  Login no longer loops on an expired cookie
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["search", "preheated"])), @"
    no match in project; from other projects:
    id  type    when              title
    #4  change  2026-01-31 09:40  bakery: Ovens are preheated at five
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["search", "\"redis in postgres\""])), @"
    no full match; partial matches:
    id  type      when              title
    #2  decision  2026-01-31 09:20  Sessions are kept in Redis, not in Postgres
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["search", "type:feature", "--all-projects"])), @"
    id  type     when              title
    #3  feature  2026-01-31 09:30  project: The cart remembers what was in it
    [exit 0]
    ");
}

#[test]
fn search_says_what_it_does_not_find() {
    let home = with_memories();
    assert_snapshot!(shown(&home, &home.mem(&["search", "zeppelin"])), @"
    nothing found
    try --all-projects
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["search", "--type", "bugfx", "cookie"])), @r#"
    [stderr]
    error: unknown type "bugfx"; did you mean bugfix?
    known types: bugfix, change, decision, discovery, feature, refactor
    [exit 64]
    "#);
    assert_snapshot!(shown(&home, &home.mem(&["show", "#2", "#99"])), @"
    #2 Sessions are kept in Redis, not in Postgres
    decision · 2026-01-31 09:20 · project · session session-of-40

      It was told at length.

    facts
      - One fact

    concepts
      gotcha

    changed
      src/auth/session.rs
    [stderr]
    note: no memory #99; if it was forgotten, `claude-mem forget --undo '#99'` may restore it
    error: not all of these memories exist
    [exit 1]
    ");
}

#[test]
fn search_json_is_complete() {
    let home = with_memories();
    let found = home.mem(&["search", "--json", "--limit", "1", "--", "expired cookies"]);
    assert_snapshot!(shown(&home, &found), @r##"
    {
      "query": "expired cookies",
      "scope": {
        "from": "project",
        "project": "project",
        "match": "asked",
        "vectors": false
      },
      "results": [
        {
          "id": "#1",
          "kind": "observation",
          "type": "bugfix",
          "title": "Login no longer loops on an expired cookie",
          "subtitle": "",
          "session": "session-of-50",
          "project": "project",
          "files": [
            "src/auth/session.rs"
          ],
          "created_at": 1769850600000,
          "score": 1.7116666666666667,
          "why": {
            "words": 0.6,
            "vectors": 0.0,
            "coverage": 1.0,
            "names": 0.0,
            "neighbours": 0.10666666666666667,
            "recency": 0.005,
            "time": 0.0,
            "judged": 0.0,
            "matched": [
              "expired",
              "cookie"
            ]
          },
          "read_tokens": 0
        }
      ],
      "has_more": false
    }
    [exit 0]
    "##);
}

#[test]
fn show_timeline_and_recent_print_memories() {
    let home = with_memories();
    assert_snapshot!(shown(&home, &home.mem(&["show", "1"])), @"
    #1 Login no longer loops on an expired cookie
    bugfix · 2026-01-31 09:10 · project · session session-of-50

      It was told at length.

    facts
      - One fact

    concepts
      gotcha

    changed
      src/auth/session.rs
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["timeline", "#2", "--before", "1", "--after", "1"])), @"
      id  type      when              title
      #1  bugfix    2026-01-31 09:10  Login no longer loops on an expired cookie
    > #2  decision  2026-01-31 09:20  Sessions are kept in Redis, not in Postgres
      #3  feature   2026-01-31 09:30  The cart remembers what was in it
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["recent", "--limit", "2"])), @"
    id  type      when              title
    #3  feature   2026-01-31 09:30  The cart remembers what was in it
    #2  decision  2026-01-31 09:20  Sessions are kept in Redis, not in Postgres
    more results: use --limit or --offset
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["show", "S9"])), @"
    [stderr]
    error: no memory S9; if it was forgotten, `claude-mem forget --undo 'S9'` may restore it
    [exit 1]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["show", "everything"])), @r#"
    [stderr]
    error: invalid value 'everything' for '<ID>...': "everything" is not an id; ids look like #12, S3, P7, M9 or A4

    For more information, try '--help'.
    [exit 64]
    "#);
}

#[test]
fn index_build_makes_vectors() {
    let home = with_memories();
    let waiting = home.mem(&["index", "status", "--json"]).ok();
    let waiting: serde_json::Value = serde_json::from_str(&waiting.stdout).expect("JSON");
    assert_eq!((&waiting["indexed"], &waiting["waiting"]), (&0.into(), &4.into()));
    assert_snapshot!(shown(&home, &home.mem(&["index", "build"])), @"
    4 memories indexed
    [exit 0]
    ");
    let done = home.mem(&["index", "status", "--json"]).ok();
    let done: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!((&done["indexed"], &done["waiting"]), (&4.into(), &0.into()));
    // By meaning only: the row has none of these words.
    let found = home.mem(&["search", "--json", "--", "authentication bug"]).ok();
    let found: serde_json::Value = serde_json::from_str(&found.stdout).expect("JSON");
    assert_eq!(found["scope"]["vectors"], true);
    assert_eq!(found["results"][0]["id"], "#1");
}

#[test]
fn marks_are_shown_by_why() {
    let home = with_memories();
    let marked = home.mem(&["mark", "useless", "1", "#2"]).ok();
    assert_eq!(marked.stdout, "marked #1 as useless\nmarked #2 as useless\n");
    home.mem(&["mark", "wrong", "1"]).ok();
    let story = home.mem(&["why", "1"]).ok().stdout;
    assert!(story.contains("#1 was never shown; marked useless once, wrong once"), "{story}");
    let found = home.mem(&["search", "login", "loops"]).ok().stdout;
    assert!(!found.contains("Login no longer loops"), "{found}");
    assert_eq!(home.mem(&["mark", "wrong", "99"]).code, Some(1));
    assert_eq!(home.mem(&["mark", "splendid", "1"]).code, Some(64));
}

#[test]
fn stats_count_observations() {
    let home = with_memories();
    let told: serde_json::Value =
        serde_json::from_str(&home.mem(&["stats", "--days", "2", "--json"]).ok().stdout).expect("JSON");
    assert_eq!(told["observations"], 4);
    assert_eq!(told["per_day"].as_array().map(Vec::len), Some(2));
    assert_eq!(told["by_type"].as_array().map(Vec::len), Some(4));
    assert_eq!(told["by_project"][0]["observations"], 3);
    let screen = home.mem(&["stats"]).ok().stdout;
    assert!(screen.starts_with("4 memories, 0 summaries"), "{screen}");
    let days = screen.split("memories by day").nth(1).and_then(|rest| rest.split("\n\n").next());
    let days = days.unwrap_or_default().trim().lines().count();
    let all = home.mem(&["stats", "--json"]).ok().json();
    let filled =
        all["per_day"].as_array().expect("days").iter().filter(|day| day["observations"] != 0).count();
    assert_eq!(days, filled, "only days with memories are drawn: {screen}");
    let empty = sandbox();
    let nothing = empty.mem(&["stats"]).ok().stdout;
    assert!(nothing.starts_with("0 memories"), "{nothing}");
}

#[test]
fn until_a_date_includes_the_whole_day() {
    let home = with_memories();
    let today = home.mem(&["recent", "--since", "today", "--until", "today"]);
    assert!(today.ok().stdout.contains("Redis"));
}

/// The ids in the JSON output of a command, in order.
fn ids(home: &Sandbox, args: &[&str]) -> Vec<String> {
    let printed = home.mem(&[args, &["--json"]].concat()).ok().stdout;
    let printed: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    let rows = printed.get("results").unwrap_or(&printed);
    let rows = rows.as_array().expect("a list").iter();
    rows.map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn every_filter_narrows_the_results() {
    let home = with_memories();
    for (args, want) in [
        (&["recent"][..], &["#3", "#2", "#1"][..]),
        (&["recent", "--all-projects"], &["#4", "#3", "#2", "#1"]),
        (&["recent", "--project", "bakery"], &["#4"]),
        (&["recent", "--type", "bugfix", "--type", "feature"], &["#3", "#1"]),
        (&["recent", "--limit", "1"], &["#3"]),
        (&["recent", "--limit", "1", "--offset", "1"], &["#2"]),
        (&["recent", "--since", "2026-01-31T09:25"], &["#3"]),
        (&["recent", "--until", "2026-01-31T09:15"], &["#1"]),
        (&["recent", "--since", "2026-02-01"], &[]),
        (&["search", "--all-projects", "--type", "change", "ovens"], &["#4"]),
        (&["search", "--project", "bakery", "ovens"], &["#4"]),
        (&["search", "--kind", "prompt", "cookie"], &[]),
        (&["search", "--kind", "observation", "cookie"], &["#1"]),
        (&["search", "file:session.rs"], &["#3", "#2", "#1"]),
        (&["search", "file:src/auth/"], &["#3", "#2", "#1"]),
        (&["search", "file:src/auth/", "type:decision"], &["#2"]),
        (&["search", "file:auth/session.rs", "cookie"], &["#1"]),
        (&["search", "concept:gotcha", "--limit", "1"], &["#3"]),
    ] {
        assert_eq!(ids(&home, args), want, "{args:?}");
    }
}

#[test]
fn wrong_memories_need_the_wrong_flag() {
    let home = with_memories();
    home.mem(&["mark", "wrong", "1"]).ok();
    assert!(!ids(&home, &["search", "cookie"]).contains(&"#1".to_owned()));
    assert_eq!(ids(&home, &["search", "--wrong", "cookie"]), ["#1"]);
}

#[test]
fn lines_fit_a_narrow_terminal() {
    let home = with_memories();
    for args in [
        &["search", "expired", "cookies"][..],
        &["search", "--all-projects", "type:decision"],
        &["recent", "--all-projects"],
        &["timeline", "#2"],
        &["show", "2"],
    ] {
        let mut command = home.mem_command(args);
        let printed = command.env("COLUMNS", "60").output().expect("started");
        let printed = String::from_utf8(printed.stdout).expect("text");
        assert!(!printed.is_empty(), "{args:?}");
        let widest = printed.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|columns| columns <= 60), "{args:?}\n{printed}");
    }
}

#[test]
fn empty_result_suggests_what_to_try() {
    let home = with_memories();
    assert_snapshot!(shown(&home, &home.mem(&["recent", "--since", "2026-02-01"])), @"
    nothing found
    try fewer filters (--type, --since, --until), or --all-projects
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["recent", "--offset", "9"])), @"
    no more results
    try a smaller --offset, or --all-projects
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["timeline", "zeppelin"])), @r#"
    [stderr]
    error: nothing found for "zeppelin"
    [exit 1]
    "#);
    assert_snapshot!(shown(&home, &home.mem(&["recent", "--since", "someday"])), @r#"
    [stderr]
    error: "someday" is not a time; use 2026-01-31, yesterday, 3d or 2w
    [exit 64]
    "#);
}

#[test]
fn every_filter_narrows_the_timeline() {
    let home = with_memories();
    let around = |more: &[&str]| ids(&home, &[&["timeline", "2"], more].concat());
    assert_eq!(around(&[]), ["#1", "#2", "#3"]);
    assert_eq!(around(&["--type", "bugfix"]), ["#1", "#2"]);
    assert_eq!(around(&["--limit", "1"]), ["#1", "#2"]);
    assert_eq!(around(&["--before", "0", "--after", "0"]), ["#2"]);
    assert_eq!(around(&["--since", "2026-01-31T09:15"]), ["#2", "#3"]);
    assert_eq!(around(&["--until", "2026-01-31T09:25"]), ["#1", "#2"]);
    let told = shown(&home, &home.mem(&["timeline", "2", "--offset", "1"]));
    assert!(told.contains("[exit 64]"), "{told}");
}

#[test]
fn explain_prints_score_parts() {
    let home = with_memories();
    let told = home.mem(&["search", "--explain", "expired", "cookies"]).ok();
    let told = told.stdout.lines().find(|line| line.contains(" = words "));
    let told = told.unwrap_or_default().to_owned();
    for part in ["words 0.6", "vectors", "coverage", "matches expired, cookie"] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn show_json_contains_stored_rows() {
    let home = with_memories();
    assert_eq!(ids(&home, &["show", "1", "#2"]), ["#1", "#2"]);
    let shown = home.mem(&["show", "1", "--json"]).ok().stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown[0]["row"]["narrative"], "It was told at length.");
    let around = home.mem(&["timeline", "2", "--json"]).ok().stdout;
    let around: serde_json::Value = serde_json::from_str(&around).expect("JSON");
    assert_eq!(around["anchor"], "#2");
    assert_eq!(around["results"].as_array().map(Vec::len), Some(3));
}

#[test]
fn corrupt_index_can_be_rebuilt() {
    let home = with_memories();
    home.mem(&["index", "build"]).ok();
    std::fs::write(home.data_dir().join("vectors.db"), "not a database").expect("written");
    let found = home.mem(&["search", "cookie"]);
    assert!(found.stderr.contains("searched by words only"), "{found:?}");
    assert_eq!(ids(&home, &["search", "cookie"]), ["#1"]);
    assert_snapshot!(shown(&home, &home.mem(&["index", "rebuild"])), @"
    4 memories indexed
    [exit 0]
    ");
    let told = home.mem(&["index", "status"]).ok().stdout;
    assert!(told.starts_with("4 memories indexed, 0 waiting"), "{told}");
}

#[test]
fn large_index_backlog_is_mentioned() {
    let home = with_memories();
    let mut store = Store::open(&home.data_dir().join("claude-mem.db")).expect("opened");
    let rows: Vec<NewObservation> = (0..120)
        .map(|number| {
            let title = format!("Order {number} was delivered");
            NewObservation::new(ObservationType::named("change"), title, Origin::Agent, Millis(NOW + number))
        })
        .collect();
    store
        .write(|tx| {
            let place = NewRowContext { made_by: "test", ..NewRowContext::default() };
            rows.iter().try_for_each(|row| tx.create_observation(row, &place).map(drop))
        })
        .expect("stored");
    let note = home.mem(&["search", "login"]).ok().stderr;
    assert!(note.contains("124 of 124 rows are not indexed yet: found by words only"), "{note}");
    let status = home.mem(&["status"]).ok().stdout;
    assert!(status.contains("index    0 of 124 rows searchable by meaning, 124 waiting"), "{status}");
    home.mem(&["config", "set", "vectors", "off"]).ok();
    let note = home.mem(&["search", "login"]).ok().stderr;
    assert!(!note.contains("not indexed"), "nothing to wait for: {note}");
}
