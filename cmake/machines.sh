# Builds and tests wane for other processors, vectors, compilers and standards:
#   sh cmake/machines.sh [--slow] [NAME...]
# NAME is aarch64, sve, s390x, i686, compilers, avx2 or avx512. Without names the quick part is
# aarch64, s390x, i686 and compilers; --slow is all of them, with more tests each. Processors that
# this machine is not are emulated by QEMU. What cannot be had here is left out in a sentence, and
# the script then ends with code 3.
# SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/packages.sh"
cd "$(dirname "$0")/.."

slow=no names=
for argument; do
  case $argument in
    --slow) slow=yes ;;
    aarch64 | sve | s390x | i686 | compilers | avx2 | avx512) names="$names $argument" ;;
    *) wane_stop "$argument is no machine; usage: sh cmake/machines.sh [--slow] [NAME...]," \
      "NAME one of aarch64 sve s390x i686 compilers avx2 avx512" ;;
  esac
done
if [ -z "$names" ]; then
  names="aarch64 s390x i686 compilers"
  if [ "$slow" = yes ]; then names="$names sve avx2 avx512"; fi
fi

wane_need g++ make cmake libeigen3-dev libboost-dev libgtest-dev
wane_prepare_builds
folder=build/machines
mkdir -p "$folder"
warnings="-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"

# The laws of memories_laws are those of eight operators.
some='^core/|^run/(panels/run|elements/run)|^operators/memories_laws'
more='^(core|files|run|testing)/|^operators/.*(laws|definition|hard_inputs|golden)'
if [ "$slow" = no ]; then more=$some; fi
# Where the standard library is another.
others="$some|^files/|^(dlpack|mdspan)_test"

left_out=
leave_out() {
  wane_end_stage
  wane_say "$*"
  left_out=yes
}
# can_have NAME PACKAGE...: gets the packages, where they can be had.
can_have() {
  machine=$1
  shift
  wane_want "$@"
  for package; do
    wane_has_package "$package" ||
      { leave_out "$package cannot be had here: $machine is not tested"; return 1; }
  done
}

# run_tests NAME FILES OPTION...: the ordinary build of those test files, and its ctest.
run_tests() {
  name=$1 files=$2
  shift 2
  wane_stage "$name: build"
  cmake --preset dev -B "$folder/$name" -DWANE_JOINED_TESTS=8 -DWANE_TEST_FILES="$files" \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O1 -g0 -DWANE_NO_FORCED_INLINE' \
    -DWANE_BENCH=OFF -DWANE_EXAMPLES=OFF -DWANE_SNIPPETS=OFF -DWANE_INSTALL=OFF \
    -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON "$@" >"$folder/$name.log" ||
    { cat "$folder/$name.log" >&2; wane_stop "CMake fails for $name"; }
  cmake --build "$folder/$name"
  wane_stage "$name: test"
  # QEMU 7.2 fails, by an assertion of its own, where a forked process starts a thread.
  case $name in aarch64 | sve | s390x) without=MayHaveThreadsOfItsOwn ;; *) without='^$' ;; esac
  ctest --test-dir "$folder/$name" -L unit -LE slow -E "$without" --output-on-failure \
    --no-tests=error >"$folder/$name.log" || { cat "$folder/$name.log" >&2; wane_stop "tests fail on $name"; }
  grep "tests passed" "$folder/$name.log"
}
toolchain() { printf '%s' "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/machines/$1.cmake"; }

# Has this machine a processor with these vectors?
vectors() {
  if ! grep -qw "$2" /proc/cpuinfo 2>/dev/null; then
    leave_out "this processor has no $2: $1 is not tested"
    return 1
  fi
}

# States and tensors that one machine writes and the other reads, both ways.
exchange_files() {
  wane_stage "s390x: files to this machine and back"
  mkdir -p "$folder/here" "$folder/there"
  g++ -std=c++20 -O1 $warnings -Iinclude cmake/machines/exchange.cpp -o "$folder/exchange_here"
  s390x-linux-gnu-g++ -std=c++20 -O1 $warnings -Iinclude cmake/machines/exchange.cpp \
    -o "$folder/exchange_there"
  there="qemu-s390x -L /usr/s390x-linux-gnu $folder/exchange_there"
  "$folder/exchange_here" write "$folder/here"
  $there write "$folder/there"
  "$folder/exchange_here" read "$folder/there" || wane_stop "files of s390x do not load here"
  $there read "$folder/here" || wane_stop "files of this machine do not load on s390x"
}

