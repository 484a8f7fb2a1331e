# SPDX-License-Identifier: Apache-2.0
"""damage.py FOLDER: changes the last byte of each file in it."""

import pathlib
import sys

files = list(pathlib.Path(sys.argv[1]).iterdir())
for file in files:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
sys.exit(not files)
