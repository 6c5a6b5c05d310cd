#!/usr/bin/env bash
# Rows to train on, from the texts in data/: FOLDER/*.csv. The same every time.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/rows.sh CSTS_TRAIN.csv FOLDER

Needs Python 3 and nothing else. Takes a minute.
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
esac
[ $# -eq 2 ] || { usage >&2; exit 2; }
csts=$1 folder=$2
data=$(cd "$(dirname "$0")/../data" && pwd)
mkdir -p "$folder"

rows() { # rows NAME SCRIPT ARGUMENTS…
  local name=$1 script=$2
  shift 2
  [ -e "$folder/$name.csv" ] && return
  PYTHONDONTWRITEBYTECODE=1 python3 "$data/$script" "$@" >"$folder/.$name"
  mv "$folder/.$name" "$folder/$name.csv"
}

rows feelings pools.py "$data"/pools/emotion-*.txt --visits 3 --seed 1 --ask emotion
rows opinions pools.py "$data"/pools/opinions*.txt --visits 3 --seed 2
rows stances pools.py "$data"/pools/stance*.txt --visits 3 --seed 3 --ask stance
rows styles pools.py "$data"/pools/styles.txt "$data"/pools/messages.txt --visits 3 --seed 4
rows grids grids.py "$data/grids.txt" --seed 5
rows grids-more grids.py "$data/grids-more.txt" --seed 6
rows grids-facts grids.py "$data/grids-facts.txt" --seed 7
rows grids-everyday grids.py "$data/grids-everyday.txt" --seed 8
rows composed compose.py "$data/facets.txt" --pairs 8 --seed 9
rows kept kept.py "$data"/general-*.txt --pools "$data"/pools/*.txt --grids "$data/grids.txt" "$data/grids-more.txt" \
  --rated "$csts" --texts 12000 --seed 10
rows mentioned mentions.py "$data/mentions.txt" --pools "$data"/pools/*.txt \
  --grids "$data/grids.txt" "$data/grids-more.txt" "$data/grids-facts.txt" "$data/grids-everyday.txt" --rated "$csts" --seed 11
