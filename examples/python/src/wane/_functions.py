"""Functions of flash-linear-attention, mamba-ssm and wane, for arrays of any framework."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import math
import sys
from typing import Optional, TypeVar

import numpy

from . import _memories as memories

Array = TypeVar("Array")  # numpy.ndarray, torch.Tensor or jax.Array

_frameworks = {}


def _framework_of(x):
    """The module that calls memories on arrays like `x`."""
    kind = type(x)
    found = _frameworks.get(kind)
    if found is not None:
        return found
    of = kind.__module__.partition(".")[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        from . import _torch as found
    elif of in ("jax", "jaxlib"):
        from . import _jax as found
    else:
        if not hasattr(x, "__array__") and not hasattr(x, "__dlpack__"):
            raise TypeError(f"wane takes arrays of NumPy, PyTorch and JAX; this is a {kind}")
        from . import _numpy as found
    _frameworks[kind] = found
    return found


def _widened(framework, x):
    """`x` as a tensor that a memory computes with: float16 and bfloat16 become float32."""
    return framework.converted(x, framework.single) if (
        x is not None and framework.is_half(x.dtype)) else x


def _mixed(memory, tensors):
    """Arrays of NumPy may stand beside those of JAX; other frameworks do not mix."""
    names = {_framework_of(x).__name__.rpartition("_")[2] for x in tensors if x is not None}
    if names != {"jax", "numpy"}:
        raise ValueError(f"tensors of {memory.name} are of {' and '.join(sorted(names))}; they "
                         "must be of one framework")
    from . import _jax
    return _jax, tuple(None if x is None else _jax.array(x) for x in tensors)


def _call(memory, inputs, options, initial_state, output_final_state, cu_seqlens, reverse,
          state_v_first=False):
    value = inputs[memory.value]
    framework, kind = _framework_of(value), type(value)
    for x in (*inputs, initial_state):
        if type(x) is not kind and x is not None and _framework_of(x) is not framework:
            framework, tensors = _mixed(memory, (*inputs, initial_state))
            inputs, initial_state = tensors[:-1], tensors[-1]
            break
    if state_v_first and initial_state is not None:
        if initial_state.ndim != 4:
            raise ValueError(f"initial_state has {initial_state.ndim} dimensions; it must have 4")
        initial_state = initial_state.swapaxes(-1, -2)
    if cu_seqlens is not None:
        cu_seqlens = _starts(cu_seqlens)
    dtype = value.dtype
    if dtype not in framework.computed:
        if not framework.is_half(dtype):
            raise ValueError(f"{memory.inputs[memory.value]} has type {dtype}; it must be float32, "
                             "float64, float16 or bfloat16")
        inputs = tuple(_widened(framework, x) for x in inputs)
    output, final = framework.call(memory, inputs, options, initial_state,
                                   bool(output_final_state), cu_seqlens, bool(reverse))
    if dtype not in framework.computed:
        output = framework.converted(output, dtype)
    if state_v_first and final is not None:
        final = final.swapaxes(-1, -2)
    return output, final


def _require_like(name, x, shape, like):
    """Throws where a tensor has another shape or type than it must have."""
    if tuple(x.shape) != tuple(shape):
        raise ValueError(f"{name} has shape {list(x.shape)}; it must be {list(shape)}")
    if x.dtype != like.dtype:
        raise ValueError(f"{name} has type {x.dtype}; it must be {like.dtype}")


def _starts(cu_seqlens):
    if isinstance(cu_seqlens, (list, tuple)):
        cu_seqlens = numpy.asarray(cu_seqlens, numpy.int64)
    if cu_seqlens.ndim != 1 or cu_seqlens.shape[0] == 0:
        raise ValueError(f"cu_seqlens has shape {list(cu_seqlens.shape)}; it must be [N + 1]")
    return cu_seqlens


def _scale(scale, k):
    if scale is None:
        if k.shape[-1] == 0:
            raise ValueError("k has rows 0; it must have 1 or more")
        return k.shape[-1] ** -0.5
    if getattr(scale, "requires_grad", False):
        raise ValueError("scale has a gradient; it must be a number: multiply q by a tensor")
    return float(scale)


def _whole(name, number):
    if not math.isfinite(number) or int(number) != number or number < 1:
        raise ValueError(f"{name} is {number}; it must be a whole number, 1 or more")
    return int(number)


_KEYED = """

    Args:
        q, k: Queries and keys, `[B, T, G, K]`, G most often H; head h of v reads head h G // H.
        v: Values, `[B, T, H, V]`.{own}
        scale: Factor of the queries; `None`: `1 / sqrt(K)`.
        initial_state: `[N, H, K, V]`, N sequences (B, or the packed ones); `None`: zeros.
        output_final_state: Whether the final state is returned.
        cu_seqlens: `[N + 1]` whole numbers, where packed sequences begin and end; then B is 1.
            cu_seqlens_cpu is taken and not used.
        reverse: Whether time runs from the last token to the first.
        state_v_first: Whether states are `[N, H, V, K]`.

    Returns:
        The outputs, `[B, T, H, V]`, and the final state or `None`.

    Raises:
        ValueError: Where a shape, a type or a device does not fit.
