"""The memories of the compiled module, and how the shapes of their states follow from inputs."""
# SPDX-License-Identifier: MIT

from ._wane import memories as _native


class Memory:
    """A memory of the table of the compiled module.

    ranks: the number of dimensions of each input, as digits.
    value: the input whose shape the output has.
    state: from the inputs and the options, (heads, rows, columns) of the state.
    """

    __slots__ = ("name", "inputs", "options", "native", "ranks", "value", "state", "is_complex")

    def __init__(self, name, ranks, value, state, is_complex=False):
        self.name = name
        self.native = _native[name]
        self.inputs = tuple(self.native.inputs)
        self.options = tuple(self.native.options)
        self.ranks = tuple(map(int, ranks))
        self.value = self.inputs.index(value)
        self.state = state
        self.is_complex = is_complex

    def check_ranks(self, inputs):
        for name, rank, x in zip(self.inputs, self.ranks, inputs):
            if x is not None and x.ndim != rank:
                raise ValueError(f"{name} has {x.ndim} dimensions; it must have {rank}")

    def state_type(self, dtype, complex_of):
        """The type of the state's numbers where those of the output have type `dtype`."""
        return complex_of[dtype] if self.is_complex else dtype

    def state_shape(self, inputs, options, starts):
        try:
            batch = inputs[self.value].shape[0] if starts is None else starts.shape[0] - 1
            return (batch, *self.state(*inputs, options))
        except IndexError:
            self.check_ranks(inputs)
            raise


def _keyed(q, k, v, *_):
    return v.shape[2], k.shape[3], v.shape[3]


def _with_denominator(q, k, v, *_):
    return v.shape[2], k.shape[3], v.shape[3] + 1


gla = Memory("gla", "4444", "v", _keyed)
simple_gla = Memory("simple_gla", "44431", "v", _keyed)
linear_attention = Memory("linear_attention", "444", "v", _with_denominator)
gated_delta_rule = Memory("gated_delta_rule", "44433", "v", _keyed)
kda = Memory("kda", "44443", "v", _keyed)
rwkv7 = Memory("rwkv7", "444444", "v",
               lambda r, w, k, v, *_: (v.shape[2], k.shape[3], v.shape[3]))
mamba1 = Memory("mamba1", "4434422", "x",
                lambda x, dt, A, B, *_: (x.shape[2], B.shape[3], x.shape[3]))
mamba2 = Memory("mamba2", "4314411", "x",
                lambda x, dt, A, B, *_: (x.shape[2], B.shape[3], x.shape[3]))
retention = Memory("retention", "43", "v",
                   lambda v, alpha, options: (v.shape[2], int(options[0]), v.shape[3]))
retrieval = Memory("retrieval", "4443", "v",
                   lambda v, q, k, alpha, options: (
                       v.shape[2], int(options[0]) * k.shape[3], v.shape[3] + int(options[2])))
laplace = Memory("laplace", "422313", "x",
                 lambda x, sigma, *_: (x.shape[2], sigma.shape[1], x.shape[3]), is_complex=True)
vla = Memory("vla", "4441", "v",
             lambda q, k, v, *_: (v.shape[2], k.shape[3], k.shape[3] + v.shape[3]))

all_memories = {each.name: each for each in (
    gla, simple_gla, linear_attention, gated_delta_rule, kda, rwkv7, mamba1, mamba2, retention,
    retrieval, laplace, vla)}
