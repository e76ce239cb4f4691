use super::*;

#[test]
fn unreadable_file_is_neither_overwritten_nor_removed() {
    let dir = tempfile::tempdir().unwrap();
    let knot = dir.path().join("knot.md");
    std::os::unix::fs::symlink(&knot, &knot).unwrap();
    let mut folder = ExportFolder::open(dir.path()).unwrap();
    assert!(folder.write_file("knot.md", "text").is_err());
    assert!(knot.is_symlink());
    assert!(ExportFolder::open(dir.path()).unwrap().finish(true).is_err());
}
