# SPDX-License-Identifier: Apache-2.0
"""Runs a command with a full device as stdout, as stderr, with a closed stdout and with a closed pipe.

Fails where it does not end as it must."""

import os
import signal
import subprocess
import sys

command = sys.argv[1:]
full = open("/dev/full", "w")

for what, reason, options in [
    ("full", "No space left on device", {"stdout": full}),
    ("closed", "Bad file descriptor", {"preexec_fn": lambda: os.close(1)}),
]:
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, **options)
    errors = [line for line in done.stderr.splitlines() if not line.startswith(("notice: ", "warning: "))]
    assert done.returncode == 1, f"stdout {what}: ended with {done.returncode}"
    assert errors == [f"error: cannot write to standard output: {reason}"], errors

done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full)
assert done.returncode == 0, f"stderr full: ended with {done.returncode}"

reader, writer = os.pipe()
os.close(reader)
done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True,
                      preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
assert done.returncode == -signal.SIGPIPE, f"no reader: ended with {done.returncode}"
