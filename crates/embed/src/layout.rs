//! Offsets of all sections in a weights file, computed from the header alone.
//!
//! Matrices are stored in the order the product reads them. Sixteen output channels form a panel;
//! within a panel come pairs of inputs, and for each pair sixteen times two weights. Every channel
//! has one scale per `GROUP` inputs. The query rows are already divided by the square root of the
//! head width, and the embedding of token type 0 is already added to the positions.

use crate::format::{GROUP, HEADER_BYTES, ModelHeader, PANEL};

/// Alignment of every section: a cache line.
const ALIGN: usize = 64;

/// Offsets and shape of one matrix.
#[derive(Clone, Copy, Debug)]
pub struct MatrixLayout {
    pub inputs: usize,
    pub outputs: usize,
    pub bias: usize,
    pub scales: usize,
    pub weights: usize,
}

/// Offsets of one layer's parts, relative to the layer. A norm is its gains followed by its
/// offsets.
#[derive(Clone, Copy, Debug)]
pub struct LayerLayout {
    pub attention: MatrixLayout,
    pub attention_output: MatrixLayout,
    pub attention_norm: usize,
    pub ffn_up: MatrixLayout,
    pub ffn_down: MatrixLayout,
    pub ffn_norm: usize,
    pub bytes: usize,
}

/// Offsets of all sections, relative to the file.
#[derive(Clone, Copy, Debug)]
pub struct ModelLayout {
    pub id: usize,
    pub query_prefix: usize,
    pub passage_prefix: usize,
    pub slots: usize,
    pub piece_ends: usize,
    pub pieces: usize,
    pub word_scales: usize,
    pub words: usize,
    pub positions: usize,
    pub norm: usize,
    pub layers: usize,
    pub layer: LayerLayout,
    pub bytes: usize,
}

impl ModelLayout {
    /// The layout of a file with this header.
    pub const fn for_header(header: &ModelHeader) -> ModelLayout {
        let id = HEADER_BYTES;
        let query_prefix = id + header.id_bytes;
        let passage_prefix = query_prefix + header.query_prefix_bytes;
        let slots = aligned(passage_prefix + header.passage_prefix_bytes);
        let piece_ends = aligned(slots + header.slots * 4);
        let pieces = aligned(piece_ends + header.vocab * 4);
        let word_scales = aligned(pieces + header.pieces_bytes);
        let words = aligned(word_scales + header.vocab * 4);
        let positions = aligned(words + header.vocab * header.width);
        let norm = aligned(positions + header.tokens_max * header.width * 4);
        let layers = aligned(norm + header.width * 8);
        let layer = LayerLayout::for_header(header);
        ModelLayout {
            id,
            query_prefix,
            passage_prefix,
            slots,
            piece_ends,
            pieces,
            word_scales,
            words,
            positions,
            norm,
            layers,
            layer,
            bytes: layers + layer.bytes * header.layers,
        }
    }
}

impl LayerLayout {
    const fn for_header(header: &ModelHeader) -> LayerLayout {
        let width = header.width;
        let attention = MatrixLayout::starting_at(0, width, width * 3);
        let attention_output = MatrixLayout::starting_at(attention.end(), width, width);
        let attention_norm = attention_output.end();
        let ffn_up = MatrixLayout::starting_at(aligned(attention_norm + width * 8), width, header.ffn);
        let ffn_down = MatrixLayout::starting_at(ffn_up.end(), header.ffn, width);
        let ffn_norm = ffn_down.end();
        let bytes = aligned(ffn_norm + width * 8);
        LayerLayout { attention, attention_output, attention_norm, ffn_up, ffn_down, ffn_norm, bytes }
    }
}

impl MatrixLayout {
    const fn starting_at(bias: usize, inputs: usize, outputs: usize) -> MatrixLayout {
        let scales = aligned(bias + outputs * 4);
        let weights = aligned(scales + outputs * (inputs / GROUP) * 4);
        MatrixLayout { inputs, outputs, bias, scales, weights }
    }

    const fn end(&self) -> usize {
        aligned(self.weights + self.inputs * self.outputs)
    }

    /// Index of one weight, relative to `weights`.
    pub const fn weight(&self, output: usize, input: usize) -> usize {
        let panel = output / PANEL * PANEL * self.inputs;
        panel + input / 2 * PANEL * 2 + output % PANEL * 2 + input % 2
    }

    /// Index of one scale in floats, relative to `scales`.
    pub const fn scale(&self, output: usize, group: usize) -> usize {
        (output / PANEL * (self.inputs / GROUP) + group) * PANEL + output % PANEL
    }
}

const fn aligned(offset: usize) -> usize {
    offset.next_multiple_of(ALIGN)
}
