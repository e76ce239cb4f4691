use std::fs;

use super::*;

/// A repository with `head` checked out.
fn repo(at: &Path, head: &str) {
    fs::create_dir_all(at.join(".git/objects/pack")).unwrap();
    fs::write(at.join(".git/HEAD"), format!("{head}\n")).unwrap();
}

fn loose(at: &Path, id: &str) {
    let folder = at.join(".git/objects").join(&id[..2]);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(&id[2..]), "").unwrap();
}

/// Writes a pack index of version 2 with these ids.
fn pack(at: &Path, ids: &[String]) {
    let mut ids: Vec<Vec<u8>> = ids.iter().map(|id| from_hex(id).unwrap()).collect();
    ids.sort();
    let mut bytes = vec![0xff, b't', b'O', b'c', 0, 0, 0, 2];
    for first in 0..=255u8 {
        let count = ids.iter().filter(|id| id[0] <= first).count() as u32;
        bytes.extend(count.to_be_bytes());
    }
    bytes.extend(ids.concat());
    fs::write(at.join(".git/objects/pack/pack-1.idx"), bytes).unwrap();
}

fn id(seed: u8) -> String {
    format!("{seed:02x}").repeat(20)
}

#[test]
fn clone_with_a_known_commit_shares_history() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path().join("clone");
    repo(&at, &id(9));
    let gone = Path::new("/nowhere");
    let known = [id(1), id(2)];
    assert!(!shares_history(&at, &known, gone), "no commit in common");
    pack(&at, &[id(0), id(1), id(0xff)]);
    assert!(shares_history(&at, &known, gone), "in a pack");
    assert!(shares_history(&at, &[id(0)], gone) && shares_history(&at, &[id(0xff)], gone), "at the borders");
    assert!(!shares_history(&at, &[id(3)], gone));
    loose(&at, &id(3));
    assert!(shares_history(&at, &[id(3)], gone), "as a loose object");
    // A shallow clone has one commit.
    assert!(shares_history(&at, &[id(9)], gone), "checked out");
}

#[test]
fn directories_are_compared_both_ways() {
    let temp = tempfile::tempdir().unwrap();
    let (known, clone) = (temp.path().join("known"), temp.path().join("clone"));
    repo(&known, &id(1));
    repo(&clone, &id(2));
    assert!(!shares_history(&clone, &[], &known));
    pack(&known, &[id(1), id(2)]);
    assert!(shares_history(&clone, &[], &known), "the clone is older");
    pack(&known, &[id(1)]);
    pack(&clone, &[id(1), id(2)]);
    assert!(shares_history(&clone, &[], &known), "the clone is newer");
}

#[test]
fn linked_objects_and_alternates_are_no_evidence() {
    let temp = tempfile::tempdir().unwrap();
    let (victim, evil) = (temp.path().join("victim"), temp.path().join("evil"));
    repo(&victim, &id(1));
    pack(&victim, &[id(1)]);
    loose(&victim, &id(2));
    repo(&evil, &id(7));
    fs::create_dir_all(evil.join(".git/objects/info")).unwrap();
    let objects = victim.join(".git/objects");
    fs::write(evil.join(".git/objects/info/alternates"), objects.to_str().unwrap()).unwrap();
    fs::remove_dir(evil.join(".git/objects/pack")).unwrap();
    std::os::unix::fs::symlink(objects.join("pack"), evil.join(".git/objects/pack")).unwrap();
    std::os::unix::fs::symlink(objects.join("02"), evil.join(".git/objects/02")).unwrap();
    assert!(!shares_history(&evil, &[id(1), id(2)], &victim));
    fs::remove_dir_all(evil.join(".git/objects")).unwrap();
    std::os::unix::fs::symlink(&objects, evil.join(".git/objects")).unwrap();
    assert!(!shares_history(&evil, &[id(1), id(2)], &victim));
}

#[test]
fn damaged_index_is_no_evidence() {
    let temp = tempfile::tempdir().unwrap();
    repo(temp.path(), &id(9));
    let index = temp.path().join(".git/objects/pack/pack-1.idx");
    for bytes in [Vec::new(), b"short".to_vec(), vec![0xff; 2_000]] {
        fs::write(&index, bytes).unwrap();
        assert!(!shares_history(temp.path(), &[id(1)], Path::new("/nowhere")));
    }
}
