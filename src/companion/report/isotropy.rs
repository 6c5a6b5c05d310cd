//! How evenly embeddings point in all directions.

use super::{
    page::{Page, spread},
    study::Study,
    vectors::Vectors,
};
use crate::evaluation::isotropy::Isotropy;

pub fn section(page: &mut Page, study: &Study<'_>) {
    page.heading("Isotropy");
    page.paragraph(
        "The cosine between an embedding and the mean of all (× 100, mean ± standard deviation), near 0 where \
         embeddings point everywhere, and IPC ≈ min F / max F with F(u) = Σ exp(eᵀu) over all embeddings e at \
         unit length, for 1000 random unit vectors u: 1 is isotropic. \"− c\" is with the condition's own \
         embedding subtracted, \"head\" is after the head.",
    );
    let count = study.set().examples.iter();
    let mut used: Vec<u32> = count.flat_map(|e| [e.first, e.second]).collect();
    used.sort_unstable();
    used.dedup();
    let mut rows = Vec::new();
    let mut row = |name: String, vectors: &Vectors| {
        let chosen = vectors.rows(&used);
        let isotropy = Isotropy::of(&chosen.numbers, chosen.dims);
        rows.push(vec![
            name,
            spread(&isotropy.to_mean),
            format!("{:.3}", isotropy.ipc),
        ]);
    };
    for judge in &study.judges {
        let name = &judge.name;
        if let Some([whole, offset]) = &judge.raw {
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
}
