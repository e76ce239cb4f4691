//! `cargo xtask bench ranker`: trains the ranker of `crates/distil` on labelled sentences and measures it.
//!
//! Two logistic regressions with an L2 penalty, one for worth and one for whether a sentence stands alone, fitted by
//! gradient descent from zero, so that the same data always gives the same weights. Each project is held out once to
//! measure them. `--write` replaces the weights that the program uses with those of all projects.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem_core::source::TextSource;
use claude_mem_distil::ranker::{FEATURE_NAMES, RankedSentence, features};

const WEIGHTS: &str = "crates/distil/src/ranker_weights.tsv";
const FEATURES: usize = FEATURE_NAMES.len();
/// L2 penalty of every weight but the bias.
const PENALTY: f64 = 4.0;
const LEARNING_RATE: f64 = 0.5;
/// Steps of gradient descent with a project held out, and for the weights that are written.
const HELD_OUT_STEPS: usize = 3_000;
const FINAL_STEPS: usize = 4_000;

/// Arguments of `cargo xtask bench ranker`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Labelled sentences, one JSON object per line
    #[arg(long)]
    data: PathBuf,
    /// Replace the weights of crates/distil
    #[arg(long)]
    write: bool,
}

/// One line of the data.
#[derive(serde::Deserialize)]
struct LabelledSentence {
    project: String,
    source: String,
    sentence: String,
    /// Index of the sentence in its text, and the number of sentences there.
    at: usize,
    of: usize,
    /// 0: not worth remembering, 1: as a detail, 2: clearly.
    worth: u8,
    /// 1 if the sentence can be understood without its neighbours.
    alone: u8,
}

/// A sentence as the models see it.
struct TrainingExample {
    project: String,
    features: [f64; FEATURES],
    worth: u8,
    alone: u8,
}

/// What a model predicts.
#[derive(Clone, Copy)]
enum Prediction {
    Worth,
    StandsAlone,
}

impl TrainingExample {
    fn new(line: &LabelledSentence) -> Self {
        let source = match line.source.as_str() {
            "prompt" => TextSource::Prompt,
            "rejection" => TextSource::Rejection,
            "answer" => TextSource::Answer,
            "plan" => TextSource::Plan,
            "inturn" => TextSource::Message,
            _ => TextSource::FinalMessage,
        };
        let sentence = RankedSentence { text: &line.sentence, source, index: line.at, count: line.of };
        Self {
            project: line.project.clone(),
            features: features(&sentence).map(f64::from),
            worth: line.worth,
            alone: line.alone,
        }
    }

    const fn label(&self, prediction: Prediction) -> u8 {
        match prediction {
            Prediction::Worth => self.worth,
            Prediction::StandsAlone => self.alone,
        }
    }

    /// Clearly valuable sentences count twice.
    fn sample_weight(&self) -> f64 {
        if self.worth == 2 { 2.0 } else { 1.0 }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let examples = read_examples(&args.data)?;
    println!("{} sentences, {} features", examples.len(), FEATURES);
    for (prediction, name) in [(Prediction::Worth, "worth"), (Prediction::StandsAlone, "stands alone")] {
        println!("{name}");
        measure_held_out(&examples, prediction);
    }
    let all: Vec<&TrainingExample> = examples.iter().collect();
    let table = weight_table(
        &fit(&all, Prediction::Worth, FINAL_STEPS),
        &fit(&all, Prediction::StandsAlone, FINAL_STEPS),
    );
    let path = crate::workspace::workspace_root().join(WEIGHTS);
    if args.write {
        return std::fs::write(&path, table).with_context(|| format!("writing {}", path.display()));
    }
    let known = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    println!("largest difference to {WEIGHTS}: {:.4}", largest_difference(&known, &table));
    Ok(())
}

/// Prints how well a model trained on the other projects ranks the sentences of each.
fn measure_held_out(examples: &[TrainingExample], prediction: Prediction) {
    let projects: BTreeSet<&str> = examples.iter().map(|example| example.project.as_str()).collect();
    println!("{:<24} {:>5} {:>6} {:>6} {:>6} {:>13}", "held out", "n", "base", "AUC", "AP", "AUC, worth 2");
    for held_out in projects {
        let (test, train): (Vec<_>, Vec<_>) =
            examples.iter().partition(|example| example.project == held_out);
        if train.is_empty() {
            continue;
        }
        let weights = fit(&train, prediction, HELD_OUT_STEPS);
        let ranked = RankedExamples::new(&test, prediction, &weights);
        let base = test.iter().filter(|example| example.label(prediction) > 0).count() as f64;
        print!(
            "{held_out:<24} {:>5} {:>6.2} {:>6.3} {:>6.3}",
            test.len(),
            base / test.len() as f64,
            ranked.auc(1),
            ranked.average_precision(),
        );
        match prediction {
            Prediction::Worth => println!(" {:>13.3}", ranked.auc(2)),
            Prediction::StandsAlone => println!(),
        }
    }
}

fn read_examples(path: &Path) -> anyhow::Result<Vec<TrainingExample>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut examples = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: LabelledSentence = serde_json::from_str(line)
            .with_context(|| format!("line {} of {}", number + 1, path.display()))?;
        examples.push(TrainingExample::new(&line));
    }
    anyhow::ensure!(!examples.is_empty(), "{} has no sentences", path.display());
    Ok(examples)
}

