#!/usr/bin/env bash
# subproject.sh BUILD_FOLDER COMPILER: heed within another project, by add_subdirectory.
source "$(dirname "$0")/setup.sh"
configure "$here/subproject" "$work/build" -DHEED_SOURCE="$(cd "$here/../.." && pwd)" "${reuse[@]}"
quietly cmake --build "$work/build"
"$work/build/consumer"
quietly cmake --install "$work/build" --prefix "$work/prefix"
[ "$(cd "$work/prefix" && find . -type f)" = ./bin/consumer ] || die "heed was installed with the project around it: $(find "$work/prefix")"
