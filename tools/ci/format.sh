#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Refuses C++ that clang-format 19 would change.   tools/ci/format.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/../.."

mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.h' '*.cu')
existing=()
for file in "${files[@]}"; do
  [[ -f $file ]] && existing+=("$file")
done
if ((${#existing[@]} == 0)); then
  echo "[format] no C++ files"
  exit 0
fi
if [[ ${1:-} == --fix ]]; then
  clang-format-19 -i "${existing[@]}"
else
  report=$(clang-format-19 --dry-run -Werror "${existing[@]}" 2>&1) || {
    sed -n 's/^\([^ :]*\):\([0-9]*\):.*code should be clang-formatted.*/\1/p' <<<"$report" | sort | uniq -c >&2
    echo "[format] error: these files would change; run tools/ci/format.sh --fix" >&2
    exit 1
  }
fi
echo "[format] ${#existing[@]} files"
