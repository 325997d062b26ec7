"""Outputs and gradients on tensors of PyTorch, against autograd of the naive recurrences."""
# SPDX-License-Identifier: MIT

import numpy
import pytest

torch = pytest.importorskip("torch")

from cases import (CASES, SHAPES, STATELESS, UNGROUPED, UNPACKED, UNREVERSED,  # noqa: E402
                   bound_of, close, doubles, listed, make, mapped, pairs, typed)

precisions = pytest.mark.parametrize("dtype", ["float64", "float32"])
every = pytest.mark.parametrize("name", CASES)


def tensors(inputs, gradients=True):
    return mapped(lambda x: torch.tensor(x).requires_grad_(gradients), inputs)


def leaves(inputs):
    return [(name, x) for name, xs in inputs.items() for x in listed(xs)]


def loss_of(o, states, rng):
    """A sum of all outputs and states with random factors."""
    loss = 0
    for x in (o, *states):
        factors = rng.standard_normal(x.shape) + 1j * rng.standard_normal(x.shape)
        factors = torch.tensor(factors if x.is_complex() else factors.real, dtype=x.dtype)
        loss = loss + (x * factors).real.sum() if x.is_complex() else loss + (x * factors).sum()
    return loss


def gradients(found, inputs, seed=1):
    """By name, the gradients of loss_of() the outputs and states."""
    named = [(n, x) for n, x in leaves(inputs) if x.requires_grad]
    loss = loss_of(*found, numpy.random.default_rng(seed))
    return [n for n, _ in named], torch.autograd.grad(
        loss, [x for _, x in named], materialize_grads=True)


def check(case, inputs, dtype, bound=None):
    inputs = typed(inputs, dtype)
    values = doubles(inputs)
    reference = tensors(values)
    expected = case.naive(torch, reference, values)
    names, expected_gradients = gradients(expected, reference)
    inputs = tensors(inputs)
    o, states = case.call(inputs)
    states = case.comparable(torch, states)
    for x, y in pairs([o, *states], [expected[0], *expected[1]]):
        close(x.detach(), y.detach(), bound or bound_of(case.name, dtype), "output or state")
    for name, x, y in zip(names, gradients((o, states), inputs)[1], expected_gradients):
        close(case.upper(name, x.numpy()), case.upper(name, y.numpy()),
              bound or bound_of(case.name, dtype, name), name)


@precisions
@pytest.mark.parametrize("shape", SHAPES)
@every
def test_gradients(name, shape, dtype):
    if shape == "grouped" and CASES[name][0] in UNGROUPED:
        pytest.skip("it has no groups")
    case = make(name, shape)
    check(case, {**case.inputs, **case.state}, dtype)


@precisions
@pytest.mark.parametrize("name", [x for x in CASES if x not in STATELESS])
def test_gradients_without_state(name, dtype):
    check(make(name), make(name).inputs, dtype)


@precisions
@pytest.mark.parametrize("kind", ["zero", "reset", "strong"])
@pytest.mark.parametrize("name", ["gla", "simple_gla", "gated_delta", "kda", "rwkv7"])
def test_decays(name, kind, dtype):
    case = make(name)
    gate = "w" if name == "rwkv7" else "g"
    g = case.tokens[gate]
    reset = numpy.random.default_rng(0).uniform(size=g.shape) < 0.2
    g = {"zero": 0 * g, "strong": 200 * g, "reset": numpy.where(reset, -numpy.inf, g)}[kind]
    # Few tokens are left in the gradient by a strong g, a sum that cancels: 1.1e-6 measured.
    bound = 2e-6 if (kind, dtype) == ("strong", "float32") else None
    check(case, {**case.inputs, **case.state, gate: g}, dtype, bound)


