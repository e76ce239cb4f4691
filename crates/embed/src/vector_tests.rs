use proptest::prelude::*;

use super::*;

fn exact(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[test]
fn quantization_keeps_the_direction() {
    let vector: Vec<f32> = (0_u8..96).map(|at| (f32::from(at) * 0.7).sin()).collect();
    let quantized = quantize(&vector);
    assert_eq!(quantized.values.iter().map(|value| value.abs()).max(), Some(127));
    for (value, was) in quantized.values.iter().zip(&vector) {
        assert!((f32::from(*value) * quantized.scale - was).abs() <= quantized.scale * 0.501);
    }
    assert_eq!(quantize(&[0.0; 4]), QuantizedVector { scale: 0.0, values: vec![0; 4] });
    assert!(quantize(&[]).values.is_empty());
}

#[test]
fn bytes_and_numbers_convert_losslessly() {
    assert_eq!(as_i8(&[0, 127, 128, 255]), [0, 127, -128, -1]);
    assert_eq!(as_bytes(&[0, 127, -128, -1]), [0, 127, 128, 255]);
}

#[test]
fn signs_are_in_dimension_order() {
    let mut values = vec![1_i8; 130];
    values[0] = -1;
    values[65] = -128;
    assert_eq!(signs(&values), [1, 2, 0]);
}

proptest! {
    #[test]
    fn both_paths_give_the_exact_dot_product(
        a in proptest::collection::vec(any::<i8>(), 0..500),
        b in proptest::collection::vec(any::<i8>(), 0..500),
    ) {
        prop_assert_eq!(dot_i8(&a, &b), exact(&a, &b));
        prop_assert_eq!(SimdPath::Portable.dot(&a, &b), exact(&a, &b));
    }

    #[test]
    fn dots_equal_single_dot_products(
        query in proptest::collection::vec(any::<i8>(), 1..80),
        rows in proptest::collection::vec(any::<i8>(), 0..900),
    ) {
        let want: Vec<i32> =
            rows.chunks_exact(query.len()).map(|row| exact(&query, row)).collect();
        for path in [SimdPath::best(), SimdPath::Portable] {
            let mut dots = vec![7];
            path.dots(&query, &rows, &mut dots);
            prop_assert_eq!(dots[0], 7);
            prop_assert_eq!(&dots[1..], &want);
        }
    }

    #[test]
    fn sign_distances_are_hamming_distances(
        a in proptest::collection::vec(any::<i8>(), 128),
        b in proptest::collection::vec(any::<i8>(), 128),
    ) {
        let differ = a.iter().zip(&b).filter(|(a, b)| (**a < 0) != (**b < 0)).count();
        for path in [SimdPath::best(), SimdPath::Portable] {
            let mut distances = Vec::new();
            path.sign_distances(&signs(&a), &[signs(&b), signs(&a)].concat(), &mut distances);
            prop_assert_eq!(&distances, &[differ as u32, 0]);
        }
    }
}
