"""The calls that are tested: every function of wane, with random inputs of named shapes."""
# SPDX-License-Identifier: MIT

import zlib
from dataclasses import dataclass, field

import naive
import numpy
import wane

SHAPES = {  # B, T, H, G, K, V
    "ordinary": (2, 19, 3, 3, 5, 7),
    "one": (2, 1, 3, 3, 5, 7),
    "primes": (3, 37, 5, 5, 11, 13),
    "long": (1, 150, 2, 2, 16, 16),
    "grouped": (2, 19, 4, 2, 5, 7),
}

CASES = {  # case: function, options
    "gla": ("chunk_gla", {}),
    "gla_recurrent": ("fused_recurrent_gla", dict(scale=0.7)),
    "gla_ungated": ("fused_recurrent_gla", {}),
    "simple_gla": ("chunk_simple_gla", {}),
    "simple_gla_gamma": ("chunk_simple_gla", dict(scale=0.3)),
    "retnet": ("chunk_retention", {}),
    "linear": ("chunk_linear_attn", {}),
    "linear_plain": ("chunk_linear_attn", dict(normalize=False)),
    "delta": ("chunk_delta_rule", {}),
    "gated_delta": ("chunk_gated_delta_rule", {}),
    "gated_delta_norm": ("chunk_gated_delta_rule", dict(use_qk_l2norm_in_kernel=True)),
    "kda": ("chunk_kda", {}),
    "kda_norm": ("chunk_kda", dict(use_qk_l2norm_in_kernel=True, scale=0.9)),
    "rwkv7": ("chunk_rwkv7", {}),
    "mamba1": ("selective_scan_fn", dict(delta_softplus=True)),
    "mamba1_plain": ("selective_scan_fn", {}),
    "mamba2": ("mamba_chunk_scan_combined", dict(dt_softplus=True, dt_limit=(0.3, 1.5))),
    "mamba2_plain": ("mamba_chunk_scan_combined", {}),
    "vort_retention": ("retention", dict(nodes=6, horizon=300)),
    "vort_retrieval": ("retrieval", dict(nodes=6, horizon=300)),
    "vort_retrieval_plain": ("retrieval", dict(normalize=False)),
    "laplace": ("laplace", {}),
    "laplace_window": ("laplace", {}),
    "laplace_hann": ("laplace", dict(window="hann")),
    "vla": ("vla", dict(scale=0.8)),
    "vla_plain": ("vla", dict(normalize=False)),
}

STATELESS = "mamba1", "mamba1_plain", "laplace_hann"  # take no initial state
UNPACKED = "mamba1", "mamba1_plain"  # have no cu_seqlens and no reverse
UNREVERSED = UNPACKED + ("mamba2", "mamba2_plain")
UNGROUPED = "rwkv7", "retention", "laplace"


@dataclass
class Case:
    name: str
    tokens: dict  # with time on the axis `time`
    parameters: dict
    state: dict  # the initial state under the name of its argument; a pair for linear attention
    time: int = 1
    function: str = ""
    options: dict = field(default_factory=dict)

    def __post_init__(self):
        self.function, self.options = CASES[self.name]

    @property
    def inputs(self):
        return {**self.tokens, **self.parameters}

    def call(self, inputs, ask=True, **more):
        """wane's outputs and list of final states."""
        name = {"selective_scan_fn": "return_last_state", "mamba_chunk_scan_combined":
                "return_final_states"}.get(self.function, "output_final_state")
        ask = ask and self.name != "laplace_hann"
        found = getattr(wane, self.function)(**inputs, **{**self.options, name: ask, **more})
        o, state = found if isinstance(found, tuple) else (found, None)
        return o, listed(state)

    def naive(self, xp, inputs, values):
        """The naive outputs and final states; `values` has the inputs in NumPy's doubles."""
        base = {"base": values["alpha"]} if "alpha" in values else {}
        o, state = getattr(naive, self.function)(xp, **inputs, **base, **self.options)
        return o, ([] if self.name == "laplace_hann" else state)

    def comparable(self, xp, states):
        """Final states as the naive ones: those of vla() with M = R^T R, not its factor."""
        if self.function != "vla":
            return states
        S, R = (states[0][..., :-self.keys], states[0][..., -self.keys:])
        return [S, xp.einsum("bhij,bhik->bhjk", R, R)]

    def upper(self, name, gradient):
        """Of vla()'s R, upper triangular, only the gradient by its upper triangle."""
        if self.function == "vla" and name == "initial_state":
            V = gradient.shape[-1] - self.keys
            return numpy.concatenate([gradient[..., :V], numpy.triu(gradient[..., V:])], -1)
        return gradient

    @property
    def keys(self):
        return self.tokens["k"].shape[-1]


