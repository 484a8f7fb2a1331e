#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses hand-written files of more than 600 lines, scripts (files that begin with #!) that git does not have as executable,
and executable files that are no scripts.

  tools/ci/check_sizes.py [--table]     --table: lines for each folder and the largest files
"""

import collections
import pathlib
import subprocess
import sys

LIMIT = 600
SUFFIXES = {".cpp", ".h", ".cu", ".cuh", ".td", ".py", ".sh", ".cmake", ".proto"}


def files(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    names = {pathlib.PurePosixPath(name) for name in listed if name}
    return sorted(n for n in names if n.suffix in SUFFIXES and (root / n).is_file())


def table(sizes):
    folders = collections.Counter()
    for name, lines in sizes.items():
        folders["/".join(name.parts[:2]) if len(name.parts) > 2 else name.parts[0]] += lines
    for folder, lines in sorted(folders.items()):
        print(f"{lines:7} {folder}")
    print(f"{sum(folders.values()):7} in all; the largest files:")
    for name, lines in sorted(sizes.items(), key=lambda item: -item[1])[:10]:
        print(f"{lines:7} {name}")


def wrong_modes(root):
    listed = subprocess.run(["git", "ls-files", "--stage", "-z"], cwd=root, check=True, capture_output=True,
                            text=True).stdout.split("\0")
    for entry in filter(None, listed):
        mode, name = entry.split()[0], entry.split("\t", 1)[1]
        if mode not in ("100644", "100755") or not (root / name).is_file():
            continue
        with open(root / name, "rb") as file:
            script = file.read(2) == b"#!"
        if script != (mode == "100755"):
            yield f"{name}: " + ("begins with #! but is not executable: git update-index --chmod=+x" if script else
                                 "is executable but does not begin with #!")


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    sizes = {name: len((root / name).read_bytes().splitlines()) for name in files(root)}
    if "--table" in sys.argv[1:]:
        table(sizes)
    large = {name: lines for name, lines in sizes.items() if lines > LIMIT}
    for name, lines in large.items():
        print(f"{name}: {lines} lines, the limit is {LIMIT}", file=sys.stderr)
    modes = list(wrong_modes(root))
    for line in modes:
        print(line, file=sys.stderr)
    print(f"[sizes] {len(sizes)} files, largest {max(sizes.values(), default=0)} lines")
    return 1 if large or modes else 0


if __name__ == "__main__":
    sys.exit(main())
