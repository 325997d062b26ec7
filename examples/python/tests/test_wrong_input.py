"""What is refused: ValueError, with a sentence that says what must be."""
# SPDX-License-Identifier: MIT

from importlib.util import find_spec

import numpy
import pytest
import wane
from cases import CASES, STATELESS, UNPACKED, make, mapped

kinds = ["numpy"] + [x for x in ("torch", "jax") if find_spec(x)]
every = pytest.mark.parametrize("name", CASES)


@pytest.fixture(params=kinds)
def arrays(request):
    """The function that makes an array of a framework."""
    if request.param == "torch":
        import torch
        return torch.tensor
    if request.param == "jax":
        import jax
        jax.config.update("jax_enable_x64", True)
        return jax.numpy.asarray
    return numpy.array


def whole(name):
    case = make(name)
    return case, {**case.inputs, **case.state}


def refused(case, arrays, wrongs, **more):
    """Each of the named wrong inputs is refused, and good ones are taken after them."""
    faults = []
    for n, inputs in wrongs:
        try:
            case.call(mapped(arrays, inputs), **more)
            faults.append(f"{n}: taken")
        except ValueError as e:
            if "must" not in str(e):
                faults.append(f"{n}: ValueError without must: {e}")
        except Exception as e:
            faults.append(f"{n}: {type(e).__name__}: {str(e)[:90]}")
    case.call(mapped(arrays, case.inputs))
    assert not faults, f"{case.function}: {faults}"


def each(inputs, change):
    """Inputs with one array changed at a time, of a pair its first."""
    for n, x in inputs.items():
        yield n, {**inputs, n: (change(n, x[0]), x[1]) if isinstance(x, tuple) else change(n, x)}


@every
def test_wrong_shape(name, arrays):
    case, inputs = whole(name)

    def longer(n, x):  # tokens by heads, parameters by heads, states by heads
        axis = 2 if n in case.tokens else 1 if n in case.state or n == "mask" else 0
        return numpy.concatenate([x, x[(slice(None),) * axis + (slice(1),)]], axis)
    refused(case, arrays, each(inputs, longer))


@every
def test_wrong_batch(name, arrays):
    """One token array or state with a sequence too many."""
    case, inputs = whole(name)

    def longer(n, x):
        return numpy.concatenate([x, x[:1]]) if n in case.tokens or n in case.state else x
    refused(case, arrays, [(n, wrong) for n, wrong in each(inputs, longer)
                           if n in case.state or (n in case.tokens and len(case.tokens) > 1)])


@every
def test_wrong_length(name, arrays):
    case, inputs = whole(name)

    def shorter(n, x):
        return (x[:, 1:] if case.time == 1 else x[..., 1:]) if n in case.tokens else x
    refused(case, arrays, [(n, wrong) for n, wrong in each(inputs, shorter)
                           if n in case.tokens and len(case.tokens) > 1])


@every
def test_wrong_type(name, arrays):
    case, inputs = whole(name)
    refused(case, arrays, each(inputs, lambda n, x: numpy.zeros(x.shape, "int32")))


@every
def test_mixed_types(name, arrays):
    """A float32 array among float64 ones; numbers of heads alone are taken in any type."""
    case, inputs = whole(name)
    single = {"c": "complex64", "f": "float32"}
    wrongs = each(inputs, lambda n, x: x.astype(single[x.dtype.kind]))
    widened = ("A", "D", "dt_bias", "delta_bias") if case.function.startswith(("se", "ma")) else ()
    refused(case, arrays, [(n, wrong) for n, wrong in wrongs if n not in widened])


@every
def test_wrong_rank(name, arrays):
    case, inputs = whole(name)
    for change in (lambda n, x: x[..., 0]), (lambda n, x: x[None]):
        wrongs = [(n, wrong) for n, wrong in each(inputs, change)
                  if name != "mamba1_plain" or n not in "BC"]  # those have two ranks
        for ask in True, False:
            refused(case, arrays, wrongs, ask=ask)


@pytest.mark.parametrize("cuts, what", [
    ([1, 6, 17], "begins after 0"), ([0, 9, 6, 17], "falls"), ([0, 6, 16], "ends before T"),
    ([0, 6, 18], "ends after T"), ([-1, 6, 17], "begins before 0"), ([0], "is too short"),
    ([[0, 17]], "has two axes"), ([0.0, 17.0], "has fractions")])
@pytest.mark.parametrize("name", [x for x in CASES if x not in UNPACKED])
def test_wrong_packing(name, cuts, what, arrays):
    case = make(name, (1, 17, 3, 3, 5, 7), sequences=1)
    refused(case, arrays, [(what, case.inputs)], cu_seqlens=arrays(cuts))


@pytest.mark.parametrize("name", [x for x in CASES if x not in UNPACKED])
def test_packing_of_two_rows(name, arrays):
    case = make(name)
    refused(case, arrays, [("B is 2", case.inputs)], cu_seqlens=arrays([0, 5, 19]))


@pytest.mark.parametrize("name", [x for x in CASES if x not in STATELESS])
def test_states_of_packed_sequences(name, arrays):
    case = make(name, (1, 17, 3, 3, 5, 7), sequences=2)
    case.parameters.update({"mask": case.parameters["mask"][:1]} if "mask" in case.inputs else {})
    inputs = {**case.inputs, **case.state}
    refused(case, arrays, [("2 states of 3", inputs)], cu_seqlens=arrays([0, 5, 6, 17]))
    case.call(mapped(arrays, inputs), cu_seqlens=arrays([0, 5, 17]))


@pytest.mark.parametrize("name, options", [
    ("mamba2", dict(dt_limit=(2.0, 1.0))),
    ("vort_retention", dict(nodes=0)), ("vort_retention", dict(horizon=0)),
    ("vort_retrieval", dict(nodes=0)), ("vort_retrieval", dict(floor=-1.0)),
    ("laplace_window", dict(window="boxcar"))])
def test_wrong_option(name, options, arrays):
    case, inputs = whole(name)
    refused(case, arrays, [(str(options), case.inputs)], **options)


def test_gates_of_columns(arrays):
    case = make("gla_recurrent")
    refused(case, arrays, [("gv", case.inputs)], gv=arrays(case.tokens["gk"]))


def test_hann_has_no_state(arrays):
    case = make("laplace_hann")
    inputs = mapped(arrays, case.inputs)
    with pytest.raises(ValueError):
        wane.laplace(**inputs, window="hann", output_final_state=True)
    with pytest.raises(ValueError):
        case.call({**inputs, "initial_state": arrays(numpy.zeros((2, 3, 5, 7), complex))})


def test_no_array():
    with pytest.raises((TypeError, ValueError)):
        wane.retention(3.0, 0.5)
    with pytest.raises(ValueError, match="must"):
        wane.set_threads(-1)
    assert wane.get_threads() == 0
