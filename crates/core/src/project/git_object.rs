//! Reads commits from the object store of a repository, and checks that they have their names.
//!
//! The name of an object is the hash of its contents. A file with the right name proves nothing; contents
//! that hash to the name were copied from a repository that has them.
//!
//! Invariant: every size is bounded, links and `alternates` are not followed, and what cannot be read is no
//! commit.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use sha2::{Digest as _, Sha256};

use super::git::{GitCheckout, is_inside, is_plain_file};
use super::sha1::sha1;
use crate::paths;

/// Maximum pack indexes that are searched.
const PACKS_MAX: usize = 64;

/// Maximum bytes read of one pack index for one commit: the names that share its first byte.
const PACK_NAMES_BYTES_MAX: u64 = 4 << 20;

/// Maximum bytes of a commit: one with more text is not looked at.
const COMMIT_BYTES_MAX: u64 = 1 << 20;

/// Maximum deltas that lead to one commit. git makes at most 50 by itself.
const DELTAS_MAX: usize = 250;

/// Begins a pack index of version 2.
const INDEX_MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// Bytes of a pack index before the names: the magic and the counts by first byte.
const INDEX_NAMES_AT: u64 = 8 + 4 * 256;

/// Finds commits in the objects of a repository.
pub(super) struct CommitLookup {
    objects: Option<PathBuf>,
    indexes: Vec<PathBuf>,
}

impl CommitLookup {
    pub(super) fn new(checkout: &GitCheckout) -> Self {
        let objects = checkout.common_dir.join("objects");
        let packs = objects.join("pack");
        let own = |dir: &Path| is_inside(&checkout.common_dir, dir);
        let mut indexes: Vec<PathBuf> = match std::fs::read_dir(&packs) {
            Ok(entries) if own(&packs) => entries.flatten().map(|entry| entry.path()).collect(),
            _ => Vec::new(),
        };
        indexes.retain(|path| path.extension().is_some_and(|kind| kind == "idx") && is_plain_file(path));
        indexes.truncate(PACKS_MAX);
        Self { objects: own(&objects).then_some(objects), indexes }
    }

    /// Whether the repository has the contents of this commit.
    pub(super) fn contains(&self, id: &str) -> bool {
        let Some(name) = from_hex(id) else {
            return false;
        };
        let loose = || self.loose_commit(id).ok().flatten();
        let packed = || self.indexes.iter().find_map(|index| packed_commit(index, &name).ok().flatten());
        let has_name = |body: &Vec<u8>| is_named(&name, body);
        loose().is_some_and(|body| has_name(&body)) || packed().is_some_and(|body| has_name(&body))
    }

    /// The contents of a loose object, if it is a commit.
    fn loose_commit(&self, id: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(objects) = &self.objects else {
            return Ok(None);
        };
        let folder = objects.join(&id[..2]);
        let path = folder.join(&id[2..]);
        let is_folder = std::fs::symlink_metadata(&folder).is_ok_and(|about| about.is_dir());
        if !is_folder || !is_plain_file(&path) {
            return Ok(None);
        }
        let mut text = Vec::new();
        ZlibDecoder::new(paths::open_file(&path)?).take(COMMIT_BYTES_MAX).read_to_end(&mut text)?;
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
        Ok(text.starts_with(b"commit ").then(|| text.split_off(end + 1)))
    }
}

/// Whether a commit with this body has this name: of SHA-1, or in newer repositories of SHA-256.
fn is_named(name: &[u8], body: &[u8]) -> bool {
    let head = format!("commit {}\0", body.len());
    match name.len() {
        20 => sha1(&[head.as_bytes(), body]) == name,
        32 => Sha256::new().chain_update(&head).chain_update(body).finalize()[..] == *name,
        _ => false,
    }
}

/// The contents of an object that the index lists, if its pack has it and it is a commit.
fn packed_commit(index: &Path, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let pack = index.with_extension("pack");
    if !is_plain_file(&pack) {
        return Ok(None);
    }
    let index = PackIndex::open(index)?;
    let Some(at) = index.offset_of(name)? else {
        return Ok(None);
    };
    let pack = paths::open_file(&pack)?;
    let found = PackReader { pack: &pack, index: &index, name_bytes: name.len() }.object(at)?;
    Ok(found.filter(|(kind, _)| *kind == COMMIT).map(|(_, body)| body))
}

/// An index of version 2: counts by first byte, sorted names, checksums, offsets, large offsets.
struct PackIndex {
    file: File,
    count: u64,
}

