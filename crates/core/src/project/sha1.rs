//! SHA-1, by which git names objects. Only to check that an object has its name: not for secrets.
//!
//! Ours, because no other crate of the build has it; to forge a given name takes a second preimage, which is not
//! feasible even for SHA-1.

const BLOCK_BYTES: usize = 64;

pub(super) fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let mut text = parts.concat();
    let bits = (text.len() as u64).wrapping_mul(8);
    text.push(0x80);
    while text.len() % BLOCK_BYTES != BLOCK_BYTES - 8 {
        text.push(0);
    }
    text.extend(bits.to_be_bytes());
    for block in text.chunks_exact(BLOCK_BYTES) {
        add_block(&mut state, block);
    }
    let mut out = [0; 20];
    for (place, word) in out.chunks_exact_mut(4).zip(state) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    out
}

#[allow(clippy::many_single_char_names, reason = "the names of the standard")]
fn add_block(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in 16..80 {
        words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (at, word) in words.into_iter().enumerate() {
        let (mixed, constant) = match at {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = [a.rotate_left(5), mixed, e, constant, word].into_iter().fold(0, u32::wrapping_add);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    for (sum, part) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_key::hex;

    #[test]
    fn known_answers() {
        let long = "a".repeat(1_000_000);
        for (text, want) in [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
            (&long, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ] {
            assert_eq!(hex(&sha1(&[text.as_bytes()])), want);
        }
    }
}
