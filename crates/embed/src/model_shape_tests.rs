//! Tests with small models of other shapes than the embedded one: the header determines the
//! encoder.

use proptest::prelude::*;

use super::*;
use crate::format::Pooling;

const PIECES: [&str; 8] = ["[UNK]", "[CLS]", "[SEP]", "a", "b", "##b", "find", ":"];

fn header(pooling: Pooling, query_prefix: &str) -> ModelHeader {
    ModelHeader {
        layers: 2,
        width: 64,
        heads: 2,
        ffn: 128,
        vocab: PIECES.len(),
        tokens_max: 16,
        pooling,
        slots: 16,
        pieces_bytes: PIECES.iter().map(|piece| piece.len()).sum(),
        piece_bytes_max: 5,
        unknown_id: 0,
        start_id: 1,
        end_id: 2,
        norm_epsilon: 1e-12,
        id_bytes: 4,
        query_prefix_bytes: query_prefix.len(),
        passage_prefix_bytes: 0,
        checksum: 0,
    }
}

/// Pseudo-random bytes, deterministic by seed.
fn noise(seed: u64) -> impl FnMut() -> u8 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    }
}

/// A complete file: the vocabulary above, and `fill` for everything after it.
fn file(mut header: ModelHeader, query_prefix: &str, mut fill: impl FnMut(usize) -> u8) -> Vec<u8> {
    let layout = ModelLayout::for_header(&header);
    let mut bytes: Vec<u8> = (0..layout.bytes).map(&mut fill).collect();
    let mut put = |at: usize, what: &[u8]| bytes[at..at + what.len()].copy_from_slice(what);
    put(layout.id, b"tiny");
    put(layout.query_prefix, query_prefix.as_bytes());
    let table = format::hash_table(PIECES.into_iter(), header.slots).unwrap();
    put(layout.slots, &table.iter().flat_map(|slot| slot.to_le_bytes()).collect::<Vec<_>>());
    let mut end = 0;
    for (id, piece) in PIECES.into_iter().enumerate() {
        put(layout.pieces + end, piece.as_bytes());
        end += piece.len();
        put(layout.piece_ends + id * 4, &(end as u32).to_le_bytes());
    }
    finish(&mut header, bytes)
}

fn finish(header: &mut ModelHeader, mut bytes: Vec<u8>) -> Vec<u8> {
    header.checksum = format::checksum(format::payload(&bytes));
    let head = header.to_bytes();
    bytes[..head.len()].copy_from_slice(&head);
    bytes
}

/// A model whose words differ and whose other weights are zero, so that tokens do not affect each
/// other.
fn without_mixing(pooling: Pooling, query_prefix: &str) -> EmbeddingModel {
    let header = header(pooling, query_prefix);
    let layout = ModelLayout::for_header(&header);
    let mut next = noise(3);
    let one = |byte: usize| 1.0_f32.to_le_bytes()[byte % 4];
    let gains = layout.norm..layout.norm + header.width * 4;
    let layer_gains = |at: usize| {
        let at = at.checked_sub(layout.layers).map(|at| at % layout.layer.bytes);
        let norms = [layout.layer.attention_norm, layout.layer.ffn_norm];
        at.is_some_and(|at| norms.iter().any(|norm| (*norm..norm + header.width * 4).contains(&at)))
    };
    let bytes = file(header, query_prefix, |at| {
        if (layout.words..layout.positions).contains(&at) {
            next()
        } else if (layout.word_scales..layout.words).contains(&at) || gains.contains(&at) || layer_gains(at) {
            one(at)
        } else {
            0
        }
    });
    EmbeddingModel::from_bytes(bytes).unwrap()
}

#[test]
fn header_selects_the_pooling() {
    let first = without_mixing(Pooling::First, "");
    assert_eq!(first.encode("a"), first.encode("b b b"));
    let mean = without_mixing(Pooling::Mean, "");
    assert_ne!(mean.encode("a"), mean.encode("b b b"));
    assert_eq!((mean.width(), mean.tokens_max(), mean.id()), (64, 16, "tiny"));
}

#[test]
fn query_prefix_applies_to_queries_only() {
    let plain = without_mixing(Pooling::Mean, "");
    let prefixed = without_mixing(Pooling::Mean, "find: ");
    assert_eq!(prefixed.encode_query("ab"), plain.encode_query("find: ab"));
    assert_eq!(prefixed.encode("ab"), plain.encode("ab"));
    assert_ne!(prefixed.encode_query("ab"), plain.encode_query("ab"));
}

#[test]
fn corrupt_hash_table_makes_words_unknown() {
    let mut header = header(Pooling::Mean, "");
    let layout = ModelLayout::for_header(&header);
    for slot in [0, 5, 8, u32::MAX - 1] {
        let mut bytes = file(header, "", |_| 0);
        for at in 0..header.slots {
            bytes[layout.slots + at * 4..][..4].copy_from_slice(&slot.to_le_bytes());
        }
        let model = EmbeddingModel::from_bytes(finish(&mut header, bytes)).unwrap();
        assert_eq!(model.ids(&["a"], model.tokens_max()), [1, 0, 2], "slot {slot}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_weights_panic(seed in any::<u64>(), text in "[ab: ]{0,30}") {
        let mut next = noise(seed);
        let mut header = header(Pooling::Mean, "");
        let bytes: Vec<u8> = (0..ModelLayout::for_header(&header).bytes).map(|_| next()).collect();
        let mut bytes = finish(&mut header, bytes);
        bytes[ModelLayout::for_header(&header).id..][..4].copy_from_slice(b"tiny");
        let model = EmbeddingModel::from_bytes(finish(&mut header, bytes)).unwrap();
        prop_assert_eq!(model.encode(&text).len(), 64);
        for limit in [InstructionSet::Baseline, InstructionSet::Avx2] {
            prop_assert_eq!(model.clone().limited_to(limit).encode(&text).len(), 64);
        }
    }
}
