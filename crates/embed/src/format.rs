//! The weights file: a header that says what the encoder is, then its numbers in the
//! order in which they are used.
//!
//! In: bytes. Out: a `Header`, or why not. Where the numbers lie is in [`crate::layout`].
//!
//! Invariant: a header that was parsed describes an encoder the kernels can run and a
//! layout that cannot overflow. All numbers are little-endian and are read in place:
//! nothing is copied, aligned or built when a process starts.

/// First bytes of every weights file; the last one is the version of this format.
pub const MAGIC: [u8; 8] = *b"cmembed\x01";
/// Inputs that share one scale per output channel.
pub const GROUP: usize = 64;
/// Output channels that are computed together.
pub const PANEL: usize = 16;
/// Header fields after the magic, four bytes each.
pub const FIELDS: usize = 20;
/// How far a piece may sit from the slot its hash names.
pub(crate) const PROBES_MAX: usize = 64;
/// A slot of the vocabulary's hash table that holds no piece.
pub(crate) const EMPTY: u32 = u32::MAX;
/// Widest head the attention has room for.
pub const HEAD_WIDTH_MAX: usize = 128;

pub(crate) const HEADER_BYTES: usize = MAGIC.len() + FIELDS * 4;

/// Why bytes are not a weights file that this encoder can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadModel {
    #[error("not a weights file of this version")]
    Magic,
    #[error("the header asks for a shape this encoder does not have")]
    Shape,
    #[error("the file is not as long as its header says")]
    Length,
    #[error("the bytes are not those that were written")]
    Checksum,
}

/// How the vectors of the tokens become the vector of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token alone.
    First,
}

/// What the encoder is: everything that differs between models of the family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    pub ffn: usize,
    pub vocab: usize,
    /// Tokens of one text, the two that mark its ends included.
    pub tokens_max: usize,
    pub pooling: Pooling,
    /// Slots of the vocabulary's hash table, a power of two.
    pub slots: usize,
    pub pieces_bytes: usize,
    pub piece_bytes_max: usize,
    pub unknown: u32,
    pub first: u32,
    pub last: u32,
    pub norm_epsilon: f32,
    pub id_bytes: usize,
    pub query_prefix_bytes: usize,
    pub passage_prefix_bytes: usize,
    /// Over everything behind the header, see [`checksum`].
    pub checksum: u64,
}

