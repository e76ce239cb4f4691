use super::*;

#[test]
fn a_file_that_cannot_be_read_is_neither_written_over_nor_taken_for_gone() {
    let dir = tempfile::tempdir().unwrap();
    let knot = dir.path().join("knot.md");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    let mut folder = Folder::open(dir.path()).unwrap();
    assert!(folder.put("knot.md", "text").is_err());
    assert!(knot.is_symlink());
    assert!(Folder::open(dir.path()).unwrap().finish(true).is_err());
}
