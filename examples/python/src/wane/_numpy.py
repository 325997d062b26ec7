"""Memories on arrays of NumPy."""

import numpy

from . import _threads

exp, concatenate = numpy.exp, numpy.concatenate
_computed = (numpy.float32, numpy.float64)
_halves = ("float16", "bfloat16")  # the latter is that of ml_dtypes
_complex_of = {
    numpy.dtype("float32"): numpy.dtype("complex64"),
    numpy.dtype("float64"): numpy.dtype("complex128"),
}


def sigmoid(x):
    return 0.5 * (1 + numpy.tanh(0.5 * x))


def softplus(x):
    return numpy.logaddexp(x, numpy.zeros((), x.dtype))


def widened(x):
    """`x` as a tensor that a memory computes with: float16 and bfloat16 become float32."""
    if x is None:
        return None
    x = numpy.asarray(x)
    return x.astype(numpy.float32) if x.dtype.name in _halves else x


def scalars(numbers, like):
    return numpy.asarray(numbers, like.dtype)


def contiguous(x):
    return numpy.ascontiguousarray(x)


def call(memory, inputs, options, initial, wants_final, starts, reverse):
    value = inputs[memory.value]
    dtype = value.dtype
    if dtype.type not in _computed:
        if dtype.name not in _halves:
            raise ValueError(f"{memory.inputs[memory.value]} has type {dtype}; it must be float32, "
                             "float64, or of 16 bits")
        inputs = tuple(widened(x) for x in inputs)
        output, final = call(memory, inputs, options, initial, wants_final, starts, reverse)
        return output.astype(dtype), final
    output = numpy.empty(value.shape, dtype)
    final = None
    if wants_final:
        state = _complex_of[dtype] if memory.is_complex else dtype
        final = numpy.empty(memory.state_shape(inputs, options, starts), state)
    memory.native.run(
        inputs, options, output, initial, final, starts, reverse, _threads.threads)
    return output, final
