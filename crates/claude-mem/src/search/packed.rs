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
    signs: Vec<u8>,
    /// What so many differing signs say of the cosine.
    cosine_of: Vec<f32>,
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
        Self {
            scale: scale_of(scale),
            numbers: numbers.iter().map(|&byte| byte as i8).collect(),
            signs,
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
        let each = self.signs.len();
        let fits = !bits.is_empty() && bits.len().is_multiple_of(each);
        fits.then(|| {
            let differing = bits.chunks_exact(each).map(|signs| self.differing(signs));
            blend(differing.map(|count| self.cosine_of[count as usize]))
        })
    }

    fn cosine(&self, vector: &[u8]) -> f32 {
        let (scale, numbers) = vector.split_at(SCALE_BYTES);
        let dot: i32 = self
            .numbers
            .iter()
            .zip(numbers)
            .map(|(&a, &b)| i32::from(i16::from(a) * i16::from(b as i8)))
            .sum();
        dot as f32 * self.scale * scale_of(scale)
    }

    fn differing(&self, signs: &[u8]) -> u32 {
        let (ours, our_rest) = self.signs.as_chunks::<8>();
        let (theirs, their_rest) = signs.as_chunks::<8>();
        let whole: u32 = ours
            .iter()
            .zip(theirs)
            .map(|(a, b)| (u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b)).count_ones())
            .sum();
        let rest = our_rest.iter().zip(their_rest);
        whole + rest.map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
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
