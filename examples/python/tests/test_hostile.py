"""Arrays and calls that a careful user would not make: refused with a sentence, or right."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import numpy
import pytest
import wane

rng = numpy.random.default_rng(1)
B, T, H, K, V = 1, 6, 2, 3, 4


def keyed(dtype="float64"):
    q, k, v = (rng.standard_normal((B, T, H, c)).astype(dtype) for c in (K, K, V))
    return q, k, v, -rng.random((B, T, H, K)).astype(dtype)


def test_starts_have_strides():
    x = keyed()
    expected = wane.chunk_gla(*x, cu_seqlens=numpy.array([0, 2, 6]))[0]
    for starts in ([0, 2, 6], (0, 2, 6), numpy.array([6, 2, 0])[::-1],
                   numpy.array([0, 1, 2, 9, 6, 9])[::2], numpy.array([0, 2, 6], numpy.int32)):
        numpy.testing.assert_array_equal(wane.chunk_gla(*x, cu_seqlens=starts)[0], expected)


@pytest.mark.parametrize("starts", [numpy.array([], int), numpy.array(6), numpy.array([0., 6.]),
                                    numpy.array([0, 6], ">i8"), numpy.array([0, 6], numpy.int16)])
def test_starts_that_are_none(starts):
    for final in True, False:
        with pytest.raises(ValueError, match="must"):
            wane.chunk_gla(*keyed(), output_final_state=final, cu_seqlens=starts)


@pytest.mark.parametrize("wrong", [
    lambda x: x.astype(">f8"), lambda x: x.astype(object), lambda x: x.astype("S8"),
    lambda x: x.astype(complex), lambda x: None])
def test_arrays_that_are_none(wrong):
    x = keyed()
    for place in 0, 1, 3:
        with pytest.raises(ValueError):
            wane.chunk_gla(*(wrong(y) if n == place else y for n, y in enumerate(x)), scale=1.0)
    with pytest.raises((TypeError, ValueError)):
        wane.chunk_gla(*x[:3], 0.5)


def test_options():
    x = keyed()
    o, state = wane.chunk_gla(*x, output_final_state=numpy.True_, reverse=1)
    assert state is not None and numpy.isfinite(o).all()
    v, alpha = x[2], numpy.full((B, T, H), 0.5)
    for nodes in 16.5, float("nan"), -3, 0:
        with pytest.raises(ValueError, match="whole number"):
            wane.retention(v, alpha, nodes=nodes, output_final_state=True)
    for count in -1, 2.5, 1 << 40:
        with pytest.raises(ValueError, match="whole number"):
            wane.set_threads(count)
    g = x[3].astype(numpy.float32)
    assert wane.post_log_decays(g, wane.post_taper([0.] * K)).dtype == numpy.float32


def test_a_forked_process_goes_on():
    code = """
import os, numpy, wane
x = [numpy.ones((4, 64, 8, 16), numpy.float32) for _ in range(3)]
wane.chunk_simple_gla(*x)
child = os.fork()
if child == 0:
    wane.chunk_simple_gla(*x)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=os.environ)


def test_without_docstrings():
    subprocess.run([sys.executable, "-OO", "-c", "import wane"], check=True, timeout=60)
