//! Turns a published model into the weights file.
//!
//! Weights become eight-bit integers. Each output channel has a scale of its own for
//! every group of inputs: with one scale per channel a few large weights cost all others
//! their precision, and the shortest texts strayed to a cosine of .996.

use anyhow::{Context as _, ensure};
use embed::format::{self, GROUP, Header, Pooling};
use embed::layout::{Layout, MatrixAt};

use super::checkpoint::{Checkpoint, Tensor};

const INT8_MAX: f32 = 127.0;

/// What is not in the published files.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub(super) id: &'a str,
    pub(super) query_prefix: &'a str,
    pub(super) passage_prefix: &'a str,
    pub(super) tokens_max: usize,
}

pub(super) fn convert(from: &Checkpoint, names: &Names<'_>) -> anyhow::Result<Vec<u8>> {
    let mut header = header(from, names)?;
    let layout = Layout::of(&header);
    let mut file = File {
        bytes: vec![0; layout.bytes],
    };
    file.put(layout.id, names.id.as_bytes());
    file.put(layout.query_prefix, names.query_prefix.as_bytes());
    file.put(layout.passage_prefix, names.passage_prefix.as_bytes());
    put_vocab(&mut file, &header, &layout, &from.vocab)?;
    put_embeddings(&mut file, &header, &layout, from)?;
    for index in 0..header.layers {
        put_layer(&mut file, &header, &layout, index, from)
            .with_context(|| format!("layer {index}"))?;
    }
    header.checksum = format::checksum(format::behind_the_header(&file.bytes));
    file.put(0, &header.to_bytes());
    Header::parse(&file.bytes)?;
    Ok(file.bytes)
}

fn header(from: &Checkpoint, names: &Names<'_>) -> anyhow::Result<Header> {
    let config = &from.config;
    let vocab = &from.vocab;
    let id_of = |name: &str| {
        let at = vocab.iter().position(|piece| piece == name);
        at.map(|id| id as u32)
            .with_context(|| format!("the vocabulary has no {name}"))
    };
    ensure!(
        names.tokens_max <= config.max_position_embeddings,
        "the model has fewer positions"
    );
    Ok(Header {
        layers: config.num_hidden_layers,
        width: config.hidden_size,
        heads: config.num_attention_heads,
        ffn: config.intermediate_size,
        vocab: vocab.len(),
        tokens_max: names.tokens_max,
        pooling: if from.first_token_pooling {
            Pooling::First
        } else {
            Pooling::Mean
        },
        slots: (vocab.len() * 2).next_power_of_two(),
        pieces_bytes: vocab.iter().map(String::len).sum(),
        piece_bytes_max: vocab.iter().map(String::len).max().unwrap_or(0),
        unknown: id_of("[UNK]")?,
        first: id_of("[CLS]")?,
        last: id_of("[SEP]")?,
        norm_epsilon: config.layer_norm_eps,
        id_bytes: names.id.len(),
        query_prefix_bytes: names.query_prefix.len(),
        passage_prefix_bytes: names.passage_prefix.len(),
        checksum: 0,
    })
}

/// The file as it fills up.
struct File {
    bytes: Vec<u8>,
}

impl File {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn put_floats(&mut self, at: usize, values: &[f32]) {
        for (index, value) in values.iter().enumerate() {
            self.put(at + index * 4, &value.to_le_bytes());
        }
    }
}

fn put_vocab(
    file: &mut File,
    header: &Header,
    layout: &Layout,
    vocab: &[String],
) -> anyhow::Result<()> {
    let mut end = 0;
    for (id, piece) in vocab.iter().enumerate() {
        file.put(layout.pieces + end, piece.as_bytes());
        end += piece.len();
        file.put(layout.piece_ends + id * 4, &(end as u32).to_le_bytes());
    }
    let table = format::hash_table(vocab.iter().map(String::as_str), header.slots);
    for (index, slot) in table
        .context("the hash table is too full")?
        .iter()
        .enumerate()
    {
        file.put(layout.slots + index * 4, &slot.to_le_bytes());
    }
    Ok(())
}