def listed(state):
    return [] if state is None else list(state) if isinstance(state, (tuple, list)) else [state]


def pairs(*lists):
    assert len(set(map(len, lists))) == 1, [len(x) for x in lists]
    return zip(*lists)


def mapped(f, inputs):
    return {name: tuple(map(f, x)) if isinstance(x, tuple) else f(x) for name, x in inputs.items()}


def make(name, shape="ordinary", sequences=None):
    """The case with random float64 inputs; `sequences` of packed ones if not B."""
    B, T, H, G, K, V = SHAPES[shape] if isinstance(shape, str) else shape
    N = sequences or B
    rng = numpy.random.default_rng(zlib.crc32(repr((name, shape)).encode()))
    n, uniform = (lambda *s: rng.standard_normal(s)), (lambda a, b, *s: rng.uniform(a, b, s))
    unit = lambda x: x / numpy.linalg.norm(x, axis=-1, keepdims=True)
    q, k, v = n(B, T, G, K), n(B, T, G, K), n(B, T, H, V)
    state, time, parameters = {"initial_state": n(N, H, K, V)}, 1, {}
    function = CASES[name][0]
    if name in ("gla", "gla_recurrent"):
        tokens = dict(q=q, k=k, v=v, **{"g" if name == "gla" else "gk": -uniform(0, 1, B, T, H, K)})
    elif name in ("gla_ungated", "retnet", "linear_plain"):
        tokens = dict(q=q, k=k, v=v)
    elif name == "simple_gla":
        tokens = dict(q=q, k=k, v=v, g=-uniform(0, 1, B, T, H))
    elif name == "simple_gla_gamma":
        tokens = dict(q=q, k=k, v=v, g=-uniform(0, 1, B, T, H))
        parameters = dict(g_gamma=-uniform(0, 1, H))
    elif name == "linear":
        tokens = dict(q=abs(q), k=abs(k), v=v)
        state = {"initial_state": (n(N, H, K, V), uniform(1, 2, N, 1, H, K))}
    elif name == "delta":
        tokens = dict(q=q, k=unit(k), v=v, beta=uniform(0, 1.9, B, T, H))
    elif function == "chunk_gated_delta_rule":
        k = k if "norm" in name else unit(k)
        tokens = dict(q=q, k=k, v=v, g=-uniform(0, 1, B, T, H), beta=uniform(0, 1.9, B, T, H))
    elif function == "chunk_kda":
        k = k if "norm" in name else unit(k)
        tokens = dict(q=q, k=k, v=v, g=-uniform(0, 1, B, T, H, K), beta=uniform(0, 1, B, T, H))
    elif name == "rwkv7":
        c = unit(n(B, T, H, K))
        tokens = dict(r=n(B, T, H, K), w=-uniform(0.01, 0.6, B, T, H, K), k=n(B, T, H, K), v=v,
                      a=-c, b=c * uniform(0, 1, B, T, H, K))
    elif function == "selective_scan_fn":
        D, time, state = H * V, -1, {}
        tokens = dict(u=n(B, D, T), delta=uniform(0.1, 1, B, D, T), B=n(B, K, T), C=n(B, K, T))
        parameters = dict(A=-uniform(0.1, 2, D, K))
        if name == "mamba1":
            tokens.update(B=n(B, G, K, T), C=n(B, G, K, T), z=n(B, D, T))
            parameters.update(D=n(D), delta_bias=n(D))
    elif function == "mamba_chunk_scan_combined":
        tokens = dict(x=v, dt=uniform(0.1, 1, B, T, H), B=k, C=q)
        parameters, state = dict(A=-uniform(0.1, 2, H)), {"initial_states": n(N, H, V, K)}
        if name == "mamba2":
            tokens.update(z=n(B, T, H, V))
            parameters.update(D=n(H), dt_bias=n(H))
    elif name == "vort_retention":
        tokens = dict(v=v, alpha=uniform(0.1, 1, B, T, H))
        state = {"initial_state": n(N, H, 6, V)}
    elif function == "retrieval":
        tokens = dict(q=abs(q), k=abs(k), v=v, alpha=uniform(0.1, 1, B, T, H))
        nodes = CASES[name][1].get("nodes", 16)
        S = n(N, H, nodes * K, V + (name == "vort_retrieval"))
        S[..., -1] = abs(S[..., -1]) + 1
        state = {"initial_state": S}
    elif function == "laplace":
        tokens = dict(x=v)
        parameters = dict(sigma=uniform(0.01, 0.5, H, K), omega=uniform(-3, 3, H, K),
                          read_out=n(H, K, V) + 1j * n(H, K, V))
        state = {"initial_state": n(N, H, K, V) + 1j * n(N, H, K, V)}
        if name != "laplace":
            parameters.update(width=uniform(4.3, 11.3, H), mask=uniform(0, 1, N, H, K))
        if name == "laplace_hann":
            state = {}
            parameters.update(read_out=parameters["read_out"][..., :1], mask=uniform(0, 1, 1, H, K))
    else:
        assert function == "vla"
        tokens, parameters = dict(q=q, k=k, v=v), dict(lambda_=uniform(0.1, 1, H))
        R = numpy.triu(n(N, H, K, K) / 3) + numpy.eye(K)
        state = {"initial_state": numpy.concatenate([n(N, H, K, V), R], -1)}
    return Case(name, tokens, parameters, state, time)


