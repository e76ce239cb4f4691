use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Encodes a text as its length and counts its calls.
#[derive(Default)]
struct LengthEncoder(AtomicUsize);

impl TextEncoder for LengthEncoder {
    fn id(&self) -> &'static str {
        "length"
    }

    fn width(&self) -> usize {
        1
    }

    fn embed_query(&self, text: &str) -> Vec<f32> {
        vec![text.len() as f32]
    }

    fn embed_documents(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

#[test]
fn vectors_keep_the_order_of_the_texts() {
    let texts = ["a", "bb", "", "dddd", "eeeee", "ffffff", "g"];
    for threads in 0..9 {
        let encoder = LengthEncoder::default();
        let made = ParallelEncoder::new(&encoder, &|| threads).embed_documents(&texts);
        let lengths: Vec<usize> = made.iter().map(|vector| vector[0] as usize).collect();
        assert_eq!(lengths, [1, 2, 0, 4, 5, 6, 1], "{threads} threads");
        let calls = encoder.0.load(Ordering::Relaxed);
        assert!((1..=threads.max(1)).contains(&calls), "{calls} calls on {threads} threads");
    }
}

#[test]
fn shares_are_of_similar_length() {
    let long = "x".repeat(90);
    let texts = [long.as_str(), "short", "short", "short", "short"];
    let shares = equal_shares(&texts, 2);
    assert_eq!(shares.iter().map(|share| share.len()).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(equal_shares(&texts, 1).len(), 1);
    assert!(equal_shares(&[], 3).is_empty());
}
