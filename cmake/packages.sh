# What the scripts of this folder share: the packages they need, and a line a stage with its seconds.
# SPDX-License-Identifier: MIT
# POSIX sh, to be sourced. Packages go by their Debian names. Functions set no variable of the script
# that calls them: their own begin with wane_, or their body is a subshell.

wane_say() { printf '%s\n' "wane: $*" >&2; }

# Prints the fault and the remedy in one line on stderr, and exits with code 2.
wane_stop() {
  wane_say "$*"
  exit 2
}

wane_has_program() { command -v "$1" >/dev/null 2>&1; }

# Is the header below an include folder that compilers and CMake look into?
wane_has_header() (
  for prefix in ${wane_prefixes-/usr /usr/local /opt/homebrew /opt/local "${CONDA_PREFIX-}"}; do
    for folder in "$prefix/include" "$prefix/include/eigen3"; do
      if [ -e "$folder/$1" ]; then exit 0; fi
    done
  done
  exit 1
)

wane_has_package() {
  case $1 in
    g++ | cmake) wane_has_program "$1" ;;
    make) wane_has_program make || wane_has_program ninja ;;
    gnuplot-nox) wane_has_program gnuplot ;;
    libeigen3-dev) wane_has_header Eigen/Core ;;
    libboost-dev) wane_has_header boost/math/special_functions.hpp ;;
    libgtest-dev) wane_has_header gtest/gtest.h ;;
    libbenchmark-dev) wane_has_header benchmark/benchmark.h ;;
    nlohmann-json3-dev) wane_has_header nlohmann/json.hpp ;;
    libcli11-dev) wane_has_header CLI/CLI.hpp ;;
    libopenmpi-dev) wane_has_program mpicxx ;;
    openmpi-bin) wane_has_program mpirun ;;
    python3-dev)
      python3 -c 'import os, sysconfig
raise SystemExit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2>/dev/null ;;
    python3-torch) python3 -c 'import torch' 2>/dev/null ;;
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    g++-*-linux-gnu) wane_has_program "${1#g++-}-g++" ;;
    qemu-user) wane_has_program qemu-aarch64 && wane_has_program qemu-s390x ;;
    googletest) [ -e /usr/src/googletest/googletest/src/gtest-all.cc ] ;;
    clang-[0-9]*) wane_has_program "clang++-${1#clang-}" ;;
    libc++-*-dev | libc++abi-*-dev)
      wane_version=${1#libc++*-}
      case $1 in
        libc++abi-*) [ -e "/usr/lib/llvm-${wane_version%-dev}/lib/libc++abi.so" ] ;;
        *) [ -e "/usr/lib/llvm-${wane_version%-dev}/include/c++/v1/vector" ] ;;
      esac ;;
    *) wane_stop "packages.sh knows no package $1" ;;
  esac
}

# The command that gets a list of packages on a system without apt.
wane_other_command() (
  if wane_has_program dnf; then column=2 command='sudo dnf install'
  elif wane_has_program pacman; then column=3 command='sudo pacman -S'
  elif wane_has_program zypper; then column=4 command='sudo zypper install'
  elif wane_has_program apk; then column=5 command='sudo apk add'
  elif wane_has_program brew; then column=6 command='brew install'
  else
    printf '%s\n' "your system's package manager (the names above are Debian's)"
    exit
  fi
  for package in "$@"; do
    name=$(while read -r debian dnf pacman zypper apk brew; do
      [ "$debian" = "$package" ] || continue
      set -- "$debian" "$dnf" "$pacman" "$zypper" "$apk" "$brew"
      shift $((column - 1))
      printf '%s' "$1"
    done <<'TABLE'
g++                 gcc-c++                 gcc            gcc-c++                 g++            gcc
make                make                    make           make                    make           make
cmake               cmake                   cmake          cmake                   cmake          cmake
libeigen3-dev       eigen3-devel            eigen          eigen3-devel            eigen-dev      eigen
libboost-dev        boost-devel             boost          libboost_headers-devel  boost-dev      boost
libgtest-dev        gtest-devel             gtest          gtest                   gtest-dev      googletest
libbenchmark-dev    google-benchmark-devel  benchmark      benchmark-devel         benchmark-dev  google-benchmark
nlohmann-json3-dev  json-devel              nlohmann-json  nlohmann_json-devel     nlohmann-json  nlohmann-json
libcli11-dev        cli11-devel             cli11          cli11-devel             cli11-dev      cli11
gnuplot-nox         gnuplot                 gnuplot        gnuplot                 gnuplot        gnuplot
libopenmpi-dev      openmpi-devel           openmpi        openmpi-devel           openmpi-dev    open-mpi
openmpi-bin         openmpi                 openmpi        openmpi                 openmpi        open-mpi
python3-dev         python3-devel           python         python3-devel           python3-dev    python
python3-venv        python3                 python         python3                 python3        python
TABLE
    )
    command="$command $name"
  done
  printf '%s\n' "$command"
)

