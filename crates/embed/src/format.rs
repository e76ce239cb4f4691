//! The format of weights files: a [`ModelHeader`] with the encoder's shape, then its weights in
//! order of use.
//!
//! [`crate::layout`] computes where each section is.
//!
//! Invariant: a parsed header describes an encoder that the kernels can run and a layout that
//! cannot overflow. All numbers are little-endian and read in place: nothing is copied, aligned or
//! built at process start.

/// The first bytes of every weights file; the last one is the format version.
pub const MAGIC: [u8; 8] = *b"cmembed\x01";
/// Inputs that share one scale per output channel.
pub const GROUP: usize = 64;
/// Output channels computed together.
pub const PANEL: usize = 16;
/// Header fields after the magic, four bytes each.
pub const FIELDS: usize = 20;
/// Maximum distance of a piece from the slot of its hash.
pub(crate) const PROBES_MAX: usize = 64;
/// An empty slot of the vocabulary's hash table.
pub(crate) const EMPTY: u32 = u32::MAX;
/// Maximum width of an attention head.
pub const HEAD_WIDTH_MAX: usize = 128;

pub(crate) const HEADER_BYTES: usize = MAGIC.len() + FIELDS * 4;

/// Why a weights file was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    #[error("not a weights file of this format version")]
    Magic,
    #[error("the header describes a shape this encoder does not support")]
    Shape,
    #[error("the file's length does not match its header")]
    Length,
    #[error("checksum mismatch")]
    Checksum,
}

/// How token vectors are pooled into the text's vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token alone.
    First,
}

/// The encoder's shape: everything that differs between models of the family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelHeader {
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    pub ffn: usize,
    pub vocab: usize,
    /// Maximum tokens per text, including the start and end tokens.
    pub tokens_max: usize,
    pub pooling: Pooling,
    /// Slots of the vocabulary's hash table, a power of two.
    pub slots: usize,
    pub pieces_bytes: usize,
    pub piece_bytes_max: usize,
    pub unknown_id: u32,
    pub start_id: u32,
    pub end_id: u32,
    pub norm_epsilon: f32,
    pub id_bytes: usize,
    pub query_prefix_bytes: usize,
    pub passage_prefix_bytes: usize,
    /// Checksum of everything after the header, see [`checksum`].
    pub checksum: u64,
}

impl ModelHeader {
    /// Serializes the header.
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
            self.unknown_id,
            self.start_id,
            self.end_id,
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

    /// Parses and validates a header. Runs at compile time for the embedded weights.
    pub const fn parse(bytes: &[u8]) -> Result<ModelHeader, WeightsError> {
        if bytes.len() < HEADER_BYTES || !starts_with_magic(bytes) {
            return Err(WeightsError::Magic);
        }
        let pooling = match field(bytes, 6) {
            0 => Pooling::Mean,
            1 => Pooling::First,
            _ => return Err(WeightsError::Shape),
        };
        let header = ModelHeader {
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
            unknown_id: field(bytes, 11),
            start_id: field(bytes, 12),
            end_id: field(bytes, 13),
            norm_epsilon: f32::from_bits(field(bytes, 14)),
            id_bytes: field(bytes, 15) as usize,
            query_prefix_bytes: field(bytes, 16) as usize,
            passage_prefix_bytes: field(bytes, 17) as usize,
            checksum: field(bytes, 18) as u64 | (field(bytes, 19) as u64) << 32,
        };
        if field(bytes, 7) as usize == GROUP && header.is_supported() {
            Ok(header)
        } else {
            Err(WeightsError::Shape)
        }
    }

    /// Whether the encoder supports this shape. The bounds keep every product of two fields far
    /// below the address width, so that the layout cannot overflow, and the shapes to those the
    /// kernels handle.
    const fn is_supported(&self) -> bool {
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
            && (self.unknown_id as usize) < self.vocab
            && (self.start_id as usize) < self.vocab
            && (self.end_id as usize) < self.vocab
            && self.norm_epsilon >= 0.0
            && self.norm_epsilon < 1.0
            && in_range(self.id_bytes, 1, 256)
            && self.query_prefix_bytes <= 1024
            && self.passage_prefix_bytes <= 1024
    }
}

/// A checksum that detects corruption. It does not protect against an attacker, who could replace
/// it together with the weights.
pub fn checksum(behind_the_header: &[u8]) -> u64 {
    let (words, rest) = behind_the_header.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words
        .chain(rest.iter().map(|byte| u64::from(*byte)))
        .fold(0xcbf2_9ce4_8422_2325, |sum, word| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23))
}

/// The part of a file that [`checksum`] covers: everything after the header.
pub fn payload(file: &[u8]) -> &[u8] {
    file.get(HEADER_BYTES..).unwrap_or_default()
}

/// The hash of the empty string.
pub(crate) const HASH_START: u32 = 0x811c_9dc5;

/// One step of FNV-1a, byte by byte, so that hashing a word yields the hashes of all its prefixes.
pub(crate) const fn hash_step(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// The first slot to probe. High bits are mixed in because FNV's low bits are weak.
pub(crate) const fn first_slot(hash: u32, slots: usize) -> usize {
    ((hash ^ hash >> 15) as usize) & (slots - 1)
}

/// Builds the hash table over pieces in id order; `None` if it is too full.
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
