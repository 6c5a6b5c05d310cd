#!/usr/bin/env bash
# The routers of CSR (Lin et al., 2024; tables 1 and 3, figure 4), trained and evaluated as the paper has it, with another encoder.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/papers/csr.sh ENCODER CSTS_TRAIN.csv CSTS_VALIDATION.csv FOLDER

ENCODER is a Hugging Face folder or a name on the hub. Tri-encoders and bi-encoders with routers of every kind, and without one, are trained
with the paper's settings (32 rows a step, 3 epochs, MSE, a learning rate of 3e-5 after a warm-up of 0.1, no clipping)
under each seed, and their last epoch is evaluated on the validation table: FOLDER/runs/NAME/SEED.json. Runs that are there are not run
again, and an interrupted one goes on; the tables are printed at the end.

CASELENS names the program (caselens, unless it is set), SEEDS the seeds (0 1 2), ONLY a pattern of names, such as 'tri *'.
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
esac
# shellcheck source=training/papers/runs.sh
source "$(dirname "$0")/runs.sh"
paper_arguments "$@"
settings=(--batch 16 --epochs 3 --keep last --learning-rate 3e-5 --warm-up 0.1 --clip none --weight-decay 0.1 --freeze none --loss mse)

tri=(--architecture tri)
paper=("${tri[@]}" --router paper)
prefix=("${tri[@]}" --join prefix)
bi=(--architecture bi --order sc --no-subtract)

{
  # Tables 1 and 3: the router as published, what becomes of it, and what it is compared with.
  run "tri router" "${paper[@]}"
  run "tri hadamard" "${tri[@]}" --join hadamard
  run "tri hyper" "${tri[@]}" --join hyper:64
  run "tri router, weight alone" "${paper[@]}" --router-gain weight
  run "tri router, random" "${paper[@]}" --router-score random:1
  run "tri router, hidden" "${paper[@]}" --router-score hidden
  run "tri router, heavy" "${paper[@]}" --router-score heavy
  # A router that draws lots knows nothing of the condition, and the paper's gets as far as its tri-encoder without one: more is at work there.
  # Either both at once,
  run "tri hadamard, router" "${paper[@]}" --join hadamard
  run "tri hadamard, router, random" "${paper[@]}" --join hadamard --router-score random:1
  run "tri hadamard, router, weight alone" "${paper[@]}" --join hadamard --router-gain weight
  run "tri hadamard, own router" "${tri[@]}" --join hadamard --router ours
  # or what the published program does: sentences attend to the condition's states in every layer.
  run "tri prefix, published program" "${prefix[@]}" --pooling cls --kind transform
  run "tri prefix" "${prefix[@]}"
  run "tri prefix, no weights" "${prefix[@]}" --router-layers 0
  table "Routers of tri-encoders"

  run "bi" "${bi[@]}"
  run "bi router" "${bi[@]}" --router paper
  table "Routers of bi-encoders"

  # Figure 4: in how many layers.
  for layers in 0 1 2; do
    run "tri router, layers $layers" "${paper[@]}" --router-layers "$layers"
  done
  run "tri router"
  table "Layers"

  # The router that is the default here.
  run "tri router"
  for layers in 1 3; do
    for gain in weight one-plus-weight; do
      run "tri own router, layers $layers, $gain" "${tri[@]}" --router ours --router-layers "$layers" --router-gain "$gain"
    done
  done
  table "The router by heads"
} | tee "$folder/.tables.md"
mv "$folder/.tables.md" "$folder/tables.md"