# apt-get as root, never asking; sudo asks for a password only where a person sits.
wane_apt_get() {
  wane_sudo=
  if [ "$(id -u)" != 0 ]; then
    wane_sudo='sudo -n'
    if [ -t 0 ]; then wane_sudo=sudo; fi
  fi
  $wane_sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# Makes sure of the packages named: silent and without a network where they are there, by apt-get
# on Debian and Ubuntu, in one line that says what to do elsewhere.
wane_need() {
  wane_missing=
  for wane_package in "$@"; do
    wane_has_package "$wane_package" || wane_missing="$wane_missing $wane_package"
  done
  if [ -n "$wane_missing" ]; then
    if ! wane_has_program apt-get; then
      wane_stop "missing:$wane_missing; get them with: $(wane_other_command $wane_missing)"
    fi
    if [ "$(id -u)" != 0 ] && ! wane_has_program sudo; then
      wane_stop "missing:$wane_missing; as root, run: apt-get install$wane_missing"
    fi
    wane_stage "apt-get install$wane_missing"
    # What the first try has to say is of no interest: old package lists, most often.
    wane_apt_get install --no-install-recommends $wane_missing 2>/dev/null ||
      { wane_apt_get update && wane_apt_get install --no-install-recommends $wane_missing; } ||
      wane_stop "could not install them; see above, and try: sudo apt-get install$wane_missing"
  fi
  case " $* " in *" cmake "*) ;; *) return 0 ;; esac
  wane_version=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  case $wane_version in
    3.2[5-9]* | 3.[3-9][0-9]* | [4-9].* | [1-9][0-9].*) ;;
    *) wane_stop "cmake is $wane_version, 3.25 is needed: Debian 12, Ubuntu 24.04 or newer have it" ;;
  esac
}

# Gets packages that are good to have, where apt-get can, and goes on without them elsewhere.
wane_want() {
  for wane_package in "$@"; do
    wane_has_package "$wane_package" && continue
    wane_has_program apt-get || continue
    wane_stage "apt-get install $wane_package"
    wane_apt_get install --no-install-recommends "$wane_package" 2>/dev/null ||
      { wane_apt_get update && wane_apt_get install --no-install-recommends "$wane_package"; } ||
      wane_say "could not install $wane_package; going on without it"
  done
}

wane_stage_name=
wane_stage() {
  wane_end_stage
  wane_stage_name=$*
  wane_stage_start=$(date +%s)
  printf '\n== %s\n' "$wane_stage_name"
}
wane_end_stage() {
  [ -z "$wane_stage_name" ] ||
    printf -- '-- %s: %d s\n' "$wane_stage_name" $(($(date +%s) - wane_stage_start))
  wane_stage_name=
}

# Builds go to every processor, through Ninja and ccache where they are.
wane_prepare_builds() {
  wane_processors=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
  export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$wane_processors}"
  export CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-$wane_processors}"
  if wane_has_program ninja; then export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"; fi
  if wane_has_program ccache; then
    # Without these it does not cache files that use a precompiled header.
    export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros}"
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}"
  fi
}