# The first error must say what is wrong.
refuses_32_bits() {
  wane_stage "i686: is refused in a sentence"
  log=$folder/i686.log
  echo '#include <wane/wane.hpp>' >"$folder/i686.cpp"
  if i686-linux-gnu-g++ -std=c++20 -fsyntax-only -Iinclude "$folder/i686.cpp" 2>"$log"; then
    wane_stop "wane compiles for 32 bits, which it must refuse"
  fi
  grep -m 1 ' error: ' "$log" | grep 'wane is for machines of 64 bits' ||
    { cat "$log" >&2; wane_stop "the first error for 32 bits says something else"; }
}

# All headers but those that need MPI, in one file.
every_header="$folder/headers.cpp"
compiles() {
  wane_stage "every header: $*"
  "$@" $warnings -fsyntax-only -Iinclude -isystem /usr/include/eigen3 "$every_header"
}
test_compilers() {
  (cd include && find wane -name '*.hpp' ! -name mpi.hpp | sort | sed 's/.*/#include <&>/') \
    >"$every_header"
  # g++ 12 sees faults in std::string itself; see warnings.cmake.
  compiles g++ -std=c++23 -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
  compiles g++ -std=c++20 -fno-rtti -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
  if can_have "clang++ 19 with libc++" clang-19 libc++-19-dev libc++abi-19-dev; then
    compiles clang++-19 -std=c++23 -stdlib=libc++
    if [ "$slow" = yes ]; then
      compiles clang++-19 -std=c++20
      compiles clang++-19 -std=c++23
      if can_have "clang++ 19 with libc++" googletest; then
        # Boost 1.74 asks libc++ for std::unary_function, which has left the standard.
        run_tests clang19_libcxx_23 "$others" -DCMAKE_CXX_COMPILER=clang++-19 \
          -DCMAKE_CXX_STANDARD=23 \
          -DCMAKE_CXX_FLAGS="-stdlib=libc++ -DBOOST_NO_CXX98_FUNCTION_BASE" \
          -DGTest_DIR="$PWD/cmake/machines/packages"
      fi
    fi
  fi
  if [ "$slow" = yes ]; then
    run_tests gcc_23 "$others" -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_STANDARD=23
    if can_have "clang++ 16" clang-16; then compiles clang++-16 -std=c++20; fi
  fi
}

for name in $names; do
  case $name in
    aarch64)
      can_have aarch64 g++-aarch64-linux-gnu qemu-user googletest || continue
      run_tests aarch64 "$more" "$(toolchain aarch64)" ;;
    sve)
      can_have sve g++-aarch64-linux-gnu qemu-user googletest || continue
      run_tests sve "$some" "$(toolchain aarch64)" -DCMAKE_CXX_FLAGS=-march=armv8.2-a+sve ;;
    s390x)
      can_have s390x g++-s390x-linux-gnu qemu-user googletest || continue
      exchange_files
      if [ "$slow" = no ]; then files='^core/state/|^files/'; else files="$more"; fi
      run_tests s390x "$files" "$(toolchain s390x)" ;;
    i686)
      can_have i686 g++-i686-linux-gnu || continue
      refuses_32_bits ;;
    compilers) test_compilers ;;
    avx2)
      vectors avx2 avx2 || continue
      run_tests avx2 "$more" -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_FLAGS=-march=x86-64-v3 ;;
    avx512)
      vectors avx512 avx512vl || continue
      # g++ 12 sees faults in its own functions of AVX-512, where Eigen calls them.
      run_tests avx512 "$more" -DCMAKE_CXX_COMPILER=g++ \
        -DCMAKE_CXX_FLAGS="-march=x86-64-v4 -Wno-uninitialized -Wno-maybe-uninitialized" ;;
  esac
done
wane_end_stage
if [ -n "$left_out" ]; then exit 3; fi