impl PackIndex {
    fn open(path: &Path) -> io::Result<Self> {
        let file = paths::open_file(path)?;
        let mut magic = [0; 8];
        file.read_exact_at(&mut magic, 0)?;
        if magic != INDEX_MAGIC {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut index = Self { file, count: 0 };
        index.count = index.names_up_to(255)?;
        Ok(index)
    }

    /// How many names begin with this byte or a smaller one.
    fn names_up_to(&self, byte: u64) -> io::Result<u64> {
        self.number_at(8 + 4 * byte).map(u64::from)
    }

    fn number_at(&self, at: u64) -> io::Result<u32> {
        let mut number = [0; 4];
        self.file.read_exact_at(&mut number, at)?;
        Ok(u32::from_be_bytes(number))
    }

    /// Where the pack has the object.
    fn offset_of(&self, name: &[u8]) -> io::Result<Option<u64>> {
        let (first, width) = (u64::from(name[0]), name.len() as u64);
        let begin = if first == 0 { 0 } else { self.names_up_to(first - 1)? };
        let end = self.names_up_to(first)?;
        let bytes = end.saturating_sub(begin).saturating_mul(width).min(PACK_NAMES_BYTES_MAX);
        let mut names = vec![0; usize::try_from(bytes).unwrap_or(0)];
        self.file.read_exact_at(&mut names, INDEX_NAMES_AT + begin * width)?;
        let Some(position) = names.chunks_exact(name.len()).position(|listed| listed == name) else {
            return Ok(None);
        };
        let offsets = INDEX_NAMES_AT + self.count * (width + 4);
        let offset = self.number_at(offsets + 4 * (begin + position as u64))?;
        let large = u64::from(offset & 0x7fff_ffff);
        if offset & 0x8000_0000 == 0 {
            return Ok(Some(large));
        }
        let mut wide = [0; 8];
        self.file.read_exact_at(&mut wide, offsets + 4 * self.count + 8 * large)?;
        Ok(Some(u64::from_be_bytes(wide)))
    }
}

const COMMIT: u8 = 1;
const OFFSET_DELTA: u8 = 6;
const NAME_DELTA: u8 = 7;

/// Reads objects of a pack, through deltas.
struct PackReader<'a> {
    pack: &'a File,
    index: &'a PackIndex,
    name_bytes: usize,
}

impl PackReader<'_> {
    /// The kind of an object and its contents. `None`: its base is in another pack, or it is too large.
    fn object(&self, at: u64) -> io::Result<Option<(u8, Vec<u8>)>> {
        let (mut at, mut deltas) = (at, Vec::new());
        let (kind, mut body) = loop {
            // No object is placed before the head of the pack, so a bad offset ends here.
            let mut place = at;
            let (kind, bytes) = self.object_head(&mut place)?;
            if bytes > COMMIT_BYTES_MAX || deltas.len() > DELTAS_MAX {
                return Ok(None);
            }
            let base = match kind {
                OFFSET_DELTA => at.checked_sub(self.base_distance(&mut place)?),
                NAME_DELTA => {
                    let mut name = vec![0; self.name_bytes];
                    self.pack.read_exact_at(&mut name, place)?;
                    place += name.len() as u64;
                    self.index.offset_of(&name)?
                }
                _ => break (kind, self.inflate(place, bytes)?),
            };
            deltas.push(self.inflate(place, bytes)?);
            match base {
                Some(base) => at = base,
                None => return Ok(None),
            }
        };
        for delta in deltas.iter().rev() {
            match apply_delta(&body, delta) {
                Some(next) => body = next,
                None => return Ok(None),
            }
        }
        Ok(Some((kind, body)))
    }

    fn byte(&self, place: &mut u64) -> io::Result<u8> {
        let mut byte = [0];
        self.pack.read_exact_at(&mut byte, *place)?;
        *place += 1;
        Ok(byte[0])
    }

    /// Kind and size: three bits and four, then seven in each byte.
    fn object_head(&self, place: &mut u64) -> io::Result<(u8, u64)> {
        let mut byte = self.byte(place)?;
        let (kind, mut size, mut shift) = (byte >> 4 & 7, u64::from(byte & 15), 4);
        while byte & 0x80 != 0 && shift < 60 {
            byte = self.byte(place)?;
            size |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        Ok((kind, size))
    }

    /// How far before a delta its base is.
    fn base_distance(&self, place: &mut u64) -> io::Result<u64> {
        let mut byte = self.byte(place)?;
        let mut distance = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 && distance < 1 << 50 {
            byte = self.byte(place)?;
            distance = (distance + 1) << 7 | u64::from(byte & 0x7f);
        }
        Ok(distance)
    }

    fn inflate(&self, place: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let rest = PackRest { pack: self.pack, place };
        ZlibDecoder::new(rest).take(bytes).read_to_end(&mut out)?;
        if out.len() as u64 == bytes { Ok(out) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// A pack from one place on.
struct PackRest<'a> {
    pack: &'a File,
    place: u64,
}

impl io::Read for PackRest<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.pack.read_at(buf, self.place)?;
        self.place += read as u64;
        Ok(read)
    }
}

/// Applies git's delta: two sizes, then copies from the base and new bytes. `None` if it is damaged.
fn apply_delta(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta.iter().copied();
    let mut size = || {
        let (mut size, mut shift) = (0_usize, 0);
        loop {
            let byte = rest.next()?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(size);
            }
        }
    };
    let (from, to) = (size()?, size()?);
    if from != base.len() || to as u64 > COMMIT_BYTES_MAX {
        return None;
    }
    let mut out = Vec::new();
    while let Some(order) = rest.next() {
        if order & 0x80 == 0 {
            // Zero is reserved.
            let new = rest.by_ref().take(usize::from(order));
            let before = out.len();
            out.extend(new);
            if order == 0 || out.len() != before + usize::from(order) {
                return None;
            }
            continue;
        }
        let mut number = |first: u8, bytes: u8| {
            (0..bytes).try_fold(0_usize, |number, byte| {
                let is_there = order & 1 << (first + byte) != 0;
                let part = if is_there { usize::from(rest.next()?) } else { 0 };
                Some(number | part << (8 * byte))
            })
        };
        let (start, length) = (number(0, 4)?, number(4, 3)?);
        let length = if length == 0 { 0x1_0000 } else { length };
        out.extend(base.get(start..start.checked_add(length)?)?);
        if out.len() > to {
            return None;
        }
    }
    (out.len() == to).then_some(out)
}

fn from_hex(id: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = id.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|digits| matches!(digits.len(), 40 | 64))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
#[path = "git_object_tests.rs"]
pub(super) mod tests;
