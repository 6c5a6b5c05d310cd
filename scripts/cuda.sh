# shellcheck shell=bash
# The companion for NVIDIA GPUs: NVIDIA's toolkit, what is linked in the driver's place, and cargo with the feature.
# shellcheck disable=SC2154  # $cache and $python: scripts/tools.sh

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
    cargo "$verb" --quiet --release --features cli,cuda --target-dir target/cuda "$@"
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
