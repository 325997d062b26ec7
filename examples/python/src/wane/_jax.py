"""Memories on arrays of JAX, with gradients, under jit and vmap."""
# SPDX-License-Identifier: MIT

import functools
import re

import jax
import jax.numpy as jnp
import numpy

from . import _threads, _wane
from ._memories import all_memories

if not hasattr(_wane, "xla_handler"):
    raise ImportError(
        "wane was built without JAX; install jax, and then wane again with --no-build-isolation "
        "or --force-reinstall")
jax.ffi.register_ffi_target("wane", _wane.xla_handler, platform="cpu")

exp, concatenate = jnp.exp, jnp.concatenate
sigmoid, softplus = jax.nn.sigmoid, jax.nn.softplus
single = jnp.dtype("float32")
_complex_of = {single: jnp.complex64, jnp.dtype("float64"): jnp.complex128}
computed = tuple(_complex_of)


def is_half(dtype):
    return dtype in (jnp.float16, jnp.bfloat16)


def converted(x, dtype):
    return x.astype(dtype)


def scalars(numbers, like):
    return jnp.asarray(numbers, like.dtype)


def array(x):
    return jnp.asarray(x)


def contiguous(x):
    return x


def _slots(tensors):
    """The tensors that are there, and their places."""
    there = [n for n, x in enumerate(tensors) if x is not None]
    return [tensors[n] for n in there], numpy.array(there, numpy.int64)


def _call(memory, options, reverse, operands, results, is_adjoint):
    operands, given = _slots(operands)
    results, wanted = _slots(results)
    call = jax.ffi.ffi_call("wane", results, vmap_method="broadcast_all")
    # Outside jit JAX computes while Python goes on, and an error comes where a result is read.
    # So it waits, for the inputs first: their errors are not of this call. Tracers do not wait.
    jax.block_until_ready(operands)
    try:
        return jax.block_until_ready(call(
            *operands, name=memory.name, options=numpy.array(options, numpy.float64), given=given,
            wanted=wanted, is_adjoint=is_adjoint, is_reverse=reverse,
            threads=numpy.int32(_threads.threads)))
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        raise ValueError(re.sub("^(INVALID_ARGUMENT: )+", "", str(error))) from None


def _like(x):
    return None if x is None else jax.ShapeDtypeStruct(x.shape, x.dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2, 3))
def _run(name, options, wants_final, reverse, inputs, initial, starts):
    memory = all_memories[name]
    value = inputs[memory.value]
    final = None
    if wants_final:
        final = jax.ShapeDtypeStruct(memory.state_shape(inputs, options, starts),
                                     memory.state_type(value.dtype, _complex_of))
    found = _call(
        memory, options, reverse, (*inputs, initial, starts), (_like(value), final), False)
    return found[0], found[1] if wants_final else None


def _forward(name, options, wants_final, reverse, inputs, initial, starts):
    found = _run(name, options, wants_final, reverse, inputs, initial, starts)
    return found, (inputs, initial, starts)


def _conjugate(x):
    """Gradients of complex numbers: wane's are d/dRe + i d/dIm, JAX's the conjugate."""
    return x.conj() if x is not None and jnp.iscomplexobj(x) else x


def _backward(name, options, wants_final, reverse, kept, gradients):
    inputs, initial, starts = kept
    by_output, by_final = gradients
    found = list(map(_conjugate, _call(
        all_memories[name], options, reverse,
        (*inputs, initial, starts, by_output, _conjugate(by_final)),
        (*map(_like, inputs), _like(initial)), True)))
    places = tuple(None if x is None else found.pop(0) for x in inputs)
    none = None if starts is None else numpy.zeros(starts.shape, jax.dtypes.float0)
    return places, found.pop(0) if initial is not None else None, none


_run.defvjp(_forward, _backward)


def call(memory, inputs, options, initial, wants_final, starts, reverse):
    memory.check_ranks(inputs)
    if starts is not None:
        if isinstance(starts, numpy.ndarray) and starts.size and starts.max() >= 1 << 31:
            raise ValueError(f"cu_seqlens has {starts.max()}; it must be less than 2^31 in JAX")
        starts = jnp.asarray(starts)
        if not jnp.issubdtype(starts.dtype, jnp.integer):
            raise ValueError(f"cu_seqlens has type {starts.dtype}; it must hold whole numbers")
        starts = starts.astype(jnp.int32)
    return _run(memory.name, tuple(map(float, options)), bool(wants_final), bool(reverse), inputs,
                initial, starts)
