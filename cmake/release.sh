# Makes the files of a release in out/release, and builds programs with them:
#   sh cmake/release.sh VERSION
#   wane-VERSION.tar.gz          the tree of the commit
#   wane-VERSION-headers.tar.gz  what cmake --install puts below a prefix
#   wane.spdx.json               what wane consists of and needs, with licences (SPDX 2.3)
#   SHA256SUMS                   of these three
# The same commit gives the same bytes, in any clone, with the same git, gzip and CMake. Time stamps
# are those of the commit. Refuses, with code 2 and one line, what is no release.
# SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/packages.sh"
cd "$(dirname "$0")/.."
root=$(pwd -P)
export LC_ALL=C TZ=UTC
umask 022

[ $# = 1 ] || wane_stop "usage: sh cmake/release.sh VERSION, as in: sh cmake/release.sh 1.2.3"
release=$1
wrong="$release is no version; give three numbers from 0 to 99, as 1.2.3"
case $release in *[!0-9.]*) wane_stop "$wrong" ;; esac
printf '%s\n' "$release" | grep -Eqx '(0|[1-9][0-9]?)(\.(0|[1-9][0-9]?)){2}' || wane_stop "$wrong"
wane_has_program git && wane_has_program gzip || wane_stop "git and gzip are needed; install them"
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$root" ] ||
  wane_stop "$root is no clone; releases are made of a commit in a clone of wane"

# What lies in the tree must be the commit.
changed=$(git status --porcelain | head -n 1 | cut -c 4-)
[ -z "$changed" ] || wane_stop "$changed is not as in the commit; commit, or remove it"
tagged=$(git rev-parse -q --verify "refs/tags/v$release^{commit}" || git rev-parse HEAD)
[ "$tagged" = "$(git rev-parse HEAD)" ] ||
  wane_stop "v$release is another commit already; take the next version, or check that one out"

number() { sed -n "s/^#define WANE_VERSION_$1 \([0-9]*\)\$/\1/p" include/wane/version.hpp; }
written=$(number MAJOR).$(number MINOR).$(number PATCH)
[ "$written" = "$release" ] ||
  wane_stop "include/wane/version.hpp says $written; it must say $release"
port=$(sed -n 's/^ *"version": "\(.*\)",$/\1/p' cmake/ports/vcpkg/vcpkg.json)
[ "$port" = "$release" ] ||
  wane_stop "cmake/ports/vcpkg/vcpkg.json says $port; it must say $release"

# The lines of a section of a changelog that are not empty: those below the heading that begins so.
section() {
  awk -v heading="## $1" \
    '/^## /{inside = index($0, heading) == 1; next} inside && NF' "$2"
}
scratch=$(mktemp -d)
trap "rm -rf '$scratch'" EXIT
trap 'exit 1' HUP INT TERM
grep -Eqx "## $release, [0-9]{4}-[0-9]{2}-[0-9]{2}" CHANGELOG.md ||
  wane_stop "CHANGELOG.md has no heading '## $release, YYYY-MM-DD'; give the section its date"
section "$release, " CHANGELOG.md >"$scratch/section"
[ -s "$scratch/section" ] || wane_stop "CHANGELOG.md says nothing of $release; list the changes"
section Unreleased CHANGELOG.md >"$scratch/unreleased"
[ ! -s "$scratch/unreleased" ] ||
  wane_stop "CHANGELOG.md has changes under Unreleased; move them to $release"

# Nothing is lost where the section got its name: the commit that did it kept every line.
[ "$(git rev-parse --is-shallow-repository)" = false ] ||
  wane_stop "this clone is shallow, and lacks earlier changelogs; run git fetch --unshallow"
named=$(git log --format=%H -G"^## $release, " -- CHANGELOG.md | tail -n 1)
if git show "$named^:CHANGELOG.md" >"$scratch/before" 2>/dev/null; then
  git show "$named:CHANGELOG.md" >"$scratch/after"
  section "$release, " "$scratch/after" >"$scratch/kept"
  lost=$(section Unreleased "$scratch/before" | grep -Fvx -f "$scratch/kept" | head -n 1) || :
  [ -z "$lost" ] ||
    wane_stop "CHANGELOG.md lost a line of Unreleased in $(git rev-parse --short "$named"): $lost"
