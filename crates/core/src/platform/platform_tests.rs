use super::*;

#[test]
fn background_work_takes_only_idle_cores() {
    for (cores, runnable, want) in [
        (2, Some(1), 2),
        (2, Some(2), 1),
        (2, Some(9), 1),
        (1, Some(0), 1),
        (16, Some(3), BACKGROUND_CORES_MAX),
        (16, Some(15), 2),
        (16, None, 1),
    ] {
        assert_eq!(idle_of(cores, runnable), want, "{cores} cores, {runnable:?} runnable");
    }
}

#[test]
fn own_process_is_listed_with_a_start_that_stays() {
    let own = std::process::id();
    for listed in [listed_process, portable::listed_process] {
        let first = listed(own).unwrap();
        assert!(!first.has_exited);
        assert_eq!(listed(own), Some(first));
        assert_eq!(listed(u32::MAX), None);
    }
    let pid = own.cast_signed();
    for lines in [command_lines(), portable::command_lines()] {
        assert!(lines.iter().any(|(found, command)| *found == pid && !command.is_empty()));
    }
    assert!(command_line(pid).is_some() && portable::command_line(pid).is_some());
}

#[test]
fn machine_has_the_same_name_by_both_ways() {
    let name = machine_name();
    assert!(name.is_some());
    assert_eq!(portable::machine_name().map(|name| name.trim().to_owned()), name);
}

#[test]
fn rename_keeps_an_existing_file() {
    type Rename = fn(&Path, &Path) -> io::Result<()>;
    for rename in [rename_without_replacing as Rename, portable::rename_without_replacing] {
        let dir = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
        std::fs::write(&one, "1").unwrap();
        rename(&one, &two).unwrap();
        assert!(!one.exists());
        std::fs::write(&one, "another").unwrap();
        assert_eq!(rename(&one, &two).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&two).unwrap(), "1");
    }
}

#[test]
fn peer_of_our_own_socket_is_ourselves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let stream = UnixStream::connect(&path).unwrap();
    let own = rustix::process::getuid().as_raw();
    assert_eq!(peer_uid(&stream).unwrap(), own);
    assert_eq!(portable::peer_uid(&stream).unwrap(), own);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test waits for the process")]
fn exit_is_waited_for_until_the_deadline() {
    type Wait = fn(&mut Child, Duration) -> io::Result<bool>;
    for wait in [wait_for_exit as Wait, portable::wait_for_exit] {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        assert!(!wait(&mut child, Duration::from_millis(1)).unwrap());
        child.kill().unwrap();
        assert!(wait(&mut child, Duration::from_mins(1)).unwrap());
        child.wait().unwrap();
    }
}
