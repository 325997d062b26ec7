# Runs release.sh in clones of a commit that is this tree as version 9.8.7: the same bytes come twice
# and from another clone, and what is no release is refused.
# SPDX-License-Identifier: MIT
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
cd "$here/.."
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  echo "skipped: this tree is no clone"
  exit 0
fi
scratch=$(mktemp -d)
trap "rm -rf '$scratch'" EXIT
# Neither a user's settings nor variables of git take part.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE 2>/dev/null || :
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=wane GIT_AUTHOR_EMAIL=wane@example.org
export GIT_COMMITTER_NAME=wane GIT_COMMITTER_EMAIL=wane@example.org
# The programs that use the archives are built to be run once.
export CXXFLAGS="-O0 -DNDEBUG" CMAKE_BUILD_TYPE=Debug
version=9.8.7

fail() {
  echo "$case: $*"
  cat "$scratch/said"
  exit 1
}
commit() { git -C "$1" add --all && git -C "$1" commit -q --no-verify -m "$2"; }
edit() { sed "$2" "$1" >"$scratch/edited" && cat "$scratch/edited" >"$1"; }

# A history: this tree, a section Unreleased, the release.
tree=$scratch/tree
git init -q "$tree"
git --git-dir="$tree/.git" --work-tree=. add --all
git -C "$tree" commit -q --no-verify -m "The tree"
git -C "$tree" reset -q --hard
edit "$tree/include/wane/version.hpp" \
  's/_MAJOR [0-9]*$/_MAJOR 9/; s/_MINOR [0-9]*$/_MINOR 8/; s/_PATCH [0-9]*$/_PATCH 7/'
edit "$tree/cmake/ports/vcpkg/vcpkg.json" 's/"version": ".*"/"version": "9.8.7"/'
printf '# Changelog\n\n## Unreleased: 9.8.7\n\n- One thing\n- Another [x]* thing\n\n## 9.8.6\n\n- Old\n' \
  >"$tree/CHANGELOG.md"
commit "$tree" "Before"
edit "$tree/CHANGELOG.md" 's/^## Unreleased.*/## 9.8.7, 2026-11-28/'
commit "$tree" "Version 9.8.7"

