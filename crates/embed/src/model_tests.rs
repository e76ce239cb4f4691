use proptest::prelude::*;

use super::*;

/// Our texts with the vectors of the published model, computed in double precision.
const REFERENCE: &str = include_str!("../tests/reference.jsonl");

#[derive(serde::Deserialize)]
struct PublishedVector {
    text: String,
    vector: Vec<f32>,
}

fn references() -> impl Iterator<Item = PublishedVector> {
    REFERENCE.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn vectors_match_the_published_model() {
    for reference in references() {
        let cosine = cosine(&EmbeddingModel::built_in().encode(&reference.text), &reference.vector);
        assert!(cosine >= 0.999, "{cosine} for {:?}", reference.text);
    }
}

/// The integer sums are exact and the float sums are added in the same order, so that an index does
/// not depend on the processor that computed it.
#[test]
fn wider_registers_give_the_same_bits() {
    let model = EmbeddingModel::built_in();
    let avx2 = model.clone().limited_to(InstructionSet::Avx2);
    for PublishedVector { text, .. } in references() {
        assert_eq!(avx2.encode(&text), model.encode(&text), "{:?}: {text:?}", model.instruction_set());
    }
}

#[test]
fn instructions_do_not_exceed_the_limit() {
    for limit in [InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512] {
        let model = EmbeddingModel::built_in().clone().limited_to(limit);
        assert!(model.instruction_set() <= limit);
    }
}

/// Not bit for bit: sums that are rounded differently may quantize to neighbouring integers.
#[test]
fn portable_path_gives_the_same_vectors() {
    let portable = EmbeddingModel::built_in().clone().limited_to(InstructionSet::Baseline);
    for PublishedVector { text, .. } in references().filter(|reference| reference.text.len() < 200) {
        let cosine = cosine(&portable.encode(&text), &EmbeddingModel::built_in().encode(&text));
        assert!(cosine > 0.999_99, "{cosine} for {text:?}");
    }
}

#[test]
fn vectors_do_not_depend_on_the_batch() {
    let texts: Vec<String> = references().map(|reference| reference.text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let batch = EmbeddingModel::built_in().encode_batch(&texts);
    assert_eq!(batch.len(), texts.len());
    for (text, vector) in texts.iter().zip(&batch) {
        assert_eq!(EmbeddingModel::built_in().encode(text), *vector, "{text:?}");
    }
    assert!(EmbeddingModel::built_in().encode_batch(&[]).is_empty());
}

#[test]
fn vectors_have_unit_length() {
    for text in ["", "x", "a longer text", "\u{fffd}"] {
        let vector = EmbeddingModel::built_in().encode(text);
        assert_eq!(vector.len(), EmbeddingModel::built_in().width());
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5);
    }
}

#[test]
fn token_limit_is_respected() {
    let model = EmbeddingModel::built_in();
    let whole = model.encode("the database is locked");
    assert_eq!(model.encode_first("the database is locked", 256), whole);
    assert_eq!(model.encode_first("the database is locked by another process", 6), whole);
    assert_eq!(model.encode_query("the database is locked"), whole);
}

#[test]
fn built_in_weights_have_a_valid_checksum() {
    let bytes = BUILT_IN_WEIGHTS.0.to_vec();
    let model = EmbeddingModel::from_bytes(bytes).unwrap();
    assert_eq!(model.id(), "all-MiniLM-L6-v2/int8g64");
    assert_eq!((model.width(), model.tokens_max()), (384, 256));
    assert_eq!(model.encode("same"), EmbeddingModel::built_in().encode("same"));
}

#[test]
fn corrupt_files_are_rejected() {
    let good = &BUILT_IN_WEIGHTS.0;
    let changed = |at: usize| {
        let mut bytes = good.to_vec();
        bytes[at] ^= 0x55;
        EmbeddingModel::from_bytes(bytes).err()
    };
    assert_eq!(changed(0), Some(WeightsError::Magic));
    assert_eq!(changed(8), Some(WeightsError::Shape));
    assert_eq!(changed(good.len() - 1), Some(WeightsError::Checksum));
    assert_eq!(changed(good.len() / 2), Some(WeightsError::Checksum));
    assert_eq!(EmbeddingModel::from_bytes(good[..good.len() - 1].to_vec()).err(), Some(WeightsError::Length));
    assert_eq!(EmbeddingModel::from_bytes(Vec::new()).err(), Some(WeightsError::Magic));
}

proptest! {
    #[test]
    fn no_header_panics(
        header in proptest::collection::vec(any::<u8>(), 0..200),
        field in 0_usize..20,
        value in any::<u32>(),
    ) {
        prop_assert!(EmbeddingModel::from_bytes(header).is_err());
        let mut bytes = BUILT_IN_WEIGHTS.0[..4096].to_vec();
        bytes[8 + field * 4..][..4].copy_from_slice(&value.to_le_bytes());
        prop_assert!(EmbeddingModel::from_bytes(bytes).is_err());
    }
}
