//! A model: a weights file and what it can do with a text.

use std::borrow::Cow;

use crate::encoder::{self, Embeddings, Layer, Scratch};
use crate::format::{self, BadModel, Header};
use crate::kernels::{Matrix, Norm};
use crate::layout::{Layout, MatrixAt};
use crate::simd::Path;
use crate::tokenizer::Tokenizer;
use crate::vector::as_i8;
use crate::vocab::Vocab;

/// Tokens that are encoded together in a batch. More would not be faster, only larger.
const BATCH_TOKENS: usize = 256;

/// An encoder and its weights. Making one reads a header and nothing else.
#[derive(Clone, Debug)]
pub struct Model {
    header: Header,
    layout: Layout,
    bytes: Cow<'static, [u8]>,
    portable: bool,
}

/// The weights in the executable, at the start of a cache line as in a file of their own.
#[repr(C, align(64))]
struct Aligned<Bytes: ?Sized>(Bytes);
static BUILT_IN_WEIGHTS: &Aligned<[u8]> =
    &Aligned(*include_bytes!("../model/all-minilm-l6-v2.bin"));

/// Judged by the compiler: an executable with a bad model cannot be built.
static BUILT_IN: Model = match judge(&BUILT_IN_WEIGHTS.0) {
    Ok((header, layout)) => Model {
        header,
        layout,
        bytes: Cow::Borrowed(&BUILT_IN_WEIGHTS.0),
        portable: false,
    },
    Err(_) => panic!("model/all-minilm-l6-v2.bin is not of this format: cargo xtask model"),
};

