use std::fs;

use super::*;
use crate::install::client::Abilities;
use crate::install::version::Version;

struct Machine {
    dir: tempfile::TempDir,
    places: Places,
    receipt: Receipt,
}

impl Machine {
    fn new(settings: Option<&str>, state: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let places = Places {
            settings: dir.path().join(".claude/settings.json"),
            state: dir.path().join(".claude.json"),
            project: None,
        };
        fs::create_dir(dir.path().join(".claude")).unwrap();
        for (path, text) in [(&places.settings, settings), (&places.state, state)] {
            if let Some(text) = text {
                fs::write(path, text).unwrap();
            }
        }
        let receipt = Receipt::default();
        Self {
            dir,
            places,
            receipt,
        }
    }

    fn launch(executable: &str) -> Launch {
        Launch {
            executable: executable.into(),
            data_dir: None,
            abilities: Abilities::of(Some(Version(2, 1, 325))),
        }
    }

    fn install(&mut self, executable: &str, adopt: bool) -> Vec<Done> {
        let plan = to_install(
            &self.places,
            &Self::launch(executable),
            &self.receipt,
            adopt,
        )
        .unwrap();
        let copies = self.dir.path().join("copies");
        let done = note(&plan, &mut self.receipt, &copies, "stamp").unwrap();
        write_all(&plan.changes).unwrap();
        done
    }

    fn uninstall(&mut self) {
        let files = std::mem::take(&mut self.receipt.files);
        let changes: Vec<_> = files
            .iter()
            .map(|left| to_uninstall(left).unwrap())
            .collect();
        write_all(&changes).unwrap();
    }

    fn settings(&self) -> Option<String> {
        fs::read_to_string(&self.places.settings).ok()
    }

    fn state(&self) -> Option<String> {
        fs::read_to_string(&self.places.state).ok()
    }
}

const ODD: &str = "{\r\n  // mine\r\n  \"model\" : \"opus\",\r\n\r\n\r\n  \"x\": [1,2 ,3]}";

#[test]
fn what_nobody_touched_comes_back_byte_for_byte() {
    for settings in [None, Some(""), Some("{}"), Some(ODD), Some("{\"a\":1}")] {
        let mut machine = Machine::new(settings, Some("{\"numStartups\":1}"));
        machine.install("/a/claude-mem", false);
        machine.install("/b/claude-mem", false);
        assert!(machine.settings().unwrap().contains("/b/claude-mem"));
        machine.uninstall();
        assert_eq!(machine.settings().as_deref(), settings);
        assert_eq!(machine.state().as_deref(), Some("{\"numStartups\":1}"));
    }
}

