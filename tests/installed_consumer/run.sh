#!/usr/bin/env bash
# run.sh BUILD_FOLDER COMPILER: installs the build into a temporary folder, and builds and runs a project that finds it there.
set -euo pipefail
build=$1 compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
"$work/prefix/bin/heed" --version
# The README's C++ block: its includes, and its statements as a program.
mkdir -p "$work/build"
block=$(sed -n '/^```cpp$/,/^```$/{//!p}' "$here/../../README.md")
{ grep '^#include' <<<"$block"; echo 'int main() {'; grep -v '^#include' <<<"$block"; echo '}'; } >"$work/build/readme.cc"
cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_FLAGS="${CXXFLAGS:-}" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build"
"$work/build/consumer"
"$work/build/readme"
