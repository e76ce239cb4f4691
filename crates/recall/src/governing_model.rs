//! [`GoverningModel`]: moves the vector of a prompt towards the vectors of the memories that govern it.
//!
//! The encoder puts texts near each other that are about the same thing. "Add a shipping fee of 4.90" and "amounts are
//! integer cents" are not, but the second governs the first. The model adds a learnt low-rank term to the prompt's
//! vector, `q + (q · down) · upᵀ`; the vectors of memories stay as they are stored. `cargo xtask bench governing` trains
//! it; the README of this crate is its model card.

use std::sync::LazyLock;

/// Dimensions of the vectors, and of the learnt term between them.
pub const WIDTH: usize = 384;
pub const RANK: usize = 96;

/// Numbers of one matrix.
const MATRIX: usize = WIDTH * RANK;
/// A file: the scale of each matrix, slope and bias, then both matrices as int8.
const FILE_BYTES: usize = 4 * size_of::<f32>() + 2 * MATRIX;

static BUILT_IN: LazyLock<Option<GoverningModel>> =
    LazyLock::new(|| GoverningModel::from_bytes(include_bytes!("governing_weights.bin")));

/// The learnt term, and how likely a similarity makes it that a memory governs a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct GoverningModel {
    /// `WIDTH` rows of `RANK` numbers each.
    pub down: Vec<f32>,
    pub up: Vec<f32>,
    pub slope: f32,
    pub bias: f32,
}

impl GoverningModel {
    /// The model inside the executable. `None` if its file does not have the right size, which a test excludes.
    pub fn built_in() -> Option<&'static Self> {
        BUILT_IN.as_ref()
    }

    /// Reads a model; `None` if the bytes are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != FILE_BYTES {
            return None;
        }
        let (head, matrices) = bytes.split_at(4 * size_of::<f32>());
        let mut numbers = head.chunks_exact(size_of::<f32>()).filter_map(|four| four.try_into().ok());
        let mut next = || numbers.next().map(f32::from_le_bytes);
        let (down_scale, up_scale, slope, bias) = (next()?, next()?, next()?, next()?);
        let (down, up) = matrices.split_at(MATRIX);
        let scaled = |bytes: &[u8], scale: f32| -> Vec<f32> {
            bytes.iter().map(|byte| f32::from(byte.cast_signed()) * scale).collect()
        };
        Some(Self { down: scaled(down, down_scale), up: scaled(up, up_scale), slope, bias })
    }

    /// The file of this model.
    pub fn to_bytes(&self) -> Vec<u8> {
        let scale_of =
            |matrix: &[f32]| matrix.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs())) / 127.0;
        let (down_scale, up_scale) = (scale_of(&self.down), scale_of(&self.up));
        let mut bytes = Vec::with_capacity(FILE_BYTES);
        for number in [down_scale, up_scale, self.slope, self.bias] {
            bytes.extend(number.to_le_bytes());
        }
        for (matrix, scale) in [(&self.down, down_scale), (&self.up, up_scale)] {
            bytes.extend(matrix.iter().map(|x| ((x / scale).round() as i8).cast_unsigned()));
        }
        bytes
    }

    /// The vector by which memories that govern the prompt are near. A vector of another width stays as it is.
    pub fn project(&self, prompt: &[f32]) -> Vec<f32> {
        if prompt.len() != WIDTH {
            return prompt.to_vec();
        }
        let mut middle = [0.0_f32; RANK];
        for (x, row) in prompt.iter().zip(self.down.chunks_exact(RANK)) {
            for (sum, weight) in middle.iter_mut().zip(row) {
                *sum += x * weight;
            }
        }
        let add = |row: &[f32]| -> f32 { middle.iter().zip(row).map(|(x, weight)| x * weight).sum() };
        prompt.iter().zip(self.up.chunks_exact(RANK)).map(|(x, row)| x + add(row)).collect()
    }

    /// The logit of a similarity to a projected prompt; 0 is where a memory and none are equally likely.
    pub fn logit(&self, similarity: f64) -> f64 {
        f64::from(self.slope) * similarity + f64::from(self.bias)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> GoverningModel {
        let mut model =
            GoverningModel { down: vec![0.0; MATRIX], up: vec![0.0; MATRIX], slope: 8.0, bias: -4.0 };
        // The first dimension of a prompt is added to the last.
        model.down[0] = 1.0;
        model.up[MATRIX - RANK] = 0.5;
        model
    }

    #[test]
    fn learnt_term_is_added_to_the_prompt() {
        let mut prompt = vec![0.0; WIDTH];
        prompt[0] = 1.0;
        let projected = model().project(&prompt);
        assert!((projected[0] - 1.0).abs() < 1e-6 && (projected[WIDTH - 1] - 0.5).abs() < 1e-6);
        assert!(projected[1..WIDTH - 1].iter().all(|x| x.abs() < 1e-6));
    }

    #[test]
    fn vector_of_another_width_stays_as_it_is() {
        assert_eq!(model().project(&[1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn model_survives_its_file() {
        let bytes = model().to_bytes();
        assert_eq!(GoverningModel::from_bytes(&bytes), Some(model()));
        assert_eq!(GoverningModel::from_bytes(&bytes[1..]), None);
    }

    #[test]
    fn built_in_model_can_be_read() {
        assert!(GoverningModel::built_in().is_some());
    }
}