impl Header {
    /// The bytes that [`Header::parse`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let fields = [
            self.layers as u32,
            self.width as u32,
            self.heads as u32,
            self.ffn as u32,
            self.vocab as u32,
            self.tokens_max as u32,
            u32::from(self.pooling == Pooling::First),
            GROUP as u32,
            self.slots as u32,
            self.pieces_bytes as u32,
            self.piece_bytes_max as u32,
            self.unknown,
            self.first,
            self.last,
            self.norm_epsilon.to_bits(),
            self.id_bytes as u32,
            self.query_prefix_bytes as u32,
            self.passage_prefix_bytes as u32,
            self.checksum as u32,
            (self.checksum >> 32) as u32,
        ];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
        bytes
    }

    /// Reads and judges a header. Runs at compile time for the weights that are built in.
    pub const fn parse(bytes: &[u8]) -> Result<Header, BadModel> {
        if bytes.len() < HEADER_BYTES || !starts_with_magic(bytes) {
            return Err(BadModel::Magic);
        }
        let pooling = match field(bytes, 6) {
            0 => Pooling::Mean,
            1 => Pooling::First,
            _ => return Err(BadModel::Shape),
        };
        let header = Header {
            layers: field(bytes, 0) as usize,
            width: field(bytes, 1) as usize,
            heads: field(bytes, 2) as usize,
            ffn: field(bytes, 3) as usize,
            vocab: field(bytes, 4) as usize,
            tokens_max: field(bytes, 5) as usize,
            pooling,
            slots: field(bytes, 8) as usize,
            pieces_bytes: field(bytes, 9) as usize,
            piece_bytes_max: field(bytes, 10) as usize,
            unknown: field(bytes, 11),
            first: field(bytes, 12),
            last: field(bytes, 13),
            norm_epsilon: f32::from_bits(field(bytes, 14)),
            id_bytes: field(bytes, 15) as usize,
            query_prefix_bytes: field(bytes, 16) as usize,
            passage_prefix_bytes: field(bytes, 17) as usize,
            checksum: field(bytes, 18) as u64 | (field(bytes, 19) as u64) << 32,
        };
        if field(bytes, 7) as usize == GROUP && header.is_possible() {
            Ok(header)
        } else {
            Err(BadModel::Shape)
        }
    }

    /// The bounds keep every product of two fields far below the width of an address, so
    /// that the layout cannot overflow, and the shapes to those the kernels were made for.
    const fn is_possible(&self) -> bool {
        in_range(self.layers, 1, 64)
            && in_range(self.width, GROUP, 1024)
            && self.width.is_multiple_of(GROUP)
            && in_range(self.ffn, GROUP, 4096)
            && self.ffn.is_multiple_of(GROUP)
            && in_range(self.heads, 1, self.width)
            && self.width.is_multiple_of(self.heads)
            && (self.width / self.heads).is_multiple_of(PANEL)
            && self.width / self.heads <= HEAD_WIDTH_MAX
            && in_range(self.vocab, 1, 1 << 18)
            && in_range(self.slots, 1, 1 << 20)
            && self.slots.is_power_of_two()
            && in_range(self.tokens_max, 3, 1024)
            && in_range(self.pieces_bytes, 1, 1 << 24)
            && in_range(self.piece_bytes_max, 1, 256)
            && (self.unknown as usize) < self.vocab
            && (self.first as usize) < self.vocab
            && (self.last as usize) < self.vocab
            && self.norm_epsilon >= 0.0
            && self.norm_epsilon < 1.0
            && in_range(self.id_bytes, 1, 256)
            && self.query_prefix_bytes <= 1024
            && self.passage_prefix_bytes <= 1024
    }
}

/// The sum that tells a damaged file. Not made to withstand an attacker: whoever can
/// change the weights can change the sum.
pub fn checksum(behind_the_header: &[u8]) -> u64 {
    let (words, rest) = behind_the_header.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words
        .chain(rest.iter().map(|byte| u64::from(*byte)))
        .fold(0xcbf2_9ce4_8422_2325, |sum, word| {
            (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
        })
}

/// What [`checksum`] is taken over.
pub fn behind_the_header(file: &[u8]) -> &[u8] {
    file.get(HEADER_BYTES..).unwrap_or_default()
}

/// The hash of no bytes at all.
pub(crate) const HASH_START: u32 = 0x811c_9dc5;

/// FNV-1a, one byte at a time, so that every prefix of a word is hashed on the way.
pub(crate) const fn hash_step(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// The slot to look at first. The high bits are mixed in because FNV's low bits are weak.
pub(crate) const fn first_slot(hash: u32, slots: usize) -> usize {
    ((hash ^ hash >> 15) as usize) & (slots - 1)
}

/// The hash table over pieces in the order of their ids, or nothing if it is too full.
pub fn hash_table<'p>(pieces: impl Iterator<Item = &'p str>, slots: usize) -> Option<Vec<u32>> {
    let mut table = vec![EMPTY; slots];
    for (id, piece) in pieces.enumerate() {
        let first = first_slot(piece.bytes().fold(HASH_START, hash_step), slots);
        let mut probes = (first..first + PROBES_MAX).map(|slot| slot & (slots - 1));
        let free = probes.find(|slot| table[*slot] == EMPTY)?;
        table[free] = id as u32;
    }
    Some(table)
}

const fn in_range(value: usize, least: usize, most: usize) -> bool {
    least <= value && value <= most
}

const fn field(bytes: &[u8], index: usize) -> u32 {
    let at = MAGIC.len() + index * 4;
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

const fn starts_with_magic(bytes: &[u8]) -> bool {
    let mut at = 0;
    while at < MAGIC.len() {
        if bytes[at] != MAGIC[at] {
            return false;
        }
        at += 1;
    }
    true
}
