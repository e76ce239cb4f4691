//! The embedding model: a weights file, and encoding of texts with it.

use std::borrow::Cow;

use crate::encoder::{self, EmbeddingTable, EncoderLayer, EncoderScratch};
use crate::format::{self, ModelHeader, WeightsError};
use crate::kernels::{LayerNorm, WeightMatrix};
use crate::layout::{MatrixLayout, ModelLayout};
use crate::simd::{InstructionSet, SimdPath};
use crate::tokenizer::Tokenizer;
use crate::vector::as_i8;
use crate::vocab::Vocab;

/// Tokens per batch. Larger batches need more memory and are not faster.
const BATCH_TOKENS: usize = 256;

/// An encoder and its weights. Creating one reads only the header; a file from outside is also
/// checked by its checksum.
#[derive(Clone, Debug)]
pub struct EmbeddingModel {
    header: ModelHeader,
    layout: ModelLayout,
    bytes: Cow<'static, [u8]>,
    limit: InstructionSet,
}

/// Aligns the embedded weights to a cache line, as in a separate file.
#[repr(C, align(64))]
struct CacheAligned<Bytes: ?Sized>(Bytes);
static BUILT_IN_WEIGHTS: &CacheAligned<[u8]> =
    &CacheAligned(*include_bytes!("../model/all-minilm-l6-v2.bin"));

/// Validated at compile time: an executable with an invalid model cannot be built.
static BUILT_IN: EmbeddingModel = match validate(&BUILT_IN_WEIGHTS.0) {
    Ok((header, layout)) => EmbeddingModel {
        header,
        layout,
        bytes: Cow::Borrowed(&BUILT_IN_WEIGHTS.0),
        limit: InstructionSet::Avx512,
    },
    Err(_) => panic!("model/all-minilm-l6-v2.bin is not of this format: cargo xtask model"),
};

