#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks a GPU machine, from the repository's root: runs halftone-gpu-tests, then every plan of a folder, and writes one
# JSON. Needs what the preset gpu built (build/gpu/bin, build/gpu/lib), the driver, cuBLASLt and cuDNN; no compiler.
#
#   tools/dev/gpu_check.sh [--plans DIR] [--out DIR] [--bin DIR] [--steps N] [--tests FILTER | --no-tests]
#                      [--commands 'bench grads train repeat trace']
#
# For each NAME.plan it runs bench, and where NAME.npz (or STEM.npz, STEM being NAME up to its first dot) lies beside it, grads,
# train, repeat (the same training without CUDA graphs must leave the same weights, to the bit) and trace (of plans whose IR
# tools/dev/sample_plans.py wrote, DIR/ir/NAME.mlir). overflow.STEM.plan, whose loss scale grows until a step is skipped, trains
# with STEM.npz up to that step, and once without it (NAME.run2, NAME.run). The results are in OUT/gpu_check.json, with the source's
# revision (where git is not: $HALFTONE_REVISION), what was written and printed in OUT/NAME.*. Exit code 1 where something
# failed, and where there is no CUDA device or nothing was checked.
set -u

plans= planned= last= out=gpu_check bin=build/gpu/bin steps=5 filter='*' tests=yes commands='bench grads train repeat trace'
call=tools/dev/gpu_check.sh
for word; do
  [[ $word == *[\ *]* ]] && word="'$word'"
  case $last in # folders are this machine's own
  --plans) word=PLANS ;;
  --out) word=CHECK ;;
  --bin) word=BIN ;;
  esac
  last=$word call+=" $word"
done
while [ $# -gt 0 ]; do
  case "$1" in
  --plans) plans=$2; shift 2 ;;
  --out) out=$2; shift 2 ;;
  --bin) bin=$2; shift 2 ;;
  --steps) steps=$2; shift 2 ;;
  --commands) commands=$2; shift 2 ;;
  --tests) filter=$2; shift 2 ;;
  --no-tests) tests=no; shift ;;
  *) sed -n '3,13s/^# \?//p' "$0" >&2; exit 2 ;;
  esac
done
mkdir -p "$out"
json=$out/gpu_check.json

