# Prints what compiling wane costs: user seconds, peak MiB, and time over that of Eigen/Dense.
#   CXX=g++ sh cmake/compile_time.sh [runs]
# Each line is the median of `runs` (3) compilations, taken in turn so that all see the same machine.
# SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/packages.sh"
cd "$(dirname "$0")/.."

compiler=${CXX:-g++}
runs=${1:-3}
case $runs in
  '' | *[!0-9]* | 0) wane_stop "runs is $runs; it must be a number from 1 on" ;;
esac
[ -x /usr/bin/time ] || wane_stop "/usr/bin/time is missing: apt-get install time"
eigen=/usr/include/eigen3
for prefix in /usr /usr/local /opt/homebrew /opt/local "${CONDA_PREFIX-}"; do
  if [ -e "$prefix/include/eigen3/Eigen/Dense" ]; then eigen=$prefix/include/eigen3; fi
done

folder=$(mktemp -d)
trap "rm -rf '$folder'" EXIT

# Compiles one file once and adds a line "seconds MiB" to the times of `name`.
measure() {
  name=$1 source=$2
  shift 2
  /usr/bin/time -f '%U %M' -o "$folder/time" \
    "$compiler" -std=c++20 -Iinclude -isystem "$eigen" "$@" -c "cmake/compile_time/$source.cpp" \
    -o "$folder/object.o"
  awk '{ printf "%s %.0f\n", $1, $2 / 1024 }' "$folder/time" >>"$folder/$name"
}

umbrellas=$(cd include/wane && ls *.hpp | sed 's/[.]hpp$//')
for run in $(seq "$runs"); do
  measure Eigen_Dense eigen_dense
  for umbrella in $umbrellas; do
    measure "$umbrella.hpp" umbrella "-DWANE_UMBRELLA=\"wane/$umbrella.hpp\""
  done
  measure gated_delta_net_O2 gated_delta_net -O2
done

# The median of the seconds and of the MiB of one name.
median() {
  for column in 1 2; do
    cut -d' ' -f$column "$folder/$1" | sort -n | sed -n "$(((runs + 1) / 2))p"
  done | paste -s -d' '
}
unit=$(median Eigen_Dense | cut -d' ' -f1)
"$compiler" --version | sed -n 1p
printf '%-20s %8s %6s %16s\n' '' seconds MiB 'of Eigen/Dense'
for name in Eigen_Dense $(cd include/wane && ls *.hpp) gated_delta_net_O2; do
  median "$name" | awk -v name="$name" -v unit="$unit" \
    '{ printf "%-20s %8.2f %6d %16.2f\n", name, $1, $2, $1 / unit }'
done