impl EmbeddingModel {
    /// The model embedded in the executable. Costs nothing until used.
    pub fn built_in() -> &'static EmbeddingModel {
        &BUILT_IN
    }

    /// Loads a weights file converted by `cargo xtask model` from a model of the same family.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<EmbeddingModel, WeightsError> {
        let bytes = bytes.into();
        let (header, layout) = validate(&bytes)?;
        if format::checksum(format::payload(&bytes)) != header.checksum {
            return Err(WeightsError::Checksum);
        }
        let names = [layout.id, layout.query_prefix, layout.passage_prefix];
        let counts = [header.id_bytes, header.query_prefix_bytes, header.passage_prefix_bytes];
        for (start, count) in names.into_iter().zip(counts) {
            if str::from_utf8(&bytes[start..][..count]).is_err() {
                return Err(WeightsError::Shape);
            }
        }
        Ok(EmbeddingModel { header, layout, bytes, limit: InstructionSet::Avx512 })
    }

    /// The same model with no newer instructions than `limit`.
    #[must_use]
    pub fn limited_to(mut self, limit: InstructionSet) -> EmbeddingModel {
        self.limit = limit;
        self
    }

    /// The instructions that this model uses on this processor.
    pub fn instruction_set(&self) -> InstructionSet {
        SimdPath::best_within(self.limit).instruction_set()
    }

    /// Identifies the weights and their conversion; vectors of different ids are not comparable.
    pub fn id(&self) -> &str {
        self.text(self.layout.id, self.header.id_bytes)
    }

    /// The number of dimensions.
    pub fn width(&self) -> usize {
        self.header.width
    }

    /// Maximum tokens read of a text, including the start and end tokens.
    pub fn tokens_max(&self) -> usize {
        self.header.tokens_max
    }

    /// The number of tokens the encoder reads of this text.
    pub fn token_count(&self, text: &str) -> usize {
        self.ids(&[text], self.tokens_max()).len()
    }

    /// The unit vector of a stored text.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        self.encode_first(text, self.tokens_max())
    }

    /// The unit vector of a query. Some models use a different prefix for queries.
    pub fn encode_query(&self, text: &str) -> Vec<f32> {
        self.encode_query_first(text, self.tokens_max())
    }

    /// Encodes at most `tokens_max` tokens of a stored text; time is proportional.
    pub fn encode_first(&self, text: &str, tokens_max: usize) -> Vec<f32> {
        self.vector(self.ids(&[self.passage_prefix(), text], tokens_max))
    }

    /// Encodes at most `tokens_max` tokens of a query.
    pub fn encode_query_first(&self, text: &str, tokens_max: usize) -> Vec<f32> {
        self.vector(self.ids(&[self.query_prefix(), text], tokens_max))
    }

    /// The unit vectors of many stored texts, in order.
    pub fn encode_batch(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let prefix = self.passage_prefix();
        let ids = texts.iter().map(|text| self.ids(&[prefix, text], self.tokens_max()));
        self.vectors(&ids.collect::<Vec<_>>())
    }

    fn vector(&self, ids: Vec<u32>) -> Vec<f32> {
        self.vectors(&[ids]).pop().unwrap_or_default()
    }

    fn vectors(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        let all = texts.iter().map(Vec::len).sum::<usize>();
        let rows = all.min(BATCH_TOKENS.max(longest));
        let mut scratch = EncoderScratch::new(&self.header, rows, longest);
        let mut vectors = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(batch_len(rest, rows));
            self.run(batch, &mut scratch, |vector| vectors.push(vector));
            rest = later;
        }
        vectors
    }

    fn run(&self, texts: &[Vec<u32>], scratch: &mut EncoderScratch, take: impl FnMut(Vec<f32>)) {
        let path = SimdPath::best_within(self.limit);
        let layers = (0..self.header.layers).map(|index| self.layer(index));
        encoder::run(path, &self.header, &self.embeddings(), layers, texts, scratch, take);
    }

    pub(crate) fn ids(&self, parts: &[&str], tokens_max: usize) -> Vec<u32> {
        let limit = tokens_max.clamp(2, self.tokens_max()) - 1;
        let mut ids = vec![self.header.start_id];
        for part in parts {
            ids = Tokenizer::new(self.vocab(), self.header.unknown_id, ids, limit).read(part);
        }
        ids.push(self.header.end_id);
        ids
    }

    fn query_prefix(&self) -> &str {
        self.text(self.layout.query_prefix, self.header.query_prefix_bytes)
    }

    fn passage_prefix(&self) -> &str {
        self.text(self.layout.passage_prefix, self.header.passage_prefix_bytes)
    }

    fn vocab(&self) -> Vocab<'_> {
        Vocab {
            slots: self.words_at(self.layout.slots, self.header.slots),
            piece_ends: self.words_at(self.layout.piece_ends, self.header.vocab),
            pieces: &self.bytes[self.layout.pieces..][..self.header.pieces_bytes],
            piece_bytes_max: self.header.piece_bytes_max,
        }
    }

    fn embeddings(&self) -> EmbeddingTable<'_> {
        let ModelHeader { width, vocab, tokens_max, .. } = self.header;
        EmbeddingTable {
            word_scales: self.words_at(self.layout.word_scales, vocab),
            words: as_i8(&self.bytes[self.layout.words..][..vocab * width]),
            positions: self.words_at(self.layout.positions, tokens_max * width),
            norm: self.norm(self.layout.norm),
        }
    }

    fn layer(&self, index: usize) -> EncoderLayer<'_> {
        let at = &self.layout.layer;
        let start = self.layout.layers + at.bytes * index;
        EncoderLayer {
            attention: self.matrix(start, &at.attention),
            attention_output: self.matrix(start, &at.attention_output),
            attention_norm: self.norm(start + at.attention_norm),
            ffn_up: self.matrix(start, &at.ffn_up),
            ffn_down: self.matrix(start, &at.ffn_down),
            ffn_norm: self.norm(start + at.ffn_norm),
        }
    }

    fn matrix(&self, start: usize, at: &MatrixLayout) -> WeightMatrix<'_> {
        let MatrixLayout { inputs, outputs, .. } = *at;
        WeightMatrix {
            inputs,
            outputs,
            bias: self.words_at(start + at.bias, outputs),
            scales: self.words_at(start + at.scales, outputs * (inputs / format::GROUP)),
            weights: as_i8(&self.bytes[start + at.weights..][..inputs * outputs]),
        }
    }

    fn norm(&self, start: usize) -> LayerNorm<'_> {
        let width = self.header.width;
        LayerNorm {
            gains: self.words_at(start, width),
            offsets: self.words_at(start + width * 4, width),
            epsilon: self.header.norm_epsilon,
        }
    }

    fn words_at(&self, start: usize, count: usize) -> &[[u8; 4]] {
        self.bytes[start..][..count * 4].as_chunks().0
    }

    fn text(&self, start: usize, count: usize) -> &str {
        str::from_utf8(&self.bytes[start..][..count]).unwrap_or_default()
    }
}

/// How many of `texts` form the next batch: as many as fit, at least one.
fn batch_len(texts: &[Vec<u32>], rows: usize) -> usize {
    let mut total = 0;
    let fits = texts.iter().take_while(|text| {
        total += text.len();
        total <= rows
    });
    fits.count().max(1)
}

/// Parses the header and checks that the file has the length its layout requires.
const fn validate(bytes: &[u8]) -> Result<(ModelHeader, ModelLayout), WeightsError> {
    let header = match ModelHeader::parse(bytes) {
        Ok(header) => header,
        Err(why) => return Err(why),
    };
    let layout = ModelLayout::for_header(&header);
    if bytes.len() == layout.bytes { Ok((header, layout)) } else { Err(WeightsError::Length) }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "model_shape_tests.rs"]
mod shape_tests;
