use proptest::prelude::*;

use super::*;

/// Texts of ours with the vectors of the published model, computed in double precision.
const REFERENCE: &str = include_str!("../tests/reference.jsonl");

#[derive(serde::Deserialize)]
struct Reference {
    text: String,
    vector: Vec<f32>,
}

fn references() -> impl Iterator<Item = Reference> {
    REFERENCE
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn vectors_are_those_of_the_published_model() {
    for reference in references() {
        let cosine = cosine(
            &Model::built_in().encode(&reference.text),
            &reference.vector,
        );
        assert!(cosine >= 0.999, "{cosine} for {:?}", reference.text);
    }
}

/// Not to the last bit: sums that were rounded differently may fall on either side of a
/// step when they become integers.
#[test]
fn the_portable_path_gives_the_same_vectors() {
    let portable = Model::built_in().clone().portable();
    for Reference { text, .. } in references().filter(|reference| reference.text.len() < 200) {
        let cosine = cosine(&portable.encode(&text), &Model::built_in().encode(&text));
        assert!(cosine > 0.999_99, "{cosine} for {text:?}");
    }
}

#[test]
fn a_vector_does_not_depend_on_what_it_was_batched_with() {
    let texts: Vec<String> = references().map(|reference| reference.text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let batch = Model::built_in().encode_batch(&texts);
    assert_eq!(batch.len(), texts.len());
    for (text, vector) in texts.iter().zip(&batch) {
        assert_eq!(Model::built_in().encode(text), *vector, "{text:?}");
    }
    assert!(Model::built_in().encode_batch(&[]).is_empty());
}

#[test]
fn vectors_have_length_one() {
    for text in ["", "x", "a longer text", "\u{fffd}"] {
        let vector = Model::built_in().encode(text);
        assert_eq!(vector.len(), Model::built_in().width());
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5);
    }
}

#[test]
fn only_the_first_tokens_are_read_when_asked() {
    let model = Model::built_in();
    let whole = model.encode("the database is locked");
    assert_eq!(model.encode_first("the database is locked", 256), whole);
    assert_eq!(
        model.encode_first("the database is locked by another process", 6),
        whole
    );
    assert_eq!(model.encode_query("the database is locked"), whole);
}

#[test]
fn the_built_in_weights_are_what_was_written() {
    let bytes = BUILT_IN_WEIGHTS.0.to_vec();
    let model = Model::from_bytes(bytes).unwrap();
    assert_eq!(model.id(), "all-MiniLM-L6-v2/int8g64");
    assert_eq!((model.width(), model.tokens_max()), (384, 256));
    assert_eq!(model.encode("same"), Model::built_in().encode("same"));
}

#[test]
fn a_damaged_file_is_refused() {
    let good = &BUILT_IN_WEIGHTS.0;
    let changed = |at: usize| {
        let mut bytes = good.to_vec();
        bytes[at] ^= 0x55;
        Model::from_bytes(bytes).err()
    };
    assert_eq!(changed(0), Some(BadModel::Magic));
    assert_eq!(changed(8), Some(BadModel::Shape));
    assert_eq!(changed(good.len() - 1), Some(BadModel::Checksum));
    assert_eq!(changed(good.len() / 2), Some(BadModel::Checksum));
    assert_eq!(
        Model::from_bytes(good[..good.len() - 1].to_vec()).err(),
        Some(BadModel::Length)
    );
    assert_eq!(Model::from_bytes(Vec::new()).err(), Some(BadModel::Magic));
}

proptest! {
    #[test]
    fn no_header_makes_the_reader_panic(
        header in proptest::collection::vec(any::<u8>(), 0..200),
        field in 0_usize..20,
        value in any::<u32>(),
    ) {
        prop_assert!(Model::from_bytes(header).is_err());
        let mut bytes = BUILT_IN_WEIGHTS.0[..4096].to_vec();
        bytes[8 + field * 4..][..4].copy_from_slice(&value.to_le_bytes());
        prop_assert!(Model::from_bytes(bytes).is_err());
    }
}
