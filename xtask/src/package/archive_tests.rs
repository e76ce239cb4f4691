use std::process::Command;

use super::*;

fn files() -> Vec<ArchiveFile> {
    vec![
        ArchiveFile::text("a/readme.txt", "hello\n".repeat(200)),
        ArchiveFile::program("a/bin/tool", b"\x7fELF odd".to_vec()),
    ]
}

fn listed(program: &str, args: &[&str], bytes: &[u8]) -> String {
    let file = std::env::temp_dir().join(format!("archive-{}-{program}", std::process::id()));
    std::fs::write(&file, bytes).unwrap();
    let output = Command::new(program).args(args).arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tar_reads_what_we_write() {
    let bytes = tar_gz(&files(), true).unwrap();
    assert_eq!(bytes, tar_gz(&files(), true).unwrap(), "the same files give the same bytes");
    let listing = listed("tar", &["--utc", "-tvzf"], &bytes);
    let lines: Vec<String> =
        listing.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        [
            "drwxr-xr-x root/root 0 1980-01-01 00:00 a/",
            "-rw-r--r-- root/root 1200 1980-01-01 00:00 a/readme.txt",
            "drwxr-xr-x root/root 0 1980-01-01 00:00 a/bin/",
            "-rwxr-xr-x root/root 8 1980-01-01 00:00 a/bin/tool",
        ]
    );
}

#[test]
fn python_reads_our_zip() {
    let script = "import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    for i in z.infolist(): print(i.filename, i.file_size, oct(i.external_attr >> 16), i.date_time[0])";
    let listing = listed("python3", &["-c", script], &zip(&files()).unwrap());
    assert_eq!(listing, "a/readme.txt 1200 0o100644 1980\na/bin/tool 8 0o100755 1980\n");
}

#[test]
fn ar_members_are_padded_to_even_offsets() {
    let bytes = ar(&[("one", b"odd".to_vec()), ("two", b"even".to_vec())]);
    assert_eq!(bytes.len(), 8 + 60 + 4 + 60 + 4);
    assert!(bytes[72..].starts_with(b"two "));
}