"""


def _keyed_doc(own=""):
    def write(function):
        if function.__doc__:  # python -OO has none
            function.__doc__ += _KEYED.format(own=own)
        return function
    return write


@_keyed_doc("\n        g: Log decays of rows, `[B, T, H, K]`, at most 0; -inf resets.")
def chunk_gla(q: Array, k: Array, v: Array, g: Array, scale: Optional[float] = None,
              initial_state: Optional[Array] = None, output_final_state: bool = False,
              state_v_first: bool = False, cu_seqlens: Optional[Array] = None,
              cu_seqlens_cpu: Optional[Array] = None, *,
              reverse: bool = False) -> tuple[Array, Optional[Array]]:
    """Gated linear attention (Yang et al. 2024).

    `S_t = diag(exp(g_t)) S_{t-1} + k_t v_t^T`, `o_t = scale S_t^T q_t`"""
    return _call(memories.gla, (q, k, v, g), (_scale(scale, k),), initial_state,
                 output_final_state, cu_seqlens, reverse, state_v_first)


@_keyed_doc("\n        gk: Log decays of rows, `[B, T, H, K]`; `None`: 0. gv is refused.")
def fused_recurrent_gla(q: Array, k: Array, v: Array, gk: Optional[Array] = None,
                        gv: Optional[Array] = None, scale: Optional[float] = None,
                        initial_state: Optional[Array] = None, output_final_state: bool = False,
                        reverse: bool = False, state_v_first: bool = False,
                        cu_seqlens: Optional[Array] = None) -> tuple[Array, Optional[Array]]:
    """chunk_gla() under the name and arguments of flash-linear-attention's other form."""
    if gv is not None:
        raise ValueError("gv is given; wane has no decays of columns: it must be None")
    if gk is None:
        return chunk_simple_gla(q, k, v, None, None, scale, initial_state, output_final_state,
                                state_v_first, cu_seqlens, reverse=reverse)
    return chunk_gla(q, k, v, gk, scale, initial_state, output_final_state, state_v_first,
                     cu_seqlens, reverse=reverse)


@_keyed_doc("""
        g: Log decays of heads, `[B, T, H]`; `None`: 0.
        g_gamma: A constant log decay for each head, `[H]`, which is added; `None`: 0.""")
def chunk_simple_gla(q: Array, k: Array, v: Array, g: Optional[Array] = None,
                     g_gamma: Optional[Array] = None, scale: Optional[float] = None,
                     initial_state: Optional[Array] = None, output_final_state: bool = False,
                     state_v_first: bool = False, cu_seqlens: Optional[Array] = None,
                     cu_seqlens_cpu: Optional[Array] = None, *,
                     reverse: bool = False) -> tuple[Array, Optional[Array]]:
    """Linear attention with a decay for each token and head: the memory of Mamba-2.

    `S_t = exp(g_t + g_gamma) S_{t-1} + k_t v_t^T`, `o_t = scale S_t^T q_t`"""
    return _call(memories.simple_gla, (q, k, v, g, g_gamma), (_scale(scale, k),), initial_state,
                 output_final_state, cu_seqlens, reverse, state_v_first)


@_keyed_doc()
def chunk_retention(q: Array, k: Array, v: Array, scale: Optional[float] = None,
                    initial_state: Optional[Array] = None, output_final_state: bool = False,
                    cu_seqlens: Optional[Array] = None, *, reverse: bool = False,
                    state_v_first: bool = False) -> tuple[Array, Optional[Array]]:
    """Retention of RetNet (Sun et al. 2023, eq. 6): head h decays by 1 - 2^-(5+h)."""
    g_gamma = _framework_of(v).scalars(
        [math.log1p(-2.0 ** (-5 - h)) for h in range(v.shape[2])], v)
    return chunk_simple_gla(q, k, v, None, g_gamma, scale, initial_state, output_final_state,
                            state_v_first, cu_seqlens, reverse=reverse)