#[test]
fn a_second_install_changes_nothing_and_keeps_no_second_copy() {
    let mut machine = Machine::new(Some(ODD), None);
    let first = machine.install("/a/claude-mem", false);
    assert!(first.iter().all(|done| done.changed));
    let (settings, receipt) = (machine.settings(), machine.receipt.clone());
    let second = machine.install("/a/claude-mem", false);
    assert!(second.iter().all(|done| !done.changed));
    assert_eq!(
        (machine.settings(), machine.receipt.clone()),
        (settings, receipt)
    );
    assert_eq!(
        fs::read_dir(machine.dir.path().join("copies"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn what_the_user_added_meanwhile_stays() {
    let mut machine = Machine::new(None, Some("{}"));
    machine.install("/a/claude-mem", false);
    let edited = machine
        .settings()
        .unwrap()
        .replacen('{', "{\n  \"theme\": \"dark\",", 1);
    fs::write(&machine.places.settings, edited).unwrap();
    machine.install("/b/claude-mem", false);
    machine.uninstall();
    let left: serde_json::Value = serde_json::from_str(&machine.settings().unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({ "theme": "dark" }));
    assert_eq!(machine.state().as_deref(), Some("{}"));
}

#[test]
fn a_lost_copy_costs_only_the_exact_bytes() {
    let mut machine = Machine::new(Some(ODD), Some("{}"));
    machine.install("/a/claude-mem", false);
    fs::remove_dir_all(machine.dir.path().join("copies")).unwrap();
    let lost = to_uninstall(&machine.receipt.files[0]).unwrap().lost_copy;
    assert!(lost.is_some_and(|lost| lost.contains("copies")));
    machine.uninstall();
    let left = machine.settings().unwrap();
    assert!(
        left.contains("// mine") && !left.contains("claude-mem"),
        "{left}"
    );
}

#[test]
fn one_file_that_cannot_be_understood_keeps_the_other_from_being_changed() {
    for broken in ["{ not json", "[]", "{\"mcpServers\": 3}"] {
        let machine = Machine::new(Some("{}"), Some(broken));
        let launch = Machine::launch("/a/claude-mem");
        let error = to_install(&machine.places, &launch, &machine.receipt, false).unwrap_err();
        assert!(error.to_string().contains(".claude.json"), "{error}");
        assert_eq!(machine.settings().as_deref(), Some("{}"));
        assert_eq!(machine.state().as_deref(), Some(broken));
    }
}

#[test]
fn a_file_that_cannot_be_written_takes_the_others_back() {
    let machine = Machine::new(Some(ODD), Some("{}"));
    let launch = Machine::launch("/a/claude-mem");
    let plan = to_install(&machine.places, &launch, &machine.receipt, false).unwrap();
    fs::write(&machine.places.state, "{\"changed\": \"meanwhile\"}").unwrap();
    let error = write_all(&plan.changes).unwrap_err();
    assert!(matches!(error, FileError::Changing(_)));
    assert_eq!(machine.settings().as_deref(), Some(ODD));
}

#[test]
fn an_adopted_program_is_switched_off_and_comes_back_with_the_old_text() {
    let settings = r#"{"enabledPlugins":{"claude-mem@thedotmack":true}}"#;
    let mut machine = Machine::new(Some(settings), None);
    machine.install("/a/claude-mem", false);
    assert!(
        machine
            .settings()
            .unwrap()
            .contains(r#""claude-mem@thedotmack":true"#)
    );
    machine.install("/a/claude-mem", true);
    assert!(
        machine
            .settings()
            .unwrap()
            .contains(r#""claude-mem@thedotmack":false"#)
    );
    machine.uninstall();
    assert_eq!(machine.settings().as_deref(), Some(settings));
    assert_eq!(machine.state(), None);
}

#[test]
fn the_clients_own_variable_says_where_its_files_are() {
    let env = |name: &str| match name {
        "HOME" => Some("/h".into()),
        "CLAUDE_CONFIG_DIR" => Some("/c".into()),
        _ => None,
    };
    let user = Places::find(env, None).unwrap();
    assert_eq!(user.settings, Path::new("/c/settings.json"));
    assert_eq!(user.state, Path::new("/c/.claude.json"));
    let project = Places::find(env, Some("/p".into())).unwrap();
    assert_eq!(
        project.settings,
        Path::new("/p/.claude/settings.local.json")
    );
    assert_eq!(project.state, Path::new("/c/.claude.json"));
}

#[test]
fn what_could_not_be_given_back_is_not_called_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));
    fs::write(&first, "0").unwrap();
    fs::write(&second, "somebody else's by now").unwrap();
    let read = |path: &Path| ClientFile::read(path, 100).unwrap();
    let change = |file: ClientFile, after: &str| Change {
        part: Part::Hooks,
        file,
        project: None,
        after: Some(after.to_owned()),
        before: None,
        copy: None,
        lost_copy: None,
    };
    let changes = [
        change(read(&first), "1"),
        // Another one writes it before it can be given back.
        change(read(&first).holding(Some("1".to_owned())), "2"),
        change(read(&second).holding(Some("as it was".to_owned())), "ours"),
    ];
    let error = write_all(&changes).unwrap_err();
    let FileError::HalfDone { left, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(left, &[first]);
    assert!(
        !error.to_string().contains("nothing was changed"),
        "{error}"
    );
    let error = write_all(&changes[2..]).unwrap_err();
    assert!(error.to_string().contains("nothing was changed"), "{error}");
}
