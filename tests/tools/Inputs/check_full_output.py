# SPDX-License-Identifier: Apache-2.0
"""Runs a command with a full device as stdout, as stderr, and with a closed pipe; fails where it does not end as it must."""

import os
import signal
import subprocess
import sys

command = sys.argv[1:]
full = open("/dev/full", "w")

done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
errors = [line for line in done.stderr.splitlines() if not line.startswith(("notice: ", "warning: "))]
assert done.returncode == 1, f"stdout full: ended with {done.returncode}"
assert errors == ["error: cannot write to standard output: No space left on device"], errors

done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full)
assert done.returncode == 0, f"stderr full: ended with {done.returncode}"

reader, writer = os.pipe()
os.close(reader)
done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True,
                      preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
assert done.returncode == -signal.SIGPIPE, f"no reader: ended with {done.returncode}"
