# SPDX-License-Identifier: Apache-2.0
"""Runs the exporter's command line on every function of export_cases.py, with a stub of torch; prints code and messages."""

import contextlib
import io
import pathlib
import sys

folder = pathlib.Path(__file__).parent
sys.path[:0] = [str(folder / "torch_stub"), str(pathlib.Path(sys.argv[1]) / "tools")]
import export_torch  # noqa: E402  (found by the paths above)

cases = str(folder / "export_cases.py")
names = ["nothing", "one", "four", "raises", "no_module", "no_tensors", "no_batch", "no_target", "unknown_argument",
         "does_not_fit", "no_result", "number"]
for arguments in [*([f"{cases}:{name}"] for name in names), [f"{cases}:raises", "--traceback"], [f"{sys.argv[2]}:make"]]:
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        code = export_torch.main([arguments[0], sys.argv[2] + ".out", *arguments[1:]])
    print(f"{code} {errors.getvalue().replace(cases, 'CASES')}", end="")
