# Builds wane-spectra and runs it on the text of this repository, or on the files given:
#   sh cmake/demo.sh [FILE...]
# SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/packages.sh"
root=$(cd "$(dirname "$0")/.." && pwd)

if [ $# = 0 ]; then
  cd "$root"
  IFS='
'
  set -- $(find . -type d \( -name .git -o -name .cache -o -name 'build*' -o -name out \) -prune -o \
    -type f \( -name '*.md' -o -name '*.hpp' -o -name '*.cuh' -o -name '*.cpp' -o -name '*.cu' -o \
    -name '*.cmake' -o -name '*.txt' -o -name '*.sh' \) -print | LC_ALL=C sort)
  unset IFS
fi
for file; do
  case $file in -*) wane_stop "$file is not an option; usage: sh cmake/demo.sh [FILE...]" ;; esac
  [ -r "$file" ] || wane_stop "cannot read $file; give text files, or none for this repository's"
done

wane_need g++ make cmake libeigen3-dev libboost-dev nlohmann-json3-dev libcli11-dev gnuplot-nox
wane_prepare_builds

build=$root/build/demo
wane_stage "build wane-spectra"
cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DWANE_TESTS=OFF -DWANE_EXAMPLES=OFF
cmake --build "$build" --target wane-spectra

wane_stage "wane-spectra on $# files"
out=$root/out/wane-spectra
mkdir -p "$root/out"
"$build/bench/wane-spectra" --text "$@" --horizon 4096 \
  --json "$out.json" --csv "$out.csv" --plot "$out.svg"
wane_end_stage
printf '\nThe numbers are in %s and %s,\nthe picture is %s\n' "$out.json" "$out.csv" "$out.svg"
