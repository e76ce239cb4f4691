use std::fs;
use std::io::Write as _;

use super::*;
use crate::event_key::hex;
use crate::project::git::FirstReadError;

/// A commit: its id and its contents.
pub(in crate::project) fn commit(says: &str) -> (String, Vec<u8>) {
    let body = format!("tree {}\nauthor A <a@example.com> 1 +0000\n\n{says}\n", "0".repeat(40)).into_bytes();
    let head = format!("commit {}\0", body.len());
    (hex(&sha1(&[head.as_bytes(), &body])), body)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// A repository with `head` checked out.
pub(in crate::project) fn repo(at: &Path, head: &str) {
    fs::create_dir_all(at.join(".git/objects/pack")).unwrap();
    fs::write(at.join(".git/HEAD"), format!("{head}\n")).unwrap();
}

/// Writes the file of a loose object with this name.
pub(in crate::project) fn loose_file(at: &Path, id: &str, bytes: &[u8]) {
    let folder = at.join(".git/objects").join(&id[..2]);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(&id[2..]), bytes).unwrap();
}

pub(in crate::project) fn loose(at: &Path, (id, body): &(String, Vec<u8>)) {
    let head = format!("commit {}\0", body.len());
    loose_file(at, id, &deflate(&[head.as_bytes(), body].concat()));
}

/// How an object stands in a pack.
pub(in crate::project) enum PackEntry {
    Whole,
    /// A delta against the entry before it, by its distance.
    AgainstPrevious,
    /// A delta against the first entry, by its name.
    AgainstFirst,
}

/// Replaces all of `base` by `new`, after copying the first bytes.
fn delta(base: &[u8], new: &[u8]) -> Vec<u8> {
    let shared = base.iter().zip(new).take_while(|(a, b)| a == b).count();
    let size = |mut n: usize| {
        let mut out = Vec::new();
        while n >= 0x80 {
            out.push(n as u8 | 0x80);
            n >>= 7;
        }
        out.push(n as u8);
        out
    };
    let mut out = [size(base.len()), size(new.len())].concat();
    out.extend([0x80 | 0x10 | 0x20, shared as u8, (shared >> 8) as u8]);
    for part in new[shared..].chunks(127) {
        out.push(part.len() as u8);
        out.extend(part);
    }
    out
}

fn object_head(kind: u8, mut size: usize) -> Vec<u8> {
    let mut out = vec![kind << 4 | (size & 15) as u8];
    size >>= 4;
    while size > 0 {
        *out.last_mut().unwrap() |= 0x80;
        out.push((size & 0x7f) as u8);
        size >>= 7;
    }
    out
}

/// Writes a pack and its index of version 2.
pub(in crate::project) fn pack(at: &Path, objects: &[((String, Vec<u8>), PackEntry)]) {
    let mut bytes = b"PACK\0\0\0\x02\0\0\0\x01".to_vec();
    let mut listed: Vec<(Vec<u8>, u32)> = Vec::new();
    for (at, ((id, body), form)) in objects.iter().enumerate() {
        let start = bytes.len();
        listed.push((from_hex(id).unwrap(), start as u32));
        match form {
            PackEntry::Whole => {
                bytes.extend(object_head(COMMIT, body.len()));
                bytes.extend(deflate(body));
            }
            PackEntry::AgainstPrevious => {
                let delta = delta(&objects[at - 1].0.1, body);
                bytes.extend(object_head(OFFSET_DELTA, delta.len()));
                let distance = start - listed[at - 1].1 as usize;
                assert!((0x80..0x4000).contains(&distance), "two bytes are enough");
                bytes.extend([0x80 | ((distance >> 7) - 1) as u8, (distance & 0x7f) as u8]);
                bytes.extend(deflate(&delta));
            }
            PackEntry::AgainstFirst => {
                let delta = delta(&objects[0].0.1, body);
                bytes.extend(object_head(NAME_DELTA, delta.len()));
                bytes.extend(&listed[0].0);
                bytes.extend(deflate(&delta));
            }
        }
    }
    listed.sort();
    let mut index = INDEX_MAGIC.to_vec();
    for first in 0..=255u8 {
        let count = listed.iter().filter(|(id, _)| id[0] <= first).count() as u32;
        index.extend(count.to_be_bytes());
    }
    index.extend(listed.iter().flat_map(|(id, _)| id.clone()));
    index.extend(listed.iter().flat_map(|_| [0; 4]));
    index.extend(listed.iter().flat_map(|(_, offset)| offset.to_be_bytes()));
    fs::write(at.join(".git/objects/pack/pack-1.idx"), index).unwrap();
    fs::write(at.join(".git/objects/pack/pack-1.pack"), bytes).unwrap();
}

