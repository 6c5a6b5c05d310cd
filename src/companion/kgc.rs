//! `caselens kgc`: knowledge graph completion, which CSR compares encoders by beside C-STS.

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::{numbers::count, table::whole};
use crate::{
    checkpoint::Checkpoint,
    data::graph::{File, Graph, Reading, Triple},
    embedding::{Case, Joint, Pool},
    error::{Error, Result},
    text::Order,
};

mod evaluate;
mod train;

/// Bytes of a graph's file: Wikidata5M's are the longest that are published, some 1 GB.
const LONGEST: usize = 4 << 30;

/// Complete knowledge graphs: train an encoder to find links, or evaluate how well one does
///
/// Which entity is the tail of a head under a relation? The head's text is the sentence, the relation's words are
/// the condition, and each entity's text by itself is compared with that (SimKGC; CSR, section 3.2). A folder
/// holds the graph, in files separated by tabs, without a header:
///
///   train.txt, valid.txt, test.txt   triples: head, relation, tail
///   entities.tsv                     each entity's name, its words, and its definition, which may be left out
///   relations.tsv                    each relation's name and words [default: the words of its name]
///
///   caselens kgc evaluate --data umls --model all-MiniLM-L6-v2
///   caselens kgc train --data umls --model all-MiniLM-L6-v2 --output my-encoder
///   caselens kgc evaluate --data umls --model my-encoder
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(Box<train::Args>),
    Evaluate(Box<evaluate::Args>),
}

pub fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Train(args) => train::run(*args),
        Command::Evaluate(args) => evaluate::run(*args),
    }
}

/// Which graph, and how its texts are read.
#[derive(Debug, clap::Args)]
struct GraphArgs {
    /// The folder of the graph: train.txt, valid.txt, test.txt, entities.tsv and maybe relations.tsv
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Most neighbours in train.txt whose names follow a definition of less than 20 words; the entity that is asked
    /// for is left out
    #[arg(long, value_name = "N", default_value_t = Reading::default().neighbours)]
    neighbours: usize,
    /// Longest input in tokens; what follows is not read
    #[arg(long, value_name = "N", value_parser = count, default_value_t = Reading::default().tokens)]
    tokens: usize,
}

impl GraphArgs {
    /// The graph.
    fn open(&self) -> Result<Graph> {
        let reading = Reading {
            neighbours: self.neighbours,
            tokens: self.tokens,
        };
        let (entities, training) = (self.file("entities")?, self.file("train")?);
        let relations = self.find("relations").map(Text::read).transpose()?;
        let relations = relations.as_ref().map(Text::file);
        Graph::new(entities.file(), relations, training.file(), reading)
    }

    /// The triples of a file beside train.txt.
    fn triples(&self, graph: &Graph, stem: &str) -> Result<Vec<Triple>> {
        graph.triples(self.file(stem)?.file())
    }

    fn file(&self, stem: &str) -> Result<Text> {
        match self.find(stem) {
            Some(path) => Text::read(path),
            None => Err(Error::InvalidArgument(format!(
                "{} has no {stem}.txt or {stem}.tsv. `caselens kgc --help` says what the folder of a graph holds.",
                self.data.display()
            ))),
        }
    }

    fn find(&self, stem: &str) -> Option<PathBuf> {
        let names = ["txt", "tsv"].map(|extension| self.data.join(format!("{stem}.{extension}")));
        names.into_iter().find(|path| path.is_file())
    }

    /// The folder's name, for a record of the training.
    fn name(&self) -> String {
        let name = self.data.file_name().unwrap_or(self.data.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// A file that was read.
struct Text {
    name: String,
    text: String,
}

impl Text {
    fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self {
            name: path.display().to_string(),
            text: whole(path, LONGEST)?,
        })
    }

    fn file(&self) -> File<'_> {
        File {
            name: &self.name,
            text: &self.text,
        }
    }
}

/// How an encoder reads a head under a relation, unless told otherwise: as SimKGC has it for encoders of the BERT family.
fn link_case() -> Case {
    Case::Joint(Joint {
        orders: vec![Order::SentenceCondition],
        pooling: Pool::All,
        subtract: false,
        router: None,
    })
}

/// As [`link_case`], and a decoder behind its instruction.
fn case_of(checkpoint: &Checkpoint) -> Case {
    match checkpoint {
        Checkpoint::Bert(_) => link_case(),
        Checkpoint::Decoder(_) => Case::of(checkpoint),
    }
}
