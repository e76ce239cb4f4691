use super::*;
use std::os::unix::fs::PermissionsExt as _;

fn number(n: u64) -> SettingValue {
    SettingValue::Number(n)
}

#[test]
fn edit_keeps_comments_and_unknown_keys() {
    let before = "\
// my memory
{
    \"CLAUDE_MEM_MODE\": \"code\", // theirs
    \"port\": 1,
    \"unknown\": {\"deep\": [1, 2]}
}
";
    assert_eq!(
        set_property(before, "port", &number(2)).expect("json"),
        before.replace("\"port\": 1", "\"port\": 2")
    );
    insta::assert_snapshot!(set_property(before, "vectors", &SettingValue::Switch(false)).expect("json"), @r#"
    // my memory
    {
        "CLAUDE_MEM_MODE": "code", // theirs
        "port": 1,
        "unknown": {"deep": [1, 2]},
        "vectors": false
    }
    "#);
    let (after, any) = remove_properties(before, &["port".to_owned()]).expect("json");
    assert!(any);
    insta::assert_snapshot!(after, @r#"
    // my memory
    {
        "CLAUDE_MEM_MODE": "code", // theirs
        "unknown": {"deep": [1, 2]}
    }
    "#);
}

#[test]
fn new_file_is_valid_json() {
    let list = SettingValue::List(vec!["a".to_owned(), "b \"c\"".to_owned()]);
    for empty in ["", "{}", " \n"] {
        let text = set_property(empty, "ignore_projects", &list).expect("json");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).expect("strict json"),
            serde_json::json!({"ignore_projects": ["a", "b \"c\""]}),
            "{empty:?} became {text}"
        );
    }
}

#[test]
fn last_of_duplicate_keys_is_changed() {
    let text = set_property(r#"{"port": 1, "port": 2}"#, "port", &number(3)).expect("json");
    let last = properties(&text).expect("json").pop();
    assert_eq!(last, Some(("port".to_owned(), RawSetting::Text("3".to_owned()))));
}

#[test]
fn non_objects_are_never_overwritten() {
    for text in ["[1]", "\"a\"", "{\"a\": ", "7"] {
        assert!(set_property(text, "port", &number(1)).is_err(), "{text}");
        assert!(remove_properties(text, &["port".to_owned()]).is_err(), "{text}");
    }
}

#[test]
fn unset_of_missing_key_changes_nothing() {
    let odd = "{ \"a\":1 }   ";
    assert_eq!(remove_properties(odd, &["port".to_owned()]), Ok((odd.to_owned(), false)));
}

#[test]
fn file_is_private_and_symlink_is_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    let real = dir.path().join("dotfiles.json");
    std::fs::write(&real, "{}").expect("written");
    std::os::unix::fs::symlink(&real, dir.path().join(FILE_NAME)).expect("linked");
    SettingsFile::in_dir(dir.path()).set("port", &number(4000)).expect("set");
    let link = std::fs::symlink_metadata(dir.path().join(FILE_NAME)).expect("there");
    assert!(link.file_type().is_symlink());
    let mode = std::fs::metadata(&real).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let names: Vec<_> = std::fs::read_dir(dir.path())
        .expect("listed")
        .map(|entry| entry.expect("entry").file_name())
        .collect();
    assert_eq!(names.len(), 3, "a temporary file was left: {names:?}");
}

#[test]
fn oversized_file_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join(FILE_NAME), " ".repeat(SETTINGS_BYTES_MAX + 1)).expect("written");
    assert!(read(dir.path()).is_err());
}

#[test]
fn concurrent_edits_are_atomic_and_none_is_lost() {
    let dir = tempfile::tempdir().expect("a directory");
    // Few enough that the last one is done long before an edit gives up waiting, also on a slow disk.
    let (threads, each) = (4, 5);
    std::fs::write(dir.path().join(FILE_NAME), "{\n  \"first\": 1\n}\n").expect("written");
    let keys = || {
        let text = read(dir.path()).expect("read").expect("there");
        properties(&text).expect("whole").len()
    };
    std::thread::scope(|scope| {
        let editor = |thread| {
            let file = SettingsFile::in_dir(dir.path());
            scope.spawn(move || {
                for at in 0..each {
                    file.set(&format!("key_{thread}_{at}"), &number(at)).expect("set");
                }
            })
        };
        let editors: Vec<_> = (0..threads).map(editor).collect();
        let mut known = 1;
        while !editors.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            let now = keys();
            assert!(now >= known, "{known} keys became {now}");
            known = now;
        }
    });
    assert_eq!(keys(), 1 + threads * usize::try_from(each).expect("small"));
    let left = std::fs::read_dir(dir.path()).expect("listed").count();
    assert_eq!(left, 2, "the file and its lock");
}

#[test]
fn changes_are_applied_all_or_none() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(FILE_NAME);
    std::fs::write(&path, "{\"port\": 1, \"vectors\": true}").expect("written");
    let file = SettingsFile::in_dir(dir.path());
    let (four, gone) = (number(4), ["vectors".to_owned()]);
    let changes = [SettingsChange::Set("port", &four), SettingsChange::Unset(&gone)];
    assert!(file.apply(&changes).expect("applied"));
    let text = std::fs::read_to_string(&path).expect("read");
    let left = properties(&text).expect("json");
    assert_eq!(left, [("port".to_owned(), RawSetting::Text("4".to_owned()))]);
    std::fs::write(&path, "{ broken").expect("written");
    assert!(file.apply(&changes).is_err());
    assert_eq!(std::fs::read_to_string(&path).expect("read"), "{ broken");
}

#[test]
fn dangling_symlink_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    let file = SettingsFile::in_dir(temp.path());
    std::os::unix::fs::symlink("nowhere.json", file.path()).unwrap();
    let error = file.set("port", &SettingValue::Number(1)).unwrap_err();
    assert!(error.to_string().contains("dangling"), "{error}");
    assert!(file.path().is_symlink());
    let loaded = crate::config::load(temp.path(), |_| None);
    assert!(loaded.file_unreadable);
}