# Libraries that came as Python packages are not on the loader's path.
if site=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null); then
  for folder in "$site"/nvidia/*/lib; do
    [ -d "$folder" ] && LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
  done
  export LD_LIBRARY_PATH
fi

quoted() { # text as a JSON string
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  text=${text//$'\t'/ }
  printf '"%s"' "${text//$'\n'/\\n}"
}

failures=0 separator=
run_one() { # plan, command, arguments...
  local name=$1 command=$2 log=$out/$1.$2 begin=$EPOCHREALTIME rc last
  [[ " $commands " == *" $command "* ]] || return 0
  shift 2
  "$bin/halftone-run" "$command" "$@" >"$log.out" 2>"$log.err"
  rc=$?
  [ $rc = 0 ] || failures=$((failures + 1))
  last=$(tail -n 1 "$log.out")
  [[ $last == {*} ]] || last=null
  printf '%s\n    {"plan": %s, "command": "%s", "exit": %d, "seconds": %s, "result": %s, "error": %s}' "$separator" \
    "$(quoted "$name")" "$command" $rc "$(awk "BEGIN {print $EPOCHREALTIME - $begin}")" "$last" \
    "$(quoted "$([ $rc = 0 ] || tail -n 3 "$log.err")")" >>"$json"
  separator=,
  echo "$name $command: exit $rc"
}

# Trains once more without graphs and compares what is left with what train left.
repeat() { # plan, arguments...
  local name=$1 equal=true
  [[ " $commands " == *" repeat "* ]] || return 0
  shift
  HALFTONE_CUDA_GRAPHS=0 "$bin/halftone-run" train "$@" --out "$out/$name.again" >/dev/null 2>"$out/$name.again.err" &&
    cmp -s "$out/$name.run/weights.safetensors" "$out/$name.again/weights.safetensors" || equal=false
  $equal || failures=$((failures + 1))
  rm -rf "$out/$name.again"
  printf '%s\n    {"plan": %s, "command": "repeat", "bit_equal": %s}' "$separator" "$(quoted "$name")" $equal >>"$json"
  echo "$name repeat: $equal"
}

fault() {
  echo "error: $*" >&2
  failures=$((failures + 1))
}
devices=$("$bin/halftone-run" devices --json) || devices=
if [[ $devices != {*} ]]; then
  fault "$bin/halftone-run devices does not run"
  devices=null
elif ! grep -qE '"target": *"cuda"' <<<"$devices"; then
  fault "no CUDA device: $devices"
fi
revision=${HALFTONE_REVISION:-}
if head=$(git rev-parse HEAD 2>/dev/null); then
  revision=$head
  [ -z "$(git status --porcelain --untracked-files=no)" ] || revision+=-dirty
fi

printf '{"date": "%s",\n "revision": %s,\n "command": %s,\n "devices": %s,\n' "$(date -u +%FT%TZ)" \
  "$(quoted "$revision")" "$(quoted "$call")" "$devices" >"$json"
checked=0
if [ $tests = yes ]; then
  "$bin/halftone-gpu-tests" --gtest_filter="$filter" --gtest_output="json:$out/tests.json" >"$out/tests.log" 2>&1
  rc=$?
  [ $rc = 0 ] || failures=$((failures + 1))
  count() { grep -c "^\[ *$1 *\] .*(.*ms)" "$out/tests.log"; }
  # The other tests of this program need no GPU.
  checked=$(grep -cE '^\[ *OK *\] (CudaSessionTest\.|.*/cuda).*ms\)' "$out/tests.log")
  [ "$checked" != 0 ] || fault "no test of halftone-gpu-tests that needs a GPU passed (see $out/tests.log)"
  printf ' "tests": {"exit": %d, "passed": %d, "failed": %d, "skipped": %d},\n' \
    $rc "$(count OK)" "$(count FAILED)" "$(count SKIPPED)" >>"$json"
  grep -E '^\[  (PASSED|FAILED)' "$out/tests.log"
fi
printf ' "runs": [' >>"$json"
for plan in ${plans:+"$plans"/*.plan}; do
  [ -f "$plan" ] || continue
  checked=$((checked + 1)) planned=yes
  name=$(basename "$plan" .plan)
  stem=${name#overflow.}
  data=$plans/$name.npz count=$steps
  [ -f "$data" ] || data=$plans/${stem%%.*}.npz
  train=("$plan" --data "$data" --overwrite --no-shuffle)
  run_one "$name" bench "$plan" --steps 20
  [ -f "$data" ] || continue
  run_one "$name" grads "$plan" --data "$data" --out "$out/$name.grads.npz"
  if [ "$stem" != "$name" ]; then
    run_one "$name" train "${train[@]}" --steps 100 --out "$out/$name.run2"
    skipped=$(sed -n '/"applied":false/{s/^{"step":\([0-9]*\),.*/\1/p;q}' "$out/$name.run2/metrics.jsonl")
    count=$((skipped - 1))
    run_one "$name" train "${train[@]}" --steps "$skipped" --out "$out/$name.run2"
  fi
  run_one "$name" train "${train[@]}" --steps "$count" --out "$out/$name.run"
  repeat "$name" "${train[@]}" --steps "$count"
  if [ -f "$plans/ir/$name.mlir" ]; then
    for program in train eval; do
      rm -rf "$out/$name.$program.steps"
      run_one "$name" trace "$plan" --data "$data" --program $program --out "$out/$name.$program.steps"
    done
  fi
done
[ -z "$plans" ] || [ -n "$planned" ] || fault "no plan in $plans"
[ $checked != 0 ] || fault "nothing was checked"
printf '],\n "failures": %d}\n' $failures >>"$json"
echo "results: $json"
[ $failures = 0 ]
