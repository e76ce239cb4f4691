use super::*;
use std::os::unix::fs::PermissionsExt as _;

fn number(n: u64) -> Value {
    Value::Number(n)
}

#[test]
fn an_edit_keeps_comments_order_and_what_is_not_ours() {
    let before = "\
// my memory
{
    \"CLAUDE_MEM_MODE\": \"code\", // theirs
    \"port\": 1,
    \"unknown\": {\"deep\": [1, 2]}
}
";
    assert_eq!(
        with(before, "port", &number(2)).expect("json"),
        before.replace("\"port\": 1", "\"port\": 2")
    );
    insta::assert_snapshot!(with(before, "vectors", &Value::Switch(false)).expect("json"), @r#"
    // my memory
    {
        "CLAUDE_MEM_MODE": "code", // theirs
        "port": 1,
        "unknown": {"deep": [1, 2]},
        "vectors": false
    }
    "#);
    let (after, any) = without(before, &["port".to_owned()]).expect("json");
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
fn a_new_file_is_readable_json() {
    let list = Value::List(vec!["a".to_owned(), "b \"c\"".to_owned()]);
    for empty in ["", "{}", " \n"] {
        let text = with(empty, "ignore_projects", &list).expect("json");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).expect("strict json"),
            serde_json::json!({"ignore_projects": ["a", "b \"c\""]}),
            "{empty:?} became {text}"
        );
    }
}

#[test]
fn of_two_equal_keys_the_one_that_counts_is_changed() {
    let text = with(r#"{"port": 1, "port": 2}"#, "port", &number(3)).expect("json");
    let last = properties(&text).expect("json").pop();
    assert_eq!(last, Some(("port".to_owned(), Raw::Text("3".to_owned()))));
}

#[test]
fn what_is_not_an_object_is_never_overwritten() {
    for text in ["[1]", "\"a\"", "{\"a\": ", "7"] {
        assert!(with(text, "port", &number(1)).is_err(), "{text}");
        assert!(without(text, &["port".to_owned()]).is_err(), "{text}");
    }
}

#[test]
fn nothing_to_unset_changes_nothing() {
    let odd = "{ \"a\":1 }   ";
    assert_eq!(
        without(odd, &["port".to_owned()]),
        Ok((odd.to_owned(), false))
    );
}

#[test]
fn the_file_is_private_and_a_link_stays_a_link() {
    let dir = tempfile::tempdir().expect("a directory");
    let real = dir.path().join("dotfiles.json");
    std::fs::write(&real, "{}").expect("written");
    std::os::unix::fs::symlink(&real, dir.path().join(FILE_NAME)).expect("linked");
    SettingsFile::of(dir.path())
        .set("port", &number(4000))
        .expect("set");
    let link = std::fs::symlink_metadata(dir.path().join(FILE_NAME)).expect("there");
    assert!(link.file_type().is_symlink());
    let mode = std::fs::metadata(&real)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let names: Vec<_> = std::fs::read_dir(dir.path())
        .expect("listed")
        .map(|entry| entry.expect("entry").file_name())
        .collect();
    assert_eq!(names.len(), 3, "a temporary file was left: {names:?}");
}

#[test]
fn a_file_beyond_the_limit_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(
        dir.path().join(FILE_NAME),
        " ".repeat(SETTINGS_BYTES_MAX + 1),
    )
    .expect("written");
    assert!(read(dir.path()).is_err());
}

#[test]
fn of_changes_at_once_none_is_lost_and_nobody_reads_half_of_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let (threads, each) = (8, 12);
    std::fs::write(dir.path().join(FILE_NAME), "{\n  \"first\": 1\n}\n").expect("written");
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let file = SettingsFile::of(dir.path());
            scope.spawn(move || {
                for at in 0..each {
                    file.set(&format!("key_{thread}_{at}"), &number(at))
                        .expect("set");
                }
            });
        }
        let mut known = 0;
        while known < 1 + threads * usize::try_from(each).expect("small") {
            let text = read(dir.path()).expect("read").expect("there");
            let now = properties(&text).expect("whole").len();
            assert!(now >= known && now > 0, "{known} keys became {now}: {text}");
            known = now;
        }
    });
    let left = std::fs::read_dir(dir.path()).expect("listed").count();
    assert_eq!(left, 2, "the file and its lock");
}

#[test]
fn several_changes_are_one_and_none_if_one_cannot_be() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(FILE_NAME);
    std::fs::write(&path, "{\"port\": 1, \"vectors\": true}").expect("written");
    let file = SettingsFile::of(dir.path());
    let (four, gone) = (number(4), ["vectors".to_owned()]);
    let changes = [Change::Set("port", &four), Change::Unset(&gone)];
    assert!(file.apply(&changes).expect("applied"));
    let text = std::fs::read_to_string(&path).expect("read");
    let left = properties(&text).expect("json");
    assert_eq!(left, [("port".to_owned(), Raw::Text("4".to_owned()))]);
    std::fs::write(&path, "{ broken").expect("written");
    assert!(file.apply(&changes).is_err());
    assert_eq!(std::fs::read_to_string(&path).expect("read"), "{ broken");
}

#[test]
fn a_link_to_nowhere_is_neither_an_empty_file_nor_replaced_by_one() {
    let temp = tempfile::tempdir().unwrap();
    let file = SettingsFile::of(temp.path());
    std::os::unix::fs::symlink("nowhere.json", file.path()).unwrap();
    let error = file.set("port", &Value::Number(1)).unwrap_err();
    assert!(error.to_string().contains("leads nowhere"), "{error}");
    assert!(file.path().is_symlink());
    let loaded = crate::config::load(temp.path(), |_| None);
    assert!(loaded.file_unreadable);
}
