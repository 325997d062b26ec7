"""Outputs and final states on arrays of NumPy, against the naive recurrences."""
# SPDX-License-Identifier: MIT

import numpy
import pytest
import wane
from cases import (CASES, SHAPES, STATELESS, UNGROUPED, UNPACKED, UNREVERSED, bound_of, close,
                   doubles, listed, make, mapped, pairs, typed)

every = pytest.mark.parametrize("name", CASES)
precisions = pytest.mark.parametrize("dtype", ["float64", "float32"])
stateful = pytest.mark.parametrize("name", [x for x in CASES if x not in STATELESS])
packable = pytest.mark.parametrize("name", [x for x in CASES if x not in UNPACKED])


def check(case, inputs, bound, **more):
    """Against the naive loop, in doubles, on the same inputs."""
    values = doubles(inputs)
    o, states = case.call(inputs, **more)
    expected, finals = case.naive(numpy, values, values)
    close(o, expected, bound, "output")
    states = case.comparable(numpy, states)
    assert len(states) == len(finals)
    for x, y in zip(states, finals):
        close(x, y, bound, "final state")
    return o, states


def same(found, expected):
    for x, y in pairs([found[0], *found[1]], [expected[0], *expected[1]]):
        numpy.testing.assert_array_equal(x, y)


@precisions
@pytest.mark.parametrize("shape", SHAPES)
@every
def test_output_and_state(name, shape, dtype):
    if shape == "grouped" and CASES[name][0] in UNGROUPED:
        pytest.skip("it has no groups")
    case = make(name, shape)
    for inputs in case.inputs, {**case.inputs, **case.state}:
        o, _ = check(case, typed(inputs, dtype), bound_of(name, dtype))
        assert o.dtype == dtype


def test_vla_default_lambda():
    case = make("vla")
    inputs = dict(case.tokens)
    o, states = case.call(inputs)
    lambda_ = numpy.full(3, 1e-3)
    close(o, case.naive(numpy, {**inputs, "lambda_": lambda_}, inputs)[0], 1e-9)


@pytest.mark.parametrize("kind", ["zero", "reset", "strong", "mixed"])
@pytest.mark.parametrize("name", ["gla", "gla_recurrent", "simple_gla", "gated_delta", "kda",
                                  "rwkv7"])
@precisions
def test_decays(name, kind, dtype):
    case = make(name, "primes")
    gate = next(x for x in ("g", "gk", "w") if x in case.tokens)
    g = case.tokens[gate]
    pick = numpy.random.default_rng(0).uniform(size=g.shape)
    g = {"zero": 0 * g, "strong": 200 * g, "reset": numpy.where(pick < 0.2, -numpy.inf, g),
         "mixed": numpy.where(pick < 0.2, -numpy.inf, numpy.where(pick < 0.5, 0.0, 90 * g))}[kind]
    inputs = typed({**case.inputs, **case.state, gate: g}, dtype)
    check(case, inputs, bound_of(name, dtype))


def transposed(x):
    return numpy.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) if x.ndim > 2 else x


def spread(x):
    return numpy.repeat(x, 3, -1)[..., ::3]


def negative(x):
    turn = (slice(None, None, -1),) * x.ndim
    return numpy.ascontiguousarray(x[turn])[turn]


# These add up squares, or multiply, in another order where an axis K or D is not dense: measured
# up to 3.6e-16 relative to the norm.
ROUNDED = "gated_delta_norm", "kda_norm", "mamba1", "vla"


@every
def test_strides(name):
    case = make(name)
    inputs = {**case.inputs, **case.state}
    whole = case.call(inputs)
    same(case.call(mapped(transposed, inputs)), whole)
    for view in spread, negative:
        found = case.call(mapped(view, inputs))
        if name in ROUNDED:
            for x, y in pairs([found[0], *found[1]], [whole[0], *whole[1]]):
                close(x, y, 2e-15)
        else:
            same(found, whole)
    alike = lambda x: numpy.broadcast_to(x[:1], x.shape)  # stride 0
    broadcast = {**inputs, **mapped(alike, case.tokens), **mapped(alike, case.state)}
    same(case.call(broadcast), case.call(mapped(numpy.ascontiguousarray, broadcast)))


@every
def test_inputs_are_only_read(name):
    case = make(name)
    inputs = {**case.inputs, **case.state}
    before = mapped(numpy.copy, inputs)
    whole = case.call(inputs)
    for name_ in inputs:
        for x, y in pairs(listed(inputs[name_]), listed(before[name_])):
            numpy.testing.assert_array_equal(x, y)

    def locked(x):
        x = x.copy()
        x.flags.writeable = False
        return x
    same(case.call(mapped(locked, inputs)), whole)


