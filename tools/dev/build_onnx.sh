#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the ONNX C++ library (schemas, checker, shape inference, inliner) from the source distribution of the Python
# package `onnx`, once for each version of ONNX and of the compiler, into the cache folder. Prints the folder last.
#   tools/dev/build_onnx.sh [--where]      --where: only print the folder that CMake looks into
set -euo pipefail

readonly VERSION=1.23.2
readonly SHA256=008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8

cache=${HALFTONE_CACHE:-$HOME/.cache/halftone}
cxx=${CXX:-c++}
command -v "$cxx" >/dev/null || { echo "build_onnx: no C++ compiler '$cxx'" >&2; exit 1; }
if "$cxx" --version | grep -qi clang; then
  compiler=clang-$("$cxx" -dumpversion)
else
  compiler=gnu-$("$cxx" -dumpfullversion)
fi
prefix=$cache/onnx-$VERSION-$compiler
if [[ ${1:-} == --where ]]; then
  echo "$prefix"
  exit 0
fi

# The generated headers belong to one Protobuf, so the stamp names it.
stamp="$(protoc --version)"
if [[ -f $prefix/stamp && $(<"$prefix/stamp") == "$stamp" ]]; then
  echo "$prefix"
  exit 0
fi

python=${PYTHON:-}
if [[ -z $python ]]; then
  python=python3
  [[ -x $cache/venv/bin/python ]] && python=$cache/venv/bin/python
fi
mkdir -p "$cache"
work=$(mktemp -d "$cache/onnx-build.XXXXXX")
trap 'rm -rf "$work"' EXIT

# No CMake of pip's own is wanted: pip only asks the package for its metadata, which needs none.
echo "onnx==$VERSION --hash=sha256:$SHA256" >"$work/requirements.txt"
"$python" -m pip download --quiet --no-deps --no-binary onnx --dest "$work" --requirement "$work/requirements.txt" >&2
tar -xzf "$work/onnx-$VERSION.tar.gz" -C "$work"
# Its Python half asks for CMake 3.26; the library alone builds with the 3.25 of Debian 12.
sed -i 's/^cmake_minimum_required(VERSION 3\.26)/cmake_minimum_required(VERSION 3.25)/' "$work/onnx-$VERSION/CMakeLists.txt"

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR=$work
fi
cmake -S "$work/onnx-$VERSION" -B "$work/build" -G Ninja -DCMAKE_INSTALL_PREFIX="$work/out" -DCMAKE_INSTALL_LIBDIR=lib \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DCMAKE_CXX_STANDARD=20 \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DONNX_ML=ON -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_USE_UNITY_BUILD=ON \
  "${launcher[@]}" >"$work/log" 2>&1 &&
  cmake --build "$work/build" >>"$work/log" 2>&1 && cmake --install "$work/build" >>"$work/log" 2>&1 || {
  tail -40 "$work/log" >&2
  echo "build_onnx: ONNX $VERSION did not build" >&2
  exit 1
}
cp "$work/onnx-$VERSION/LICENSE" "$work/out/"
echo "$stamp" >"$work/out/stamp"
rm -rf "$prefix"
mv "$work/out" "$prefix"
echo "$prefix"
