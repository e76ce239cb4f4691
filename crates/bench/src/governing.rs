//! `cargo xtask bench governing`: trains the model by which recall finds the memory that governs a prompt, and measures it.
//!
//! The data was written for this purpose: memories, each with prompts that it governs and prompts about the same part
//! that it does not. The loss asks of each prompt which memory of the batch governs it, or none. Everything is
//! deterministic. `--write` replaces the weights that the program uses.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem_recall::governing_model::{GoverningModel, RANK, WIDTH};
use embed::EmbeddingModel;

const WEIGHTS: &str = "crates/recall/src/governing_weights.bin";
const DATA: &str = "crates/recall/governing";
const EPOCHS: usize = 40;
const BATCH: usize = 64;
const LEARNING_RATE: f32 = 2e-3;
/// Learning rate of slope and bias.
const SCALE_LEARNING_RATE: f32 = 1e-2;
/// Penalty on the squared norm of the learnt term.
const PENALTY: f32 = 1e-2;
const START_SLOPE: f32 = 12.0;
const START_BIAS: f32 = -6.0;
/// Deviation of the first weights from zero.
const START_DEVIATION: f32 = 0.05;
/// Memories of one store when measuring.
const STORE: usize = 40;
/// Share of the other prompts that must stay without a memory when measuring.
const SILENT: f64 = 0.95;

/// Arguments of `cargo xtask bench governing`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder with train.jsonl and heldout.jsonl
    #[arg(long, default_value = DATA)]
    data: PathBuf,
    /// Replace the weights of crates/recall
    #[arg(long)]
    write: bool,
}

/// One line of the data.
#[derive(serde::Deserialize)]
struct GoverningExample {
    memory: String,
    /// Prompts that the memory governs.
    governed: Vec<String>,
    /// Prompts about the same part that it does not govern.
    near: Vec<String>,
}

/// An example as vectors.
struct EncodedExample {
    memory: Vec<f32>,
    governed: Vec<Vec<f32>>,
    near: Vec<Vec<f32>>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let root = crate::workspace::workspace_root();
    let folder = root.join(&args.data);
    let train = read_examples(&folder.join("train.jsonl"))?;
    let held_out = read_examples(&folder.join("heldout.jsonl"))?;
    println!("{} examples to train on, {} held out", train.len(), held_out.len());
    let model = GoverningModelTrainer::new().train(&train);
    // Measured as it is stored: with eight bits.
    let bytes = model.to_bytes();
    let stored = GoverningModel::from_bytes(&bytes).context("the model cannot be read back")?;
    println!("stores of {STORE} memories; told: the right memory, with {SILENT} of the other prompts silent");
    println!("{:<24} {:>8} {:>6}", "held out", "ranked 1", "told");
    measure("cosine", &held_out, &|prompt| prompt.to_vec());
    measure("learnt", &held_out, &|prompt| stored.project(prompt));
    let path = root.join(WEIGHTS);
    if args.write {
        return std::fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()));
    }
    let known = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    println!("{WEIGHTS} {}", if known == bytes { "is this model" } else { "is another model" });
    Ok(())
}

fn read_examples(path: &Path) -> anyhow::Result<Vec<EncodedExample>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let encoder = EmbeddingModel::built_in();
    let mut examples = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: GoverningExample = serde_json::from_str(line)
            .with_context(|| format!("line {} of {}", number + 1, path.display()))?;
        anyhow::ensure!(
            !line.governed.is_empty() && !line.near.is_empty(),
            "line {} of {} has no prompts",
            number + 1,
            path.display()
        );
        let prompts = |texts: &[String]| texts.iter().map(|text| encoder.encode_query(text)).collect();
        examples.push(EncodedExample {
            memory: encoder.encode(&line.memory),
            governed: prompts(&line.governed),
            near: prompts(&line.near),
        });
    }
    anyhow::ensure!(!examples.is_empty(), "{} has no examples", path.display());
    Ok(examples)
}

