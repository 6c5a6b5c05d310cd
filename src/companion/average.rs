//! `caselens average`: one encoder from several that were trained from the same start.

use std::{fs, path::PathBuf};

use safetensors::Dtype;
use serde_json::json;

use super::{
    folder::{self, FOLDER_HEAD, RECORD},
    output::{json_line, note},
    runtime::describe,
};
use crate::{
    checkpoint::described::{Reader, Writer},
    embedding::layers::LinearNumbers,
    error::{Error, Result},
    head::{HeadFile, Mentioned},
};

/// Average the weights of encoders that were trained from the same start
///
/// Takes folders that `fine-tune` wrote with different seeds from one published encoder, without
/// layers on top, and writes a folder with the mean of their weights (model soups; Wortsman et al., 2022): one
/// encoder, of the same size. A folder that is given several times counts as often.
///
///   caselens average --model seed-0 --model seed-1 --model seed-2 --output mean
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A trained encoder's folder; two or more
    #[arg(long, value_name = "DIR", required = true)]
    model: Vec<PathBuf>,
    /// The folder to write, which must not exist yet
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Print the head's description as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<()> {
    let wrong = |reason: String| Err(Error::InvalidArgument(reason));
    let [first, others @ ..] = args.model.as_slice() else {
        return wrong("--model names no folder.".into());
    };
    if others.is_empty() {
        return wrong("an average needs two folders at least: give --model several times.".into());
    }
    folder::must_be_new(&args.output)?;
    let read = |path: PathBuf| fs::read(&path).map_err(Error::io(path));
    let heads = args
        .model
        .iter()
        .map(|model| HeadFile::open(&model.join(FOLDER_HEAD)))
        .collect::<Result<Vec<_>>>()?;
    for (model, head) in args.model.iter().zip(&heads) {
        if !head.layers.is_empty() || head.spec.case != heads[0].spec.case {
            return wrong(format!(
                "{} cannot be averaged with {}: both must have been trained without layers on top, and embed alike.",
                model.display(),
                first.display()
            ));
        }
    }

    let mut mean = Tensors::parse(first, &read(first.join("model.safetensors"))?)?;
    for other in others {
        let weights = read(other.join("model.safetensors"))?;
        mean.add(&Tensors::parse(other, &weights)?)?;
    }
    let weights = mean.divided(args.model.len() as f32)?;

    let record = json!({ "mean_of": records(&heads) });
    let mentioned = mean_mentioned(&heads);
    let join = mean_join(&heads);
    let Some(mut head) = heads.into_iter().next() else {
        return Ok(());
    };
    head.spec.encoder = folder::encoder(&args.output, &weights);
    head.spec.training = record.clone();
    head.mentioned = mentioned;
    head.join = join;
    let files = vec![
        ("model.safetensors", weights),
        (FOLDER_HEAD, head.to_bytes()?),
        (RECORD, format!("{record:#}\n").into_bytes()),
    ];
    folder::write(&args.output, files, first)?;
    match args.json {
        true => json_line(&head.spec),
        false => {
            note!("wrote {}: {}", args.output.display(), describe(&head.spec));
            Ok(())
        }
    }
}

/// The layers that join sentence and condition, as the mean of the heads', whose cases are the same.
fn mean_join(heads: &[HeadFile]) -> Vec<LinearNumbers> {
    let mean = |layer: usize, numbers: fn(&LinearNumbers) -> &[f32]| -> Vec<f32> {
        let layers = heads.iter().filter_map(|head| head.join.get(layer));
        let all: Vec<&[f32]> = layers.map(numbers).collect();
        let count = all.iter().map(|numbers| numbers.len()).min().unwrap_or(0);
        let mean = |i: usize| all.iter().map(|x| x[i]).sum::<f32>() / all.len() as f32;
        (0..count).map(mean).collect()
    };
    let layers = heads.iter().map(|head| head.join.len()).min().unwrap_or(0);
    (0..layers)
        .map(|layer| LinearNumbers {
            weight: mean(layer, |numbers| &numbers.weight),
            bias: mean(layer, |numbers| &numbers.bias),
        })
        .collect()
}

