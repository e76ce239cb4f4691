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

#[test]
fn a_pipe_is_not_waited_for() {
    let temp = tempfile::tempdir().unwrap();
    let pipe = temp.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(open_file(&pipe).is_err());
    assert!(open_file(temp.path()).is_err());
    assert!(open_file(Path::new("/dev/zero")).is_err());
    let file = temp.path().join("file");
    fs::write(&file, "text").unwrap();
    assert_eq!(read_file(&file).unwrap(), b"text");
    assert!(crate::hook::tail::last_message(&pipe).is_err());
    assert!(!crate::hook::tail::is_warmup(&pipe));
}

#[test]
fn where_everybody_can_write_a_socket_lies_in_a_directory_of_ours() {
    let temp = tempfile::tempdir().unwrap();
    let own = temp.path().join("own");
    own_dir(&own).unwrap();
    own_dir(&own).unwrap();
    let open_to_all = temp.path().join("open");
    fs::create_dir(&open_to_all).unwrap();
    fs::set_permissions(&open_to_all, Permissions::from_mode(0o777)).unwrap();
    assert!(own_dir(&open_to_all).is_err());
    std::os::unix::fs::symlink(&own, temp.path().join("link")).unwrap();
    assert!(own_dir(&temp.path().join("link")).is_err());
    let short = short_dir(|_| None);
    let uid = rustix::process::getuid().as_raw().to_string();
    assert!(short.to_string_lossy().ends_with(&uid), "{short:?}");
    let deep = DataDir::new("/deep/".repeat(30)).worker_sock(&short);
    assert!(deep.as_os_str().len() <= SOCKET_PATH_BYTES_MAX);
}

#[test]
fn where_nothing_can_be_made_that_is_said_and_not_tried_for_ever() {
    // Its folder is there, and it answers that there is none.
    assert!(create_dir(Path::new("/proc/claude-mem/data")).is_err());
}