/// Prints how often the right memory is the nearest, and how often it is told if most other prompts get none.
fn measure(name: &str, examples: &[EncodedExample], project: &dyn Fn(&[f32]) -> Vec<f32>) {
    let (mut asked, mut first, mut told) = (0, 0, 0);
    for store in examples.chunks(STORE) {
        let similarities = |prompt: &Vec<f32>| -> Vec<f32> {
            let projected = project(prompt);
            store.iter().map(|example| dot(&projected, &example.memory)).collect()
        };
        let best = |scores: &[f32]| scores.iter().copied().fold(f32::MIN, f32::max);
        let near = store.iter().flat_map(|example| &example.near);
        let mut others: Vec<f32> = near.map(|prompt| best(&similarities(prompt))).collect();
        others.sort_by(f32::total_cmp);
        let threshold = others[(others.len() as f64 * SILENT).ceil() as usize - 1];
        for (own, example) in store.iter().enumerate() {
            for prompt in &example.governed {
                let scores = similarities(prompt);
                asked += 1;
                first += usize::from(scores[own] >= best(&scores));
                told += usize::from(scores[own] > threshold);
            }
        }
    }
    let share = |count: usize| count as f64 / f64::from(asked);
    println!("{name:<24} {:>8.2} {:>6.2}", share(first), share(told));
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The weights in training, with the state of the optimiser.
struct GoverningModelTrainer {
    model: GoverningModel,
    down: AdamState,
    up: AdamState,
    scale: AdamState,
    random: SplitMix,
}

impl GoverningModelTrainer {
    fn new() -> Self {
        let mut random = SplitMix(0);
        let mut matrix =
            || -> Vec<f32> { (0..WIDTH * RANK).map(|_| START_DEVIATION * random.normal()).collect() };
        let (down, up) = (matrix(), matrix());
        Self {
            model: GoverningModel { down, up, slope: START_SLOPE, bias: START_BIAS },
            down: AdamState::new(WIDTH * RANK),
            up: AdamState::new(WIDTH * RANK),
            scale: AdamState::new(2),
            random,
        }
    }

    fn train(mut self, examples: &[EncodedExample]) -> GoverningModel {
        let mut order: Vec<usize> = (0..examples.len()).collect();
        for _ in 0..EPOCHS {
            self.random.shuffle(&mut order);
            for batch in order.chunks(BATCH) {
                let batch: Vec<&EncodedExample> = batch.iter().map(|&at| &examples[at]).collect();
                self.step(&batch);
            }
        }
        self.model
    }

    /// One step: which memory of the batch governs each prompt, or none?
    fn step(&mut self, batch: &[&EncodedExample]) {
        let mut gradient = Gradient::new();
        for round in 0..2 {
            for (own, example) in batch.iter().enumerate() {
                let governed = &example.governed[round % example.governed.len()];
                let near = &example.near[round % example.near.len()];
                self.add_prompt(governed, batch, Some(own), &mut gradient);
                self.add_prompt(near, batch, None, &mut gradient);
            }
        }
        let per_prompt = 1.0 / batch.len() as f32;
        for number in gradient.down.iter_mut().chain(&mut gradient.up).chain(&mut gradient.scale) {
            *number *= per_prompt;
        }
        self.add_penalty(&mut gradient);
        self.down.apply(&mut self.model.down, &gradient.down, LEARNING_RATE);
        self.up.apply(&mut self.model.up, &gradient.up, LEARNING_RATE);
        let mut scale = [self.model.slope, self.model.bias];
        self.scale.apply(&mut scale, &gradient.scale, SCALE_LEARNING_RATE);
        [self.model.slope, self.model.bias] = scale;
    }

    /// Adds the gradient of one prompt's cross entropy.
    fn add_prompt(
        &self,
        prompt: &[f32],
        batch: &[&EncodedExample],
        governing: Option<usize>,
        gradient: &mut Gradient,
    ) {
        let projected = self.model.project(prompt);
        let similarities: Vec<f32> = batch.iter().map(|example| dot(&projected, &example.memory)).collect();
        let logits: Vec<f32> =
            similarities.iter().map(|similarity| self.model.slope * similarity + self.model.bias).collect();
        // "None" has the logit 0.
        let largest = logits.iter().copied().fold(0.0, f32::max);
        let sum: f32 = (-largest).exp() + logits.iter().map(|logit| (logit - largest).exp()).sum::<f32>();
        let mut towards = vec![0.0; WIDTH];
        for (at, (logit, similarity)) in logits.iter().zip(&similarities).enumerate() {
            let wanted = if governing == Some(at) { 1.0 } else { 0.0 };
            let error = (logit - largest).exp() / sum - wanted;
            gradient.scale[0] += error * similarity;
            gradient.scale[1] += error;
            for (total, number) in towards.iter_mut().zip(&batch[at].memory) {
                *total += error * self.model.slope * number;
            }
        }
        let mut middle = [0.0; RANK];
        for (x, row) in prompt.iter().zip(self.model.down.chunks_exact(RANK)) {
            for (sum, weight) in middle.iter_mut().zip(row) {
                *sum += x * weight;
            }
        }
        let mut back = [0.0; RANK];
        for (error, row) in towards.iter().zip(self.model.up.chunks_exact(RANK)) {
            for (sum, weight) in back.iter_mut().zip(row) {
                *sum += error * weight;
            }
        }
        for (error, row) in towards.iter().zip(gradient.up.chunks_exact_mut(RANK)) {
            for (total, x) in row.iter_mut().zip(&middle) {
                *total += error * x;
            }
        }
        for (x, row) in prompt.iter().zip(gradient.down.chunks_exact_mut(RANK)) {
            for (total, error) in row.iter_mut().zip(&back) {
                *total += x * error;
            }
        }
    }

    /// Adds the gradient of `PENALTY · |down · upᵀ|²`.
    fn add_penalty(&self, gradient: &mut Gradient) {
        let (down, up) = (&self.model.down, &self.model.up);
        add_product(&mut gradient.down, down, &gram(up));
        add_product(&mut gradient.up, up, &gram(down));
    }
}

/// `matrixᵀ · matrix`.
fn gram(matrix: &[f32]) -> Vec<f32> {
    let mut product = vec![0.0; RANK * RANK];
    for row in matrix.chunks_exact(RANK) {
        for (x, into) in row.iter().zip(product.chunks_exact_mut(RANK)) {
            for (total, y) in into.iter_mut().zip(row) {
                *total += x * y;
            }
        }
    }
    product
}

/// Adds `2 · PENALTY · matrix · square`.
fn add_product(gradient: &mut [f32], matrix: &[f32], square: &[f32]) {
    for (row, into) in matrix.chunks_exact(RANK).zip(gradient.chunks_exact_mut(RANK)) {
        for (x, column) in row.iter().zip(square.chunks_exact(RANK)) {
            for (total, y) in into.iter_mut().zip(column) {
                *total += 2.0 * PENALTY * x * y;
            }
        }
    }
}

struct Gradient {
    down: Vec<f32>,
    up: Vec<f32>,
    /// Of slope and bias.
    scale: [f32; 2],
}

impl Gradient {
    fn new() -> Self {
        Self { down: vec![0.0; WIDTH * RANK], up: vec![0.0; WIDTH * RANK], scale: [0.0; 2] }
    }
}

/// The moments of the Adam optimiser.
struct AdamState {
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl AdamState {
    const KEEP_FIRST: f32 = 0.9;
    const KEEP_SECOND: f32 = 0.999;

    fn new(count: usize) -> Self {
        Self { first: vec![0.0; count], second: vec![0.0; count], steps: 0 }
    }

    fn apply(&mut self, weights: &mut [f32], gradient: &[f32], rate: f32) {
        self.steps += 1;
        let first_share = 1.0 - Self::KEEP_FIRST.powi(self.steps);
        let second_share = 1.0 - Self::KEEP_SECOND.powi(self.steps);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, slope), (first, second)) in weights.iter_mut().zip(gradient).zip(moments) {
            *first = Self::KEEP_FIRST * *first + (1.0 - Self::KEEP_FIRST) * slope;
            *second = Self::KEEP_SECOND * *second + (1.0 - Self::KEEP_SECOND) * slope * slope;
            *weight -= rate * (*first / first_share) / ((*second / second_share).sqrt() + 1e-8);
        }
    }
}

