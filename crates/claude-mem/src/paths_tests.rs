use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn find(vars: &[(&str, &str)]) -> Option<PathBuf> {
    let vars: BTreeMap<_, _> = vars.iter().copied().collect();
    DataDir::find(|name| vars.get(name).map(OsString::from)).map(|dir| dir.root().to_owned())
}

#[test]
fn the_setting_wins_and_a_relative_one_starts_at_home() {
    for (vars, want) in [
        (&[("HOME", "/h")][..], Some("/h/.claude-mem")),
        (&[("HOME", "/h"), ("CLAUDE_MEM_DATA_DIR", "/d")], Some("/d")),
        (
            &[("HOME", "/h"), ("CLAUDE_MEM_DATA_DIR", "mem")],
            Some("/h/mem"),
        ),
        (
            &[("HOME", "/h"), ("CLAUDE_MEM_DATA_DIR", "~/mem")],
            Some("/h/mem"),
        ),
        (
            &[("HOME", "/h"), ("CLAUDE_MEM_DATA_DIR", "")],
            Some("/h/.claude-mem"),
        ),
        (&[("CLAUDE_MEM_DATA_DIR", "/d")], Some("/d")),
        (&[("HOME", "")], None),
        (&[], None),
    ] {
        assert_eq!(find(vars), want.map(PathBuf::from), "{vars:?}");
    }
}

#[test]
fn what_is_made_belongs_to_its_owner_alone() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("a/b");
    create_dir(&dir).unwrap();
    create_dir(&dir).unwrap();
    create_file(&dir.join("new")).unwrap();
    append_file(&dir.join("log")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&temp.path().join("a")), 0o700);
    assert_eq!(mode(&dir), 0o700);
    assert_eq!(mode(&dir.join("new")), 0o600);
    assert_eq!(mode(&dir.join("log")), 0o600);
}

#[test]
fn a_file_in_the_place_of_a_directory_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    assert!(create_dir(&temp.path().join("file")).is_err());
    assert!(create_dir(&temp.path().join("file/below")).is_err());
}

#[test]
fn a_socket_path_always_fits_the_kernel() {
    let short = Path::new("/run/user/1000");
    assert_eq!(
        DataDir::new("/h/.claude-mem").worker_sock(short),
        Path::new("/h/.claude-mem/worker.sock")
    );
    let deep = DataDir::new("/deep/".repeat(30)).worker_sock(short);
    assert!(deep.starts_with(short), "{deep:?}");
    assert!(deep.as_os_str().len() <= SOCKET_PATH_BYTES_MAX);
}

#[test]
fn a_directory_that_stood_open_is_closed_to_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let above = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let open = |path: &Path, mode| {
        fs::create_dir_all(path).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let dir = DataDir::new(above.path().join("earlier"));
    open(dir.root(), 0o755);
    open(&dir.logs(), 0o775);
    dir.create().unwrap();
    assert_eq!((mode(dir.root()), mode(&dir.logs())), (0o700, 0o700));
    // Such as /tmp.
    let shared = DataDir::new(above.path().join("shared"));
    open(shared.root(), 0o1777);
    shared.create().unwrap();
    assert_eq!((mode(shared.root()), mode(&shared.logs())), (0o1777, 0o700));
}