fn contains(at: &Path, id: &str) -> bool {
    let checkout = GitCheckout::open(at, &mut FirstReadError::default()).unwrap();
    CommitLookup::new(&checkout).contains(id)
}

/// Text that deflate does not shorten below the distance that two bytes need.
fn long(seed: u32) -> String {
    let word = |n: u32| format!("{:08x}", n.wrapping_mul(2_654_435_761).wrapping_add(seed));
    (0..60).map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn commits_are_found_loose_and_packed() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path();
    let all: Vec<_> = (0..5).map(|n| commit(&long(n))).collect();
    repo(at, &all[0].0);
    assert!(all.iter().all(|(id, _)| !contains(at, id)), "a name is no commit");
    loose(at, &all[0]);
    pack(
        at,
        &[
            (all[1].clone(), PackEntry::Whole),
            (all[2].clone(), PackEntry::AgainstPrevious),
            (all[3].clone(), PackEntry::AgainstFirst),
        ],
    );
    let found: Vec<bool> = all.iter().map(|(id, _)| contains(at, id)).collect();
    assert_eq!(found, [true, true, true, true, false]);
}

#[test]
fn sha256_names_are_checked_too() {
    let temp = tempfile::tempdir().unwrap();
    let body = b"tree 1\n\nsays\n".to_vec();
    let head = format!("commit {}\0", body.len());
    let id = hex(&Sha256::digest([head.as_bytes(), &body].concat()));
    repo(temp.path(), &id);
    assert!(!contains(temp.path(), &id));
    loose(temp.path(), &(id.clone(), body));
    assert!(contains(temp.path(), &id));
}

#[test]
fn contents_must_hash_to_the_name() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path();
    let (wanted, other) = (commit("wanted"), commit("other"));
    repo(at, &wanted.0);
    let tree = deflate(b"tree 3\0abc");
    for bytes in [Vec::new(), b"not deflated".to_vec(), deflate(b"commit 6\0wanted"), deflate(b""), tree] {
        loose_file(at, &wanted.0, &bytes);
        assert!(!contains(at, &wanted.0));
    }
    // The index names the wanted commit, the pack has another one.
    pack(at, &[((wanted.0.clone(), other.1), PackEntry::Whole)]);
    assert!(!contains(at, &wanted.0));
    fs::remove_file(at.join(".git/objects/pack/pack-1.pack")).unwrap();
    assert!(!contains(at, &wanted.0), "an index without its pack");
}

#[test]
fn damaged_packs_are_no_evidence() {
    let temp = tempfile::tempdir().unwrap();
    let at = temp.path();
    let all: Vec<_> = (0..3).map(|n| commit(&long(n))).collect();
    repo(at, &all[0].0);
    let entries = [
        (all[0].clone(), PackEntry::Whole),
        (all[1].clone(), PackEntry::AgainstPrevious),
        (all[2].clone(), PackEntry::AgainstFirst),
    ];
    pack(at, &entries);
    for name in ["pack-1.idx", "pack-1.pack"] {
        let path = at.join(".git/objects/pack").join(name);
        let sound = fs::read(&path).unwrap();
        // Ends anywhere, or has one wrong byte anywhere: no panic, and never another answer than the true one.
        for place in (0..sound.len()).step_by(7) {
            fs::write(&path, &sound[..place]).unwrap();
            let _answers: Vec<bool> = all.iter().map(|(id, _)| contains(at, id)).collect();
            let mut wrong = sound.clone();
            wrong[place] ^= 0xff;
            fs::write(&path, &wrong).unwrap();
            assert!(!contains(at, &commit("unknown").0));
        }
        fs::write(&path, &sound).unwrap();
    }
    assert!(all.iter().all(|(id, _)| contains(at, id)));
}