/// A generator of pseudo-random numbers that is the same everywhere.
struct SplitMix(u64);

impl SplitMix {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Between 0 and 1.
    fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Nearly normal: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.uniform()).sum::<f32>() - 6.0
    }

    fn shuffle(&mut self, order: &mut [usize]) {
        for at in (1..order.len()).rev() {
            order.swap(at, (self.next() % (at as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(at: usize) -> Vec<f32> {
        let mut vector = vec![0.0; WIDTH];
        vector[at] = 1.0;
        vector
    }

    #[test]
    fn unlike_prompt_is_moved_to_its_memory() {
        // Prompt n is governed by memory n, but looks like memory n + 1.
        let example = |n: usize| EncodedExample {
            memory: unit(n),
            governed: vec![unit((n + 1) % 4)],
            near: vec![unit(10 + n)],
        };
        let examples: Vec<EncodedExample> = (0..4).map(example).collect();
        let mut trainer = GoverningModelTrainer::new();
        let all: Vec<&EncodedExample> = examples.iter().collect();
        for _ in 0..200 {
            trainer.step(&all);
        }
        for (n, example) in examples.iter().enumerate() {
            let projected = trainer.model.project(&example.governed[0]);
            let best = (0..4).max_by(|&a, &b| {
                dot(&projected, &examples[a].memory).total_cmp(&dot(&projected, &examples[b].memory))
            });
            assert_eq!(best, Some(n));
        }
    }
}
