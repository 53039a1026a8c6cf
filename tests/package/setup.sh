# For the tests of the package, which are called with BUILD_FOLDER and COMPILER: a folder $work that ends with the test, and what they share.
set -euo pipefail
build=$1 compiler=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
flags=$(cached CMAKE_CXX_FLAGS)
# Options of a build that takes the objects of this one where it can: its sources must share units as they do here.
reuse=(-DCMAKE_CXX_COMPILER_LAUNCHER="$here/reuse_object.sh;$build")
for option in CMAKE_BUILD_TYPE CMAKE_UNITY_BUILD CMAKE_UNITY_BUILD_BATCH_SIZE; do
  [ -z "$(cached $option)" ] || reuse+=("-D$option=$(cached $option)")
done
unset CMAKE_CXX_COMPILER_LAUNCHER HEED_TARGET HEED_PLAN

die() { echo "$*" >&2; exit 1; }

# Runs a command, and shows what it wrote only where it failed.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; die "failed: $*"; }; }

# configure SOURCE BINARY OPTIONS...: without optimisation, which a user's small program takes longer to be compiled with than it runs.
configure() {
  quietly cmake -S "$1" -B "$2" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" "${@:3}"
}

# refuses PATTERN COMMAND...: the command ends with 1 and one line on standard error that has the pattern.
refuses() {
  local status=0
  "${@:2}" >/dev/null 2>"$work/error" || status=$?
  if [ "$status" -ne 1 ] || [ "$(wc -l <"$work/error")" -ne 1 ] || ! grep -q "$1" "$work/error"; then
    cat "$work/error"
    die "exit code $status, but 1 and a line with '$1' were expected: ${*:2}"
  fi
}

# Programs that were built against the package, in folder $1: they work, and obey the environment.
check_programs() {
  "$1/consumer"
  "$1/readme"
  "$1/models"
  HEED_TARGET=SCALAR HEED_PLAN=reference "$1/consumer" >/dev/null
  HEED_TARGET=SCALAR "$1/consumer" >/dev/null
  refuses 'HEED_TARGET: "Z80" is not one of .*SCALAR' env HEED_TARGET=Z80 "$1/consumer"
  refuses "HEED_PLAN is 'fastest', but the plans are .*reference" env HEED_PLAN=fastest "$1/consumer"
}
