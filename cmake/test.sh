# Builds and runs everything that must pass:
#   sh cmake/test.sh [--slow]
# --slow adds the tests with the label slow, builds all of them with both compilers, sanitizes all
# and the examples, compiles the CUDA tests for sm_80 too and wane-bench-cuda, gets PyTorch for the
# tests of the Python package, fuzzes for ten minutes a program, tests other machines (machines.sh)
# and threads under the thread sanitizer. The last lines are ctest's.
# SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/packages.sh"
cd "$(dirname "$0")/.."

slow=no
for argument; do
  case $argument in
    --slow) slow=yes ;;
    *) wane_stop "$argument is not an option; usage: sh cmake/test.sh [--slow]" ;;
  esac
done

wane_need g++ make cmake libeigen3-dev libboost-dev libgtest-dev libbenchmark-dev \
  nlohmann-json3-dev libcli11-dev gnuplot-nox
# Without MPI its tests are skipped, and say so.
wane_want libopenmpi-dev openmpi-bin
wane_prepare_builds
# Files that are compiled as one share what they instantiate.
joined=-DWANE_JOINED_TESTS=8
# g++ collects its garbage from 2 GB of heap on; its own limit of 128 MB costs a seventh of its time.
late="--param=ggc-min-expand=100 --param=ggc-min-heapsize=2000000"
# The tests need no debug information, which costs a seventh of g++ and a tenth of clang++.
plain="-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g0 -DWANE_NO_FORCED_INLINE"

# What takes g++ longest, and is built and run by clang++ too (preset sanitize).
twice='^cuda/(laws|parts|scan/emulated|one_token|chunks/segments|penalty/adjoint_faults|workspace)'
twice="$twice|^ranks/(sharded_run|by_effects|exclusive_scan|early_gradients)"
twice="$twice|^operators/(log_linear|mesa_net|mlstm|preconditioned|delta_product|grouped_queries)"
twice="$twice|^operators/(rwkv4|rwkv6|comba|gated_delta_net2|hgrn2|longhorn|mamba|local_attention)"
twice="$twice|^operators/.*wrong_input|^faults/"
if [ "$slow" = yes ] || ! wane_has_program clang++; then twice=; fi

wane_stage "g++: build"
CXX=g++ cmake --preset dev $joined "$plain" -DCMAKE_CXX_FLAGS="$late" \
  -DWANE_TEST_FILES_LEFT_OUT="$twice"
cmake --build --preset dev

if wane_has_program clang++; then
  wane_stage "clang++, address and undefined behaviour sanitizers: build"
  all=
  if [ "$slow" = yes ]; then all='-DWANE_TEST_FILES= -DWANE_EXAMPLES=ON'; fi
  cmake --preset sanitize $joined "$plain" $all
  cmake --build --preset sanitize
  wane_stage "clang++, address and undefined behaviour sanitizers: test"
  ctest --preset sanitize
  wane_end_stage
  seconds=
  if [ "$slow" = yes ]; then seconds=600; fi
  sh cmake/fuzz.sh $seconds || [ $? = 3 ] || wane_stop "a program of libFuzzer fails; see above"
else
  wane_stage "clang++ is not installed: neither it nor the sanitizers are tested"
fi

wane_end_stage
machines="aarch64 s390x i686"
if [ "$slow" = yes ]; then machines=--slow; fi
sh cmake/machines.sh $machines || [ $? = 3 ] || wane_stop "wane fails on another machine; see above"

if [ "$slow" = yes ] && wane_has_program clang++; then
  wane_stage "clang++, thread sanitizer"
  cmake --preset thread $joined
  cmake --build --preset thread
  ctest --preset thread
fi

if wane_has_program nvcc; then
  wane_stage "nvcc: build (sm_80 and sm_90; CUDA tests for sm_90, with --slow for both)"
  all=-DWANE_PROGRAMS=wane-selftest
  if [ "$slow" = yes ]; then all="-DWANE_CUDA_TESTED= -DWANE_PROGRAMS="; fi
  CXX=g++ cmake --preset cuda "$plain" $all -DCMAKE_CXX_FLAGS="$late"
  cmake --build --preset cuda --target wane-cuda
  wane_stage "nvcc: test (what needs a device is skipped where there is none)"
  ctest --preset cuda
else
  wane_stage "nvcc is not installed: the CUDA headers are not compiled"
fi

if wane_has_program python3; then
  if [ "$slow" = yes ]; then wane_want python3-torch; fi
  wane_end_stage
  sh cmake/python.sh || [ $? = 3 ] || wane_stop "the Python package or its tests fail; see above"
else
  wane_stage "python3 is not installed: the Python package is not tested"
fi

wane_stage "g++: test, with layers, headers alone, consumers, format"
if [ "$slow" = yes ]; then
  exec ctest --test-dir build/dev --output-on-failure --no-tests=error
fi
exec ctest --preset dev
