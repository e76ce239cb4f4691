use super::*;
use serde_json::json;

#[test]
fn a_replacement_is_reduced_to_what_differs() {
    let change = PatchedFile::replaced("a", "x\ny\nz", "x\nY\nz", Some("top\nx\ny\nz\n"));
    assert_eq!(
        change.hunks,
        [PatchHunk {
            above: vec!["top".into(), "x".into()],
            removed: vec!["y".into()],
            added: vec!["Y".into()]
        }]
    );
    assert_eq!(PatchedFile::replaced("a", "x", "x", None).hunks, []);
}

#[test]
fn two_places_are_two_hunks() {
    let change = PatchedFile::replaced("a", "1\nsame\n2", "one\nsame\ntwo", None);
    assert_eq!(change.hunks.len(), 2);
    assert_eq!(change.hunks[1].above, ["1", "one", "same"]);
}

#[test]
fn every_tool_s_edit_is_read() {
    let cases = [
        (json!({"old_string": "a", "new_string": "b"}), json!({}), 1, false),
        (
            json!({"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]}),
            json!({}),
            2,
            false,
        ),
        (json!({"content": "a\nb"}), json!({"type": "create", "originalFile": null}), 1, true),
        (json!({"content": "a\nb"}), json!({"type": "update", "originalFile": "a\nc"}), 1, false),
        (
            json!({"old_string": "world", "new_string": "there"}),
            json!({"originalFile": "fn f() {\nhello world\n}", "structuredPatch": [{"oldStart": 2, "lines": ["-hello world", "+hello there"]}]}),
            1,
            false,
        ),
        (json!({"oldString": "a", "newString": "b"}), json!("ok"), 1, false),
        (json!(null), json!(null), 1, true),
    ];
    for (input, output, hunks, created) in cases {
        let change = of_edit("f", &input, &output);
        assert_eq!((change.hunks.len(), change.created), (hunks, created), "{input}");
    }
}

#[test]
fn the_file_above_a_patch_is_its_context() {
    let output = json!({"originalFile": "fn f() {\n  a\n  b\n}", "structuredPatch": [{"oldStart": 2, "lines": ["   a", "-  b", "+  c"]}]});
    let change = of_edit("f", &json!({}), &output);
    assert_eq!(change.hunks[0].above, ["fn f() {", "  a"]);
}

#[test]
fn patches_in_text_form_name_their_files() {
    let patch = "*** Begin Patch\n*** Update File: src/a.py\n@@ def f():\n-    x = 1\n+    x = 2\n*** Add File: b.txt\n+hi\n*** End Patch";
    let changes = of_text(patch);
    assert_eq!(changes.len(), 2);
    assert_eq!((changes[0].path.as_str(), changes[0].hunks.len()), ("src/a.py", 1));
    assert!(changes[1].created);
    let git = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(of_text(git)[0].path, "x.py");
}
