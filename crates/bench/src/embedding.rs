//! Measures the encoder of `crates/embed`: latency, throughput, memory, accuracy.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use embed::{EmbeddingModel, InstructionSet};
use serde::Deserialize;

use crate::usage::{cpu_ms, resident_mb};

/// A query of twenty tokens, including the two that mark its ends.
const QUERY: &str =
    "why does the session hook block when the database is locked by another worker process right now?";
/// A typical passage; the batch repeats it from different starting words.
const PASSAGE: &str = "The login loop came from a cookie that outlived its session: the middleware \
    saw the cookie, found no session, redirected to the login page, and the page redirected back. \
    Expired cookies are now cleared where the session is looked up, and a test drives the whole \
    round trip with a clock that stands still. See src/auth/session.rs and tests/login.rs.";

/// Arguments of `bench embed`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Compare with reference vectors: JSON lines with "text" and "vector"
    #[arg(long)]
    data: Option<PathBuf>,
    /// Measure this weights file instead of the built-in model
    #[arg(long)]
    model: Option<PathBuf>,
    /// Use only baseline CPU instructions
    #[arg(long)]
    portable: bool,
    /// Only encode one query and print its cost (the benchmark starts itself with this option)
    #[arg(long, hide = true)]
    cold: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let model = load(args)?;
    if args.cold {
        let first_ms = cpu_ms(|| model.encode_query(QUERY));
        let (resident, private) = resident_mb()?;
        println!("{first_ms:.2} {resident:.1} {private:.1}");
        return Ok(());
    }
    println!("model                  {}, {} wide", model.id(), model.width());
    print_cold(args)?;
    print_query(&model);
    print_batch(&model);
    let (resident, private) = resident_mb()?;
    println!("resident, this process {resident:.1} MB at most, {private:.1} MB private");
    print_scan(&model);
    args.data.as_deref().map_or(Ok(()), |path| print_distance(&model, path))
}

fn load(args: &Args) -> anyhow::Result<EmbeddingModel> {
    let model = match &args.model {
        Some(path) => EmbeddingModel::from_bytes(std::fs::read(path)?)?,
        None => EmbeddingModel::built_in().clone(),
    };
    Ok(if args.portable { model.limited_to(InstructionSet::Baseline) } else { model })
}

/// The first query of a process faults in the pages of the weights, so it is measured in separate
/// processes.
fn print_cold(args: &Args) -> anyhow::Result<()> {
    let mut runs = Vec::new();
    for _ in 0..9 {
        let mut child = Command::new(std::env::current_exe()?);
        child.args(["embed", "--cold"]);
        child.args(args.portable.then_some("--portable"));
        child.args(args.model.iter().flat_map(|path| ["--model".as_ref(), path.as_os_str()]));
        let output = child.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let line = String::from_utf8(output.stdout)?;
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        runs.push(numbers?);
    }
    let [ms, resident, private] = [0, 1, 2].map(|at| median(runs.iter().map(|run| run[at])));
    println!("first query            {ms:.2} ms CPU, {resident:.1} MB resident, {private:.1} MB private");
    Ok(())
}

fn print_query(model: &EmbeddingModel) {
    let tokens = model.token_count(QUERY);
    let times: Vec<f64> = (0..60).map(|_| cpu_ms(|| model.encode_query(QUERY))).collect();
    let least = times.iter().copied().fold(f64::MAX, f64::min);
    println!("query of {tokens} tokens     {:.2} ms CPU (least {least:.2})", median(times));
    println!(
        "tokenizing it          {:.1} µs CPU",
        cpu_ms(|| { (0..1000).map(|_| model.token_count(QUERY)).sum::<usize>() })
    );
}

fn print_batch(model: &EmbeddingModel) {
    for (words, count) in [(8, 160), (24, 80), (60, 40), (400, 8)] {
        let texts: Vec<String> = (0..count).map(|at| passage(at, words)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tokens: usize = texts.iter().map(|text| model.token_count(text)).sum();
        let rate = || tokens as f64 / cpu_ms(|| model.encode_batch(&texts)) * 1e3;
        let rates: Vec<f64> = (0..5).map(|_| rate()).collect();
        let best = rates.iter().copied().fold(0.0, f64::max);
        let (mean, median) = (tokens / texts.len(), median(rates));
        println!("batch, {mean:3} tokens each  {median:.0} tokens per CPU second (best {best:.0})");
    }
}

/// Number of vectors in a scan: 38 MB in memory, more than the CPU caches hold.
const SCANNED: usize = 100_000;

fn print_scan(model: &EmbeddingModel) {
    let query = embed::quantize(&model.encode_query(QUERY)).values;
    let signs = embed::signs(&query);
    let rows: Vec<i8> = query.iter().copied().cycle().take(query.len() * SCANNED).collect();
    let sign_rows: Vec<u64> = signs.iter().copied().cycle().take(signs.len() * SCANNED).collect();
    let mut dots = Vec::with_capacity(SCANNED);
    let mut distances = Vec::with_capacity(SCANNED);
    let products = (0..15).map(|_| {
        dots.clear();
        cpu_ms(|| embed::dots_i8(&query, &rows, &mut dots))
    });
    println!("100 k products, 8 bits {:.2} ms CPU", median(products));
    let differences = (0..15).map(|_| {
        distances.clear();
        cpu_ms(|| embed::sign_distances(&signs, &sign_rows, &mut distances))
    });
    println!("100 k distances, 1 bit {:.2} ms CPU", median(differences));
}

fn passage(at: usize, words: usize) -> String {
    let words: Vec<&str> = PASSAGE.split(' ').cycle().skip(at * 7).take(words).collect();
    words.join(" ")
}

/// One line of the reference file.
#[derive(Deserialize)]
struct ReferenceVector {
    text: String,
    vector: Vec<f64>,
}

pub(crate) fn print_distance(model: &EmbeddingModel, path: &Path) -> anyhow::Result<()> {
    let lines = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut cosines = Vec::new();
    for line in lines.lines() {
        let reference: ReferenceVector = serde_json::from_str(line)?;
        cosines.push((cosine(&model.encode(&reference.text), &reference.vector), reference.text));
    }
    cosines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = cosines.iter().map(|(cosine, _)| cosine).sum::<f64>() / cosines.len() as f64;
    println!("cosine to reference    mean {mean:.6} over {} texts; the lowest:", cosines.len());
    for (cosine, text) in cosines.iter().take(5) {
        println!("    {cosine:.6}  {:?}", text.chars().take(60).collect::<String>());
    }
    Ok(())
}

fn cosine(ours: &[f32], theirs: &[f64]) -> f64 {
    let dot: f64 = ours.iter().zip(theirs).map(|(a, b)| f64::from(*a) * b).sum();
    let length = |squares: f64| squares.sqrt();
    let ours = length(ours.iter().map(|a| f64::from(*a) * f64::from(*a)).sum());
    let theirs = length(theirs.iter().map(|b| b * b).sum());
    dot / (ours * theirs)
}

pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
