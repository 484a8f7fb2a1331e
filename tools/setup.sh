#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a build and its tests need, as far as it is missing: Debian or Ubuntu packages, a Python environment and the
# ONNX library, the last two in $HALFTONE_CACHE (~/.cache/halftone). Quick when nothing is missing. Installs packages as
# root or through sudo; otherwise it names them and stops.   tools/setup.sh [--developer]   (also what tools/ci/tidy.sh needs)
set -euo pipefail
cd "$(dirname "$0")/.."

# The names are the same in all releases that have LLVM 19: Debian 12 (oneDNN 2.6) and newer, Ubuntu 24.04 and newer (oneDNN 3).
PACKAGES=(
  g++ cmake ninja-build ccache lld git pkg-config python3 python3-venv ca-certificates
  llvm-19-dev llvm-19-tools libmlir-19-dev mlir-19-tools clang-format-19
  libzstd-dev libcurl4-openssl-dev libedit-dev libxml2-dev zlib1g-dev
  libprotobuf-dev protobuf-compiler libdnnl-dev libssl-dev libzip-dev
  libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev)

export HALFTONE_CACHE=${HALFTONE_CACHE:-$HOME/.cache/halftone}
begin=$SECONDS

say() { echo "[setup] $*"; }
fail() {
  echo "[setup] error: $*" >&2
  exit 1
}

# The system's own name, and a remedy where it has no LLVM 19.
system_advice() {
  local NAME="" ID="" VERSION_ID="" PRETTY_NAME="this system" first
  [[ -r /etc/os-release ]] && . /etc/os-release
  case $ID in
    debian) first=12 ;;
    ubuntu) first=24.04 ;;
    *)
      echo "$PRETTY_NAME is neither Debian nor Ubuntu; packages may have other names there"
      return
      ;;
  esac
  if [[ -n $VERSION_ID ]] && ! printf '%s\n' "$first" "$VERSION_ID" | sort -VC; then
    echo "$PRETTY_NAME has no LLVM 19; use ${NAME%% *} $first or newer"
  elif [[ $ID == ubuntu ]]; then
    echo "LLVM 19 and oneDNN are in Ubuntu's component universe: add-apt-repository universe"
  fi
}

missing_packages() {
  local package
  for package in "${PACKAGES[@]}"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *" installed" ]] || echo "$package"
  done
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    fail "this is not Debian or Ubuntu; install the equivalents of: ${PACKAGES[*]}"
  local missing=() root=() advice log=$HALFTONE_CACHE/apt.log
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    return
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      fail "these packages are missing and neither root nor sudo is at hand. Have them installed with
    apt-get install --no-install-recommends ${missing[*]}"
    fi
    root=(sudo)
  fi
  say "packages: installing ${#missing[@]} (about 4 minutes on a fresh machine): ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { "${root[@]}" apt-get update && "${root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 || {
    tail -15 "$log" >&2
    advice=$(system_advice)
    fail "apt-get could not install: ${missing[*]} (whole log: $log)${advice:+; $advice}"
  }
}

# The environment holds what tools and tests use of Python; its stamp is the list that it was made from.
install_python() {
  local venv=$HALFTONE_CACHE/venv
  if cmp -s tools/requirements.txt "$venv/stamp"; then
    return
  fi
  say "python: environment in $venv (about 1 minute)"
  rm -rf "$venv"
  python3 -m venv "$venv" || fail "python3 cannot make an environment in $venv"
  "$venv/bin/python" -m pip install --quiet --requirement tools/requirements.txt ||
    fail "pip could not install tools/requirements.txt into $venv"
  cp tools/requirements.txt "$venv/stamp"
}

# CUDA's assembler checks the generated kernels; no GPU and no toolkit is needed for that.
install_ptxas() {
  if command -v ptxas >/dev/null || [[ -x /usr/local/cuda/bin/ptxas || -x $HALFTONE_CACHE/ptxas ]]; then
    return
  fi
  say "ptxas: from the package nvidia-cuda-nvcc (47 MB, half a minute)"
  local venv=$HALFTONE_CACHE/venv found
  "$venv/bin/python" -m pip install --quiet --no-deps nvidia-cuda-nvcc==13.0.88 || fail "pip could not install nvidia-cuda-nvcc"
  found=$(find "$venv/lib" -path '*/bin/ptxas' -print -quit)
  [[ -n $found ]] || fail "nvidia-cuda-nvcc brought no ptxas"
  ln -sf "$found" "$HALFTONE_CACHE/ptxas"
}

install_onnx() {
  if [[ ! -f $(tools/dev/build_onnx.sh --where)/stamp ]]; then
    say "onnx: building the library (about 3 minutes on 2 cores)"
  fi
  local where
  where=$(tools/dev/build_onnx.sh) || fail "the ONNX library did not build"
  say "onnx: $where"
}

case ${1:-} in
  "") ;;
  --developer) PACKAGES+=(clang-tidy-19) ;;
  *)
    echo "usage: tools/setup.sh [--developer]" >&2
    exit 2
    ;;
esac
mkdir -p "$HALFTONE_CACHE"
install_packages
install_python
install_ptxas
install_onnx
say "all that a build needs is here ($((SECONDS - begin)) s)"