def chunk_linear_attn(q: Array, k: Array, v: Array, scale: Optional[float] = None,
                      initial_state: Optional[Array] = None, output_final_state: bool = False,
                      normalize: bool = True, cu_seqlens: Optional[Array] = None, *,
                      reverse: bool = False) -> tuple[Array, object]:
    """Linear attention (Katharopoulos et al. 2020, eq. 18 to 20).

    `S_t = S_{t-1} + k_t v_t^T`, `z_t = z_{t-1} + k_t`,
    `o_t = scale S_t^T q_t / max(scale q_t . z_t, 1e-10)`

    As chunk_simple_gla() without decay. Where `normalize` is true (then `q . k >= 0`), outputs are
    divided as above, and a state is a pair of `[N, H, K, V]` and the sum of keys, `[N, 1, H, K]`,
    as in flash-linear-attention.
    """
    if not normalize:
        return chunk_simple_gla(q, k, v, None, None, scale, initial_state, output_final_state,
                                False, cu_seqlens, reverse=reverse)
    if initial_state is not None:
        values, keys = initial_state
        of = _framework_of(values)
        if values.ndim != 4:
            raise ValueError(f"initial_state has {values.ndim} dimensions; it must have 4")
        _require_like("the second initial state", keys,
                      (values.shape[0], 1, *values.shape[1:3]), values)
        initial_state = of.concatenate([values, keys.swapaxes(1, 2).swapaxes(2, 3)], -1)
    output, final = _call(memories.linear_attention, (q, k, v), (_scale(scale, k), 1e-10),
                          initial_state, output_final_state, cu_seqlens, reverse)
    if final is not None:
        final = final[..., :-1], final[..., -1:].swapaxes(2, 3).swapaxes(1, 2)
    return output, final


_DELTA = """
        beta: Strengths of writing, `[B, T, H]`, from 0 to 2.
        use_qk_l2norm_in_kernel: Whether q and k become `x / sqrt(|x|^2 + 1e-6)` first."""


@_keyed_doc(_DELTA)
def chunk_delta_rule(q: Array, k: Array, v: Array, beta: Array, scale: Optional[float] = None,
                     initial_state: Optional[Array] = None, output_final_state: bool = False,
                     use_qk_l2norm_in_kernel: bool = False, cu_seqlens: Optional[Array] = None,
                     cu_seqlens_cpu: Optional[Array] = None, *, reverse: bool = False,
                     state_v_first: bool = False) -> tuple[Array, Optional[Array]]:
    """The delta rule (DeltaNet; Yang et al. 2024), which replaces the value under a key.

    `S_t = S_{t-1} + beta_t k_t (v_t - k_t^T S_{t-1})^T`, `o_t = scale S_t^T q_t`"""
    return chunk_gated_delta_rule(
        q, k, v, None, beta, scale, initial_state, output_final_state, use_qk_l2norm_in_kernel,
        state_v_first=state_v_first, cu_seqlens=cu_seqlens, reverse=reverse)


@_keyed_doc("\n        g: Log decays of heads, `[B, T, H]`; `None`: 0." + _DELTA)
def chunk_gated_delta_rule(q: Array, k: Array, v: Array, g: Array, beta: Array,
                           scale: Optional[float] = None, initial_state: Optional[Array] = None,
                           output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
                           state_v_first: bool = False, cu_seqlens: Optional[Array] = None,
                           cu_seqlens_cpu: Optional[Array] = None, *,
                           reverse: bool = False) -> tuple[Array, Optional[Array]]:
    """The gated delta rule (Gated DeltaNet; Yang, Kautz, Hatamizadeh 2025).

    `S_t = exp(g_t) S_{t-1} + beta_t k_t (v_t - exp(g_t) k_t^T S_{t-1})^T`, `o_t = scale S_t^T q_t`
    """
    return _call(memories.gated_delta_rule, (q, k, v, g, beta),
                 (_scale(scale, k), use_qk_l2norm_in_kernel), initial_state, output_final_state,
                 cu_seqlens, reverse, state_v_first)