impl Model {
    /// The model inside the executable. Costs nothing until it is used.
    pub fn built_in() -> &'static Model {
        &BUILT_IN
    }

    /// A weights file that `cargo xtask model` has made from some model of the family.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Model, BadModel> {
        let bytes = bytes.into();
        let (header, layout) = judge(&bytes)?;
        if format::checksum(format::behind_the_header(&bytes)) != header.checksum {
            return Err(BadModel::Checksum);
        }
        let names = [layout.id, layout.query_prefix, layout.passage_prefix];
        let counts = [
            header.id_bytes,
            header.query_prefix_bytes,
            header.passage_prefix_bytes,
        ];
        for (start, count) in names.into_iter().zip(counts) {
            if str::from_utf8(&bytes[start..][..count]).is_err() {
                return Err(BadModel::Shape);
            }
        }
        Ok(Model {
            header,
            layout,
            bytes,
            portable: false,
        })
    }

    /// The same model, computed without any instruction that not every processor has.
    #[must_use]
    pub fn portable(mut self) -> Model {
        self.portable = true;
        self
    }

    /// Names the weights and how they were converted: vectors of different ids do not
    /// compare.
    pub fn id(&self) -> &str {
        self.text(self.layout.id, self.header.id_bytes)
    }

    /// Numbers in one vector.
    pub fn width(&self) -> usize {
        self.header.width
    }

    /// What of a longer text is read, in tokens, the two that mark its ends included.
    pub fn tokens_max(&self) -> usize {
        self.header.tokens_max
    }

    /// How many tokens the encoder reads of this text.
    pub fn tokens(&self, text: &str) -> usize {
        self.ids(&[text], self.tokens_max()).len()
    }

    /// The unit vector of a text that is stored and to be found.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        self.encode_first(text, self.tokens_max())
    }

    /// The unit vector of what somebody looks for. Some models are told the difference.
    pub fn encode_query(&self, text: &str) -> Vec<f32> {
        self.encode_query_first(text, self.tokens_max())
    }

    /// Like [`Model::encode`], reading at most `tokens_max` tokens: time is proportional.
    pub fn encode_first(&self, text: &str, tokens_max: usize) -> Vec<f32> {
        self.vector(self.ids(&[self.passage_prefix(), text], tokens_max))
    }

    /// Like [`Model::encode_query`], reading at most `tokens_max` tokens.
    pub fn encode_query_first(&self, text: &str, tokens_max: usize) -> Vec<f32> {
        self.vector(self.ids(&[self.query_prefix(), text], tokens_max))
    }

    /// The unit vectors of many stored texts, in their order.
    pub fn encode_batch(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let prefix = self.passage_prefix();
        let ids = texts
            .iter()
            .map(|text| self.ids(&[prefix, text], self.tokens_max()));
        self.vectors(&ids.collect::<Vec<_>>())
    }

    /// The token ids of a text as the encoder sees them.
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        self.ids(&[text], self.tokens_max())
    }

    fn vector(&self, ids: Vec<u32>) -> Vec<f32> {
        self.vectors(&[ids]).pop().unwrap_or_default()
    }

    fn vectors(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        let all = texts.iter().map(Vec::len).sum::<usize>();
        let rows = all.min(BATCH_TOKENS.max(longest));
        let mut scratch = Scratch::new(&self.header, rows, longest);
        let mut vectors = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let (batch, later) = rest.split_at(fitting(rest, rows));
            self.run(batch, &mut scratch, |vector| vectors.push(vector));
            rest = later;
        }
        vectors
    }

    fn run(&self, texts: &[Vec<u32>], scratch: &mut Scratch, take: impl FnMut(Vec<f32>)) {
        let path = if self.portable {
            Path::Portable
        } else {
            Path::best()
        };
        let layers = (0..self.header.layers).map(|index| self.layer(index));
        encoder::run(
            path,
            &self.header,
            &self.embeddings(),
            layers,
            texts,
            scratch,
            take,
        );
    }

    pub(crate) fn ids(&self, parts: &[&str], tokens_max: usize) -> Vec<u32> {
        let limit = tokens_max.clamp(2, self.tokens_max()) - 1;
        let mut ids = vec![self.header.first];
        for part in parts {
            ids = Tokenizer::new(self.vocab(), self.header.unknown, ids, limit).read(part);
        }
        ids.push(self.header.last);
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

    fn embeddings(&self) -> Embeddings<'_> {
        let Header {
            width,
            vocab,
            tokens_max,
            ..
        } = self.header;
        Embeddings {
            word_scales: self.words_at(self.layout.word_scales, vocab),
            words: as_i8(&self.bytes[self.layout.words..][..vocab * width]),
            positions: self.words_at(self.layout.positions, tokens_max * width),
            norm: self.norm(self.layout.norm),
        }
    }

    fn layer(&self, index: usize) -> Layer<'_> {
        let at = &self.layout.layer;
        let start = self.layout.layers + at.bytes * index;
        Layer {
            attention: self.matrix(start, &at.attention),
            mix: self.matrix(start, &at.mix),
            mix_norm: self.norm(start + at.mix_norm),
            widen: self.matrix(start, &at.widen),
            narrow: self.matrix(start, &at.narrow),
            narrow_norm: self.norm(start + at.narrow_norm),
        }
    }

    fn matrix(&self, start: usize, at: &MatrixAt) -> Matrix<'_> {
        let MatrixAt {
            inputs, outputs, ..
        } = *at;
        Matrix {
            inputs,
            outputs,
            bias: self.words_at(start + at.bias, outputs),
            scales: self.words_at(start + at.scales, outputs * (inputs / format::GROUP)),
            weights: as_i8(&self.bytes[start + at.weights..][..inputs * outputs]),
        }
    }

    fn norm(&self, start: usize) -> Norm<'_> {
        let width = self.header.width;
        Norm {
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

/// How many of `texts` make the next batch: at least one, and no more than fit.
fn fitting(texts: &[Vec<u32>], rows: usize) -> usize {
    let mut total = 0;
    let fits = texts.iter().take_while(|text| {
        total += text.len();
        total <= rows
    });
    fits.count().max(1)
}

const fn judge(bytes: &[u8]) -> Result<(Header, Layout), BadModel> {
    let header = match Header::parse(bytes) {
        Ok(header) => header,
        Err(why) => return Err(why),
    };
    let layout = Layout::of(&header);
    if bytes.len() == layout.bytes {
        Ok((header, layout))
    } else {
        Err(BadModel::Length)
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "model_shape_tests.rs"]
mod shape_tests;
