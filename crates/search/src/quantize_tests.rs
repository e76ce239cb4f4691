use super::*;

fn unit(seed: u64, width: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let vector: Vec<f32> = (0..width).map(|_| next()).collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

fn row(vectors: &[Vec<f32>]) -> (Vec<u8>, Vec<u8>) {
    let (mut parts, mut bits) = (Vec::new(), Vec::new());
    for vector in vectors {
        pack_vector(vector, &mut parts);
        pack_signature(vector, &mut bits);
    }
    (parts, bits)
}

#[test]
fn packed_vectors_keep_their_direction() {
    for seed in 1..50 {
        let (a, b) = (unit(seed, 384), unit(seed + 99, 384));
        let want: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
        let got = QuantizedQuery::new(&a).similarity(&row(&[b]).0).unwrap();
        assert!((want - got).abs() < 0.01, "seed {seed}: {want} became {got}");
        let itself = QuantizedQuery::new(&a).similarity(&row(&[a]).0).unwrap();
        assert!((itself - 1.0).abs() < 0.01);
    }
}

#[test]
fn best_part_and_whole_are_blended_60_to_40() {
    let (a, b) = (unit(1, 384), unit(2, 384));
    let probe = QuantizedQuery::new(&a);
    let one = |v: &Vec<f32>| probe.similarity(&row(std::slice::from_ref(v)).0).unwrap();
    let got = probe.similarity(&row(&[b.clone(), a.clone(), b.clone()]).0).unwrap();
    assert!((got - (0.6 * one(&a) + 0.4 * one(&b))).abs() < 1e-6);
    let by_signs = probe.signature_similarity(&row(std::slice::from_ref(&a)).1).unwrap();
    assert!((by_signs - 1.0).abs() < 1e-6);
}

#[test]
fn vectors_of_another_width_are_rejected() {
    let probe = QuantizedQuery::new(&unit(1, 384));
    let (parts, bits) = row(&[unit(1, 256)]);
    assert_eq!(probe.similarity(&parts), None);
    assert_eq!(probe.signature_similarity(&bits), None);
    assert_eq!(probe.similarity(&[]), None);
    assert_eq!(QuantizedQuery::new(&[]).similarity(&[]), None);
}