/// Fits the weights by gradient descent from zero.
fn fit(examples: &[&TrainingExample], prediction: Prediction, steps: usize) -> [f64; FEATURES] {
    let count = examples.len() as f64;
    let mut weights = [0.0; FEATURES];
    for _ in 0..steps {
        let mut gradient = [0.0; FEATURES];
        for example in examples {
            let wanted = f64::from(u8::from(example.label(prediction) > 0));
            let error = (probability(&example.features, &weights) - wanted) * example.sample_weight();
            for (sum, feature) in gradient.iter_mut().zip(&example.features) {
                *sum += error * feature;
            }
        }
        for (index, (weight, sum)) in weights.iter_mut().zip(gradient).enumerate() {
            let penalty = if index == 0 { 0.0 } else { PENALTY * *weight };
            *weight -= LEARNING_RATE * (sum + penalty) / count;
        }
    }
    weights
}

fn score(features: &[f64; FEATURES], weights: &[f64; FEATURES]) -> f64 {
    features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum()
}

fn probability(features: &[f64; FEATURES], weights: &[f64; FEATURES]) -> f64 {
    1.0 / (1.0 + (-score(features, weights)).exp())
}

/// Scores and labels, best score first.
struct RankedExamples(Vec<(f64, u8)>);

impl RankedExamples {
    fn new(examples: &[&TrainingExample], prediction: Prediction, weights: &[f64; FEATURES]) -> Self {
        let scored =
            |example: &&TrainingExample| (score(&example.features, weights), example.label(prediction));
        let mut ranked: Vec<(f64, u8)> = examples.iter().map(scored).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        Self(ranked)
    }

    /// The probability that a sentence of at least this label ranks above one of less.
    fn auc(&self, label_min: u8) -> f64 {
        let (mut better, mut below) = (0_u64, 0_u64);
        for (_, label) in self.0.iter().rev() {
            if *label >= label_min {
                better += below;
            } else {
                below += 1;
            }
        }
        let positives = self.0.iter().filter(|(_, label)| *label >= label_min).count() as f64;
        better as f64 / (positives * below as f64)
    }

    /// The mean precision at the rank of each sentence with a label above 0.
    fn average_precision(&self) -> f64 {
        let (mut found, mut sum) = (0.0, 0.0);
        for (rank, (_, label)) in self.0.iter().enumerate() {
            if *label > 0 {
                found += 1.0;
                sum += found / (rank + 1) as f64;
            }
        }
        sum / found
    }
}

/// One line per feature: its name and its weight in each model.
fn weight_table(worth: &[f64; FEATURES], alone: &[f64; FEATURES]) -> String {
    let weights = worth.iter().zip(alone);
    FEATURE_NAMES.iter().zip(weights).fold(String::new(), |mut table, (name, (worth, alone))| {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{name}\t{worth:.4}\t{alone:.4}");
        table
    })
}

fn largest_difference(known: &str, made: &str) -> f64 {
    let values = |line: &str| -> Vec<f64> {
        line.split('\t').skip(1).filter_map(|value| value.trim().parse().ok()).collect()
    };
    let lines = known.lines().zip(made.lines());
    let pairs = lines.flat_map(|(a, b)| values(a).into_iter().zip(values(b)).collect::<Vec<_>>());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(worth: u8, feature: f64) -> TrainingExample {
        let mut features = [0.0; FEATURES];
        (features[0], features[1]) = (1.0, feature);
        TrainingExample { project: "p".into(), features, worth, alone: 0 }
    }

    #[test]
    fn telling_feature_gets_a_weight_of_its_sign() {
        let examples = [example(2, 1.0), example(1, 1.0), example(0, 0.0), example(0, 0.0), example(0, 0.0)];
        let examples: Vec<&TrainingExample> = examples.iter().collect();
        let weights = fit(&examples, Prediction::Worth, 200);
        assert!(weights[1] > 0.0 && weights[0] < weights[1], "{:?}", &weights[..2]);
        assert!(weights[2].abs() < f64::EPSILON, "a feature that never occurs stays zero");
        let again = fit(&examples, Prediction::Worth, 200);
        assert!(again.iter().zip(&weights).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    #[test]
    fn metrics_of_a_small_ranking() {
        let ranked = RankedExamples(vec![(0.9, 2), (0.8, 0), (0.7, 1), (0.1, 0)]);
        assert!((ranked.auc(1) - 0.75).abs() < 1e-9);
        assert!((ranked.auc(2) - 1.0).abs() < 1e-9);
        assert!((ranked.average_precision() - 5.0 / 6.0).abs() < 1e-9);
    }
}
