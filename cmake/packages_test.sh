# Runs packages.sh on machines that lack things: a PATH of a few tools and fakes that write what
# they were asked into a log.
# SPDX-License-Identifier: MIT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap "rm -rf '$scratch'" EXIT

# A new machine: the tools named are those of this one, everything else is missing.
new_machine() {
  rm -rf "$scratch"/*
  mkdir -p "$scratch/bin" "$scratch/usr/include"
  : >"$scratch/log"
  for tool in sh sed env cat mkdir touch chmod date; do
    ln -s "$(command -v "$tool")" "$scratch/bin/$tool"
  done
}
fake() {
  printf '#!/bin/sh\necho "%s $*" >>"%s/log"\n%s\n' "$1" "$scratch" "$2" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}
user() { printf '#!/bin/sh\necho %s\n' "$1" >"$scratch/bin/id" && chmod +x "$scratch/bin/id"; }
cmake_is() { fake cmake "echo 'cmake version $1'"; }
installs='case $* in *" install "*) touch "'$scratch'/bin/g++"; chmod +x "'$scratch'/bin/g++";; esac'

# need EXIT_CODE PACKAGE...: runs wane_need on the machine; its output is left in $scratch/said.
need() {
  expected=$1
  shift
  code=0
  PATH=$scratch/bin wane_prefixes=$scratch/usr sh -c '. "$0/packages.sh"; wane_need "$@"' \
    "$here" "$@" </dev/null >"$scratch/said" 2>&1 || code=$?
  [ "$code" = "$expected" ] || fail "exit code $code instead of $expected"
}
fail() {
  echo "$case: $*"
  cat "$scratch/said" "$scratch/log"
  exit 1
}
said() { grep -q -e "$1" "$scratch/said" || fail "did not say: $1"; }
asked() { [ "$(grep -c -e "$1" "$scratch/log")" = "$2" ] || fail "not $2 times: $1"; }
one_line() { [ "$(wc -l <"$scratch/said")" = 1 ] || fail "said more than one line"; }

case="everything is there"
new_machine; user 0; cmake_is 3.25.1; fake g++ ''; fake apt-get 'exit 100'
touch "$scratch/bin/ninja"; chmod +x "$scratch/bin/ninja"
mkdir -p "$scratch/usr/include/eigen3/Eigen"; touch "$scratch/usr/include/eigen3/Eigen/Core"
need 0 g++ make cmake libeigen3-dev
asked apt-get 0

case="root, fresh package lists"
new_machine; user 0; cmake_is 3.25.1; fake apt-get "$installs"
need 0 g++ cmake
asked 'apt-get .*install .* g++$' 1
asked 'apt-get .*update' 0

case="root, no package lists yet"
new_machine; user 0; cmake_is 3.31.6
fake apt-get 'case $* in *" update") touch "'$scratch'/lists";; esac; [ -e "'$scratch'/lists" ]'
need 0 g++ make cmake libcli11-dev
asked 'install .* g++ make libcli11-dev$' 2
asked 'update$' 1

case="root, no venv and no cmake, which is not asked for"
new_machine; user 0; fake python3 'exit 1'; fake apt-get ''
need 0 python3-venv
asked 'install .* python3-venv$' 1

case="root, no network"
new_machine; user 0; cmake_is 3.25.1; fake apt-get 'exit 100'
need 2 g++
said 'sudo apt-get install g++'

case="a user with sudo"
new_machine; user 1000; cmake_is 4.0.3; fake apt-get "$installs"
fake sudo 'shift; PATH="'$scratch'/bin"; exec "$@"'
need 0 g++ cmake
asked 'sudo -n env DEBIAN_FRONTEND=noninteractive apt-get .*-y.*install' 1
asked '^apt-get .*install' 1

case="a user whose sudo wants a password that nobody can type"
new_machine; user 1000; cmake_is 3.25.1; fake apt-get ''; fake sudo 'exit 1'
need 2 g++
said 'sudo apt-get install g++'

case="a user without sudo"
new_machine; user 1000; cmake_is 3.25.1; fake apt-get ''
need 2 g++ libgtest-dev
said 'as root, run: apt-get install g++ libgtest-dev'
one_line

for other in dnf:gcc-c++:boost-devel pacman:gcc:boost zypper:gcc-c++:libboost_headers-devel \
  apk:g++:boost-dev brew:gcc:boost; do
  manager=${other%%:*} names=${other#*:}
  case="a system with $manager"
  new_machine; user 1000; fake "$manager" ''
  need 2 g++ libboost-dev
  said "missing: g++ libboost-dev; get them with: .*$manager .* ${names%:*} ${names#*:}$"
  one_line
  asked "$manager" 0
done

case="a system with nothing known"
new_machine; user 1000
need 2 g++ cmake
said "missing: g++ cmake; get them with: your system's package manager"
one_line

for version in 3.22.1 3.24.4 2.8.12; do
  case="cmake $version"
  new_machine; user 0; fake g++ ''; cmake_is "$version"
  need 2 g++ cmake
  said "cmake is $version, 3.25 is needed: Debian 12, Ubuntu 24.04 or newer"
  one_line
done

case="variables of a script"
new_machine; user 0; cmake_is 3.25.1; fake g++ ''; fake apt-get "exit 100"
mkdir -p "$scratch/usr/include/boost/math"; touch "$scratch/usr/include/boost/math/special_functions.hpp"
PATH=$scratch/bin wane_prefixes=$scratch/usr sh -c '. "$0/packages.sh"
  set >"$1/before"
  wane_need g++ cmake libboost-dev; wane_want libc++-19-dev libc++abi-19-dev clang-19
  wane_prepare_builds; : "$(wane_other_command make)"; wane_stage one; wane_end_stage
  set >"$1/after"' "$here" "$scratch" >"$scratch/said" 2>&1
# The names of its variables, but for those that builds are told by.
names() { sed -n 's/^\([A-Za-z0-9_]*\)=.*/\1/p' "$1" | grep -v -e '^wane_' -e '^C[A-Z]*_' -e '^_$'; }
names "$scratch/before" >"$scratch/names"
names "$scratch/after" | diff "$scratch/names" - >"$scratch/said" || fail "there are others afterwards"

echo "packages: every machine is served or told"