@every
def test_some_gradients(name):
    """Each input alone, and no state asked for."""
    case = make(name)
    inputs = tensors({**case.inputs, **case.state})
    names, whole = gradients((case.call(inputs, ask=False)[0], []), inputs)
    of = dict(zip(names, whole))
    for name_, x in inputs.items():
        if not isinstance(x, tuple):
            alone = {n: tuple(t.detach() for t in y) if isinstance(y, tuple) else
                     y.detach().requires_grad_(n == name_) for n, y in inputs.items()}
            (_, (gradient,)) = gradients((case.call(alone, ask=False)[0], []), alone)
            close(gradient, of[name_], 1e-13, name_)


@every
def test_strides(name):
    """Transposed inputs, and incoming gradients of stride 0."""
    case = make(name)
    inputs = tensors({**case.inputs, **case.state})
    o, states = case.call(inputs)
    expected = torch.autograd.grad((o * torch.ones_like(o)).sum(), [x for _, x in leaves(inputs)])
    turned = mapped(lambda x: x.detach().transpose(0, -1).contiguous().transpose(0, -1)
                    .requires_grad_(), inputs)
    p, finals = case.call(turned)
    for x, y in pairs([p, *finals], [o, *states]):
        close(x.detach(), y.detach(), 1e-14)
    found = torch.autograd.grad(p.sum(), [x for _, x in leaves(turned)])
    for x, y in pairs(found, expected):
        close(x, y, 1e-13)


def in_pieces(case, inputs, cuts, flip=False):
    """The outputs and states of packed sequences, called naively one by one."""
    values = {n: tuple(t.detach().numpy() for t in x) if isinstance(x, tuple) else
              x.detach().numpy() for n, x in inputs.items()}
    os, finals = [], []
    for i, (begin, end) in enumerate(zip(cuts, cuts[1:])):
        def part(inputs, turn):
            time = lambda x: turn(x[:, begin:end]) if flip else x[:, begin:end]
            own = {**inputs, **mapped(time, {n: inputs[n] for n in case.tokens}),
                   **mapped(lambda x: x[i:i + 1], {n: inputs[n] for n in case.state})}
            return {n: x[i:i + 1] if n == "mask" and len(x) > 1 else x for n, x in own.items()}
        o, states = case.naive(torch, part(inputs, lambda x: x.flip(1)),
                               part(values, lambda x: x[:, ::-1].copy()))
        os.append(o.flip(1) if flip else o)
        finals.append(states)
    return torch.cat(os, 1), [torch.cat(x) for x in zip(*finals)]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", [x for x in CASES if x not in UNPACKED])
def test_packed(name, reverse):
    if reverse and name in UNREVERSED:
        pytest.skip("it has no reverse")
    cuts = [0, 6, 16, 17]
    case = make(name, (1, 17, 3, 3, 5, 7), sequences=3)
    inputs = tensors({**case.inputs, **case.state})
    o, states = case.call(inputs, cu_seqlens=torch.tensor(cuts),
                          **({"reverse": True} if reverse else {}))
    expected = in_pieces(case, inputs, cuts, reverse)
    states = case.comparable(torch, states)
    for x, y in pairs([o, *states], [expected[0], *expected[1]]):
        close(x.detach(), y.detach(), bound_of(name, "float64"), "output or state")
    names, found = gradients((o, states), inputs)
    for n, x, y in zip(names, found, gradients(expected, inputs)[1]):
        close(case.upper(n, x.numpy()), case.upper(n, y.numpy()),
              bound_of(name, "float64", n), n)


@pytest.mark.parametrize("name", ["kda", "vort_retention"])
def test_gradcheck(name):
    case = make(name, (1, 4, 1, 1, 2, 2))
    inputs = tensors({**case.inputs, **case.state})

    def function(*xs):
        o, states = case.call(dict(zip(inputs, xs)))
        return o, *states
    assert torch.autograd.gradcheck(function, tuple(inputs.values()))


@pytest.mark.parametrize("name", [x for x in CASES if x not in STATELESS])
def test_no_tokens(name):
    """The final state is the initial one, and so is its gradient."""
    case = make(name)
    inputs = tensors({**case.parameters, **case.state,
                      **mapped(lambda x: x[:, :0], case.tokens)})
    o, states = case.call(inputs)
    assert o.shape[1] == 0
    initial = listed(*(inputs[n] for n in case.state))
    found = torch.autograd.grad(sum((x * x.detach().conj()).real.sum() / 2 for x in states),
                                initial)
    for x, y, z in pairs(states, found, initial):
        close(x.detach(), z.detach(), 1e-15)
        close(y, z.detach() / 2, 1e-15)


