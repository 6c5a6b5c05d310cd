//! The two heads of the paper, trained here on the frozen base, at every width that is looked at.

use super::{
    fitted::{Projection, TrainedHead},
    study::Study,
    vectors::Vectors,
};
use crate::{
    companion::{
        output::progress,
        train::{Kind, Widths},
    },
    error::Result,
    evaluation::metrics::spearman,
    head::HeadFile,
    training::{
        early_stopping::Keep,
        head::{Example, HeadOptions, predict, watched},
    },
};

const EPOCHS: usize = 60;
const KINDS: [(&str, Kind); 2] = [
    ("linear head", Kind::Linear),
    ("non-linear head", Kind::Mlp),
];

/// Trains a linear and a non-linear head of each of these widths on the training data (the tuning rows, else a tenth of
/// its sentence pairs, find the best epoch), and adds those of the largest as judges. The settings are the defaults of
/// `caselens train-head`.
pub fn train_all(study: &mut Study<'_>, widths: &[usize]) -> Result<()> {
    let (train_set, validation) = match &study.tuning {
        Some(tuning) => (study.training.clone(), tuning.clone()),
        None => {
            let rows = study.training.iter().zip(study.train.held_out());
            let (held, rest): (Vec<_>, Vec<_>) = rows.partition(|(_, held)| *held);
            let examples = |rows: Vec<(&Example, bool)>| -> Vec<Example> {
                rows.into_iter().map(|(&example, _)| example).collect()
            };
            (examples(rest), examples(held))
        }
    };
    let (base, set) = (&study.base, study.set());
    let embeddings = base.training.tensor()?;
    let input = base.embeddings(&base.own);
    let tested = input.tensor()?;
    let width = base.training.dims;
    let options = HeadOptions {
        learning_rate: 1e-3,
        weight_decay: 0.0,
        batch: 512,
        epochs: EPOCHS,
        keep: Keep::Best { patience: 10 },
        seed: 0,
    };
    let largest = widths.iter().max();
    let (mut projections, mut heads) = (Vec::new(), Vec::<(TrainedHead, Vectors)>::new());
    for (name, kind) in KINDS {
        for dims in widths {
            let asked = Widths {
                dims: Some(*dims),
                ..Widths::default()
            };
            let shape = kind.shape(width, &asked);
            let hidden = width / base.own.layouts.len().max(1);
            let spec = shape.on(base.id.clone(), hidden, base.case.clone());
            let bar = progress(&format!("{name}, {dims}"), EPOCHS as u64);
            let mut test = Vec::new();
            let trained = watched(
                &embeddings,
                &spec,
                &train_set,
                &validation,
                &options,
                |_, head| {
                    bar.inc(1);
                    if Some(dims) == largest {
                        let predicted = predict(&tested, head, &set.examples)?;
                        test.push(spearman(&predicted, &set.ratings));
                    }
                    Ok(())
                },
            )?;
            bar.finish_and_clear();
            let mut file = HeadFile::new(spec);
            file.layers = trained.layers;
            let vectors = input.project(&file)?;
            projections.push(Projection {
                method: name,
                dims: *dims,
                scores: set.scores(&vectors),
                seconds: trained.seconds,
            });
            if Some(dims) == largest {
                let head = TrainedHead {
                    name,
                    file,
                    best: trained.best,
                    history: trained.history,
                    test,
                    seconds: trained.seconds,
                };
                heads.push((head, vectors));
            }
        }
    }
    study.fitted.projections.extend(projections);
    for (head, vectors) in heads {
        let name = format!("{}, {}", study.base.name, head.name);
        study.judge(name, vectors, None, None);
        study.fitted.heads.push(head);
    }
    Ok(())
}
