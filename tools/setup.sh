#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a build and its tests need, as far as it is missing: Debian or Ubuntu packages, and in $HALFTONE_CACHE
# (~/.cache/halftone) a Python environment, CUDA's assembler and headers and the ONNX library. Quick when nothing is missing. Installs packages as
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

has_cuda_headers() { # flags that say where
  printf '#include <cuda.h>\n#include <cublasLt.h>\n#include <cudnn_backend.h>\n' | g++ -E -x c++ "$@" - >/dev/null 2>&1
}

# The CUDA code is compiled, and tested with stand-ins for the libraries, where no GPU and no toolkit is, too: it needs
# declarations only. The packages that hold them bring the libraries along, so the headers are taken out of each.
install_cuda_headers() {
  local folder=$HALFTONE_CACHE/cuda-headers package path flags=()
  local packages=(nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 nvidia-cuda-cccl==13.0.85
    nvidia-cublas==13.0.2.14 nvidia-cudnn-jit-cu13==9.19.0.56)
  for path in /usr/local/cuda ${CUDA_HOME:+"$CUDA_HOME"} ${CUDA_PATH:+"$CUDA_PATH"}; do
    flags+=(-I "$path/include")
  done
  if has_cuda_headers "${flags[@]}" || [[ "$(cat "$folder/stamp" 2>/dev/null)" == "${packages[*]}" ]]; then
    return
  fi
  say "cuda: headers of CUDA 13.0 and cuDNN 9.19 (fetches 500 MB, of which 23 MB are kept)"
  rm -rf "$folder"
  mkdir -p "$folder/wheels"
  for package in "${packages[@]}"; do
    "$HALFTONE_CACHE/venv/bin/python" -m pip download --quiet --no-deps --no-cache-dir --dest "$folder/wheels" "$package" \
      2>"$folder/pip.log" || {
      tail -3 "$folder/pip.log" >&2
      say "warning: pip could not fetch $package, so that CUDA's headers are missing: builds leave the CUDA device and its
    tests out, and the preset gpu does not configure"
      rm -rf "$folder/wheels"
      return
    }
  done
  "$HALFTONE_CACHE/venv/bin/python" - "$folder" <<'PYTHON' || fail "the headers could not be unpacked into $folder"
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
for wheel in sorted((folder / "wheels").iterdir()):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            _, found, path = name.partition("/include/")
            if found and not name.endswith("/"):
                target = folder / "include" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
PYTHON
  rm -rf "$folder/wheels" "$folder/pip.log"
  has_cuda_headers -I "$folder/include" || fail "the headers in $folder are not whole"
  echo "${packages[*]}" >"$folder/stamp"
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
install_cuda_headers
install_onnx
say "all that a build needs is here ($((SECONDS - begin)) s)"
