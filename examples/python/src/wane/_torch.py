"""Memories on tensors of PyTorch, with gradients."""
# SPDX-License-Identifier: MIT

import torch
from torch.autograd import forward_ad

from . import _threads
from ._memories import all_memories

exp, concatenate = torch.exp, torch.cat
sigmoid, softplus = torch.sigmoid, torch.nn.functional.softplus
single = torch.float32
_complex_of = {single: torch.complex64, torch.float64: torch.complex128}
computed = tuple(_complex_of)
_plain_types = (torch.Tensor, torch.nn.Parameter)


def is_half(dtype):
    return dtype in (torch.float16, torch.bfloat16)


def converted(x, dtype):
    return x.to(dtype)


def scalars(numbers, like):
    return torch.as_tensor(numbers, dtype=like.dtype)


def contiguous(x):
    return x.contiguous()


def _run(memory, inputs, options, initial, wants_final, starts, reverse):
    value = inputs[memory.value]
    output = torch.empty(value.shape, dtype=value.dtype, device=value.device)
    final = None
    if wants_final:
        final = torch.empty(memory.state_shape(inputs, options, starts),
                            dtype=memory.state_type(value.dtype, _complex_of))
    memory.native.run(tuple(map(_plain, inputs)), options, output, _plain(initial), final,
                      starts, reverse, _threads.threads)
    return output, final


def _adjoint(memory, inputs, options, initial, starts, reverse, by_output, by_final, wanted,
             wants_initial):
    """Gradients of the inputs that are `wanted`, and of the initial state."""
    gradients = tuple(
        torch.empty(x.shape, dtype=x.dtype) if wants else None
        for x, wants in zip(inputs, wanted))
    by_initial = torch.empty(initial.shape, dtype=initial.dtype) if wants_initial else None
    memory.native.adjoint(
        tuple(map(_plain, inputs)), options, _plain(by_output), _plain(initial),
        _plain(by_final), starts, reverse, _threads.threads, gradients, by_initial)
    return gradients, by_initial


_exports_gradients = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")


def _plain(x):
    """The tensor as its memory has it: DLPack knows of no conjugate or sign yet to be taken."""
    if x is None:
        return None
    if x.is_conj() or x.is_neg():
        x = x.resolve_conj().resolve_neg()
    return x if _exports_gradients else x.detach()


class _Once(torch.autograd.Function):
    """Gradients, whose own gradients are refused."""

    @staticmethod
    def forward(ctx, memory, options, reverse, starts, wanted, wants_initial, count, *tensors):
        inputs, initial = tensors[:count], tensors[count]
        by_output, by_final = tensors[count + 1], tensors[count + 2]
        gradients, by_initial = _adjoint(
            memory, inputs, options, initial, starts, reverse, by_output, by_final, wanted,
            wants_initial)
        return (*gradients, by_initial)

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError("wane has first derivatives alone; this asks for a second one")


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(ctx, memory, options, wants_final, reverse, starts, initial, *inputs):
        ctx.memory, ctx.options, ctx.reverse = memory, options, reverse
        ctx.save_for_backward(initial, starts, *inputs)
        ctx.set_materialize_grads(False)
        return _run(memory, inputs, options, initial, wants_final, starts, reverse)

    @staticmethod
    def backward(ctx, by_output, by_final):
        initial, starts, *inputs = ctx.saved_tensors
        if by_output is None:
            by_output = torch.zeros_like(inputs[ctx.memory.value])
        found = _Once.apply(
            ctx.memory, ctx.options, ctx.reverse, starts, ctx.needs_input_grad[6:],
            ctx.needs_input_grad[5], len(inputs), *inputs, initial, by_output, by_final)
        return (None, None, None, None, None, found[-1], *found[:-1])


def call(memory, inputs, options, initial, wants_final, starts, reverse):
    value = inputs[memory.value]
    if starts is not None and not isinstance(starts, torch.Tensor):
        starts = torch.tensor(starts)
    _refuse_forward_gradients((*inputs, initial))
    if _is_seen_through(value):
        return _call_in_graph(memory, inputs, options, initial, wants_final, starts, reverse)
    if torch.is_grad_enabled() and any(
            x is not None and x.requires_grad for x in (*inputs, initial)):
        return _Call.apply(memory, options, wants_final, reverse, starts, initial, *inputs)
    return _run(memory, inputs, options, initial, wants_final, starts, reverse)


