//! [`ParallelEncoder`] shares the texts of one batch between the cores that nothing else uses.

use crate::encoder::TextEncoder;

/// An encoder for the backlog. It asks before each batch how many threads it may use, so that it leaves
/// the processor to other programs as soon as they need it.
pub struct ParallelEncoder<'a, E: TextEncoder> {
    encoder: &'a E,
    threads: &'a (dyn Fn() -> usize + Sync),
}

impl<E: TextEncoder> std::fmt::Debug for ParallelEncoder<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParallelEncoder").field("encoder", &self.encoder.id()).finish_non_exhaustive()
    }
}

impl<'a, E: TextEncoder> ParallelEncoder<'a, E> {
    /// `threads` is called before each batch; 0 counts as 1.
    pub fn new(encoder: &'a E, threads: &'a (dyn Fn() -> usize + Sync)) -> Self {
        Self { encoder, threads }
    }
}

impl<E: TextEncoder> TextEncoder for ParallelEncoder<'_, E> {
    fn id(&self) -> &str {
        self.encoder.id()
    }

    fn width(&self) -> usize {
        self.encoder.width()
    }

    fn embed_query(&self, text: &str) -> Vec<f32> {
        self.encoder.embed_query(text)
    }

    fn embed_documents(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let shares = equal_shares(texts, (self.threads)());
        let Some((first, others)) = shares.split_first() else {
            return Vec::new();
        };
        std::thread::scope(|scope| {
            let running: Vec<_> =
                others.iter().map(|share| scope.spawn(|| self.encoder.embed_documents(share))).collect();
            let mut vectors = self.encoder.embed_documents(first);
            for (thread, share) in running.into_iter().zip(others) {
                // A thread that panicked is repeated here, where the panic reaches the caller.
                vectors.extend(thread.join().unwrap_or_else(|_| self.encoder.embed_documents(share)));
            }
            vectors
        })
    }
}

/// Splits texts into at most `count` runs of about equal length in bytes, in order.
fn equal_shares<'t, 's>(texts: &'t [&'s str], count: usize) -> Vec<&'t [&'s str]> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let mut shares = Vec::new();
    let (mut rest, mut taken) = (texts, 0);
    for share in 1..=count.max(1) {
        let until = bytes * share / count.max(1);
        let mut end = 0;
        while end < rest.len() && (taken < until || share >= count) {
            taken += rest[end].len();
            end += 1;
        }
        let (own, later) = rest.split_at(end);
        if !own.is_empty() {
            shares.push(own);
        }
        rest = later;
    }
    shares
}

#[cfg(test)]
#[path = "parallel_encoder_tests.rs"]
mod tests;
