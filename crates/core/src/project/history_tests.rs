use std::fs;

use super::*;
use crate::project::git_object::tests::{PackEntry, commit, loose, loose_file, pack, repo};

fn whole(objects: &[&(String, Vec<u8>)]) -> Vec<((String, Vec<u8>), PackEntry)> {
    objects.iter().map(|object| ((*object).clone(), PackEntry::Whole)).collect()
}

#[test]
fn clone_with_a_known_commit_shares_history() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path().join("clone");
    let (one, two, three, tip) = (commit("one"), commit("two"), commit("three"), commit("tip"));
    repo(&at, &tip.0);
    let gone = Path::new("/nowhere");
    let known = [one.0.clone(), two.0.clone()];
    assert!(!shares_history(&at, &known, gone), "no commit in common");
    pack(&at, &whole(&[&one, &commit("another")]));
    assert!(shares_history(&at, &known, gone), "in a pack");
    assert!(!shares_history(&at, std::slice::from_ref(&three.0), gone));
    loose(&at, &three);
    assert!(shares_history(&at, std::slice::from_ref(&three.0), gone), "as a loose object");
    // A shallow clone has one commit, with its contents.
    assert!(!shares_history(&at, std::slice::from_ref(&tip.0), gone), "named in HEAD only");
    loose(&at, &tip);
    assert!(shares_history(&at, std::slice::from_ref(&tip.0), gone), "checked out");
}

#[test]
fn directories_are_compared_both_ways() {
    let temp = tempfile::tempdir().unwrap();
    let (known, clone) = (temp.path().join("known"), temp.path().join("clone"));
    let (one, two) = (commit("one"), commit("two"));
    repo(&known, &one.0);
    repo(&clone, &two.0);
    loose(&clone, &two);
    assert!(!shares_history(&clone, &[], &known));
    pack(&known, &whole(&[&one, &two]));
    assert!(shares_history(&clone, &[], &known), "the clone is older");
    pack(&known, &whole(&[&one]));
    pack(&clone, &whole(&[&one, &two]));
    assert!(shares_history(&clone, &[], &known), "the clone is newer");
}

#[test]
fn name_of_a_commit_is_no_evidence() {
    let temp = tempfile::tempdir().unwrap();
    let (victim, evil) = (temp.path().join("victim"), temp.path().join("evil"));
    let one = commit("one");
    repo(&victim, &one.0);
    loose(&victim, &one);
    let known = std::slice::from_ref(&one.0);
    repo(&evil, &one.0);
    assert!(!shares_history(&evil, known, &victim), "in HEAD");
    fs::create_dir_all(evil.join(".git/refs/heads")).unwrap();
    fs::write(evil.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(evil.join(".git/refs/heads/main"), &one.0).unwrap();
    assert!(!shares_history(&evil, known, &victim), "in a ref");
    fs::remove_file(evil.join(".git/refs/heads/main")).unwrap();
    fs::write(evil.join(".git/packed-refs"), format!("{} refs/heads/main\n", one.0)).unwrap();
    assert!(!shares_history(&evil, known, &victim), "in packed-refs");
    loose_file(&evil, &one.0, b"");
    assert!(!shares_history(&evil, known, &victim), "as the name of an empty object");
    pack(&evil, &[((one.0.clone(), b"made up".to_vec()), PackEntry::Whole)]);
    assert!(!shares_history(&evil, known, &victim), "in the index of a pack");
    loose(&evil, &one);
    assert!(shares_history(&evil, known, &victim), "the commit itself");
}

#[test]
fn linked_objects_and_alternates_are_no_evidence() {
    let temp = tempfile::tempdir().unwrap();
    let (victim, evil) = (temp.path().join("victim"), temp.path().join("evil"));
    let (one, two) = (commit("one"), commit("two"));
    let known = [one.0.clone(), two.0.clone()];
    repo(&victim, &one.0);
    pack(&victim, &whole(&[&one]));
    loose(&victim, &two);
    repo(&evil, &commit("own").0);
    fs::create_dir_all(evil.join(".git/objects/info")).unwrap();
    let objects = victim.join(".git/objects");
    fs::write(evil.join(".git/objects/info/alternates"), objects.to_str().unwrap()).unwrap();
    fs::remove_dir(evil.join(".git/objects/pack")).unwrap();
    std::os::unix::fs::symlink(objects.join("pack"), evil.join(".git/objects/pack")).unwrap();
    std::os::unix::fs::symlink(objects.join(&two.0[..2]), evil.join(".git/objects").join(&two.0[..2]))
        .unwrap();
    assert!(!shares_history(&evil, &known, &victim));
    fs::remove_dir_all(evil.join(".git/objects")).unwrap();
    std::os::unix::fs::symlink(&objects, evil.join(".git/objects")).unwrap();
    assert!(!shares_history(&evil, &known, &victim));
}

#[test]
fn damaged_index_is_no_evidence() {
    let temp = tempfile::tempdir().unwrap();
    let one = commit("one");
    repo(temp.path(), &one.0);
    let index = temp.path().join(".git/objects/pack/pack-1.idx");
    for bytes in [Vec::new(), b"short".to_vec(), vec![0xff; 2_000]] {
        fs::write(&index, bytes).unwrap();
        assert!(!shares_history(temp.path(), std::slice::from_ref(&one.0), Path::new("/nowhere")));
    }
}
