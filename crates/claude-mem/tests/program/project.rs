use claude_mem_core::clock::Millis;
use claude_mem_core::project;
use claude_mem_store::Store;
use insta::assert_snapshot;
use rig::Sandbox;

use crate::common::{NOW, sandbox, shown};

/// A store with the sandbox's project and another project of the same name.
fn with_projects() -> Sandbox {
    let home = sandbox();
    home.mem(&["install", "--no-check"]).ok();
    let other = home.home().join("old/project");
    std::fs::create_dir_all(&other).expect("made");
    let mut store = Store::open(&home.data_dir().join("claude-mem.db")).expect("opened");
    for (dir, minutes) in [(home.project(), 5), (&other, 90)] {
        let hint = project::identify(dir);
        let at = Millis(NOW).plus_seconds(-60 * minutes);
        store.write(|writes| writes.ensure_project(&hint, at)).expect("made");
    }
    home
}

#[test]
fn projects_are_listed_renamed_and_merged() {
    let home = with_projects();
    assert_snapshot!(shown(&home, &home.mem(&["project", "list"])), @"
    id  name     sessions  memories  active     directory
    1   project  0         0         5 min ago  [PROJECT]
    2   project  0         0         1 h ago    [HOME]/old/project
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["project", "rename", "project", "website"])), @"
    [stderr]
    error: several projects are named project; use an id: 1, 2
    [exit 1]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["project", "rename", "2", "website"])), @"
    renamed project to website
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["project", "merge", "website", "1", "--dry-run"])), @"
    website (0 sessions, 0 memories) would be merged into project
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["project", "merge", "website", "1"])), @"
    website (0 sessions, 0 memories) merged into project
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["project", "merge", "1", "1"])), @"
    [stderr]
    error: both are the same project
    [exit 64]
    ");
    let listed = home.mem(&["project", "list", "--json"]).ok();
    assert_snapshot!(shown(&home, &listed), @r#"
    [
      {
        "id": 1,
        "name": "project",
        "root": "[PROJECT]",
        "last_active": 1769853300000,
        "sessions": 0,
        "observations": 0,
        "keys": [
          "git:[PROJECT]/.git",
          "path:[HOME]/old/project",
          "path:[PROJECT]"
        ]
      }
    ]
    [exit 0]
    "#);
}

#[test]
fn directory_can_be_added_to_a_project() {
    let home = with_projects();
    let fresh = home.home().join("fresh");
    std::fs::create_dir_all(&fresh).expect("made");
    let fresh = fresh.to_str().expect("utf-8");
    assert_snapshot!(shown(&home, &home.mem(&["project", "alias", "1", fresh])), @"
    [HOME]/fresh now belongs to project
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["project", "rename", fresh, "renamed by its directory"])), @"
    renamed project to renamed by its directory
    [exit 0]
    ");
    let taken = home.home().join("old/project");
    let taken = taken.to_str().expect("utf-8");
    assert_snapshot!(shown(&home, &home.mem(&["project", "alias", "1", taken])), @"
    [stderr]
    error: [HOME]/old/project already belongs to project 2 (project); `claude-mem project merge 2 1` merges them
    [exit 1]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["project", "alias", "nowhere", fresh])), @"
    [stderr]
    error: no project nowhere; see `claude-mem project list`
    [exit 1]
    ");
}
