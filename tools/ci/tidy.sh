#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Refuses what clang-tidy 19 finds, by the checks of .clang-tidy.   tools/ci/tidy.sh [--all | REVISION]
# Looks at the C++ files that changed since REVISION (the last tag, or where there is none, the commit before the last one),
# JOBS at once. Needs a finished release build, for its flags and generated headers, and tools/setup.sh --developer.
# Not part of .ci/run: a file that includes MLIR takes 20 seconds, all of them more than an hour.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly COMMANDS=build/release/compile_commands.json
fail() {
  echo "[tidy] error: $*" >&2
  exit 1
}
command -v clang-tidy-19 >/dev/null || fail "clang-tidy-19 is not installed; tools/setup.sh --developer installs it"
[[ -f $COMMANDS ]] || fail "there is no $COMMANDS; run tools/dev/build.sh release first"

changed_files() {
  if [[ ${1:-} == --all ]]; then
    git ls-files '*.cpp'
    return
  fi
  local revision=${1:-$(git describe --tags --abbrev=0 2>/dev/null || echo HEAD~1)} base file
  base=$(git merge-base HEAD "$revision") || fail "$revision and HEAD have no common ancestor"
  { git diff --name-only --diff-filter=d "$base" && git ls-files --others --exclude-standard; } |
    while read -r file; do
      case $file in
        *.cpp) echo "$file" ;;
        *.h) [[ -f ${file%.h}.cpp ]] && echo "${file%.h}.cpp" ;; # A header is seen through its source.
      esac
    done | sort -u
}

files=()
mapfile -t candidates < <(changed_files "$@")
for file in "${candidates[@]}"; do
  # Left out: what this build does not compile.
  grep -qF "\"file\": \"$PWD/$file\"" "$COMMANDS" && files+=("$file")
done
if ((${#files[@]} == 0)); then
  echo "[tidy] no C++ file changed"
  exit 0
fi
# omp.h comes with the compiler of the build; its other headers must not hide clang's own. GCC's names the function that frees in
# an attribute, which clang takes without arguments.
omp=$(dirname "$("${CXX:-c++}" -print-file-name=include/omp.h)")
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy-19 --quiet --warnings-as-errors='*' \
    --extra-arg="-idirafter$omp" --extra-arg='-D__malloc__(...)=__malloc__' -p build/release 2>/dev/null ||
  fail "see above (${#files[@]} files)"
echo "[tidy] ${#files[@]} files"