@every
def test_second_derivatives_are_refused(name):
    case = make(name)
    inputs = tensors(case.inputs)
    first = inputs[next(iter(case.tokens))]
    gradient, = torch.autograd.grad((case.call(inputs)[0] ** 2).sum(), first, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivatives"):
        torch.autograd.grad(gradient.sum(), first)


@every
def test_no_grad(name):
    case = make(name)
    inputs = tensors({**case.inputs, **case.state})
    o, states = case.call(inputs)
    assert o.requires_grad and all(x.requires_grad for x in states)
    with torch.no_grad():
        p, finals = case.call(inputs)
    assert not p.requires_grad and not any(x.requires_grad for x in finals)
    assert torch.equal(o, p)


@pytest.mark.parametrize("dtype, bits", [(torch.bfloat16, 8), (torch.float16, 11)])
@every
def test_half(name, dtype, bits):
    """Outputs and gradients are those of floats, rounded."""
    case = make(name)
    reduced = tensors(typed(case.inputs, "float32"), False)
    reduced = {n: (x if x.is_complex() else x.to(dtype)).requires_grad_()
               for n, x in reduced.items()}
    wide = {n: (x if x.is_complex() else x.float()).detach().requires_grad_()
            for n, x in reduced.items()}
    o, _ = case.call(reduced, ask=False)
    expected, _ = case.call(wide, ask=False)
    assert o.dtype == dtype
    # silu(z) and its product are rounded one by one: 4.1e-3 measured with bfloat16.
    close(o.detach().double(), expected.detach(), 2.0 ** -bits * (2 if "z" in case.tokens else 1))
    o.float().sum().backward()
    expected.sum().backward()
    for n in reduced:
        x, y = reduced[n].grad, wide[n].grad
        assert x.dtype == reduced[n].dtype
        close(x.to(y.dtype), y, 2.0 ** (1 - bits), n)


@pytest.mark.skipif(tuple(map(int, torch.__version__.split(".")[:2])) < (2, 4), reason="old torch")
@every
def test_compile(name):
    case = make(name)
    inputs = tensors({**case.inputs, **case.state})
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: case.call(x), fullgraph=True, backend="aot_eager")
    found, expected = compiled(inputs), case.call(inputs)
    for x, y in pairs([found[0], *found[1]], [expected[0], *expected[1]]):
        close(x.detach(), y.detach(), 1e-14)
    for x, y in zip(gradients(found, inputs)[1], gradients(expected, inputs)[1]):
        close(x, y, 1e-13)


class Recorder(torch.fx.Interpreter):
    """Keeps the calls of wane's operators in a compiled graph."""
    calls = []

    def call_function(self, target, args, kwargs):
        if "wane" in str(target):
            self.calls.append((target, args, kwargs))
        return super().call_function(target, args, kwargs)


@pytest.mark.skipif(not hasattr(torch.library, "opcheck"), reason="old torch")
@pytest.mark.parametrize("name", ["gla_ungated", "gated_delta", "laplace_window"])
def test_operator(name):
    case = make(name, (1, 5, 1, 1, 2, 3))
    Recorder.calls.clear()
    torch._dynamo.reset()
    inputs = tensors({**case.inputs, **case.state}, False)
    torch.compile(lambda x: case.call(x), fullgraph=True,
                  backend=lambda graph, _: Recorder(graph).run)(inputs)
    (function, args, kwargs), = Recorder.calls
    torch.library.opcheck(function, args, kwargs)


@every
def test_meta_is_refused(name):
    inputs = mapped(lambda x: x.to("meta"), tensors(make(name).inputs))
    with pytest.raises((ValueError, RuntimeError, NotImplementedError)):
        make(name).call(inputs)