@stateful
def test_pieces(name):
    case = make(name)
    inputs = {**case.inputs, **case.state}
    argument, = case.state
    whole = case.call(inputs)
    pieces, cuts = [], [0, 1, 8, 8, 19]
    for begin, end in zip(cuts, cuts[1:]):
        o, states = case.call({**inputs, **mapped(lambda x: x[:, begin:end], case.tokens)})
        inputs[argument] = tuple(states) if len(states) > 1 else states[0]
        pieces.append(o)
    close(numpy.concatenate(pieces, 1), whole[0], 1e-12)
    for x, y in zip(states, whole[1]):
        close(x, y, 1e-12)


@stateful
def test_no_tokens(name):
    case = make(name)
    o, states = case.call({**case.parameters, **case.state,
                           **mapped(lambda x: x[:, :0], case.tokens)})
    assert o.shape[1] == 0
    initial, = case.state.values()
    for x, y in pairs(states, initial if isinstance(initial, tuple) else (initial,)):
        close(x, y, 1e-15)


@packable
@pytest.mark.parametrize("kind", [numpy.int64, numpy.int32])
@pytest.mark.parametrize("reverse", [False, True])
def test_packed(name, kind, reverse):
    if reverse and name in UNREVERSED:
        pytest.skip("it has no reverse")
    cuts = [0, 6, 6, 16, 17]
    case = make(name, (1, 17, 3, 3, 5, 7), sequences=4)
    inputs = {**case.inputs, **case.state}
    more = {"reverse": True} if reverse else {}
    o, states = case.call(inputs, cu_seqlens=numpy.array(cuts, kind), **more)
    for i, (begin, end) in enumerate(zip(cuts, cuts[1:])):
        own = lambda x: x[i:i + 1]
        part = {**inputs, **mapped(lambda x: x[:, begin:end], case.tokens),
                **mapped(own, case.state)}
        if len(part.get("mask", "")) > 1:
            part["mask"] = own(part["mask"])
        alone, finals = case.call(part, **more)
        close(o[:, begin:end], alone, 1e-12)
        for x, y in pairs(states, finals):
            close(x[i:i + 1], y, 1e-12)


@pytest.mark.parametrize("name", [x for x in CASES if x not in UNREVERSED])
def test_reverse(name):
    case = make(name)
    inputs = {**case.inputs, **case.state}
    o, states = case.call(inputs, reverse=True)
    flipped, finals = case.call({**inputs, **mapped(lambda x: x[:, ::-1], case.tokens)})
    close(o[:, ::-1], flipped, 1e-12)
    for x, y in pairs(states, finals):
        close(x, y, 1e-12)


@pytest.mark.parametrize("name", [x for x in CASES if CASES[x][0].startswith(("chunk_", "fused"))
                                  and x not in ("linear", "linear_plain")])
def test_state_v_first(name):
    case = make(name)
    inputs = {**case.inputs, **case.state}
    o, (state,) = case.call(inputs)
    inputs["initial_state"] = inputs["initial_state"].swapaxes(2, 3)
    turned, (final,) = case.call(inputs, state_v_first=True)
    numpy.testing.assert_array_equal(turned, o)
    numpy.testing.assert_array_equal(final, state.swapaxes(2, 3))


@every
def test_half(name):
    """Half precision rounds the outputs: to 2^-11, relative to each."""
    case = make(name)
    inputs = typed(case.inputs, "float16")
    o, _ = case.call(inputs)
    assert o.dtype == numpy.float16
    expected, _ = case.call(typed(inputs, "float32"))
    close(o.astype("float64"), expected, 2.0 ** -11)


@every
def test_threads(name):
    case = make(name, "long")
    inputs = {**case.inputs, **case.state}
    found = []
    try:
        for count in 1, 2:
            wane.set_threads(count)
            assert wane.get_threads() == count
            found.append(case.call(inputs))
    finally:
        wane.set_threads(0)
    same(*found)


def test_other_names():
    for name in ("delta_rule", "gated_delta_rule", "kda", "linear_attn", "retention", "rwkv7",
                 "simple_gla"):
        assert getattr(wane, f"fused_recurrent_{name}") is getattr(wane, f"chunk_{name}")


def test_no_state_is_returned_unasked():
    for name in CASES:
        if name not in UNPACKED:
            assert make(name).call(make(name).inputs, ask=False)[1] == []