def typed(inputs, dtype):
    """Inputs of another precision; the complex ones are of two floats, or of two doubles."""
    complex_ = "complex128" if dtype == "float64" else "complex64"
    return mapped(lambda x: x.astype(complex_ if numpy.iscomplexobj(x) else dtype), inputs)


def doubles(inputs):
    return typed(inputs, "float64")


def error(found, expected):
    """The norm of the difference, relative to the norm of what is expected."""
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    assert numpy.isfinite(found).all()
    size = numpy.linalg.norm(expected.ravel())
    return numpy.linalg.norm((found - expected).ravel()) / (size if size else 1.0)


def close(found, expected, bound, what=""):
    found_error = error(found, expected)
    assert found_error <= bound, f"{what}: relative error {found_error:.3g}, not {bound:.3g}"


def bound_of(name, dtype, gradient_by=None):
    """The relative error allowed against the naive recurrences."""
    # retention() and retrieval() interpolate their weights between orders. They are apart from
    # order_weights() by up to 9.2e-8 (measured at 9001 orders, relative to the largest), and sums
    # of slopes by up to 1.8e-6.
    if "vort" in name and gradient_by == "alpha":
        return 5e-6
    # M of vla() is ill conditioned: gradients in floats are apart by up to 1.2e-6 with keys of
    # length 1 and else 1.9e-5, those of the naive recurrence in floats by up to 1.9e-5 and 1.1e-4.
    if dtype == "float32" and gradient_by and "vla" in name:
        return 3e-5 if name == "vla_plain" else 3e-6
    return 1e-6 if dtype == "float32" else 1e-7 if "vort" in name else 1e-9
