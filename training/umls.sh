#!/usr/bin/env bash
# Fetches the knowledge graph UMLS, which `caselens kgc` is tried on, from PyPI with pip.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/umls.sh FOLDER

Writes FOLDER/train.txt, valid.txt and test.txt (5,216, 652 and 661 triples of 135 medical entities and 46 relations), from the
wheel of PyKEEN (MIT; 0.7 MB to download), and FOLDER/entities.tsv, where an entity's words are those of its name. A
folder that is there already is left alone.

Needs Python 3 with pip, and sha256sum.
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
esac
[ $# -eq 1 ] || { usage >&2; exit 2; }
# shellcheck source=scripts/tools.sh
source "$(dirname "$0")/../scripts/tools.sh"
folder=$1
[ -e "$folder" ] && { say "$folder is there already"; exit; }
need_pip
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch_wheel pykeen==1.11.1 b6cc0ab012fc6ba4f37b58fb7081a409a5c1f04cbbb0e0e9c2256e911757d4ba "$work"
mkdir "$work/umls"
cp "$work"/pykeen/datasets/umls/{train,valid,test}.txt "$work/umls"
cut -f1,3 "$work"/umls/*.txt | tr '\t' '\n' | LC_ALL=C sort -u \
  | awk '{ words = $0; gsub(/_/, " ", words); print $0 "\t" words }' >"$work/umls/entities.tsv"
mkdir -p "$(dirname "$folder")"
mv "$work/umls" "$folder"
say "Wrote $folder: $(wc -l <"$folder/entities.tsv") entities"