/// What tells mentions, as the mean of the heads'; none where one has none.
fn mean_mentioned(heads: &[HeadFile]) -> Option<Mentioned> {
    let all: Option<Vec<&Mentioned>> = heads.iter().map(|head| head.mentioned.as_ref()).collect();
    let all = all?;
    let mean = |number: &dyn Fn(&Mentioned) -> f32| {
        all.iter().map(|mentioned| number(mentioned)).sum::<f32>() / all.len() as f32
    };
    let dims = all.iter().map(|mentioned| mentioned.weight.len()).min()?;
    Some(Mentioned {
        weight: (0..dims).map(|i| mean(&|m| m.weight[i])).collect(),
        bias: mean(&|m| m.bias),
        threshold: mean(&|m| m.threshold),
    })
}

/// How each encoder was trained; of one that is averaged several times once, with how often.
fn records(heads: &[HeadFile]) -> Vec<serde_json::Value> {
    let mut seen: Vec<(&HeadFile, usize)> = Vec::new();
    for head in heads {
        match seen
            .iter_mut()
            .find(|(other, _)| other.spec.encoder.sha256 == head.spec.encoder.sha256)
        {
            Some((_, times)) => *times += 1,
            None => seen.push((head, 1)),
        }
    }
    seen.into_iter()
        .map(|(head, times)| {
            let mut record = head.spec.training.clone();
            if let (2.., Some(fields)) = (times, record.as_object_mut()) {
                fields.insert("times".into(), times.into());
            }
            record
        })
        .collect()
}

/// The f32 tensors of a model.safetensors, in the file's order.
struct Tensors {
    folder: PathBuf,
    all: Vec<(String, Vec<usize>, Vec<f32>)>,
    /// Tensors that are no weights, such as the positions' indices that some publish.
    others: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl Tensors {
    fn parse(folder: &std::path::Path, bytes: &[u8]) -> Result<Self> {
        let bad = |reason: String| Error::ModelFormat {
            what: folder.join("model.safetensors").display().to_string(),
            reason,
        };
        let file = Reader::new(bytes).map_err(bad)?;
        let (mut all, mut others) = (Vec::new(), Vec::new());
        for (name, view) in file.tensors() {
            if view.dtype() == Dtype::I64 {
                others.push((
                    name,
                    view.dtype(),
                    view.shape().to_vec(),
                    view.data().to_vec(),
                ));
                continue;
            }
            if view.dtype() != Dtype::F32 {
                return Err(bad(format!(
                    "tensor `{name}` is not f32, as trained encoders are"
                )));
            }
            let numbers = bytemuck::pod_collect_to_vec(view.data());
            all.push((name, view.shape().to_vec(), numbers));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Self {
            folder: folder.into(),
            all,
            others,
        })
    }

    fn add(&mut self, other: &Self) -> Result<()> {
        let alike = self.all.len() == other.all.len()
            && self
                .all
                .iter()
                .zip(&other.all)
                .all(|(a, b)| a.0 == b.0 && a.1 == b.1);
        if !alike {
            return Err(Error::InvalidArgument(format!(
                "{} and {} hold different tensors: only encoders trained from the same start can be averaged.",
                self.folder.display(),
                other.folder.display()
            )));
        }
        for ((_, _, sum), (_, _, numbers)) in self.all.iter_mut().zip(&other.all) {
            sum.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += x);
        }
        Ok(())
    }

    fn divided(mut self, by: f32) -> Result<Vec<u8>> {
        for (_, _, sum) in &mut self.all {
            sum.iter_mut().for_each(|x| *x /= by);
        }
        let mut file = Writer::default();
        for (name, shape, numbers) in &self.all {
            let bytes: &[u8] = bytemuck::cast_slice(numbers);
            file.add(name, Dtype::F32, shape, bytes);
        }
        for (name, dtype, shape, bytes) in &self.others {
            file.add(name, *dtype, shape, bytes);
        }
        file.published().map_err(|reason| Error::ModelFormat {
            what: "the average".into(),
            reason,
        })
    }
}
