#!/usr/bin/env bash
# The figures of an encoder on the sets of data/ and on C-STS: figures.sh NAME OUTPUT, where NAME.gguf and NAME.head.safetensors lie in
# this folder, beside csts_validation.csv and the program.
set -euo pipefail
[ $# -eq 2 ] || { echo "Usage: training/figures.sh NAME OUTPUT" >&2; exit 2; }
name=$1 output=$2
lens=(--model "$name.gguf" --head "$name.head.safetensors")

evaluate() { # evaluate TITLE TABLE
  echo "## $1"
  ./caselens evaluate --data "$2" "${lens[@]}"
  echo
}

cluster() { # cluster TITLE ARGUMENTS…
  printf '%s: ' "$1"
  ./caselens cluster "${@:2}" "${lens[@]}"
}

{
  echo "# $name"
  echo
  evaluate "C-STS, validation" csts_validation.csv
  for part in dev test; do
    for set in everyday long out-of-domain; do
      evaluate "$set, $part" "data/$set-$part.csv"
    done
  done
  for part in dev test; do
    cluster "topics, $part, by the topic" --data "data/topics-$part.csv" --label topic --condition "the topic"
    cluster "topics, $part, by the style" --data "data/topics-$part.csv" --label style --condition "the style of writing"
    cluster "topics, $part, without a condition" --data "data/topics-$part.csv" --label topic
  done
} >".$output"
mv ".$output" "$output"
cat "$output"
