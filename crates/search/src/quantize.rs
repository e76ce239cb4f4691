//! Storage formats of vectors: int8 with a scale, and binary signatures of one bit per dimension.
//!
//! [`QuantizedQuery`] compares a query with both: signatures by Hamming distance, vectors by dot
//! product.

/// Size of one packed vector: scale, then one byte per dimension.
pub const fn packed_bytes(width: usize) -> usize {
    SCALE_BYTES + width
}

/// Size of one packed signature.
pub const fn signature_bytes(width: usize) -> usize {
    width.div_ceil(8)
}

const SCALE_BYTES: usize = 4;

/// Appends a vector, quantized to int8.
pub fn pack_vector(vector: &[f32], into: &mut Vec<u8>) {
    let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let scale = largest / 127.0;
    let per = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    into.extend(scale.to_le_bytes());
    into.extend(vector.iter().map(|x| (x * per).round() as i8 as u8));
}

/// Appends a vector's binary signature: bit set if the dimension is positive.
pub fn pack_signature(vector: &[f32], into: &mut Vec<u8>) {
    for eight in vector.chunks(8) {
        let bits = eight.iter().enumerate();
        into.push(bits.fold(0, |byte, (at, x)| byte | (u8::from(*x > 0.0) << at)));
    }
}

/// A query vector, quantized for comparison with many rows.
#[derive(Clone, Debug)]
pub struct QuantizedQuery {
    scale: f32,
    values: Vec<i8>,
    signature: Vec<u64>,
    /// Estimated cosine by Hamming distance.
    cosine_by_distance: Vec<f32>,
}

/// Appends stored signatures as whole words, so that many can be compared at once. False if they
/// belong to vectors of another width.
pub fn unpack_signatures(bits: &[u8], width: usize, into: &mut Vec<u64>) -> bool {
    let each = signature_bytes(width).max(1);
    let fits = !bits.is_empty() && bits.len().is_multiple_of(each);
    if fits {
        for vector in bits.chunks_exact(each) {
            into.extend(vector.chunks(8).map(|bytes| {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(word)
            }));
        }
    }
    fits
}

impl QuantizedQuery {
    /// Quantizes a query vector.
    pub fn new(vector: &[f32]) -> Self {
        let (mut packed, mut signs) = (Vec::new(), Vec::new());
        pack_vector(vector, &mut packed);
        pack_signature(vector, &mut signs);
        let (scale, numbers) = packed.split_at(SCALE_BYTES);
        let width = vector.len().max(1) as f32;
        let cosine_by_distance = (0..=signs.len() * 8)
            .map(|differing| (std::f32::consts::PI * differing as f32 / width).cos())
            .collect();
        let mut words = Vec::new();
        unpack_signatures(&signs, vector.len(), &mut words);
        Self {
            scale: decode_scale(scale),
            values: embed::as_i8(numbers).to_vec(),
            signature: words,
            cosine_by_distance,
        }
    }

    /// The vector, as far as eight bits hold it.
    pub fn to_vector(&self) -> Vec<f32> {
        self.values.iter().map(|value| f32::from(*value) * self.scale).collect()
    }

    /// The number of dimensions.
    pub fn width(&self) -> usize {
        self.values.len()
    }

    /// The similarity of a row's packed vectors, or `None` if their width differs.
    pub fn similarity(&self, parts: &[u8]) -> Option<f32> {
        let each = packed_bytes(self.width());
        let fits = !parts.is_empty() && parts.len().is_multiple_of(each);
        fits.then(|| blend_cosines(parts.chunks_exact(each).map(|vector| self.cosine(vector))))
    }

    /// The similarity estimated from stored signatures, or `None` if their width differs.
    pub fn signature_similarity(&self, bits: &[u8]) -> Option<f32> {
        let (mut words, mut differing) = (Vec::new(), Vec::new());
        if !unpack_signatures(bits, self.width(), &mut words) {
            return None;
        }
        self.hamming_distances(&words, &mut differing);
        Some(self.similarity_from_distances(&differing))
    }

    /// The Hamming distance of each signature, as laid out by [`unpack_signatures`].
    pub fn hamming_distances(&self, words: &[u64], into: &mut Vec<u32>) {
        embed::sign_distances(&self.signature, words, into);
    }

    /// Words per signature.
    pub fn signature_words(&self) -> usize {
        self.signature.len()
    }

    /// The similarity estimated from the Hamming distances of a row's vectors.
    pub fn similarity_from_distances(&self, differing: &[u32]) -> f32 {
        let cosine = |&count: &u32| self.cosine_by_distance.get(count as usize).copied().unwrap_or(-1.0);
        blend_cosines(differing.iter().map(cosine))
    }

    fn cosine(&self, vector: &[u8]) -> f32 {
        let (scale, numbers) = vector.split_at(SCALE_BYTES);
        let dot = embed::dot_i8(&self.values, embed::as_i8(numbers));
        dot as f32 * self.scale * decode_scale(scale)
    }
}

fn decode_scale(bytes: &[u8]) -> f32 {
    bytes.try_into().map_or(0.0, f32::from_le_bytes)
}

/// Combines the cosines of a row: the best part shows that the answer is in there, the whole
/// (first) that the row is about it. A row of one part has only the whole.
fn blend_cosines(mut cosines: impl Iterator<Item = f32>) -> f32 {
    let whole = cosines.next().unwrap_or(0.0);
    match cosines.reduce(f32::max) {
        Some(best) => 0.6 * best + 0.4 * whole,
        None => whole,
    }
}

#[cfg(test)]
#[path = "quantize_tests.rs"]
mod tests;
