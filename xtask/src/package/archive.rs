//! Writes tar, ar and zip archives whose bytes depend only on their content: fixed times, owners and
//! order, no extra fields.

use std::io::Write as _;

use anyhow::{Context as _, ensure};
use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

use super::release::MTIME_SECONDS;

/// One file of an archive.
#[derive(Clone, Debug)]
pub(super) struct ArchiveFile {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) executable: bool,
}

impl ArchiveFile {
    pub(super) fn text(path: impl Into<String>, text: impl Into<String>) -> ArchiveFile {
        ArchiveFile { path: path.into(), bytes: text.into().into_bytes(), executable: false }
    }

    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> ArchiveFile {
        ArchiveFile { path: path.into(), bytes: bytes.into(), executable: true }
    }

    fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }
}

/// A gzipped tar archive (ustar). Parent directories are added where `with_directories` asks for them.
pub(super) fn tar_gz(files: &[ArchiveFile], with_directories: bool) -> anyhow::Result<Vec<u8>> {
    let mut tar = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for file in files {
        let parents = file.path.match_indices('/').map(|(at, _)| &file.path[..=at]);
        for parent in parents.filter(|_| with_directories) {
            if known.insert(parent.to_owned()) {
                tar.extend(tar_header(parent, 0o755, 0, b'5')?);
            }
        }
        tar.extend(tar_header(&file.path, file.mode(), file.bytes.len(), b'0')?);
        tar.extend(&file.bytes);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    // Two empty blocks end the archive.
    tar.resize(tar.len() + 1024, 0);
    let mut gz = GzEncoder::new(Vec::new(), Compression::best());
    gz.write_all(&tar)?;
    Ok(gz.finish()?)
}

fn tar_header(path: &str, mode: u32, size: usize, kind: u8) -> anyhow::Result<[u8; 512]> {
    ensure!(path.len() <= 100, "{path} is too long for a tar archive");
    let mut header = [0; 512];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, path);
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{size:011o}"));
    put(136, &format!("{MTIME_SECONDS:011o}"));
    // The checksum is computed as if its own field were spaces.
    put(148, "        ");
    put(257, "ustar\u{0}00");
    put(265, "root");
    put(297, "root");
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

/// An ar archive, the outer format of a Debian package.
pub(super) fn ar(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        archive.extend(
            format!("{name:<16}{MTIME_SECONDS:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, "100644").bytes(),
        );
        archive.extend(bytes);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// A zip archive, the format of a wheel.
pub(super) fn zip(files: &[ArchiveFile]) -> anyhow::Result<Vec<u8>> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        deflate.write_all(&file.bytes)?;
        let packed = deflate.finish()?;
        let mut crc = Crc::new();
        crc.update(&file.bytes);
        let offset = u32::try_from(archive.len()).context("the archive is too large")?;
        let common = zip_fields(crc.sum(), packed.len(), file.bytes.len(), file.path.len());
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(file.path.bytes());
        archive.extend(packed);
        directory.extend(b"PK\x01\x02");
        // Made on Unix, so that the mode is read from the external attributes.
        directory.extend([20, 3]);
        directory.extend(&common);
        // No comment, first disk, no internal attributes.
        directory.extend([0; 6]);
        directory.extend(((0o100_000 | file.mode()) << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(file.path.bytes());
    }
    let start = u32::try_from(archive.len()).context("the archive is too large")?;
    let count = (files.len() as u16).to_le_bytes();
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count, count].concat());
    archive.extend((directory.len() as u32).to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0; 2]);
    Ok(archive)
}

/// The fields that a local header and a directory entry share: deflate, 1980-01-01.
fn zip_fields(crc: u32, packed: usize, size: usize, name: usize) -> Vec<u8> {
    let mut fields = Vec::new();
    for half in [20_u16, 0, 8, 0, 0x21] {
        fields.extend(half.to_le_bytes());
    }
    for word in [crc, packed as u32, size as u32] {
        fields.extend(word.to_le_bytes());
    }
    fields.extend((name as u16).to_le_bytes());
    // No extra field.
    fields.extend([0; 2]);
    fields
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
