# Installs the Python package of examples/python into build/python and runs its tests:
#   sh cmake/python.sh
# NumPy, JAX and what builds the package come from PyPI. PyTorch is tested where python3 has it.
# Without PyPI it ends with code 3.
# SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/packages.sh"
cd "$(dirname "$0")/.."
[ $# = 0 ] || wane_stop "$1 is not an option; usage: sh cmake/python.sh"

wane_need g++ cmake libeigen3-dev libboost-dev python3-dev python3-venv
wane_prepare_builds
environment=build/python
python=$environment/bin/python
log=$environment/pip.log
pip_install() { "$python" -m pip install --disable-pip-version-check --retries 1 "$@" >>"$log" 2>&1; }

wane_stage "Python: install from PyPI"
python3 -m venv --clear --system-site-packages "$environment"
# The last two are what pip gets again to build the package.
if ! pip_install numpy pytest nanobind scikit-build-core; then
  wane_say "PyPI cannot be reached ($log): the Python package is not tested"
  exit 3
fi
pip_install jax || wane_say "JAX could not be installed ($log): it is not tested"
"$python" -c 'import torch' 2>/dev/null || wane_say "PyTorch is not installed: it is not tested"

wane_stage "Python: build the package"
pip_install -v ./examples/python ||
  { tail -40 "$log" >&2; wane_stop "the package does not build: $log"; }
wane_stage "Python: test"
OMP_WAIT_POLICY=passive "$python" -m pytest -q -p no:cacheprovider examples/python/tests
wane_end_stage
