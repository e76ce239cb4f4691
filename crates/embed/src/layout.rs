//! Where everything lies in a weights file. It follows from the header alone.
//!
//! Matrices are stored the way the product reads them. Sixteen output channels make a
//! panel; inside a panel come the inputs in pairs, and for each pair sixteen times two
//! weights. Every channel has one scale per `GROUP` inputs. The query's rows are already
//! divided by the square root of the head's width, and the embedding of token type 0 is
//! already added to the positions.

use crate::format::{GROUP, HEADER_BYTES, Header, PANEL};

/// Every section starts at a multiple of this: a cache line.
const ALIGN: usize = 64;

/// Where one matrix lies and what shape it has.
#[derive(Clone, Copy, Debug)]
pub struct MatrixAt {
    pub inputs: usize,
    pub outputs: usize,
    pub bias: usize,
    pub scales: usize,
    pub weights: usize,
}

/// Where the parts of one layer lie, counted from the layer's start. A norm is its gains
/// followed by its offsets.
#[derive(Clone, Copy, Debug)]
pub struct LayerAt {
    pub attention: MatrixAt,
    pub mix: MatrixAt,
    pub mix_norm: usize,
    pub widen: MatrixAt,
    pub narrow: MatrixAt,
    pub narrow_norm: usize,
    pub bytes: usize,
}

/// Where everything lies, counted from the first byte of the file.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
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
    pub layer: LayerAt,
    pub bytes: usize,
}

impl Layout {
    /// The only layout that a file with this header can have.
    pub const fn of(header: &Header) -> Layout {
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
        let layer = LayerAt::of(header);
        Layout {
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

impl LayerAt {
    const fn of(header: &Header) -> LayerAt {
        let width = header.width;
        let attention = MatrixAt::at(0, width, width * 3);
        let mix = MatrixAt::at(attention.end(), width, width);
        let mix_norm = mix.end();
        let widen = MatrixAt::at(aligned(mix_norm + width * 8), width, header.ffn);
        let narrow = MatrixAt::at(widen.end(), header.ffn, width);
        let narrow_norm = narrow.end();
        let bytes = aligned(narrow_norm + width * 8);
        LayerAt {
            attention,
            mix,
            mix_norm,
            widen,
            narrow,
            narrow_norm,
            bytes,
        }
    }
}

impl MatrixAt {
    const fn at(bias: usize, inputs: usize, outputs: usize) -> MatrixAt {
        let scales = aligned(bias + outputs * 4);
        let weights = aligned(scales + outputs * (inputs / GROUP) * 4);
        MatrixAt {
            inputs,
            outputs,
            bias,
            scales,
            weights,
        }
    }

    const fn end(&self) -> usize {
        aligned(self.weights + self.inputs * self.outputs)
    }

    /// Index of one weight, counted from `weights`.
    pub const fn weight(&self, output: usize, input: usize) -> usize {
        let panel = output / PANEL * PANEL * self.inputs;
        panel + input / 2 * PANEL * 2 + output % PANEL * 2 + input % 2
    }

    /// Index of one scale, counted in floats from `scales`.
    pub const fn scale(&self, output: usize, group: usize) -> usize {
        (output / PANEL * (self.inputs / GROUP) + group) * PANEL + output % PANEL
    }
}

const fn aligned(offset: usize) -> usize {
    offset.next_multiple_of(ALIGN)
}
