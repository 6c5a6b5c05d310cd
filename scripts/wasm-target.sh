# shellcheck shell=bash
# Rust's standard library for the browser: from rustup, or built from Debian's sources where rustup's server is out of reach.

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
  { have apt-get && have dpkg-deb; } || die "the wasm target is missing, and there is no apt to fetch its sources with. $remedy"
  work=$(mktemp -d)
  # shellcheck disable=SC2064  # expand now
  trap "rm -rf '$work'" RETURN
  if [ ! -f "$sysroot/lib/rustlib/src/rust/library/Cargo.lock" ]; then
    # shellcheck disable=SC2016  # apt's variable, not the shell's
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
