#!/usr/bin/env bash
# wheel.sh BUILD_FOLDER COMPILER: the wheel that `pip install .` builds, of the objects that the build has, unpacked and used.
source "$(dirname "$0")/setup.sh"
root=$(cd "$here/../.." && pwd)
python=$(cached _Python_EXECUTABLE)
cp -r "$root/python" "$root/pyproject.toml" "$root/CMakeLists.txt" "$root/LICENSE" "$root/README.md" "$root/cmake" "$root/heed" "$work"
cd "$work"
export CMAKE_ARGS="-DCMAKE_CXX_COMPILER=$compiler ${reuse[*]}"
PYTHONPATH=python/backend PYTHONDONTWRITEBYTECODE=1 quietly "$python" -c 'import heed_backend; heed_backend.build_wheel(".")'
unset CMAKE_ARGS
quietly "$python" -m zipfile -e heed-*.whl site
rm -r build  # what was installed does not look there
cd site
for file in heed/py.typed heed/_heed.pyi heed/torch/__init__.py heed-*.dist-info/METADATA heed-*.dist-info/RECORD; do
  [ -f "$file" ] || die "the wheel has no $file"
done
"$python" -c '
import heed, numpy as np
x = np.ones((1, 1, 2, 4), np.float32)
assert heed.__file__.endswith("site/heed/__init__.py"), heed.__file__
assert (heed.attention(x, x, x) == 1).all()'
