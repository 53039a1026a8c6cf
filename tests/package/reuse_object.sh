#!/bin/sh
# reuse_object.sh BUILD_FOLDER COMPILER ARGUMENTS...: a compiler launcher that takes an object of heed's from another build, where it is
# there, instead of compiling it again.
build=$1
shift
object='' dependencies='' before=''
for argument; do
  case $before in
    -o) object=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  before=$argument
done
for folder in heed cli python; do
  made="$build/$folder/CMakeFiles/${object##*CMakeFiles/}"
  if [ -f "$made" ]; then
    echo "$object:" >"$dependencies"
    ln -f "$made" "$object" 2>/dev/null || cp "$made" "$object"  # another file system
    exit
  fi
done
exec "$@"
