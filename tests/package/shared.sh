#!/usr/bin/env bash
# shared.sh BUILD_FOLDER COMPILER: heed as shared libraries, of the objects that the build has, installed and used.
source "$(dirname "$0")/setup.sh"
configure "$here/../.." "$work/shared" -DBUILD_SHARED_LIBS=ON -DHEED_BUILD_TESTS=OFF -DHEED_BUILD_PYTHON=OFF -DCMAKE_INSTALL_LIBDIR=lib/here \
  "${reuse[@]}"
quietly cmake --build "$work/shared"
quietly cmake --install "$work/shared" --prefix "$work/first"
mv "$work/first" "$work/prefix"
mv "$work/shared" "$work/gone"  # what was installed does not look there
"$work/prefix/bin/heed" --version
for library in heed_attention heed; do
  readelf -d "$work/prefix/lib/here/lib$library.so" | grep -q "SONAME.*lib$library\.so\.[0-9]" || die "lib$library.so has no soname"
done

# With nothing but heed: what it links is its own affair.
mkdir "$work/build" "$work/modules"
printf '#include "heed/heed.h"\nint main() {}\n' >"$work/build/readme.cc"
export PKG_CONFIG_LIBDIR="$work/modules"
configure "$here" "$work/build" -Dheed_DIR="$work/prefix/lib/here/cmake/heed"
quietly cmake --build "$work/build"
check_programs "$work/build"
export PKG_CONFIG_PATH="$work/prefix/lib/here/pkgconfig"
for package in heed-attention heed; do
  # shellcheck disable=SC2046
  quietly "$compiler" -std=c++20 $flags "$here/$([ $package = heed ] && echo models || echo consumer).cc" -o "$work/$package" \
    $(pkg-config --cflags --libs $package)
  LD_LIBRARY_PATH="$work/prefix/lib/here" "$work/$package"
done
