#!/usr/bin/env bash
# Knowledge graph completion by encoders that read head and relation together or apart (Lin et al., 2024, section 3.2, table 2), with another
# encoder and graph.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/papers/kgc.sh ENCODER GRAPH FOLDER

ENCODER is a Hugging Face folder or a name on the hub, GRAPH a folder of triples, such as training/umls.sh writes. The encoder as it is, and
bi- and tri-encoders that are trained on GRAPH/train.txt, rank the entities for GRAPH/test.txt: FOLDER/NAME-SEED.json. What is there is not
run again; the table is printed at the end, and lies in FOLDER/table.md.

CASELENS names the program (caselens, unless it is set), SEEDS the seeds (0 1 2), EPOCHS (10) and BATCH (128) how long and how many triples
against each other.
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
esac
[ $# -eq 3 ] || { usage >&2; exit 2; }
encoder=$1 graph=$2 folder=$3
caselens=${CASELENS:-caselens}
read -ra seeds <<<"${SEEDS:-0 1 2}"
settings=(--epochs "${EPOCHS:-10}" --batch "${BATCH:-128}" --pooling all --freeze none)
mkdir -p "$folder"

evaluate() { # evaluate OUTPUT MODEL OPTIONS…
  [ -e "$1" ] && return
  "$caselens" kgc evaluate --data "$graph" --json --model "${@:2}" >"$1.part"
  mv "$1.part" "$1"
}

run() { # run NAME OPTIONS…: trained with each seed
  local name=$1 seed model
  shift
  for seed in "${seeds[@]}"; do
    [ -e "$folder/$name-$seed.json" ] && continue
    model="$folder/model-$name-$seed"
    if [ ! -e "$model" ]; then
      echo "$name, seed $seed" >&2
      "$caselens" kgc train --data "$graph" --model "$encoder" --output "$model" --seeds "$seed" --resume "${settings[@]}" "$@"
    fi
    evaluate "$folder/$name-$seed.json" "$model"
    rm -r "$model"
  done
}

evaluate "$folder/frozen-0.json" "$encoder"
run bi
run tri-router --architecture tri --router paper
run tri-hadamard --architecture tri --join hadamard
run tri-hyper --architecture tri --join hyper:64

python3 - "$folder" <<'PY' | tee "$folder/table.md"
import json, pathlib, statistics, sys

print("| | MRR | Hits@1 | Hits@3 | Hits@10 |\n|---|---|---|---|---|")
for name in ("frozen", "bi", "tri-router", "tri-hadamard", "tri-hyper"):
    runs = [json.loads(path.read_text())["mean"] for path in sorted(pathlib.Path(sys.argv[1]).glob(f"{name}-*.json"))]
    cells = []
    for figure in ("mrr", "hits@1", "hits@3", "hits@10"):
        values = [100 * run[figure] for run in runs]
        spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
        cells.append(f"{statistics.mean(values):.1f}{spread}")
    print(f"| {name} | {' | '.join(cells)} |")
PY
