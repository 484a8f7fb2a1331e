#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures (where needed) and builds a preset with as many jobs as cores and memory allow.
#   tools/dev/build.sh [PRESET] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/../.."

preset=${1:-dev}
shift || true
begin=$SECONDS

# A file of the compiler takes up to 2 GiB to compile.
jobs=$(nproc)
fit=$(($(awk '/MemAvailable/ {print $2}' /proc/meminfo) / (2 * 1024 * 1024)))
((fit < 1)) && fit=1
((jobs > fit)) && jobs=$fit

mkdir -p build
# Ninja configures again by itself where a CMakeLists.txt has changed, but not where tools/setup.sh has fetched CUDA's headers since.
headers=${HALFTONE_CACHE:-$HOME/.cache/halftone}/cuda-headers/stamp
if [[ ! -f build/$preset/build.ninja || CMakePresets.json -nt build/$preset/build.ninja || $headers -nt build/$preset/build.ninja ]]; then
  echo "[build] configuring preset $preset (about 15 seconds)"
  log=build/$preset.configure.log
  cmake --preset "$preset" >"$log" 2>&1 || {
    tail -30 "$log" >&2
    echo "[build] error: could not configure; tools/setup.sh installs what is missing" >&2
    exit 1
  }
fi
echo "[build] preset $preset, $jobs jobs (a first build takes about 12 minutes on 2 cores, a repeated one seconds)"
targets=()
(($# > 0)) && targets=(--target "$@")
cmake --build --preset "$preset" -j "$jobs" "${targets[@]}"
echo "[build] done: build/$preset/bin ($((SECONDS - begin)) s)"
