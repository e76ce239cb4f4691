//! `claude-mem team serve` starts another program: the server is not part of this executable.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::common::{exe, sandbox};

/// A program that prints who it is and its arguments.
fn write_server(dir: &Path, says: &str) {
    let path = dir.join("claude-mem-team");
    std::fs::write(&path, format!("#!/bin/sh\necho {says} \"$@\"\nexit 7\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn server_is_found_beside_the_executable_or_on_the_path() {
    let mut home = sandbox();
    let (programs, on_path) = (home.home().join("programs"), home.home().join("on-path"));
    for dir in [&programs, &on_path] {
        std::fs::create_dir(dir).unwrap();
    }
    // Where cargo builds the executable, the real server may lie beside it.
    let alone = programs.join("claude-mem");
    std::fs::copy(exe(), &alone).unwrap();
    home = home.with_exe(&alone).with_env("PATH", format!("{}:/usr/bin:/bin", on_path.display()));

    let missing = home.mem(&["team", "serve", "--trial"]);
    assert_eq!(missing.code, Some(1), "{missing}");
    assert!(missing.stderr.contains("claude-mem-team is not installed"), "{missing}");
    assert!(missing.stderr.contains("cargo xtask install --team"), "{missing}");
    let told = home.mem(&["team", "serve", "--json"]);
    assert!(told.stdout.contains("\"error\""), "{told}");

    write_server(&on_path, "path");
    let data = home.data_dir().display().to_string();
    let started = home.mem(&["--json", "team", "serve", "--trial", "--listen", "127.0.0.1:0"]);
    assert_eq!(started.stdout, format!("path serve --data-dir {data} --json --trial --listen 127.0.0.1:0\n"));
    assert_eq!(started.code, Some(7), "the exit code is the server's");

    write_server(&programs, "beside");
    let started = home.mem(&["--data-dir", "/elsewhere", "team", "serve", "--help"]);
    assert_eq!(started.stdout, "beside serve --data-dir /elsewhere --help\n");
}