fi

wane_need g++ make cmake libeigen3-dev libboost-dev
wane_prepare_builds
time=$(git log -1 --format=%ct)
name=wane-$release
files=$scratch/release
mkdir "$files"

# No setting of a user reaches the bytes of an archive.
plain_git() {
  git -c core.autocrlf=false -c core.eol=lf -c core.attributesFile=/dev/null \
    -c core.fileMode=true -c tar.umask=0022 "$@"
}
# archive CLONE COMMIT FOLDER FILE: a tree as FILE, below FOLDER.
archive() {
  plain_git -C "$1" archive --format=tar --prefix="$3/" -o "$scratch/tar" "$2"
  gzip -n -9 <"$scratch/tar" >"$4"
}
unpack() { gzip -dc "$1" | (cd "$2" && tar xf -); }

wane_stage "$name.tar.gz"
archive "$root" HEAD "$name" "$files/$name.tar.gz"

wane_stage "$name-headers.tar.gz, of the tree in $name.tar.gz"
mkdir "$scratch/tree" "$scratch/clone"
unpack "$files/$name.tar.gz" "$scratch/tree"
cmake -S "$scratch/tree/$name" -B "$scratch/build" -DWANE_TESTS=OFF -DWANE_BENCH=OFF \
  -DWANE_EXAMPLES=OFF -DWANE_OPENMP=ON -DCMAKE_INSTALL_PREFIX=/opt/wane >"$scratch/log" ||
  { cat "$scratch/log" >&2; wane_stop "CMake does not configure $name.tar.gz; see above"; }
cmake --install "$scratch/build" --prefix "$scratch/clone/tree" >"$scratch/log"
# A commit of its own, since git gives a commit's files one time stamp, one order and no owner.
export GIT_AUTHOR_NAME=wane GIT_AUTHOR_EMAIL= GIT_COMMITTER_NAME=wane GIT_COMMITTER_EMAIL=
export GIT_AUTHOR_DATE="$time +0000" GIT_COMMITTER_DATE="$time +0000"
in_headers() { plain_git -C "$scratch/clone" --work-tree=tree "$@"; }
git -C "$scratch/clone" init -q --template= 2>/dev/null
in_headers add --force --all .
headers=$(in_headers commit-tree -m "$name" "$(in_headers write-tree)")
archive "$scratch/clone" "$headers" "$name-headers" "$files/$name-headers.tar.gz"

wane_stage "wane.spdx.json and SHA256SUMS"
cmake -DROOT="$root" -DVERSION="$release" -DOUT="$files/wane.spdx.json" \
  -DARCHIVE="$files/$name.tar.gz" -DCREATED="$(git log -1 --format=%cd --date=format-local:%FT%TZ)" \
  -P cmake/sbom.cmake
(cd "$files" && cmake -E sha256sum "$name.tar.gz" "$name-headers.tar.gz" wane.spdx.json >SHA256SUMS)

# build_consumer KIND OPTION...: a program of the archive's own tests, built and run.
build_consumer() {
  kind=$1
  shift
  if ! { cmake -S "$scratch/tree/$name/tests/consumer/$kind" -B "$scratch/$kind" \
    -DWANE_VERSION="$release" "$@" && cmake --build "$scratch/$kind"; } >"$scratch/log" 2>&1; then
    cat "$scratch/log" >&2
    wane_stop "the consumer $kind does not build; see above"
  fi
  said=$("$scratch/$kind/consumer")
  [ "$said" = "wane $release" ] || wane_stop "the consumer $kind says $said, not wane $release"
  printf '%s\n' "$kind: $said"
}
wane_stage "programs that use the archives"
mkdir "$scratch/headers"
unpack "$files/$name-headers.tar.gz" "$scratch/headers"
build_consumer find_package -DCMAKE_PREFIX_PATH="$scratch/headers/$name-headers"
sum=$(sed -n "s/ .*$name.tar.gz\$//p" "$files/SHA256SUMS")
build_consumer fetch_content -DWANE_URL="file://$files/$name.tar.gz" -DWANE_HASH="$sum"

mkdir -p out
rm -rf out/release
mv "$files" out/release
wane_end_stage
printf '\nout/release has\n'
cat out/release/SHA256SUMS
