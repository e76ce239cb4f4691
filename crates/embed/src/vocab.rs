//! The vocabulary of word pieces, looked up in a hash table stored in the weights file.
//!
//! Nothing is built at process start. A corrupt table can only make pieces unknown: every index
//! read from it is checked before use.

use crate::format::{EMPTY, HASH_START, PROBES_MAX, first_slot, hash_step};

/// Prefix of pieces that continue a word.
pub(crate) const CONTINUES: &[u8] = b"##";

/// The vocabulary, borrowed from the weights file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vocab<'m> {
    pub(crate) slots: &'m [[u8; 4]],
    pub(crate) piece_ends: &'m [[u8; 4]],
    pub(crate) pieces: &'m [u8],
    pub(crate) piece_bytes_max: usize,
}

impl<'m> Vocab<'m> {
    /// The id of a piece, as spelt in the vocabulary.
    pub(crate) fn find(&self, piece: &[u8]) -> Option<u32> {
        self.probe(piece.iter().copied().fold(HASH_START, hash_step), &[], piece)
    }

    /// The longest piece at the start of `rest`, the remainder of a word, and its length in bytes.
    /// `inside` means that part of the word precedes it.
    pub(crate) fn longest(&self, rest: &str, inside: bool) -> Option<(u32, usize)> {
        let mark = if inside { CONTINUES } else { &[] };
        let mut hashes = [0; 256];
        let mut hash = mark.iter().copied().fold(HASH_START, hash_step);
        let room = self.piece_bytes_max.saturating_sub(mark.len());
        let most = rest.len().min(room).min(hashes.len());
        for (slot, byte) in hashes.iter_mut().zip(&rest.as_bytes()[..most]) {
            hash = hash_step(hash, *byte);
            *slot = hash;
        }
        (1..=most).rev().filter(|end| rest.is_char_boundary(*end)).find_map(|end| {
            let id = self.probe(hashes[end - 1], mark, &rest.as_bytes()[..end])?;
            Some((id, end))
        })
    }

    fn probe(&self, hash: u32, mark: &[u8], tail: &[u8]) -> Option<u32> {
        let first = first_slot(hash, self.slots.len());
        for step in 0..PROBES_MAX {
            let slot = self.slots[(first + step) & (self.slots.len() - 1)];
            let id = u32::from_le_bytes(slot);
            if id == EMPTY {
                return None;
            }
            let piece = self.piece(id)?;
            if piece.strip_prefix(mark) == Some(tail) {
                return Some(id);
            }
        }
        None
    }

    fn piece(&self, id: u32) -> Option<&'m [u8]> {
        let end_of = |id: usize| self.piece_ends.get(id).map(|end| u32::from_le_bytes(*end));
        let id = id as usize;
        let start = if id == 0 { 0 } else { end_of(id - 1)? };
        self.pieces.get(start as usize..end_of(id)? as usize)
    }
}
