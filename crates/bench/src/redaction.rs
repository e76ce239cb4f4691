//! Measures redaction: CPU time per 4 KB of text and of JSON, and the masks that were made.
//!
//! The texts are the strings of a tree of transcripts, synthetic ones by default. With `--against`,
//! another build of this program reads the same texts, alternately with this one, and the digests of
//! all masked texts tell whether both mask the same.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem_redact::HeadTailLimit;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{tree, usage};

/// Shorter strings are ids and names.
const TEXT_BYTES_MIN: usize = 32;
/// How much of one text is read, as hooks do it.
const TEXT_BYTES_MAX: usize = 16 << 10;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Directory of transcripts (`*.jsonl`); synthetic ones by default
    #[arg(long, value_name = "DIR")]
    texts: Option<PathBuf>,
    /// Read at most this many megabytes of text
    #[arg(long, default_value_t = 4)]
    megabytes: usize,
    /// Another build of claude-mem-bench to compare with
    #[arg(long, value_name = "EXE")]
    against: Option<PathBuf>,
    /// Rounds; the fastest one counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Print JSON instead of a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Deserialize, Serialize)]
struct RedactionReport {
    texts: usize,
    bytes: usize,
    text_us_per_4_kb: f64,
    json_us_per_4_kb: f64,
    masks: u32,
    /// Of all masked texts in order.
    digest: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let folder = match &args.texts {
        Some(folder) => folder.clone(),
        None => {
            tree::write_tree(dir.path(), args.megabytes as u64, 400)?;
            dir.path().to_owned()
        }
    };
    let mut texts = Vec::new();
    read_texts(&folder, args.megabytes << 20, &mut texts)?;
    let Some(other) = &args.against else {
        return print(&measure(&texts, args.rounds), args.json);
    };
    let (mut ours, mut theirs) = (measure(&texts, 1), measure_other(other, args, &folder)?);
    for _ in 1..args.rounds {
        ours.keep_faster(&measure(&texts, 1));
        theirs.keep_faster(&measure_other(other, args, &folder)?);
    }
    print(&ours, args.json)?;
    print(&theirs, args.json)?;
    println!(
        "ratio of CPU time: text {:.3}, json {:.3}; masks {}",
        ours.text_us_per_4_kb / theirs.text_us_per_4_kb,
        ours.json_us_per_4_kb / theirs.json_us_per_4_kb,
        if ours.digest == theirs.digest { "equal" } else { "differ" }
    );
    Ok(())
}

impl RedactionReport {
    fn keep_faster(&mut self, other: &Self) {
        self.text_us_per_4_kb = self.text_us_per_4_kb.min(other.text_us_per_4_kb);
        self.json_us_per_4_kb = self.json_us_per_4_kb.min(other.json_us_per_4_kb);
    }
}

fn print(report: &RedactionReport, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        println!("{}", serde_json::to_string(report)?);
    } else {
        println!(
            "{} texts, {:.1} MB: text {:.1} us, json {:.1} us of CPU per 4 KB; {} masks",
            report.texts,
            report.bytes as f64 / 1e6,
            report.text_us_per_4_kb,
            report.json_us_per_4_kb,
            report.masks
        );
    }
    Ok(())
}

fn measure_other(exe: &Path, args: &Args, folder: &Path) -> anyhow::Result<RedactionReport> {
    let output = std::process::Command::new(exe)
        .args(["redaction", "--json", "--rounds", "1", "--megabytes", &args.megabytes.to_string()])
        .arg("--texts")
        .arg(folder)
        .output()
        .with_context(|| exe.display().to_string())?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn measure(texts: &[String], rounds: usize) -> RedactionReport {
    let keep = HeadTailLimit::from_total(TEXT_BYTES_MAX);
    let bytes: usize = texts.iter().map(String::len).sum();
    let per_4_kb = |ms: f64| ms * 1e3 * 4096.0 / bytes as f64;
    let (mut masks, mut digest) = (0, Sha256::new());
    for text in texts {
        let redacted = claude_mem_redact::text(text, keep);
        masks += redacted.masked;
        digest.update(redacted.text.as_bytes());
    }
    let (mut text_ms, mut json_ms) = (f64::MAX, f64::MAX);
    for _ in 0..rounds {
        let ms = usage::cpu_ms(|| {
            for text in texts {
                std::hint::black_box(claude_mem_redact::text(text, keep));
            }
        });
        text_ms = text_ms.min(ms);
        let outputs: Vec<Value> =
            texts.iter().map(|text| json!({"stdout": text, "stderr": "", "interrupted": false})).collect();
        let ms = usage::cpu_ms(|| {
            for mut output in outputs {
                claude_mem_redact::json(&mut output, keep);
            }
        });
        json_ms = json_ms.min(ms);
    }
    RedactionReport {
        texts: texts.len(),
        bytes,
        text_us_per_4_kb: per_4_kb(text_ms),
        json_us_per_4_kb: per_4_kb(json_ms),
        masks,
        digest: format!("{:x?}", &digest.finalize()[..8]),
    }
}

/// Reads the strings of all transcripts below `folder`, in the order of their names.
fn read_texts(folder: &Path, bytes_max: usize, texts: &mut Vec<String>) -> anyhow::Result<()> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    for path in paths {
        if texts.iter().map(String::len).sum::<usize>() >= bytes_max {
            return Ok(());
        }
        if path.is_dir() {
            read_texts(&path, bytes_max, texts)?;
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            for line in String::from_utf8_lossy(&std::fs::read(&path)?).lines() {
                // A line that was cut is of no use here.
                if let Ok(value) = serde_json::from_str(line) {
                    collect_strings(value, texts);
                }
            }
        }
    }
    Ok(())
}

fn collect_strings(value: Value, texts: &mut Vec<String>) {
    match value {
        Value::String(mut text) if text.len() >= TEXT_BYTES_MIN => {
            text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
            texts.push(text);
        }
        Value::Array(items) => items.into_iter().for_each(|item| collect_strings(item, texts)),
        Value::Object(fields) => fields.into_iter().for_each(|(_, field)| collect_strings(field, texts)),
        _ => {}
    }
}
