#!/usr/bin/env bash
# The supervised baselines of C-STS (Deshpande et al., 2023, sections 4 and 5; tables 3, 8 and 10, figure 3), trained and evaluated as
# the paper has it, with another encoder.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/papers/csts.sh ENCODER CSTS_TRAIN.csv CSTS_VALIDATION.csv FOLDER

ENCODER is a Hugging Face folder or a name on the hub. Every run is trained with the paper's settings (32 rows a step, 3 epochs, a
learning rate of 3e-5 after a warm-up of 0.1, no clipping) under each seed, and its last epoch is evaluated on the validation table:
FOLDER/runs/NAME/SEED.json. Runs that are there are not run again, and an interrupted one goes on; the tables are printed at the end.

CASELENS names the program (caselens, unless it is set), SEEDS the seeds (0 1 2), ONLY a pattern of names, such as 'bi *'.
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
esac
# shellcheck source=training/papers/runs.sh
source "$(dirname "$0")/runs.sh"
paper_arguments "$@"
settings=(--batch 16 --epochs 3 --keep last --learning-rate 3e-5 --warm-up 0.1 --clip none --weight-decay 0.1 --freeze none)

cross=(--architecture cross --pooling cls)
bi=(--architecture bi --order sc --pooling cls --no-subtract)
tri=(--architecture tri --pooling cls)

{
  # Table 3: encodings, objectives, and the layer after pooling.
  for loss in mse quad mse,quad; do
    run "bi $loss" "${bi[@]}" --loss "$loss"
    run "bi $loss transform" "${bi[@]}" --kind transform --loss "$loss"
    run "cross $loss" "${cross[@]}" --loss "$loss"
    run "cross $loss transform" "${cross[@]}" --kind transform --loss "$loss"
    for join in mlp hadamard; do
      run "tri $join $loss" "${tri[@]}" --join "$join" --loss "$loss"
    done
  done
  table "Encodings and objectives"

  # Table 10: what the condition and the sentences give by themselves.
  run "cross mse transform" "${cross[@]}" --kind transform --loss mse
  run "cross condition alone" "${cross[@]}" --kind transform --loss mse --inputs condition
  run "cross sentences alone" "${cross[@]}" --kind transform --loss mse --inputs sentences
  table "Inputs"

  # Figure 3: 1,000, 3,000 and 7,000 rows, two a sentence pair.
  for pairs in 500 1500 3500; do
    run "bi mse $pairs pairs" "${bi[@]}" --loss mse --train-pairs "$pairs"
    run "cross mse $pairs pairs" "${cross[@]}" --loss mse --train-pairs "$pairs"
    run "tri hadamard mse $pairs pairs" "${tri[@]}" --join hadamard --loss mse --train-pairs "$pairs"
  done
  run "bi mse" "${bi[@]}" --loss mse
  run "cross mse" "${cross[@]}" --loss mse
  run "tri hadamard mse" "${tri[@]}" --join hadamard --loss mse
  table "Size of the training data"
} | tee "$folder/.tables.md"
mv "$folder/.tables.md" "$folder/tables.md"
