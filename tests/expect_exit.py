# SPDX-License-Identifier: Apache-2.0
"""expect_exit.py N COMMAND...: runs the command and succeeds where its exit code is N."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit(f"exit code {code}, not {sys.argv[1]}")
