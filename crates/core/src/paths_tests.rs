use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::*;

fn find(vars: &[(&str, &str)]) -> Option<PathBuf> {
    let vars: BTreeMap<_, _> = vars.iter().copied().collect();
    DataDir::find(|name| vars.get(name).map(OsString::from)).map(|dir| dir.root().to_owned())
}

#[test]
fn setting_wins_and_relative_path_starts_at_home() {
    for (vars, want) in [
        (&[("HOME", "/h")][..], Some("/h/.claude-mem")),
        (&[("HOME", "/h"), ("CLAUDE_MEM_DATA_DIR", "/d")], Some("/d")),
        (&[("HOME", "/h"), ("CLAUDE_MEM_DATA_DIR", "mem")], Some("/h/mem")),
        (&[("HOME", "/h"), ("CLAUDE_MEM_DATA_DIR", "~/mem")], Some("/h/mem")),
        (&[("HOME", "/h"), ("CLAUDE_MEM_DATA_DIR", "")], Some("/h/.claude-mem")),
        (&[("CLAUDE_MEM_DATA_DIR", "/d")], Some("/d")),
        (&[("HOME", "")], None),
        (&[], None),
    ] {
        assert_eq!(find(vars), want.map(PathBuf::from), "{vars:?}");
    }
}

#[test]
fn created_files_are_private() {
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
fn file_in_place_of_directory_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    assert!(create_dir(&temp.path().join("file")).is_err());
    assert!(create_dir(&temp.path().join("file/below")).is_err());
}

#[test]
fn socket_path_fits_kernel_limit() {
    let short = Path::new("/run/user/1000");
    assert_eq!(DataDir::new("/h/.claude-mem").worker_sock(short), Path::new("/h/.claude-mem/worker.sock"));
    let temp = tempfile::tempdir().unwrap();
    let deep = DataDir::new(temp.path().join("deep/".repeat(40)));
    deep.create().unwrap();
    let socket = deep.worker_sock(short);
    // Another user may own the short directory first, so it is not used where it is not needed.
    #[cfg(target_os = "linux")]
    {
        assert!(socket.starts_with(deep.root()), "{socket:?}");
        let listener =
            with_socket_path(&socket, |path| std::os::unix::net::UnixListener::bind(path)).unwrap();
        let client = with_socket_path(&socket, |path| std::os::unix::net::UnixStream::connect(path));
        assert!(client.is_ok() && listener.accept().is_ok());
    }
    #[cfg(not(target_os = "linux"))]
    assert!(socket.starts_with(short) && socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX, "{socket:?}");
}

#[test]
fn open_directory_is_restricted() {
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
fn pipe_is_refused_without_waiting() {
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
}

#[test]
fn socket_directory_is_private_in_shared_parent() {
    let temp = tempfile::tempdir().unwrap();
    let own = temp.path().join("own");
    ensure_private_dir(&own).unwrap();
    ensure_private_dir(&own).unwrap();
    let open_to_all = temp.path().join("open");
    fs::create_dir(&open_to_all).unwrap();
    fs::set_permissions(&open_to_all, Permissions::from_mode(0o777)).unwrap();
    assert!(ensure_private_dir(&open_to_all).is_err());
    std::os::unix::fs::symlink(&own, temp.path().join("link")).unwrap();
    assert!(ensure_private_dir(&temp.path().join("link")).is_err());
    let short = runtime_dir(|_| None);
    let uid = rustix::process::getuid().as_raw().to_string();
    assert!(short.to_string_lossy().ends_with(&uid), "{short:?}");
    let deep = DataDir::new("/deep/".repeat(30)).worker_sock(&short);
    assert!(deep.as_os_str().len() <= SOCKET_PATH_BYTES_MAX || platform::HAS_DESCRIPTOR_PATHS);
}

#[test]
fn create_dir_fails_in_proc_without_recursion() {
    // The parent exists and reports that nothing is there.
    assert!(create_dir(Path::new("/proc/claude-mem/data")).is_err());
}

#[test]
fn failed_replacement_keeps_the_old_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kept.json");
    replace_file(&path, b"old").unwrap();
    let failed = replace_file_with(&path, |file| {
        io::Write::write_all(file, b"half").unwrap();
        Err::<(), _>("no more")
    });
    assert_eq!(failed.unwrap(), Err("no more"));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "the temporary file is gone");
}

#[test]
fn missing_file_needs_no_removal() {
    let dir = tempfile::tempdir().unwrap();
    let path = with_suffix(&dir.path().join("claude-mem.db"), "-wal");
    assert!(path.ends_with("claude-mem.db-wal"));
    replace_file(&path, b"").unwrap();
    remove_if_exists(&path).unwrap();
    remove_if_exists(&path).unwrap();
    assert!(remove_if_exists(dir.path()).is_err(), "a directory is not a file");
}

#[test]
fn pipe_and_endless_file_are_refused() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let temp = tempfile::tempdir().unwrap();
    let (pipe, sparse) = (temp.path().join("pipe"), temp.path().join("sparse"));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    fs::File::create(&sparse).unwrap().set_len(1 << 36).unwrap();
    assert!(open_file(&pipe).is_err());
    assert!(append_file(&pipe).is_err());
    assert!(read_file(&pipe).is_err());
    assert_eq!(read_file(&sparse).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn programs_are_found_in_absolute_directories_only() {
    let temp = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| temp.path().join(name));
    for dir in [&first, &second] {
        std::fs::create_dir(dir).unwrap();
    }
    let (program, link) = (second.join("tool"), first.join("link"));
    std::fs::write(&program, "").unwrap();
    std::os::unix::fs::symlink(&program, &link).unwrap();
    std::fs::create_dir(first.join("tool")).unwrap();
    let search = std::env::join_paths([Path::new("."), &first, &second]).unwrap();
    assert_eq!(find_on_path(&search, "tool"), Some(program.clone()), "a directory is no program");
    assert_eq!(find_on_path(&search, "Cargo.toml"), None, "not in the working directory");
    assert!(is_same_file(&program, &link));
    let [one, other] = ["one", "other"].map(|name| temp.path().join(name));
    assert!(!is_same_file(&one, &other), "neither exists");
    assert!(!is_same_file(&program, &other));
}
