#!/usr/bin/env bash
# The head of CASE as published, which the page shows beside what ships: from the published encoder to
# www/public/models/case-minilm.head.safetensors, and its figures.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/case.sh CSTS_TRAIN.csv CSTS_VALIDATION.csv

Trains the head on all-MiniLM-L6-v2 as it was published, rounded to four bits as ./build.sh does it, and prints its figures.
CSTS_*.csv are the re-annotated data of LivNLP/CSTS-reannotation, of the validation file its first 1,982 rows. Needs ./build.sh setup,
which makes the program and the encoder's file, and some minutes.
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
esac
[ $# -eq 2 ] || { usage >&2; exit 2; }
train=$(realpath "$1") validation=$(realpath "$2")
cd "$(dirname "$0")/.."
caselens=target/release/caselens
model=www/public/models/case-minilm-q4_0.gguf
head=www/public/models/case-minilm.head.safetensors
for file in "$caselens" "$model"; do
  [ -e "$file" ] || { echo "error: $file is missing. ./build.sh setup makes it." >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One order of condition and sentence, so that each step is one thing to look at, and a head of 58 kB. A tenth of the training pairs
# says when to stop and which of three seeds is kept: 51.2 there, where a linear head has 50.3. The validation rows choose nothing.
"$caselens" train-head --model "$model" --data "$train" --order cs --pooling condition --kind mlp --hidden 64 --dims 64 --seeds 0,1,2 \
  --output "$work/case-minilm.head.safetensors"
python3 training/slim.py "$work/case-minilm.head.safetensors" "$head"
"$caselens" evaluate --model "$model" --head "$head" --data "$validation" --train "$train" --confidence
