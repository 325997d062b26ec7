"""Every memory written once more, token by token from its equation, for NumPy, PyTorch and JAX.

Each function is called `f(xp, **arguments)` with the arguments of wane's function of that name,
`xp` being numpy, torch or jax.numpy, and returns the outputs and the list of the final states.
"""
# SPDX-License-Identifier: MIT

import math


def scan(xp, step, state, *tokens):
    """Calls `state, output = step(state, *token)` along the axis 1 of the tokens."""
    tokens = tuple(xp.moveaxis(x, 1, 0) for x in tokens)
    if xp.__name__ == "jax.numpy":
        import jax
        state, outputs = jax.lax.scan(lambda s, token: step(s, *token), state, tokens)
    else:
        outputs = []
        for token in zip(*tokens):
            state, output = step(state, *token)
            outputs.append(output)
        outputs = xp.stack(outputs)
    return xp.moveaxis(outputs, 0, 1), state


def heads(xp, x, count, axis=2):
    """Groups repeated for `count` heads: neighbouring heads share one."""
    groups = x.shape[axis]
    index = xp.asarray([h * groups // count for h in range(count)])
    return xp.moveaxis(xp.moveaxis(x, axis, 0)[index], 0, axis)


def queries(xp, q, k, v, scale, norm=False):
    if norm:
        q, k = (x / xp.sqrt((x * x).sum(-1)[..., None] + 1e-6) for x in (q, k))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return scale * heads(xp, q, v.shape[2]), heads(xp, k, v.shape[2])


def start(xp, initial_state, v, *shape):
    if initial_state is not None:
        return initial_state
    return xp.zeros((v.shape[0], v.shape[2], *shape), dtype=v.dtype)


def read(xp, q, S):
    return xp.einsum("bhk,bhkv->bhv", q, S)


def write(xp, k, v):
    return xp.einsum("bhk,bhv->bhkv", k, v)


def chunk_gla(xp, q, k, v, g, scale=None, initial_state=None):
    def step(S, q, k, v, g):
        S = xp.exp(g)[..., None] * S + write(xp, k, v)
        return S, read(xp, q, S)

    q, k = queries(xp, q, k, v, scale)
    o, S = scan(xp, step, start(xp, initial_state, v, k.shape[-1], v.shape[-1]), q, k, v, g)
    return o, [S]


def chunk_simple_gla(xp, q, k, v, g=None, g_gamma=None, scale=None, initial_state=None):
    decays = xp.zeros((*v.shape[:3], k.shape[-1]), dtype=v.dtype)
    decays = decays if g is None else decays + g[..., None]
    decays = decays if g_gamma is None else decays + g_gamma[:, None]
    return chunk_gla(xp, q, k, v, decays, scale, initial_state)


def fused_recurrent_gla(xp, q, k, v, gk=None, scale=None, initial_state=None):
    if gk is None:
        return chunk_simple_gla(xp, q, k, v, None, None, scale, initial_state)
    return chunk_gla(xp, q, k, v, gk, scale, initial_state)


def chunk_retention(xp, q, k, v, scale=None, initial_state=None):
    g_gamma = xp.asarray([math.log1p(-2.0 ** (-5 - h)) for h in range(v.shape[2])], dtype=v.dtype)
    return chunk_simple_gla(xp, q, k, v, None, g_gamma, scale, initial_state)


def chunk_linear_attn(xp, q, k, v, scale=None, normalize=True, initial_state=None):
    if not normalize:
        return chunk_simple_gla(xp, q, k, v, None, None, scale, initial_state)

    def step(state, q, k, v):
        S, z = state
        S, z = S + write(xp, k, v), z + k
        below = xp.clip((q * z).sum(-1), 1e-10, None)
        return (S, z), read(xp, q, S) / below[..., None]

    q, k = queries(xp, q, k, v, scale)
    if initial_state is None:
        state = start(xp, None, v, k.shape[-1], v.shape[-1]), start(xp, None, v, k.shape[-1])
    else:
        state = initial_state[0], initial_state[1][:, 0]
    o, (S, z) = scan(xp, step, state, q, k, v)
    return o, [S, z[:, None]]


def chunk_kda(xp, q, k, v, g, beta, scale=None, initial_state=None,
              use_qk_l2norm_in_kernel=False):
    def step(S, q, k, v, g, beta):
        S = xp.exp(g)[..., None] * S
        S = S + write(xp, beta[..., None] * k, v - read(xp, k, S))
        return S, read(xp, q, S)

    q, k = queries(xp, q, k, v, scale, use_qk_l2norm_in_kernel)
    S = start(xp, initial_state, v, k.shape[-1], v.shape[-1])
    o, S = scan(xp, step, S, q, k, v, g, beta)
    return o, [S]


def chunk_gated_delta_rule(xp, q, k, v, g, beta, **more):
    decays = xp.zeros((*v.shape[:3], k.shape[-1]), dtype=v.dtype)
    decays = decays if g is None else decays + g[..., None]
    return chunk_kda(xp, q, k, v, decays, beta, **more)


def chunk_delta_rule(xp, q, k, v, beta, **more):
    return chunk_gated_delta_rule(xp, q, k, v, None, beta, **more)


def chunk_rwkv7(xp, r, w, k, v, a, b, scale=1.0, initial_state=None):
    def step(S, r, w, k, v, a, b):
        S = xp.exp(w)[..., None] * S + write(xp, b, read(xp, a, S)) + write(xp, k, v)
        return S, read(xp, r, S)

    r, k = queries(xp, r, k, v, scale)
    S = start(xp, initial_state, v, k.shape[-1], v.shape[-1])
    o, S = scan(xp, step, S, r, w, k, v, a, b)
    return o, [S]


def softplus(xp, x):
    return xp.log1p(xp.exp(x))


def silu(xp, z):
    return z / (1 + xp.exp(-z))


def selective_scan_fn(xp, u, delta, A, B, C, D=None, z=None, delta_bias=None,
                      delta_softplus=False):
    def step(h, u, delta, B, C):
        h = xp.exp(A * delta[..., None]) * h + (delta * u)[..., None] * B
        return h, (C * h).sum(-1)

    B, C = (heads(xp, x if x.ndim == 4 else x[:, None], u.shape[1], 1) for x in (B, C))
    delta = delta if delta_bias is None else delta + delta_bias[:, None]
    delta = softplus(xp, delta) if delta_softplus else delta
    h = xp.zeros((*u.shape[:2], A.shape[1]), dtype=u.dtype)
    y, h = scan(xp, step, h, *(xp.moveaxis(x, -1, 1) for x in (u, delta, B, C)))
    y = xp.moveaxis(y, 1, -1)
    y = y if D is None else y + D[:, None] * u
    return (y if z is None else y * silu(xp, z)), [h]


def mamba_chunk_scan_combined(xp, x, dt, A, B, C, D=None, z=None, dt_bias=None,
                              initial_states=None, dt_softplus=False, dt_limit=(0.0, math.inf)):
    def step(S, x, dt, B, C):  # S: [B, H, P, N]
        S = xp.exp(A * dt)[..., None, None] * S + write(xp, x, dt[..., None] * B)
        return S, xp.einsum("bhpn,bhn->bhp", S, C)

    B, C = heads(xp, B, x.shape[2]), heads(xp, C, x.shape[2])
    dt = dt if dt_bias is None else dt + dt_bias
    dt = xp.clip(softplus(xp, dt) if dt_softplus else dt, *dt_limit)
    y, S = scan(xp, step, start(xp, initial_states, x, x.shape[-1], B.shape[-1]), x, dt, B, C)
    y = y if D is None else y + D[:, None] * x
    return (y if z is None else y * silu(xp, z)), [S]


def orders(xp, alpha, base, nodes, horizon):
    """Rates and weights; `base`, values of alpha in NumPy, is where the weights are taken."""
    import wane
    rates, weights, slopes = wane.order_weights(base.reshape(-1), nodes, horizon)
    weights, slopes = (xp.asarray(x.reshape(*base.shape, nodes)) for x in (weights, slopes))
    return xp.asarray(rates), weights + (alpha - xp.asarray(base))[..., None] * slopes


def retention(xp, v, alpha, base, nodes=16, horizon=4096, initial_state=None):
    rates, weights = orders(xp, alpha, base, nodes, horizon)

    def step(S, v, w):
        S = xp.exp(-rates)[:, None] * S
        return S + write(xp, w, v), v + S.sum(2)

    o, S = scan(xp, step, start(xp, initial_state, v, nodes, v.shape[-1]), v, weights)
    return o, [S]


def retrieval(xp, q, k, v, alpha, base, nodes=16, horizon=4096, normalize=True, floor=1e-10,
              initial_state=None):
    rates, weights = orders(xp, alpha, base, nodes, horizon)
    rates = (rates[:, None] * xp.ones((k.shape[-1],), dtype=v.dtype)).reshape(-1)

    def step(S, q, k, v, w):  # S: [B, H, nodes F, V]
        S = xp.exp(-rates)[:, None] * S
        every = xp.concatenate([q] * nodes, -1)
        o = read(xp, every, S) + (q * k).sum(-1)[..., None] * v
        wk = xp.einsum("bhs,bhf->bhsf", w, k).reshape(every.shape)
        return S + write(xp, wk, v), o

    q, k = heads(xp, q, v.shape[2]), heads(xp, k, v.shape[2])
    values = xp.concatenate([v, xp.ones_like(v[..., :1])], -1) if normalize else v
    S = start(xp, initial_state, v, nodes * k.shape[-1], values.shape[-1])
    o, S = scan(xp, step, S, q, k, values, weights)
    return (o[..., :-1] / xp.clip(o[..., -1:], floor, None) if normalize else o), [S]


def laplace(xp, x, sigma, omega, read_out, width=None, mask=None, window="exponential",
            initial_state=None):
    """The sum over lags itself."""
    T = x.shape[1]
    read_out = read_out * xp.ones(x.shape[-1:], dtype=sigma.dtype)
    lags = xp.asarray([float(l) for l in range(T + 1)], dtype=sigma.dtype)
    poles = xp.exp(-(sigma + 1j * omega)[..., None] * lags)  # [H, S, T + 1]
    if width is not None:
        ratio = lags / width[:, None, None]
        poles = poles * (xp.exp(-ratio) if window == "exponential" else xp.where(
            ratio < 1, (1 + xp.cos(math.pi * ratio)) / 2, 0 * ratio))
    ones = xp.ones((x.shape[0], *sigma.shape), dtype=poles.dtype)
    mask = ones if mask is None else ones * mask
    kernel = xp.real(xp.einsum("bhs,hsv,hsl->bhlv", mask, read_out, poles))
    steps = xp.asarray([[abs(n - m) for m in range(T)] for n in range(T)])
    causal = xp.asarray([[float(m <= n) for m in range(T)] for n in range(T)], dtype=sigma.dtype)
    o = xp.einsum("bhnmv,nm,bmhv->bnhv", kernel[:, :, steps], causal, x)
    ends = xp.einsum("hsm,bmhv->bhsv", xp.flip(poles[..., :T], (-1,)), x + 0j)
    if initial_state is not None:
        o = o + xp.real(xp.einsum("bhs,hsv,hsn,bhsv->bnhv", mask, read_out, poles[..., 1:],
                                  initial_state))
        ends = ends + poles[..., T, None] * initial_state
    return o, [ends]


def vla(xp, q, k, v, lambda_=None, scale=1.0, normalize=True, initial_state=None):
    """Final states: S, and M itself."""
    def step(state, q, k, v):
        S, M = state
        M = M + write(xp, k, k)
        alpha = xp.einsum("bhij,bhj->bhi", xp.linalg.inv(M), k)
        S = S + write(xp, alpha, v - read(xp, k, S))
        return (S, M), read(xp, q, S)

    if normalize:
        q, k = (x / xp.sqrt((x * x).sum(-1))[..., None] for x in (q, k))
    q, k = scale * heads(xp, q, v.shape[2]), heads(xp, k, v.shape[2])
    S, M = start(xp, None, v, k.shape[-1], v.shape[-1]), start(xp, None, v, *2 * k.shape[-1:])
    if initial_state is None:
        lambda_ = xp.asarray([1e-3] * v.shape[2], dtype=v.dtype) if lambda_ is None else lambda_
        M = M + lambda_[:, None, None] * xp.eye(k.shape[-1], dtype=v.dtype)
    else:
        S, R = initial_state[..., :v.shape[-1]], initial_state[..., v.shape[-1]:]
        M = xp.einsum("bhij,bhik->bhjk", R, R)
    o, (S, M) = scan(xp, step, (S, M), q, k, v)
    return o, [S, M]
