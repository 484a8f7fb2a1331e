#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every #include of the sources against the arrows in tools/dev/layers.txt, and that the build has every source.

  tools/ci/check_layers.py [ROOT [LAYERS]]
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
SUFFIXES = {".cpp", ".h", ".cu", ".cuh"}


class Layers:
    def __init__(self, text):
        self.arrows, self.refused, self.allowed = {}, {}, {}
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0].endswith(":"):
                self.arrows[words[0][:-1]] = words[1:]
            elif words[1:2] in (["!"], ["+"]):
                (self.refused if words[1] == "!" else self.allowed)[words[0]] = words[2:]
            else:
                raise SystemExit(f"layers: cannot read the line: {line}")
        self.tops = {name.split("/")[0] for name in self.arrows}

    @staticmethod
    def longest(name, folders):
        fits = [f for f in folders if name == f or name.startswith(f + "/")]
        return max(fits, key=len, default=None)

    def fault(self, file, included):
        """Why `file` may not include `included`, or None. Both are paths from the root."""
        library = included.split("/")[0] not in self.tops
        if library:
            refusing = [p for f, ps in self.refused.items() if file.startswith(f + "/") for p in ps]
            allowing = [p for f, ps in self.allowed.items() if file.startswith(f + "/") for p in ps]
            if any(map(included.startswith, refusing)) and not any(map(included.startswith, allowing)):
                return f"no header of {included.split('/')[0]} belongs in this folder"
            return None
        folder = self.longest(file, self.arrows)
        if folder is None:
            return "its folder is not in layers.txt"
        if self.longest(included, [folder, *self.arrows[folder]]) is None:
            return f"{folder} has no arrow to {included.rsplit('/', 1)[0]}"
        return None


def faults(root, layers):
    for top in sorted(layers.tops):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            file = path.relative_to(root).as_posix()
            text = path.read_text(errors="replace")
            for match in INCLUDE.finditer(text):
                if why := layers.fault(file, match.group(1)):
                    line = text.count("\n", 0, match.start(1)) + 1
                    yield f"{file}:{line}: {match.group(1)}: {why}"


def outside_build(root, layers):
    """Sources that no CMakeLists.txt names, and those in folders that none leads to."""
    for top in sorted(layers.tops):
        lists = {path.parent: "".join(list.read_text() for list in (path, *sorted(path.parent.rglob("*.cmake"))))
                 for path in (root / top).rglob("CMakeLists.txt")}
        for folder in lists:
            parent = lists.get(folder.parent, folder.name)  # the top folder is the root's
            if not re.search(rf"\b{re.escape(folder.name)}\b", parent):
                yield f"{folder.relative_to(root).as_posix()}: the folder above does not add it to the build"
        for path in sorted((root / top).rglob("*.cpp")):
            named = [text for folder, text in lists.items() if path.is_relative_to(folder)]
            if not any(re.search(rf"(?<!\w){re.escape(path.name)}\b", text) for text in named):
                yield f"{path.relative_to(root).as_posix()}: nothing adds it to the build"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[2]).resolve()
    layers = pathlib.Path(arguments[1]) if len(arguments) > 1 else root / "tools/dev/layers.txt"
    arrows = Layers(layers.read_text())
    found, lost = list(faults(root, arrows)), list(outside_build(root, arrows))
    for line in found + lost:
        print(line, file=sys.stderr)
    print(f"[layers] {len(found)} includes against the arrows, {len(lost)} sources outside the build")
    return 1 if found or lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