def _refuse_forward_gradients(tensors):
    if forward_ad._current_level >= 0 and any(
            x is not None and forward_ad.unpack_dual(x).tangent is not None for x in tensors):
        raise RuntimeError("wane has no gradients in forward mode; it must be backward")


# torch.compile and torch.func see two operators, whose shapes they know, in place of a call that
# they cannot look into.
if hasattr(torch, "library") and hasattr(torch.library, "custom_op"):
    from typing import List, Optional, Tuple

    from torch import Tensor

    def _all_inputs(memory, present, which):
        """The inputs in their places, from those that are present."""
        places = [None] * len(memory.inputs)
        for place, x in zip(which, present):
            places[place] = x
        return tuple(places)

    @torch.library.custom_op("wane::run", mutates_args=())
    def _run_in_graph(name: str, options: List[float], wants_final: bool, reverse: bool,
                      which: List[int], inputs: List[Tensor], initial: Optional[Tensor],
                      starts: Optional[Tensor]) -> Tuple[Tensor, Tensor]:
        memory = all_memories[name]
        output, final = _run(memory, _all_inputs(memory, inputs, which), tuple(options), initial,
                             wants_final, starts, reverse)
        return output, output.new_empty(0) if final is None else final

    @_run_in_graph.register_fake
    def _(name, options, wants_final, reverse, which, inputs, initial, starts):
        memory = all_memories[name]
        places = _all_inputs(memory, inputs, which)
        value = places[memory.value]
        output = value.new_empty(value.shape)
        if not wants_final:
            return output, value.new_empty(0)
        return output, value.new_empty(memory.state_shape(places, options, starts),
                                       dtype=memory.state_type(value.dtype, _complex_of))

    @torch.library.custom_op("wane::adjoint", mutates_args=())
    def _adjoint_in_graph(name: str, options: List[float], reverse: bool, which: List[int],
                          inputs: List[Tensor], initial: Optional[Tensor],
                          starts: Optional[Tensor], by_output: Tensor,
                          by_final: Optional[Tensor]) -> List[Tensor]:
        memory = all_memories[name]
        places = _all_inputs(memory, inputs, which)
        gradients, by_initial = _adjoint(
            memory, places, tuple(options), initial, starts, reverse, by_output, by_final,
            [x is not None for x in places], initial is not None)
        found = [g for g in gradients if g is not None]
        return found if initial is None else [*found, by_initial]

    @_adjoint_in_graph.register_fake
    def _(name, options, reverse, which, inputs, initial, starts, by_output, by_final):
        found = [x.new_empty(x.shape) for x in inputs]
        return found if initial is None else [*found, initial.new_empty(initial.shape)]

    def _keep(ctx, inputs, output):
        name, options, wants_final, reverse, which, tensors, initial, starts = inputs
        ctx.of = name, options, wants_final, reverse, which
        ctx.save_for_backward(initial, starts, *tensors)

    def _backward(ctx, by_output, by_final):
        name, options, wants_final, reverse, which = ctx.of
        initial, starts, *tensors = ctx.saved_tensors
        found = _adjoint_in_graph(
            name, options, reverse, which, tensors, initial, starts, by_output.contiguous(),
            by_final.contiguous() if wants_final else None)
        by_initial = found[-1] if initial is not None else None
        return None, None, None, None, None, list(found[:len(tensors)]), by_initial, None

    _run_in_graph.register_autograd(_backward, setup_context=_keep)

    def _call_in_graph(memory, inputs, options, initial, wants_final, starts, reverse):
        which = [n for n, x in enumerate(inputs) if x is not None]
        output, final = _run_in_graph(
            memory.name, list(options), wants_final, reverse, which, [inputs[n] for n in which],
            initial, starts)
        return output, final if wants_final else None
    def _is_seen_through(value):
        return (torch.compiler.is_compiling() or type(value) not in _plain_types
                or torch._C._functorch.maybe_current_level() is not None)
else:
    def _is_seen_through(value):
        return False
