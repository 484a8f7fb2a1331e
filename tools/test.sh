#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds the release preset and runs every test that needs no GPU. Ends with ctest's summary.
#   tools/test.sh [ctest options]      e.g. -R normalize
set -euo pipefail
cd "$(dirname "$0")/.."

tools/setup.sh
tools/dev/build.sh release

why="no NVIDIA driver here"
if [[ -e /dev/nvidiactl ]]; then
  why="this script leaves the GPU alone; run tools/dev/gpu_check.sh"
fi
gpu=$(ctest --preset release -N -L gpu | sed -n 's/^Total Tests: //p')
echo "[test] GPU tests left out: ${gpu:-0} ($why)"
exec ctest --preset release -LE gpu -j "$(nproc)" "$@"
