//! How evenly embeddings point in all directions.

use super::{
    page::{Page, decimals, spread},
    study::Study,
    vectors::Vectors,
};
use crate::{
    companion::plot::histogram_chart,
    error::Result,
    evaluation::isotropy::{Isotropy, cosines_to_mean},
};

pub fn section(page: &mut Page, study: &Study<'_>) -> Result<()> {
    page.heading("Isotropy");
    page.paragraph(
        "The cosine between an embedding and the mean of all (× 100, mean ± standard deviation), near 0 where \
         embeddings point everywhere, and IPC ≈ min F / max F with F(u) = Σ exp(eᵀu) over all embeddings e at \
         unit length, for 1000 random unit vectors u: 1 is isotropic. \"− c\" is with the condition's own \
         embedding subtracted, \"head\" is after the head. The charts show how those cosines are spread.",
    );
    let used = study.set().inputs();
    let mut rows = Vec::new();
    let mut row = |name: String, vectors: &Vectors| {
        let chosen = vectors.rows(&used);
        let isotropy = Isotropy::of(&chosen.numbers, chosen.dims);
        rows.push(vec![
            name,
            spread(&isotropy.to_mean),
            decimals(isotropy.ipc, 4),
        ]);
    };
    let base = &study.base;
    for (words, layouts) in &base.layouts {
        let mut setting = base.own.clone();
        setting.layouts.clone_from(layouts);
        for (subtract, minus) in [(false, ""), (true, ", − c")] {
            let name = format!("{}, {words}{minus}", base.name);
            row(name, &base.embeddings(&setting.subtracting(subtract)));
        }
    }
    let mut pairs = Vec::new();
    for judge in &study.judges {
        let name = &judge.name;
        if let Some(raw) = &judge.raw {
            pairs.push((name, raw));
        }
        // The frozen base is there already.
        if judge.given.is_some()
            && let Some([whole, offset]) = &judge.raw
        {
            row(name.clone(), whole);
            row(format!("{name}, − c"), offset);
        }
        let own = |v: &&Vectors| judge.raw.iter().flatten().all(|raw| raw != *v);
        if let Some(vectors) = judge.vectors.as_ref().filter(own) {
            let name = match judge.raw.is_some() {
                true => format!("{name}, head"),
                false => name.clone(),
            };
            row(name, vectors);
        }
    }
    page.table(&["", "cosine to the mean", "IPC"], &rows);
    for (i, (name, [whole, offset])) in pairs.into_iter().enumerate() {
        let cosines = |vectors: &Vectors| {
            let chosen = vectors.rows(&used);
            cosines_to_mean(&chosen.numbers, chosen.dims)
        };
        let samples = [
            ("with c".to_owned(), cosines(whole)),
            ("− c".to_owned(), cosines(offset)),
        ];
        let title = format!("Cosine to the mean: {name}");
        let svg = histogram_chart(&title, "cosine to the mean", &samples)?;
        page.chart(&format!("isotropy-{}.svg", i + 1), &title, svg);
    }
    Ok(())
}
