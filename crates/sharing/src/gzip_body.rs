//! Compression of requests and answers. Records are text that repeats itself: about a third of it travels.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::sharing_error::SharingError;

/// Shorter requests are sent as they are.
const COMPRESS_BYTES_MIN: usize = 1_024;

/// The compressed request; `None` if it is not worth it.
pub(crate) fn compress_request(plain: &[u8]) -> Option<Vec<u8>> {
    if plain.len() < COMPRESS_BYTES_MIN {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 3), Compression::fast());
    // Writing to memory does not fail; if it did, the request would go as it is.
    encoder.write_all(plain).and_then(|()| encoder.finish()).ok()
}

/// Expands an answer, up to a limit: a small answer can be made that expands without an end.
pub(crate) fn expand_answer(compressed: &[u8], bytes_max: u64) -> Result<Vec<u8>, SharingError> {
    let mut plain = Vec::new();
    let read = GzDecoder::new(compressed).take(bytes_max + 1).read_to_end(&mut plain);
    read.map_err(|_| SharingError::InvalidAnswer("an answer cannot be expanded"))?;
    if plain.len() as u64 > bytes_max {
        return Err(SharingError::InvalidAnswer("an answer is too long"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_expands_to_itself() {
        let text = "round invoices up ".repeat(500);
        let compressed = compress_request(text.as_bytes()).unwrap();
        assert!(compressed.len() < text.len() / 10);
        assert_eq!(expand_answer(&compressed, text.len() as u64).unwrap(), text.as_bytes());
        assert!(compress_request(b"{}").is_none());
    }

    #[test]
    fn answers_that_expand_too_far_are_refused() {
        let bomb = compress_request(&vec![b' '; 1 << 20]).unwrap();
        assert!(bomb.len() < 8 << 10);
        assert!(matches!(expand_answer(&bomb, 1 << 16), Err(SharingError::InvalidAnswer(_))));
        assert!(matches!(expand_answer(b"no gzip", 1 << 16), Err(SharingError::InvalidAnswer(_))));
    }
}