fn put_embeddings(
    file: &mut File,
    header: &Header,
    layout: &Layout,
    from: &Checkpoint,
) -> anyhow::Result<()> {
    let width = header.width;
    let words = from.tensor("embeddings.word_embeddings.weight", header.vocab, width)?;
    for id in 0..header.vocab {
        let (scale, integers) = quantized(words.row(id));
        file.put_floats(layout.word_scales + id * 4, &[scale]);
        file.put(layout.words + id * width, &integers);
    }
    let positions = from.config.max_position_embeddings;
    let positions = from.tensor("embeddings.position_embeddings.weight", positions, width)?;
    let types = from.tensor("embeddings.token_type_embeddings.weight", 2, width)?;
    for at in 0..header.tokens_max {
        let sums = positions
            .row(at)
            .iter()
            .zip(types.row(0))
            .map(|(a, b)| a + b);
        file.put_floats(layout.positions + at * width * 4, &sums.collect::<Vec<_>>());
    }
    put_norm(file, layout.norm, from, "embeddings.LayerNorm", width)
}

fn put_layer(
    file: &mut File,
    header: &Header,
    layout: &Layout,
    index: usize,
    from: &Checkpoint,
) -> anyhow::Result<()> {
    let (at, width) = (&layout.layer, header.width);
    let start = layout.layers + at.bytes * index;
    let name = |part: &str| format!("encoder.layer.{index}.{part}");
    let linear = |part: &str, rows: usize, columns: usize| -> anyhow::Result<(Tensor, Tensor)> {
        let weight = from.tensor(&name(&format!("{part}.weight")), rows, columns)?;
        Ok((
            weight,
            from.tensor(&name(&format!("{part}.bias")), 1, rows)?,
        ))
    };
    let attention = stacked([
        scaled(
            linear("attention.self.query", width, width)?,
            head_scale(header),
        ),
        linear("attention.self.key", width, width)?,
        linear("attention.self.value", width, width)?,
    ]);
    put_matrix(file, start, &at.attention, &attention);
    put_matrix(
        file,
        start,
        &at.mix,
        &linear("attention.output.dense", width, width)?,
    );
    put_norm(
        file,
        start + at.mix_norm,
        from,
        &name("attention.output.LayerNorm"),
        width,
    )?;
    put_matrix(
        file,
        start,
        &at.widen,
        &linear("intermediate.dense", header.ffn, width)?,
    );
    put_matrix(
        file,
        start,
        &at.narrow,
        &linear("output.dense", width, header.ffn)?,
    );
    put_norm(
        file,
        start + at.narrow_norm,
        from,
        &name("output.LayerNorm"),
        width,
    )
}

fn head_scale(header: &Header) -> f32 {
    1.0 / ((header.width / header.heads) as f32).sqrt()
}

fn scaled((mut weight, mut bias): (Tensor, Tensor), by: f32) -> (Tensor, Tensor) {
    for value in weight.values.iter_mut().chain(&mut bias.values) {
        *value *= by;
    }
    (weight, bias)
}

/// One matrix whose outputs are those of all parts, one after the other.
fn stacked(parts: [(Tensor, Tensor); 3]) -> (Tensor, Tensor) {
    let [mut whole, second, third] = parts;
    for part in [second, third] {
        whole.0.rows += part.0.rows;
        whole.0.values.extend(part.0.values);
        whole.1.columns += part.1.columns;
        whole.1.values.extend(part.1.values);
    }
    whole
}

fn put_matrix(file: &mut File, start: usize, at: &MatrixAt, (weight, bias): &(Tensor, Tensor)) {
    file.put_floats(start + at.bias, &bias.values);
    for output in 0..at.outputs {
        for (group, values) in weight.row(output).chunks_exact(GROUP).enumerate() {
            let (scale, integers) = quantized(values);
            file.put_floats(start + at.scales + at.scale(output, group) * 4, &[scale]);
            for (index, integer) in integers.into_iter().enumerate() {
                let input = group * GROUP + index;
                file.bytes[start + at.weights + at.weight(output, input)] = integer;
            }
        }
    }
}

fn put_norm(
    file: &mut File,
    at: usize,
    from: &Checkpoint,
    name: &str,
    width: usize,
) -> anyhow::Result<()> {
    file.put_floats(
        at,
        &from.tensor(&format!("{name}.weight"), 1, width)?.values,
    );
    file.put_floats(
        at + width * 4,
        &from.tensor(&format!("{name}.bias"), 1, width)?.values,
    );
    Ok(())
}

/// Values as integers (in two's complement) times one scale.
fn quantized(values: &[f32]) -> (f32, Vec<u8>) {
    let largest = values
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let steps = if largest > 0.0 {
        INT8_MAX / largest
    } else {
        0.0
    };
    let integers = values
        .iter()
        .map(|value| (value * steps).round_ties_even() as i8 as u8);
    (largest / INT8_MAX, integers.collect())
}
