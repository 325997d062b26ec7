"""Memories on arrays of NumPy."""
# SPDX-License-Identifier: MIT

import numpy

from . import _threads

exp, concatenate = numpy.exp, numpy.concatenate
single = numpy.dtype("float32")
_complex_of = {single: numpy.dtype("complex64"),
               numpy.dtype("float64"): numpy.dtype("complex128")}
computed = tuple(_complex_of)


def is_half(dtype):
    return dtype.name in ("float16", "bfloat16")  # the latter is that of ml_dtypes


def converted(x, dtype):
    return numpy.asarray(x).astype(dtype)


def sigmoid(x):
    return 0.5 * (1 + numpy.tanh(0.5 * x))


def softplus(x):
    return numpy.logaddexp(x, numpy.zeros((), x.dtype))


def scalars(numbers, like):
    return numpy.asarray(numbers, like.dtype)


def contiguous(x):
    return numpy.ascontiguousarray(x)


def call(memory, inputs, options, initial, wants_final, starts, reverse):
    value = inputs[memory.value]
    output = numpy.empty(value.shape, value.dtype)
    final = None
    if wants_final:
        final = numpy.empty(memory.state_shape(inputs, options, starts),
                            memory.state_type(value.dtype, _complex_of))
    memory.native.run(
        inputs, options, output, initial, final, starts, reverse, _threads.threads)
    return output, final
