//! Vectors as they are kept: a scale and a byte per number; and their signs, a bit per number.

/// Bytes of one vector: its scale, then its numbers.
pub const fn packed_bytes(width: usize) -> usize {
    SCALE_BYTES + width
}

/// Bytes of one vector's signs.
pub const fn sign_bytes(width: usize) -> usize {
    width.div_ceil(8)
}

const SCALE_BYTES: usize = 4;

/// Appends a vector to a row's.
pub fn pack(vector: &[f32], into: &mut Vec<u8>) {
    let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let scale = largest / 127.0;
    let per = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    into.extend(scale.to_le_bytes());
    into.extend(vector.iter().map(|x| (x * per).round() as i8 as u8));
}

/// Appends a vector's signs to a row's.
pub fn pack_signs(vector: &[f32], into: &mut Vec<u8>) {
    for eight in vector.chunks(8) {
        let bits = eight.iter().enumerate();
        into.push(bits.fold(0, |byte, (at, x)| byte | (u8::from(*x > 0.0) << at)));
    }
}

/// A query, ready to be held against many.
#[derive(Clone, Debug)]
pub struct Probe {
    scale: f32,
    numbers: Vec<i8>,
    signs: Vec<u64>,
    /// What so many differing signs say of the cosine.
    cosine_of: Vec<f32>,
}

/// Appends kept signs of vectors of `width` numbers as whole words, each vector's own, so that they
/// can be compared many at once. False if they are of another width.
pub fn sign_words(bits: &[u8], width: usize, into: &mut Vec<u64>) -> bool {
    let each = sign_bytes(width).max(1);
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

impl Probe {
    pub fn new(vector: &[f32]) -> Self {
        let (mut packed, mut signs) = (Vec::new(), Vec::new());
        pack(vector, &mut packed);
        pack_signs(vector, &mut signs);
        let (scale, numbers) = packed.split_at(SCALE_BYTES);
        let width = vector.len().max(1) as f32;
        let cosine_of = (0..=signs.len() * 8)
            .map(|differing| (std::f32::consts::PI * differing as f32 / width).cos())
            .collect();
        let mut words = Vec::new();
        sign_words(&signs, vector.len(), &mut words);
        Self {
            scale: scale_of(scale),
            numbers: embed::as_i8(numbers).to_vec(),
            signs: words,
            cosine_of,
        }
    }

    pub fn width(&self) -> usize {
        self.numbers.len()
    }

    /// How near a row is by its vectors, or `None` if they are of another width.
    pub fn nearness(&self, parts: &[u8]) -> Option<f32> {
        let each = packed_bytes(self.width());
        let fits = !parts.is_empty() && parts.len().is_multiple_of(each);
        fits.then(|| blend(parts.chunks_exact(each).map(|vector| self.cosine(vector))))
    }

    /// The same, guessed from signs alone.
    pub fn nearness_by_signs(&self, bits: &[u8]) -> Option<f32> {
        let (mut words, mut differing) = (Vec::new(), Vec::new());
        if !sign_words(bits, self.width(), &mut words) {
            return None;
        }
        self.differing(&words, &mut differing);
        Some(self.nearness_of_differing(&differing))
    }

    /// In how many signs each vector differs, for signs of many rows as [`sign_words`] laid them.
    pub fn differing(&self, words: &[u64], into: &mut Vec<u32>) {
        embed::sign_distances(&self.signs, words, into);
    }

    /// Words of one vector's signs.
    pub fn words_each(&self) -> usize {
        self.signs.len()
    }

    /// How near a row is whose vectors differ in so many signs each.
    pub fn nearness_of_differing(&self, differing: &[u32]) -> f32 {
        let cosine = |&count: &u32| self.cosine_of.get(count as usize).copied().unwrap_or(-1.0);
        blend(differing.iter().map(cosine))
    }

    fn cosine(&self, vector: &[u8]) -> f32 {
        let (scale, numbers) = vector.split_at(SCALE_BYTES);
        let dot = embed::dot_i8(&self.numbers, embed::as_i8(numbers));
        dot as f32 * self.scale * scale_of(scale)
    }
}

fn scale_of(bytes: &[u8]) -> f32 {
    bytes.try_into().map_or(0.0, f32::from_le_bytes)
}

/// The best part says that the answer is in there, the whole that the row is about it. The whole
/// comes first; a row of one part is nothing but its whole.
fn blend(mut cosines: impl Iterator<Item = f32>) -> f32 {
    let whole = cosines.next().unwrap_or(0.0);
    match cosines.reduce(f32::max) {
        Some(best) => 0.6 * best + 0.4 * whole,
        None => whole,
    }
}

#[cfg(test)]
#[path = "packed_tests.rs"]
mod tests;
