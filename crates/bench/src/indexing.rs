//! Measures indexing: rows per CPU second of the indexer, of its earlier form on the same rows, and of
//! ONNX Runtime on the same texts, all in one run.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use claude_mem_search::index::catch_up;
use claude_mem_search::passages::{subdocuments, with_whole};
use claude_mem_store::{RowId, Store, VectorStore};
use embed::{EmbeddingModel, InstructionSet};

use crate::data_set::{BenchDocument, load, read_json_lines};
use crate::usage::cpu_ms;
use crate::{corpus, embedding};

/// Encodes texts with ONNX Runtime on one thread, shortest texts first, and prints its CPU seconds.
const YARDSTICK: &str = include_str!("yardstick.py");

/// Texts per call of the encoder, about as many as the indexer passes at a time.
const TEXTS_PER_CALL: usize = 112;

/// Arguments of `bench index`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Index the documents of these `SET.docs.jsonl` files instead of generated ones
    #[arg(long)]
    data: Vec<PathBuf>,
    /// Rows to index
    #[arg(long, default_value_t = 200)]
    rows: usize,
    /// Rounds; the median of each figure is printed
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Also print the distance to reference vectors: JSON lines with "text" and "vector"
    #[arg(long)]
    reference: Option<PathBuf>,
    /// Also measure ONNX Runtime with this model, as yardstick_model.py beside this file writes it
    #[arg(long, requires = "tokenizer")]
    onnx: Option<PathBuf>,
    /// tokenizer.json of the ONNX model
    #[arg(long)]
    tokenizer: Option<PathBuf>,
    /// Python with the packages onnxruntime and tokenizers
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

/// The texts of the rows: what is encoded now, and what was encoded before the whole text became the
/// mean of its parts.
struct RowTexts {
    parts: Vec<Vec<String>>,
    with_whole: Vec<Vec<String>>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let store = fill_store(&dir.path().join("claude-mem.db"), args)?;
    let texts = row_texts(&store, args.rows)?;
    drop(store);
    let rows = texts.parts.len();
    let model = EmbeddingModel::built_in();
    let avx2 = model.clone().limited_to(InstructionSet::Avx2);
    println!(
        "{rows} rows, {} texts, {} tokens ({} with the whole rows), {:?}",
        texts.parts.iter().map(Vec::len).sum::<usize>(),
        count_tokens(model, &texts.parts),
        count_tokens(model, &texts.with_whole),
        model.instruction_set(),
    );
    let mut seconds: [Vec<f64>; 4] = Default::default();
    for _ in 0..args.rounds.max(1) {
        seconds[0].push(cpu_ms(|| encode(&avx2, &texts.with_whole)) / 1e3);
        seconds[1].push(cpu_ms(|| encode(&avx2, &texts.parts)) / 1e3);
        seconds[2].push(cpu_ms(|| encode(model, &texts.parts)) / 1e3);
        if let Some(onnx) = &args.onnx {
            seconds[3].push(yardstick_seconds(args, onnx, &texts.parts)?);
        }
    }
    let names = [
        "before: AVX2, whole rows encoded",
        "AVX2, mean of the parts",
        "now",
        "ONNX Runtime, the same texts",
    ];
    let before = embedding::median(seconds[0].iter().copied());
    println!("{:34}{:>14}{:>8}", "encoding", "rows/CPU s", "ratio");
    for (name, seconds) in names.iter().zip(&seconds).filter(|(_, seconds)| !seconds.is_empty()) {
        let seconds = embedding::median(seconds.iter().copied());
        println!("{name:34}{:>14.1}{:>8.2}", rows as f64 / seconds, before / seconds);
    }
    print_indexer(dir.path(), args)?;
    args.reference.as_deref().map_or(Ok(()), |path| embedding::print_distance(model, path))
}

fn fill_store(path: &Path, args: &Args) -> anyhow::Result<Store> {
    let mut store = Store::open(path)?;
    if args.data.is_empty() {
        corpus::fill(&mut store, args.rows)?;
    }
    for set in &args.data {
        let docs: Vec<BenchDocument> = read_json_lines(set)?;
        let each = args.rows.div_ceil(args.data.len());
        // Evenly over the set, whose documents may be ordered.
        let step = (docs.len() / each.max(1)).max(1);
        let docs: Vec<BenchDocument> = docs.into_iter().step_by(step).take(each).collect();
        load(&mut store, &docs)?;
    }
    Ok(store)
}

fn row_texts(store: &Store, rows: usize) -> anyhow::Result<RowTexts> {
    let mut texts = RowTexts { parts: Vec::new(), with_whole: Vec::new() };
    let reads = store.read();
    for row in reads.pending_embeddings(rows)? {
        let parts = subdocuments(&reads, RowId::new(row.kind, row.row_id))?;
        if parts.is_empty() {
            continue;
        }
        let mut with_whole = parts.clone();
        if parts.len() > 1 {
            with_whole.insert(0, parts.join(" "));
        }
        texts.parts.push(parts);
        texts.with_whole.push(with_whole);
    }
    ensure!(!texts.parts.is_empty(), "there are no rows to index");
    Ok(texts)
}

fn count_tokens(model: &EmbeddingModel, rows: &[Vec<String>]) -> usize {
    rows.iter().flatten().map(|text| model.token_count(text)).sum()
}

fn encode(model: &EmbeddingModel, rows: &[Vec<String>]) -> usize {
    let texts: Vec<&str> = rows.iter().flatten().map(String::as_str).collect();
    let vectors: Vec<Vec<f32>> =
        texts.chunks(TEXTS_PER_CALL).flat_map(|chunk| model.encode_batch(chunk)).collect();
    let mut made = vectors.into_iter();
    rows.iter().map(|row| with_whole(row, made.by_ref().take(row.len()).collect()).len()).sum()
}

/// The indexer itself, with reading, storing and acknowledging.
fn print_indexer(dir: &Path, args: &Args) -> anyhow::Result<()> {
    let model = EmbeddingModel::built_in();
    let mut store = Store::open(&dir.join("claude-mem.db"))?;
    let mut vectors = VectorStore::open(&dir.join("vectors.db"), model.id())?;
    let mut result = Ok(claude_mem_search::index::IndexProgress::default());
    let limit = args.rows as u64;
    let ms = cpu_ms(|| {
        result = catch_up(&mut store, &mut vectors, model, |progress| progress.embedded >= limit);
    });
    let embedded = result?.embedded;
    println!("indexer, with the database        {:>14.1}  ({embedded} rows)", embedded as f64 / ms * 1e3);
    Ok(())
}

/// Runs ONNX Runtime over the texts of all rows; returns its CPU seconds without start-up.
fn yardstick_seconds(args: &Args, onnx: &Path, rows: &[Vec<String>]) -> anyhow::Result<f64> {
    let tokenizer = args.tokenizer.as_deref().unwrap_or(Path::new("tokenizer.json"));
    let tokens_max = EmbeddingModel::built_in().tokens_max().to_string();
    let mut child = Command::new(&args.python)
        .args(["-c", YARDSTICK])
        .args([onnx, tokenizer])
        .arg(tokens_max)
        .env("OMP_NUM_THREADS", "1")
        .env("TOKENIZERS_PARALLELISM", "false")
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", args.python.display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        for text in rows.iter().flatten() {
            writeln!(stdin, "{}", serde_json::to_string(text)?)?;
        }
    }
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the yardstick failed ({})", output.status);
    let line = String::from_utf8(output.stdout)?;
    line.trim().parse().with_context(|| format!("the yardstick printed {line:?}"))
}
