"""Tensors and calls that a careful user of PyTorch would not make: refused, or right."""
# SPDX-License-Identifier: MIT

import pytest

torch = pytest.importorskip("torch")

import wane  # noqa: E402
from test_hostile import B, H, V, keyed  # noqa: E402


def tensors(gradients=False):
    return [torch.tensor(x).requires_grad_(gradients) for x in keyed()]


@pytest.mark.skipif(not hasattr(torch.Tensor, "untyped_storage"), reason="an older PyTorch")
def test_freed_memory_is_refused():
    x = tensors()
    x[0].untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="q has no data"):
        wane.chunk_gla(*x)


def test_conjugates_and_signs():
    sigma, omega = torch.full((H, 2), 0.1).double(), torch.full((H, 2), 0.5).double()
    read_out = torch.complex(*(torch.randn(H, 2, 1).double() for _ in range(2)))
    state = torch.complex(*(torch.randn(B, H, 2, V).double() for _ in range(2)))
    x = tensors()[2]
    negative = torch.complex(x, x).conj().imag
    assert negative.is_neg() and read_out.conj().is_conj()

    def call(x, read_out, state):
        return wane.laplace(x, sigma, omega, read_out, initial_state=state,
                            output_final_state=True)

    for found, expected in zip(
            call(negative, read_out.conj(), state.conj()),
            call(negative.clone(), read_out.conj().resolve_conj(), state.conj().resolve_conj())):
        assert torch.equal(found, expected)
    x.requires_grad_()
    final = call(x, read_out, state)[1]
    by = torch.randn_like(final)
    (found,) = torch.autograd.grad(final, x, by.conj(), retain_graph=True)
    (expected,) = torch.autograd.grad(final, x, by.conj().resolve_conj())
    assert torch.equal(found, expected)


def test_what_changed_between_is_seen():
    starts = torch.tensor([0, 2, 6])
    o = wane.chunk_gla(*tensors(True), cu_seqlens=starts)[0]
    starts[1] = 4
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        o.sum().backward()


def test_derivatives_are_not_lost():
    q, k, v, g = tensors()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(v, torch.ones_like(v))
        with pytest.raises(RuntimeError, match="backward"):
            wane.chunk_gla(q, k, dual, g)
    with pytest.raises(ValueError, match="scale"):
        wane.chunk_gla(q, k, v, g, scale=torch.tensor(0.5, requires_grad=True))
    for mixed in (q, k.numpy(), v, g), (q, k, v.numpy(), g):
        with pytest.raises(ValueError, match="one framework"):
            wane.chunk_gla(*mixed)


@pytest.mark.skipif(not hasattr(torch.library, "custom_op"), reason="this PyTorch is older")
def test_transforms():
    q, k, v, g = tensors()
    whole = torch.func.functionalize(lambda *x: wane.chunk_gla(*x)[0])(q, k, v, g)
    assert torch.equal(whole, wane.chunk_gla(q, k, v, g)[0])
    for transform in torch.func.grad, torch.func.jacfwd, torch.func.vmap:
        with pytest.raises((RuntimeError, NotImplementedError)):
            transform(lambda v: wane.chunk_gla(q, k, v, g)[0].sum())(v)
