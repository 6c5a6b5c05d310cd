//! The options of `caselens report`.

use std::path::PathBuf;

use crate::companion::{
    numbers::{count, split},
    runtime::{CaseArgs, DeviceName},
};

/// Write a report: every table and figure, from one command
///
/// Compares the frozen base encoder (zero-shot settings, heads trained here on its embeddings, PCA, ICA),
/// trained models, and the condition-only baseline, on data that none of them saw: scores with
/// confidence intervals, breakdowns, isotropy, training curves, maps and the worst mistakes. The base may be of
/// any kind: one that follows instructions, an LLM encoder too, is looked at behind its prompts. Writes
/// DIR/report.md and the charts beside it.
///
///   caselens report --train csts_train.csv --data csts_validation.csv \
///     --base all-MiniLM-L6-v2 --model my-encoder --output report
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Training data: heads, PCA and ICA learn from it, and breakdowns refer to it
    #[arg(long, value_name = "FILE")]
    pub train: PathBuf,
    /// Data everything is evaluated on
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// CASE's protocol: the best epochs of the heads are found on 70 % of the data's sentence pairs, and everything is
    /// evaluated on the other 30 %; SEED draws them, and `case` is 0 [default: the epochs are found on a tenth of the training
    /// pairs]
    #[arg(long, value_name = "SEED|case", value_parser = split)]
    pub split: Option<u64>,
    /// Frozen encoder: a Hugging Face folder, a GGUF file, or a name on the Hugging Face hub
    #[arg(long, value_name = "DIR|GGUF|OWNER/NAME[@REVISION]")]
    pub base: PathBuf,
    /// A trained model, and its head after "=" if it is not head.safetensors in the model's folder; without
    /// a head it embeds as --order, --pooling and --no-subtract say. May be repeated
    #[arg(long, value_name = "DIR|GGUF[=HEAD]")]
    pub model: Vec<PathBuf>,
    /// Data of other kinds to evaluate on. May be repeated
    #[arg(long, value_name = "FILE")]
    pub out_of_domain: Vec<PathBuf>,
    /// Sentences about a person beside the same about another, who differs in gender: how much that changes embeddings under
    /// each condition. The project's data/gender-swapped.csv is one
    #[arg(long, value_name = "FILE")]
    pub swapped: Option<PathBuf>,
    /// Where the first part of the data ends, in rows of the file [default: two thirds of it]
    #[arg(long, value_name = "N")]
    pub part_rows: Option<usize>,
    /// Numbers of dimensions to look at: heads are trained, and PCA and ICA fitted, for each. The largest is that of the heads
    /// which the other sections are about
    #[arg(
        long,
        value_name = "N,N,…",
        value_parser = count,
        value_delimiter = ',',
        default_value = "32,64,128,256,512"
    )]
    pub dims: Vec<usize>,
    /// Leave every text of the data out: examples are row numbers and types of conditions
    #[arg(long)]
    pub no_examples: bool,
    /// Folder to write; files of an earlier report there are replaced
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Where embeddings are kept [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Where to compute
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: DeviceName,
    #[command(flatten)]
    pub case: CaseArgs,
}
