#!/usr/bin/env bash
# From published encoders and the data of this repository to the files that ship.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/recipe.sh CSTS_TRAIN.csv CSTS_VALIDATION.csv [FOLDER]

Trains the large encoder on what training/large.csv names, lets it score rows, trains the small one on training/small.csv, which
names those too, rounds both, and prints their figures. Everything lies in FOLDER (default: training/work); a step that is done is not
done again, and an interrupted one goes on where it stopped. FOLDER/log.txt has each step with its time and figures.

CSTS_*.csv are the re-annotated data of LivNLP/CSTS-reannotation, of the validation file its first 1,982 rows. Needs Rust, Python 3 with
pip, and two processor threads for a few hours.
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
esac
[ $# -ge 2 ] && [ $# -le 3 ] || { usage >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
train=$(realpath "$1") validation=$(realpath "$2")
work=${3:-$here/work}
mkdir -p "$work"
cd "$work"
ln -sfn "$here/../data" data
ln -sfn "$train" csts_train.csv
ln -sfn "$validation" csts_validation.csv

log() { printf '%s  %s\n' "$(date '+%F %T')" "$*" | tee -a log.txt >&2; }

step() { # step OUTPUT COMMAND…: runs a command that makes OUTPUT, unless that is there
  local output=$1 begun=$SECONDS
  shift
  [ -e "$output" ] && return
  log "$output: begun"
  "$@" 2>&1 | tee -a log.txt >&2
  [ -e "$output" ] || { log "$output: was not made"; exit 1; }
  log "$output: done in $((SECONDS - begun)) s"
}

build() {
  # For the instructions of this machine.
  RUSTFLAGS="-C target-cpu=native" CARGO_TARGET_DIR=target cargo build --release --features cli --manifest-path "$here/../Cargo.toml"
  cp target/release/caselens caselens
}

tune() { # tune SOURCES MODEL OUTPUT RATE FROZEN
  # Memory that a step gives back is kept for the next one: a third off the time.
  MIMALLOC_PURGE_DELAY=-1 ./caselens fine-tune --model "$2" --sources "$1" --validation csts_validation.csv --epochs 1 --keep last \
    --dropout 0 --average 0.998 --loss mse,rank:0.2,kept:10,mentioned:0.5 --learning-rate "$4" --freeze "$5" \
    --seeds "${SEED:-0}" --checkpoint-every 200 --resume --output "$3"
}

round() { # round MODEL OUTPUT NAME: to four bits, and then what tells mentions and what ratings stand for
  ./caselens quantize --model "$1" --dtype q4_0 --id "$3" --texts 6000 --calibrate csts_train.csv --calibrate rows/feelings.csv \
    --calibrate rows/opinions.csv --calibrate rows/styles.csv --calibrate rows/grids-more.csv --calibrate rows/grids-everyday.csv \
    --output ".$2.gguf" --head "$2.head.safetensors"
  local lens=(--model ".$2.gguf" --head "$2.head.safetensors" --output "$2.head.safetensors")
  ./caselens fit-mentioned "${lens[@]}" --data rows/mentioned.csv --validation data/mentioned-dev.csv
  ./caselens fit-ratings "${lens[@]}" --data data/everyday-dev.csv --data csts_validation.csv
  mv ".$2.gguf" "$2.gguf"
}

unrated() { # unrated OUTPUT
  python3 data/unrated.py csts_train.csv rows/feelings.csv rows/opinions.csv rows/stances.csv rows/styles.csv rows/grids-more.csv \
    rows/grids-everyday.csv --sets 700 >".$1"
  mv ".$1" "$1"
}

score() { # score ROWS OUTPUT
  ./caselens score-table --data "$1" --model large-q4_0.gguf --head large-q4_0.head.safetensors --output scores.csv
  python3 data/unrated.py --scored scores.csv --of "$1" >".$2"
  mv ".$2" "$2"
}

step caselens build
step encoders/all-mpnet-base-v2 "$here/encoders.sh" encoders
step rows/mentioned.csv "$here/rows.sh" csts_train.csv rows
step large tune "$here/large.csv" encoders/all-mpnet-base-v2 large 5e-5 layers:4
step large-q4_0.gguf round large large-q4_0 "all-mpnet-base-v2 tuned by caselens"
step unrated.csv unrated unrated.csv
step scored.csv score unrated.csv scored.csv
step small tune "$here/small.csv" encoders/all-MiniLM-L6-v2 small 1e-4 tokens
step small-q4_0.gguf round small small-q4_0 "all-MiniLM-L6-v2 tuned by caselens"
for size in small large; do
  step "figures-$size.txt" "$here/figures.sh" "$size-q4_0" "figures-$size.txt"
done
