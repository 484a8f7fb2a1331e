#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a trained network: sets up, builds, compiles a convolutional network for handwritten digits in BF16,
# trains it on the CPU, evaluates it on pictures it has not seen, and prints which node computes in which precision.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly MODEL=testdata/models/digits_cnn.raw20.onnx TRAIN=testdata/digits/train.npz TEST=testdata/digits/test.npz
readonly OUT=runs/quickstart WANTED=0.97
begin=$SECONDS

say() { echo "[quickstart] $*"; }

tools/setup.sh
tools/dev/build.sh release halftone halftone-run
bin=build/release/bin
mkdir -p "$OUT"

say "compiling $MODEL in BF16 for the CPU (a few seconds)"
"$bin/halftone" compile "$MODEL" -o "$OUT/digits.plan" --target cpu --precision bf16 --dim batch=32 \
  --loss cross_entropy --optimizer sgd --lr 0.05 --momentum 0.9 --weight-decay 1e-4

say "training on $TRAIN, 8 epochs (under 30 seconds on 2 cores); set-up and build took $((SECONDS - begin)) s"
"$bin/halftone-run" train "$OUT/digits.plan" --data "$TRAIN" --epochs 8 --device cpu --seed 0 \
  --out "$OUT/run" --overwrite >"$OUT/train.log" || {
  tail -20 "$OUT/train.log" >&2
  exit 1
}
python3 - "$OUT/train.log" <<'SUMMARY'
import json, sys
last = json.loads(open(sys.argv[1]).read().splitlines()[-1])
print(f"{last['steps']} steps, {last['skipped']} skipped, {last['steps_per_second']:.0f} a second; "
      f"loss {last['loss'][0]:.3f} at first, {last['final_loss']:.4f} at last")
SUMMARY

say "evaluating on $TEST"
result=$("$bin/halftone-run" eval "$OUT/digits.plan" --data "$TEST" --device cpu --weights "$OUT/run" | tail -n 1)
echo "$result"

say "the coloured graph"
"$bin/halftone" inspect "$OUT/digits.plan"

python3 - "$result" "$WANTED" <<'CHECK'
import json, sys
accuracy, wanted = json.loads(sys.argv[1])["accuracy"], float(sys.argv[2])
print(f"\n[quickstart] test accuracy {accuracy:.2%}")
sys.exit(f"[quickstart] error: at least {wanted:.0%} was expected" if accuracy < wanted else 0)
CHECK
cat <<FILES
[quickstart] the files:
  $OUT/digits.plan                   the plan: programs, kernels, colours
  $OUT/digits.weights.safetensors    the weights it starts from
  $OUT/run/weights.safetensors       the trained weights
  $OUT/run/metrics.jsonl             loss, scale and time of every step
  $OUT/train.log                     what training printed
[quickstart] README.md says how to do this with a model of your own.
FILES