@_keyed_doc("\n        g: Log decays of rows, `[B, T, H, K]`." + _DELTA)
def chunk_kda(q: Array, k: Array, v: Array, g: Array, beta: Array, scale: Optional[float] = None,
              initial_state: Optional[Array] = None, output_final_state: bool = False,
              use_qk_l2norm_in_kernel: bool = False, state_v_first: bool = False,
              cu_seqlens: Optional[Array] = None, cu_seqlens_cpu: Optional[Array] = None, *,
              reverse: bool = False) -> tuple[Array, Optional[Array]]:
    """Kimi Delta Attention (Kimi Team 2025): the delta rule with a decay for each row.

    `S_t = D S_{t-1} + beta_t k_t (v_t - k_t^T D S_{t-1})^T`, `D = diag(exp(g_t))`"""
    return _call(memories.kda, (q, k, v, g, beta), (_scale(scale, k), use_qk_l2norm_in_kernel),
                 initial_state, output_final_state, cu_seqlens, reverse, state_v_first)


def chunk_rwkv7(r: Array, w: Array, k: Array, v: Array, a: Array, b: Array, scale: float = 1.0,
                initial_state: Optional[Array] = None, output_final_state: bool = False,
                cu_seqlens: Optional[Array] = None, cu_seqlens_cpu: Optional[Array] = None, *,
                reverse: bool = False,
                state_v_first: bool = False) -> tuple[Array, Optional[Array]]:
    """The memory of RWKV-7 (Peng et al. 2025), the generalised delta rule.

    `S_t = diag(exp(w_t)) S_{t-1} + b_t (a_t^T S_{t-1}) + k_t v_t^T`, `o_t = scale S_t^T r_t`

    Args:
        r, w, k, a, b: Receptances, log decays, keys, and the vectors of the erasure,
            `[B, T, H, K]`; RWKV-7 has `a = -c` and `b = c * rate`, c its removal key.
        v: Values, `[B, T, H, V]`.
        scale: Factor of the receptances; `None`: `1 / sqrt(K)`.

    The others, what is returned and what is raised are those of chunk_gla().
    """
    return _call(memories.rwkv7, (r, w, k, v, a, b), (_scale(scale, k),), initial_state,
                 output_final_state, cu_seqlens, reverse, state_v_first)


def _silu(z):
    return z * _framework_of(z).sigmoid(z)


