#!/usr/bin/env bash
# From published encoders and the data of this repository to the files that ship.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/recipe.sh CSTS_TRAIN.csv CSTS_VALIDATION.csv [FOLDER]

Trains the large encoder from all-mpnet-base-v2 on what training/large.csv names; lets it, and the small one that shipped before, score
rows; trains the small one on from there on training/small.csv, which names those too, and takes the mean of where it began and ended; rounds
both, and prints their figures. Everything lies in FOLDER (default: training/work); a step that is done is not
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

tune() { # tune SOURCES MODEL OUTPUT RATE FROZEN GENERAL: the last is the encoder whose similarities kept texts are to have
  # Memory that a step gives back is kept for the next one: a third off the time.
  MIMALLOC_PURGE_DELAY=-1 ./caselens fine-tune --model "$2" --sources "$1" --validation csts_validation.csv --epochs 1 --keep last \
    --dropout 0 --average 0.998 --loss mse,rank:0.2,kept:10,mentioned:0.5 --learning-rate "$4" --freeze "$5" --kept-as "$6" \
    --seeds "${SEED:-0}" --checkpoint-every 200 --resume --output "$3"
}

round() { # round MODEL OUTPUT NAME [OPTIONS…]: to four bits, and then what tells mentions, with these options, and what ratings stand for
  ./caselens quantize --model "$1" --dtype q4_0 --id "$3" --texts 6000 --calibrate csts_train.csv --calibrate rows/feelings.csv \
    --calibrate rows/opinions.csv --calibrate rows/styles.csv --calibrate rows/grids-more.csv --calibrate rows/grids-everyday.csv \
    --output ".$2.gguf" --head "$2.head.safetensors"
  local lens=(--model ".$2.gguf" --head "$2.head.safetensors" --output "$2.head.safetensors")
  ./caselens fit-mentioned "${lens[@]}" --data rows/mentioned.csv --validation data/mentioned-dev.csv "${@:4}"
  ./caselens fit-ratings "${lens[@]}" --data data/everyday-dev.csv --data csts_validation.csv
  mv ".$2.gguf" "$2.gguf"
}

# The small encoder that shipped before: the forty steps of the notebook, of which not all can be made again.
former=7275f28
former_sha256=fbdba091316532ef2740c6b108ddf8df059e6670e8aa036326e754d65ca2d768

start() { # start OUTPUT: its numbers as its four bits have them, to train on from
  local models=www/public/models name
  for name in caselens-csts-q4_0.gguf caselens-csts.head.safetensors; do
    git -C "$here/.." show "$former:$models/$name" >"${name/caselens-csts/former}" || {
      echo "This clone has no commit $former: git fetch --unshallow brings it." >&2
      exit 1
    }
  done
  echo "$former_sha256  former-q4_0.gguf" | sha256sum --check --quiet
  ./caselens dequantize --model former-q4_0.gguf --head former.head.safetensors --base encoders/all-MiniLM-L6-v2 --dither 0 --keep-rounding \
    --output "$1"
}

unrated() { # unrated OUTPUT FILES…
  local output=$1
  shift
  python3 data/unrated.py "$@" --sets 700 >".$output"
  mv ".$output" "$output"
}

score() { # score OUTPUT MODEL HEAD ROWS
  ./caselens score-table --data "$4" --model "$2" --head "$3" --output "$1"
}

rate() { # rate OUTPUT ROWS SCORES…: the mean of what teachers say
  local output=$1 rows=$2
  shift 2
  python3 data/unrated.py --of "$rows" "${@/#/--scored=}" >".$output"
  mv ".$output" "$output"
}

step caselens build
step encoders/all-mpnet-base-v2 "$here/encoders.sh" encoders
step rows/mentioned.csv "$here/rows.sh" csts_train.csv rows
step large tune "$here/large.csv" encoders/all-mpnet-base-v2 large 5e-5 layers:4 encoders/all-mpnet-base-v2
step large-q4_0.gguf round large large-q4_0 "all-mpnet-base-v2 tuned by caselens"
step start start start
# What people feel, think and how they write the large one knows better; of the rest each knows what the other does not.
step unrated-pools.csv unrated unrated-pools.csv rows/feelings.csv rows/opinions.csv rows/stances.csv rows/styles.csv
step unrated-facts.csv unrated unrated-facts.csv csts_train.csv rows/grids-more.csv rows/grids-everyday.csv
for rows in pools facts; do
  step "scores-$rows.csv" score "scores-$rows.csv" large-q4_0.gguf large-q4_0.head.safetensors "unrated-$rows.csv"
done
step scores-former.csv score scores-former.csv former-q4_0.gguf former.head.safetensors unrated-facts.csv
step scored-pools.csv rate scored-pools.csv unrated-pools.csv scores-pools.csv
step scored-facts.csv rate scored-facts.csv unrated-facts.csv scores-facts.csv scores-former.csv
step small tune "$here/small.csv" start small 1e-4 tokens encoders/all-MiniLM-L6-v2
# The mean of where it began and where it ended knows what both know (model soups; Wortsman et al., 2022).
step small-mean ./caselens average --model small --model start --output small-mean
# At this threshold a twentieth of what is said is missed.
step small-q4_0.gguf round small-mean small-q4_0 "all-MiniLM-L6-v2 tuned by caselens" --threshold 0.35
for size in small large; do
  step "figures-$size.txt" "$here/figures.sh" "$size-q4_0" "figures-$size.txt"
done
