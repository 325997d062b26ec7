"""Outputs and gradients on arrays of JAX, against jax.grad of the naive jax.lax.scan."""
# SPDX-License-Identifier: MIT

import numpy
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from cases import (CASES, STATELESS, UNPACKED, UNREVERSED, bound_of, close,  # noqa: E402
                   doubles, listed, make, mapped, pairs, typed)

every = pytest.mark.parametrize("name", CASES)


def whole(case, dtype="float64"):
    return mapped(jnp.asarray, typed({**case.inputs, **case.state}, dtype))


def loss_of(o, states):
    """A sum of all outputs and states with random factors."""
    rng = numpy.random.default_rng(1)
    loss = 0.0
    for x in (o, *states):
        factors = rng.standard_normal(x.shape) + 1j * rng.standard_normal(x.shape)
        x = x * (factors if jnp.iscomplexobj(x) else factors.real)
        loss = loss + jnp.real(x).sum()
    return loss


def with_gradients(call, comparable):
    """Jitted: the outputs and states, and the gradients by all inputs."""
    def loss(inputs):
        o, states = call(inputs)
        states = comparable(jnp, states)
        return loss_of(o, states), (o, states)

    def both(inputs):
        (_, found), gradients = jax.value_and_grad(loss, has_aux=True)(inputs)
        return found, gradients
    return jax.jit(both)


def agree(case, found, expected, dtype="float64"):
    ((o, states), gradients), ((p, finals), expected_gradients) = found, expected
    for x, y in pairs([o, *states], [p, *finals]):
        close(x, y, bound_of(case.name, dtype), "output or state")
    for name in expected_gradients:
        for x, y in pairs(listed(gradients[name]), listed(expected_gradients[name])):
            close(case.upper(name, x), case.upper(name, y), bound_of(case.name, dtype, name),
                  name)


@pytest.mark.parametrize("with_state", [True, False])
@every
def test_gradients(name, with_state):
    if not with_state and name in STATELESS:
        pytest.skip("it has no state")
    case = make(name, "grouped" if name in ("gla", "gated_delta", "mamba2", "vort_retrieval")
                else "ordinary")
    for dtype in ("float64", "float32") if with_state else ("float64",):
        values = typed({**case.inputs, **(case.state if with_state else {})}, dtype)
        exact = doubles(values)
        expected = with_gradients(lambda x: case.naive(jnp, x, exact), lambda _, x: x)(
            mapped(jnp.asarray, exact))
        found = with_gradients(case.call, case.comparable)(mapped(jnp.asarray, values))
        assert found[0][0].dtype == dtype
        agree(case, found, expected, dtype)


@every
def test_eager(name):
    """Without jit, the bits are those of NumPy."""
    case = make(name)
    o, states = case.call(whole(case))
    p, finals = case.call({**case.inputs, **case.state})
    for x, y in pairs([o, *states], [p, *finals]):
        assert isinstance(x, jax.Array)
        # silu(z) is the framework's own
        close(x, y, 1e-15 if "z" in case.tokens else 0)


@pytest.mark.parametrize("name", [x for x in CASES if x != "retnet"])
def test_vmap(name):
    """Two calls, mapped; initial states and parameters are shared, and not."""
    case = make(name)
    both = with_gradients(case.call, case.comparable)
    shared = whole(case)
    token = next(iter(case.tokens))
    one = {**shared, token: shared[token] * 1.5}
    for same in True, False:
        two = [shared, one if same else mapped(lambda x: x * 1.01, one)]
        stacked = jax.tree.map(lambda *x: jnp.stack(x), *two)
        axes = {n: 0 if not same or n == token else None for n in shared}
        if same:
            stacked = {n: stacked[n] if n == token else shared[n] for n in shared}
        found = jax.vmap(both, in_axes=(axes,))(stacked)
        for i, inputs in enumerate(two):
            alone = both(inputs)
            for x, y in pairs(jax.tree.leaves(found), jax.tree.leaves(alone)):
                close(x[i], y, 1e-12)


@pytest.mark.parametrize("name", [x for x in CASES if x not in UNPACKED])
@pytest.mark.parametrize("reverse", [False, True])
def test_packed(name, reverse):
    """Packed sequences, outputs and gradients, as calls one by one."""
    if reverse and name in UNREVERSED:
        pytest.skip("it has no reverse")
    cuts, more = [0, 6, 16, 17], {"reverse": True} if reverse else {}
    case = make(name, (1, 17, 3, 3, 5, 7), sequences=3)

    def alone(inputs):
        found = []
        for i, (begin, end) in enumerate(zip(cuts, cuts[1:])):
            own = lambda x: x[i:i + 1] if x.shape[0] == 3 else x
            part = {n: mapped(lambda x: x[:, begin:end], {n: x})[n] if n in case.tokens else
                    mapped(own, {n: x})[n] if n in case.state or n == "mask" else x
                    for n, x in inputs.items()}
            found.append(case.call(part, **more))
        return (jnp.concatenate([o for o, _ in found], 1),
                [jnp.concatenate(x) for x in zip(*(states for _, states in found))])

    inputs = whole(case)
    packed = lambda x: case.call(x, cu_seqlens=jnp.asarray(cuts), **more)
    found = with_gradients(packed, lambda _, x: x)(inputs)
    expected = with_gradients(alone, lambda _, x: x)(inputs)
    for x, y in pairs(jax.tree.leaves(found), jax.tree.leaves(expected)):
        close(x, y, 1e-12)


def test_half():
    case = make("gated_delta")
    inputs = mapped(lambda x: jnp.asarray(x, jnp.bfloat16), case.inputs)
    o, _ = jax.jit(case.call)(inputs)
    assert o.dtype == jnp.bfloat16
    expected, _ = case.call(mapped(lambda x: x.astype("float32"), inputs))
    close(o.astype("float64"), expected, 2.0 ** -8)


@pytest.mark.parametrize("by_gradient", [False, True])
def test_refused_behind_late_inputs(by_gradient):
    """JAX computes an input while the call is made: a wrong one is still refused by the call."""
    case = make("gla", (1, 17, 3, 3, 5, 7), sequences=1)
    inputs = mapped(jnp.asarray, case.inputs)
    late = jax.jit(lambda q: q + jnp.linalg.matrix_power(jnp.full((600, 600), 1e-9), 20)[0, 0])

    def call(q, end=16):
        return case.call({**inputs, "q": late(q)}, cu_seqlens=jnp.asarray([0, 6, end]))[0].sum()
    call(inputs["q"], 17)  # compiles
    for _ in range(5):
        with pytest.raises(ValueError, match="^packed.starts ends with 16; it must end with"):
            (jax.grad(call) if by_gradient else call)(inputs["q"])