def selective_scan_fn(u: Array, delta: Array, A: Array, B: Array, C: Array,
                      D: Optional[Array] = None, z: Optional[Array] = None,
                      delta_bias: Optional[Array] = None, delta_softplus: bool = False,
                      return_last_state: bool = False) -> Array | tuple[Array, Array]:
    """The selective scan of Mamba (Gu and Dao 2023), with the arguments of mamba-ssm.

    `h_t = exp(A delta_t) h_{t-1} + delta_t B_t u_t`, `y_t = C_t . h_t + D u_t`, times `silu(z)`

    Args:
        u, delta, z: `[B, D, L]`; z may be `None`.
        A: `[D, N]`, at most 0.
        B, C: `[B, N, L]`, or `[B, G, N, L]`, where G divides D.
        D, delta_bias: `[D]`, or `None`.
        delta_softplus: Whether delta becomes `softplus(delta + delta_bias)`, or else the sum.
        return_last_state: Whether the state after the last token, `[B, D, N]`, is returned too.

    Returns:
        The outputs, `[B, D, L]`, or the outputs and the last state.

    Raises:
        ValueError: Where a shape, a type or a device does not fit.
    """
    of = _framework_of(u)
    for name, x in ("delta", delta), ("A", A), ("B", B), ("C", C):
        if not hasattr(x, "ndim"):
            raise ValueError(f"{name} is {x}; it must be an array")
    if u.ndim != 3 or A.ndim != 2 or B.ndim not in (3, 4) or C.ndim != B.ndim:
        raise ValueError(f"u, A, B, C have {u.ndim}, {A.ndim}, {B.ndim}, {C.ndim} dimensions; they "
                         "must have 3, 2, 3 or 4, and as B")
    _require_like("delta", delta, u.shape, u)
    if z is not None:
        _require_like("z", z, u.shape, u)
    for name, x in ("A", A), ("D", D), ("delta_bias", delta_bias):
        if x is not None and (x.ndim != 1 + (name == "A") or x.shape[0] != u.shape[1]):
            raise ValueError(f"{name} has shape {list(x.shape)}; its channels must be those of u, "
                             f"{u.shape[1]}")

    def by_token(x):  # [B, D, L] to [B, L, G, D / G]
        return of.contiguous(x.swapaxes(1, 2)).reshape(
            x.shape[0], x.shape[2], groups, x.shape[1] // groups)

    def keys(x):  # [B, N, L] or [B, G, N, L] to [B, L, G, N]
        x = x[:, None] if x.ndim == 3 else x
        return of.contiguous(x.swapaxes(2, 3).swapaxes(1, 2))

    def parameter(x):
        return None if x is None else _widened(of, x).reshape(groups, -1)

    groups = 1 if B.ndim == 3 else B.shape[1]
    if groups == 0 or u.shape[1] % groups:
        raise ValueError(f"u has {u.shape[1]} channels; the {groups} groups of B must divide them")
    output, final = _call(
        memories.mamba1,
        (by_token(u), by_token(delta), A.reshape(groups, -1, A.shape[1]), keys(B), keys(C),
         parameter(D), parameter(delta_bias)),
        (delta_softplus, 0.0, math.inf), None, return_last_state, None, False)
    output = output.reshape(u.shape[0], u.shape[2], u.shape[1]).swapaxes(1, 2)
    if z is not None:
        output = output * _silu(z)
    if not return_last_state:
        return output
    return output, final.swapaxes(2, 3).reshape(u.shape[0], u.shape[1], A.shape[1])


def mamba_chunk_scan_combined(x: Array, dt: Array, A: Array, B: Array, C: Array,
                              chunk_size: Optional[int] = None, D: Optional[Array] = None,
                              z: Optional[Array] = None, dt_bias: Optional[Array] = None,
                              initial_states: Optional[Array] = None,
                              cu_seqlens: Optional[Array] = None, dt_softplus: bool = False,
                              dt_limit: tuple[float, float] = (0.0, math.inf),
                              return_final_states: bool = False) -> Array | tuple[Array, Array]:
    """The memory of Mamba-2 (Dao and Gu 2024), with the arguments of mamba-ssm.

    `S_t = exp(A dt_t) S_{t-1} + dt_t B_t x_t^T`, `y_t = S_t^T C_t + D x_t`, times `silu(z)`

    Args:
        x, z: `[B, L, H, P]`; z may be `None`.
        dt: `[B, L, H]`.
        A: `[H]`, at most 0.
        B, C: `[B, L, G, N]`, where G divides H.
        chunk_size: Taken and not used: wane chooses.
        D, dt_bias: `[H]`, or `None`.
        initial_states: `[B, H, P, N]`, or one for each packed sequence; `None`: zeros.
        cu_seqlens: Where packed sequences begin and end.
        dt_softplus, dt_limit: dt becomes `softplus(dt + dt_bias)` if so, and is clamped.
        return_final_states: Whether the states after the last tokens are returned too.

    Returns:
        The outputs, `[B, L, H, P]`, or the outputs and the final states.

    Raises:
        ValueError: Where a shape, a type or a device does not fit.
    """
    of = _framework_of(x)
    least, most = map(float, dt_limit)
    if z is not None:
        _require_like("z", z, x.shape, x)
    output, final = _call(
        memories.mamba2, (x, dt, _widened(of, A), B, C, _widened(of, D), _widened(of, dt_bias)),
        (dt_softplus, least, most), initial_states, return_final_states, cu_seqlens,
        False, state_v_first=True)
    if z is not None:
        output = output * _silu(z)
    return (output, final) if return_final_states else output


def retention(v: Array, alpha: Array, nodes: int = 16, horizon: int = 4096,
              initial_state: Optional[Array] = None, output_final_state: bool = False,
              cu_seqlens: Optional[Array] = None,
              reverse: bool = False) -> tuple[Array, Optional[Array]]:
    """VORT's power-law memory: each token is remembered under a fractional order of its own.

    `o_t = sum_{i <= t} w_{t-i}(alpha_i) v_i`, with Gruenwald-Letnikov weights w (VORT, eq. 2), as
    a sum of `nodes` exponentials, which holds up to `horizon` tokens back.

    Args:
        v: Values, `[B, T, H, V]`.
        alpha: Orders, `[B, T, H]`, from 0.1 to 1.
        initial_state: `[N, H, nodes, V]`: for each exponential, the sum of what was written.

    The others, what is returned and what is raised are those of chunk_gla().
    """
    nodes, horizon = _whole("nodes", nodes), _whole("horizon", horizon)
    return _call(memories.retention, (v, alpha), (nodes, horizon), initial_state,
                 output_final_state, cu_seqlens, reverse)


def retrieval(q: Array, k: Array, v: Array, alpha: Array, nodes: int = 16, horizon: int = 4096,
              normalize: bool = True, floor: float = 1e-10, initial_state: Optional[Array] = None,
              output_final_state: bool = False, cu_seqlens: Optional[Array] = None,
              reverse: bool = False) -> tuple[Array, Optional[Array]]:
    """VORT's memory with keys: values found by key, each under a power law of its own order.

    `o_t = sum_{i <= t} q_t . k_i w_{t-i}(alpha_i) v_i`, divided by the same sum of ones, or by
    `floor` where that is more, where `normalize` is true (VORT, eq. 14 to 16).

    Args:
        q, k: Features, `[B, T, G, F]`, with `q . k >= 0`; elu(x) + 1 in the paper.
        v: Values, `[B, T, H, V]`.
        alpha: Orders, `[B, T, H]`, from 0.1 to 1.
        initial_state: `[N, H, nodes F, V]`, nodes first; with `normalize`, one column more.

    The others, what is returned and what is raised are those of chunk_gla().
    """
    nodes, horizon = _whole("nodes", nodes), _whole("horizon", horizon)
    return _call(memories.retrieval, (v, q, k, alpha), (nodes, horizon, bool(normalize), floor),
                 initial_state, output_final_state, cu_seqlens, reverse)


def laplace(x: Array, sigma: Array, omega: Array, read_out: Array, width: Optional[Array] = None,
            mask: Optional[Array] = None, window: str = "exponential",
            initial_state: Optional[Array] = None, output_final_state: bool = False,
            cu_seqlens: Optional[Array] = None,
            reverse: bool = False) -> tuple[Array, Optional[Array]]:
    """The short-time Laplace transform of STLT (eq. 4), read out linearly.

    `o_n = Re sum_k mask_k read_out_k sum_{l >= 0} window(l / width) exp(-(sigma_k + i omega_k) l)
    x_{n-l}`

    Args:
        x: `[B, T, H, V]`.
        sigma, omega: `[H, S]`, nats and radians a token; sigma >= 0, |omega| <= pi.
        read_out: Complex, `[H, S, V]` or `[H, S, 1]`.
        width: `[H]`, the width of the window in tokens; `None`: there is no window.
        mask: `[N, H, S]`, or `[1, H, S]` for all sequences; `None`: 1.
        window: `"exponential"`, `exp(-l / width)`, or `"hann"`, `(1 + cos(pi l / width)) / 2` for
            l < width, which takes and gives no states.
        initial_state: Complex, `[N, H, S, V]`: the sums over l, before mask and read_out.

    The others, what is returned and what is raised are those of chunk_gla().
    """
    if window not in ("exponential", "hann"):
        raise ValueError(f"window is {window!r}; it must be 'exponential' or 'hann'")
    ends = width is not None and window == "hann"
    if ends and (initial_state is not None or output_final_state):
        raise ValueError("a state is given or asked for; with a window that ends it must not be")
    return _call(memories.laplace, (x, sigma, omega, read_out, width, mask), (window == "hann",),
                 initial_state, output_final_state, cu_seqlens, reverse)


def vla(q: Array, k: Array, v: Array, lambda_: Optional[Array] = None, scale: float = 1.0,
        normalize: bool = True, initial_state: Optional[Array] = None,
        output_final_state: bool = False, cu_seqlens: Optional[Array] = None,
        reverse: bool = False) -> tuple[Array, Optional[Array]]:
    """Variational linear attention (VLA, eq. 1, 8 and 18 to 20), in its form of best recall.

    `M_t = M_{t-1} + k_t k_t^T`, `M_0 = lambda I`, `alpha_t = M_t^-1 k_t`,
    `S_t = S_{t-1} + alpha_t (v_t - S_{t-1}^T k_t)^T`, `o_t = scale S_t^T q_t`

    Args:
        q, k: `[B, T, G, K]`; made of length 1 first, where `normalize` is true.
        v: Values, `[B, T, H, V]`.
        lambda_: `[H]`, more than 0; `None`: 1e-3.
        initial_state: `[N, H, K, V + K]`: S, and the upper triangular R with `M = R^T R`, which
            holds lambda; zeros stand for the state before any token.

    The others, what is returned and what is raised are those of chunk_gla().
    """
    return _call(memories.vla, (q, k, v, lambda_), (scale, normalize), initial_state,
                 output_final_state, cu_seqlens, reverse)
