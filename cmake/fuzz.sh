# Gives readers of files and calls of operators any inputs, by libFuzzer, in build/fuzz:
#   sh cmake/fuzz.sh [SECONDS]
# Each program of tests/fuzz gets its corpus, and then new inputs for so many seconds; without a
# number those that a fresh build always gets, for about 20 seconds. Where one fails, the input is
# build/fuzz/tests/fuzz/NAME/crash-*. Without libFuzzer it ends with code 3.
# SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/packages.sh"
cd "$(dirname "$0")/.."
seconds=${1-}
case $seconds in
  *[!0-9]*) wane_stop "$seconds is no number of seconds; usage: sh cmake/fuzz.sh [SECONDS]" ;;
esac
[ $# -le 1 ] || wane_stop "$2 is not an option; usage: sh cmake/fuzz.sh [SECONDS]"

# clang++ may come without the libraries of its sanitizers.
compiler=
folder=$(mktemp -d)
trap "rm -rf '$folder'" EXIT
printf '%s\n' 'extern "C" int LLVMFuzzerTestOneInput(unsigned char const*, unsigned long) { return 0; }' \
  >"$folder/none.cpp"
for name in clang++ clang++-14 clang++-16 clang++-18 clang++-19; do
  if "$name" -fsanitize=fuzzer,address "$folder/none.cpp" -o "$folder/none" 2>/dev/null; then
    compiler=$name
    break
  fi
done
if [ -z "$compiler" ]; then
  wane_say "no clang++ has libFuzzer (on Debian and Ubuntu: clang and libclang-rt-dev): nothing is fuzzed"
  exit 3
fi

wane_need make cmake libeigen3-dev libboost-dev libgtest-dev nlohmann-json3-dev libcli11-dev
wane_prepare_builds
wane_stage "libFuzzer: build with $compiler"
cmake -S . -B build/fuzz -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DWANE_WERROR=ON -DWANE_FUZZ=ON \
  -DWANE_FUZZ_SECONDS="$seconds" -DWANE_TESTS=ON -DWANE_BENCH=OFF -DWANE_EXAMPLES=OFF \
  -DWANE_SNIPPETS=OFF -DWANE_INSTALL=OFF -DWANE_TEST_FILES=none
cmake --build build/fuzz --target wane-fuzz
wane_stage "libFuzzer: ${seconds:-about 20} seconds a program"
ctest --test-dir build/fuzz -L fuzz --output-on-failure --no-tests=error
wane_end_stage