# The clone `other`, as it was before it was changed.
git clone -q "$tree" "$scratch/other"
released=$(git -C "$tree" rev-parse HEAD)
undo() {
  git -C "$scratch/other" reset -q --hard "${1-$released}"
  git -C "$scratch/other" clean -q -d -f -x
}
# release NAME EXIT_CODE ARGUMENT...
release() {
  clone=$1
  expected=$2
  shift 2
  code=0
  (cd "$scratch/$clone" && sh cmake/release.sh "$@") >"$scratch/out" 2>"$scratch/said" </dev/null ||
    code=$?
  [ "$code" = "$expected" ] || { cat "$scratch/out"; fail "exit code $code instead of $expected"; }
}
# refuses SENTENCE [ARGUMENT...]: the clone `other` is refused, in one line, and has no release.
refuses() {
  sentence=$1
  shift
  [ $# -gt 0 ] || set -- $version
  release other 2 "$@"
  grep -q -e "$sentence" "$scratch/said" || fail "did not say: $sentence"
  [ "$(wc -l <"$scratch/said")" = 1 ] || fail "said more than one line"
  [ ! -e "$scratch/other/out" ] || fail "made a folder out"
}

case="wrong use"
refuses 'usage: sh cmake/release.sh VERSION' 9.8.7 again
refuses '9.8 is no version' 9.8
refuses '09.8.7 is no version' 09.8.7
refuses 'v9.8.7 is no version' v9.8.7
code=0
(cd "$scratch/other" && sh cmake/release.sh) >/dev/null 2>"$scratch/said" || code=$?
[ "$code" = 2 ] || fail "exit code $code without a version"

case="another version than that of the headers"
refuses 'version.hpp says 9.8.7; it must say 9.8.6' 9.8.6

case="a file that is changed, and one that is not in the commit"
echo >>"$scratch/other/README.md"
refuses 'README.md is not as in the commit'
undo
echo >"$scratch/other/notes.txt"
refuses 'notes.txt is not as in the commit'

case="a tag of this version at another commit"
undo
git -C "$scratch/other" tag v9.8.7 HEAD^
refuses 'v9.8.7 is another commit already'
git -C "$scratch/other" tag -d v9.8.7 >/dev/null

case="a port with another version"
undo
edit "$scratch/other/cmake/ports/vcpkg/vcpkg.json" 's/"version": ".*"/"version": "9.8.6"/'
commit "$scratch/other" "An old port"
refuses 'vcpkg.json says 9.8.6'

# changelog SED: the clone `other` has a commit in which CHANGELOG.md is edited.
changelog() {
  undo
  edit "$scratch/other/CHANGELOG.md" "$1"
  commit "$scratch/other" "Another changelog"
}
case="a changelog without the version, without its date, with nothing about it"
changelog 's/^## 9.8.7.*/## Unreleased/'
refuses "has no heading '## 9.8.7, YYYY-MM-DD'"
changelog 's/^## 9.8.7.*/## 9.8.7/'
refuses "has no heading '## 9.8.7, YYYY-MM-DD'"
changelog 's/^## 9.8.7.*/&\n\n## 9.8.6, 2026-01-01/'
refuses 'says nothing of 9.8.7'

case="changes that are in no version"
changelog 's/^## 9.8.7.*/## Unreleased\n\n- New\n\n&/'
refuses 'has changes under Unreleased'

case="a line of Unreleased that is lost where the section gets its date"
undo "$released^"
edit "$scratch/other/CHANGELOG.md" 's/^## Unreleased.*/## 9.8.7, 2026-11-28/; s/^- Another.*/- Other/'
commit "$scratch/other" "A version that lost a line"
refuses 'lost a line of Unreleased in .*: - Another \[x\]\* thing'

case="a clone without history"
undo
mv "$scratch/other/.git" "$scratch/whole"
git clone -q --bare --depth 1 "file://$tree" "$scratch/other/.git"
git -C "$scratch/other" config core.bare false
git -C "$scratch/other" reset -q
refuses 'this clone is shallow'
rm -rf "$scratch/other/.git"
mv "$scratch/whole" "$scratch/other/.git"

case="an unpacked archive in a clone"
undo
git -C "$scratch/other" archive --prefix=build/ HEAD | (cd "$scratch/other" && tar xf -)
code=0
(cd "$scratch/other/build" && sh cmake/release.sh $version) >/dev/null 2>"$scratch/said" || code=$?
[ "$code" = 2 ] && grep -q 'is no clone' "$scratch/said" || fail "exit code $code"

case="a release"
git clone -q "$tree" "$scratch/one"
release one 0 $version
mv "$scratch/one/out/release" "$scratch/first"
for file in wane-9.8.7.tar.gz wane-9.8.7-headers.tar.gz wane.spdx.json SHA256SUMS; do
  [ -s "$scratch/first/$file" ] || fail "made no $file"
done
[ "$(ls -A "$scratch/first" | wc -l)" = 4 ] || fail "made other files too: $(ls -A "$scratch/first")"
grep -q '^find_package: wane 9.8.7$' "$scratch/out" || fail "built no program with the headers"
grep -q '^fetch_content: wane 9.8.7$' "$scratch/out" || fail "built no program with the tree"
(cd "$scratch/first" && awk '{print $2}' SHA256SUMS | xargs cmake -E sha256sum) >"$scratch/sums"
cmp "$scratch/sums" "$scratch/first/SHA256SUMS" || fail "SHA256SUMS are not those of the files"

case="what is in the archives"
for name in wane-9.8.7 wane-9.8.7-headers; do
  gzip -dc "$scratch/first/$name.tar.gz" | tar tf - | sed 's,/.*,,' | sort -u >"$scratch/said"
  [ "$(cat "$scratch/said")" = "$name" ] || fail "$name.tar.gz has more than one folder"
  gzip -dc "$scratch/first/$name.tar.gz" | (cd "$scratch" && tar xf -)
done
(cd "$tree" && git ls-files | sort) >"$scratch/expected"
(cd "$scratch/wane-9.8.7" && find . -type f | sed 's,^[.]/,,' | sort) >"$scratch/said"
cmp "$scratch/expected" "$scratch/said" || fail "the tree is not that of the commit"
(cd "$tree/include" && find wane -type f | sort) >"$scratch/expected"
(cd "$scratch/wane-9.8.7-headers/include" && find . -type f | sed 's,^[.]/,,' | sort) >"$scratch/said"
cmp "$scratch/expected" "$scratch/said" || fail "the headers are not those of the commit"
headers=$scratch/wane-9.8.7-headers
cmp LICENSE "$headers/share/doc/wane/LICENSE" || fail "the headers come without the licence"
grep -rl "$scratch" "$headers" >"$scratch/said" && fail "the headers name folders of this machine"

case="again, and in another clone, with settings of a user"
release one 0 $version
git clone -q "$tree" "$scratch/another folder"
git -C "$scratch/another folder" config core.autocrlf true
git -C "$scratch/another folder" config tar.umask 0077
umask 077
TZ=Asia/Tokyo GIT_COMMITTER_NAME=somebody release "another folder" 0 $version
for clone in one "another folder"; do
  diff -r "$scratch/first" "$scratch/$clone/out/release" >"$scratch/said" || fail "$clone: other bytes"
done
echo "release: the same bytes three times, and every refusal"
