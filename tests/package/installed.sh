#!/usr/bin/env bash
# installed.sh BUILD_FOLDER COMPILER: installs the build, moves it elsewhere, and uses it there as users would.
source "$(dirname "$0")/setup.sh"
quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
"$work/prefix/bin/heed" --version
[ -f "$work/prefix/share/doc/heed/LICENSE" ] || die "no licence was installed"
[ "$(ls "$work/prefix/bin")" = heed ] || die "more than heed was installed: $(ls "$work/prefix/bin")"

# Every header can be included by itself. Of those that their own source files include first, the release preset shows it.
python3 "$here/../../tools/check_headers.py" --not-first >"$work/headers"
# shellcheck disable=SC2016
quietly xargs -P "$(nproc)" -I '{}' sh -c 'echo "#include \"$2\"" | "$0" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I"$1" -x c++ -' \
  "$compiler" "$work/prefix/include" '{}' <"$work/headers"

# find_package. The README's C++ block is a program of its includes and its statements.
mkdir "$work/build"
block=$(sed -n '/^```cpp$/,/^```$/{//!p}' "$here/../../README.md")
{ grep '^#include' <<<"$block"; echo 'int main() {'; grep -v '^#include' <<<"$block"; echo '}'; } >"$work/build/readme.cc"
configure "$here" "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix"
quietly cmake --build "$work/build"
check_programs "$work/build"

# pkg-config
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
for package in heed-attention heed; do
  # shellcheck disable=SC2046
  quietly "$compiler" -std=c++20 $flags "$here/$([ $package = heed ] && echo models || echo consumer).cc" -o "$work/$package" \
    $(pkg-config --cflags --libs $package)
  "$work/$package"
done
unset PKG_CONFIG_PATH

# Where all that is there is what attention needs, the models are not found, and attention is.
mkdir "$work/modules"
PKG_CONFIG_LIBDIR="$work/modules" configure "$here/attention_alone" "$work/alone" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_dnnl=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenCL=ON
quietly cmake --build "$work/alone"
"$work/alone/consumer"
if ldd "$work/alone/consumer" | grep -E 'hwy|cairo|sentencepiece|utf8proc|pcre2|png|jpeg|dnnl'; then die "attention alone links more than it needs"; fi
# Where that is not there either, nothing is found, and the configuration goes on.
PKG_CONFIG_LIBDIR="$work/modules" configure "$here/nothing_found" "$work/nothing" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON
