# What the scripts of papers share: runs that are trained and evaluated once each, and tables of them. They set the array `settings`, which
# every run is trained with.

# paper_arguments ENCODER CSTS_TRAIN.csv CSTS_VALIDATION.csv FOLDER
paper_arguments() {
  [ $# -eq 4 ] || { usage >&2; exit 2; }
  encoder=$1 train=$2 validation=$3 folder=$4
  caselens=${CASELENS:-caselens}
  only=${ONLY:-*}
  read -ra seeds <<<"${SEEDS:-0 1 2}"
  tables=()
  mkdir -p "$folder"
}

run() { # run NAME OPTIONS…: one row of a table
  local name=$1 results="$folder/runs/$1" seed model
  shift
  # shellcheck disable=SC2053  # a pattern
  [[ $name == $only ]] || return 0
  mkdir -p "$results"
  for seed in "${seeds[@]}"; do
    [ -e "$results/$seed.json" ] && continue
    model="$results/model-$seed"
    if [ ! -e "$model" ]; then
      echo "$name, seed $seed" >&2
      "$caselens" fine-tune --model "$encoder" --data "$train" --validation "$validation" --output "$model" --seeds "$seed" \
        --checkpoint-every 100 --resume "${settings[@]}" "$@"
    fi
    "$caselens" evaluate --model "$model" --data "$validation" --json >"$results/.$seed.json"
    mv "$results/.$seed.json" "$results/$seed.json"
    mv "$model/caselens-training.json" "$results/training-$seed.json"
    rm -r "$model"
  done
  tables+=("$results.jsonl")
  for seed in "${seeds[@]}"; do cat "$results/$seed.json"; done >"$results.jsonl"
}

table() { # table TITLE: of the runs since the last one
  [ ${#tables[@]} -gt 0 ] || return 0
  for figure in spearman pearson; do
    printf '\n## %s\n\n' "$1"
    "$caselens" compare-runs --figure "$figure" "${tables[@]}"
  done
  tables=()
}
