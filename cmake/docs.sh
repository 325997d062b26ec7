# Builds the site of README.md, docs/ and the headers into out/site:
#   sh cmake/docs.sh
# Its programs come from PyPI, once, into build/docs; later builds need no network.
# SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/packages.sh"
cd "$(dirname "$0")/.."
[ $# = 0 ] || wane_stop "$1 is not an option; usage: sh cmake/docs.sh"

wane_need python3-venv
programs=build/docs/bin
installed=build/docs/requirements.txt
if ! cmp -s cmake/docs/requirements.txt "$installed"; then
  wane_stage "install Material for MkDocs below build/docs"
  python3 -m venv --clear build/docs
  "$programs/python" -m pip install --disable-pip-version-check --retries 1 \
    -r cmake/docs/requirements.txt >build/docs/pip.log 2>&1 ||
    wane_stop "could not install the packages of cmake/docs/requirements.txt from PyPI:" \
      "build/docs/pip.log says why; try again where PyPI can be reached"
  cp cmake/docs/requirements.txt "$installed"
fi

wane_stage "build out/site"
export PYTHONDONTWRITEBYTECODE=1 NO_MKDOCS_2_WARNING=1
"$programs/python" -m mkdocs build --strict --config-file cmake/docs/mkdocs.yml
"$programs/python" cmake/docs/check_site.py out/site
wane_end_stage
printf '\nThe first page is %s\n' "$PWD/out/site/index.html"
