#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs lit tests of a built preset:   tools/dev/lit.sh PRESET [tests/FOLDER_OR_FILE...]
set -euo pipefail
cd "$(dirname "$0")/../.."

preset=$1
shift
paths=()
for path in "${@:-tests}"; do
  paths+=("build/$preset/$path")
done
exec python3 /usr/lib/llvm-19/build/utils/lit/lit.py -v "${paths[@]}"
