"""Which decays: sums of exponentials, and the spectra of PoST."""
# SPDX-License-Identifier: MIT

from typing import NamedTuple

import numpy

from . import _wane
from ._functions import _framework_of


class SumOfExponentials(NamedTuple):
    """`at_zero` at lag 0, and `sum_s weights_s exp(-rates_s l)` at the lags l >= 1."""

    rates: numpy.ndarray
    weights: numpy.ndarray
    at_zero: float
    max_relative_error: float


def sum_of_exponentials(beta, horizon, terms=None, accuracy=None):
    """Few exponentials for the kernel `l^-beta`, with a proven error on the lags 1 to `horizon`.

    Args:
        beta: Exponent of the power law, more than 0.
        horizon: The last lag.
        terms: The most exponentials; the best sum of so many is found.
        accuracy: In its place, the relative error; the fewest exponentials found are returned.

    Raises:
        ValueError: Where both or none are given, or the accuracy is out of reach.
    """
    if (terms is None) == (accuracy is None):
        raise ValueError("terms and accuracy: one of them must be given")
    found = (_wane.sum_of_terms(beta, horizon, terms) if accuracy is None
             else _wane.sum_of_accuracy(beta, horizon, accuracy))
    rates, weights, at_zero, error = found
    return SumOfExponentials(numpy.array(rates), numpy.array(weights), at_zero, error)


def order_weights(alpha, nodes=16, horizon=4096):
    """The exponentials of retention() and retrieval(), for orders `alpha`, `[N]`.

    Returns:
        rates `[nodes]`, weights `[N, nodes]` and their derivatives by alpha, `[N, nodes]`. The
        kernel of an order is 1 at lag 0 and `sum_s weights_s exp(-rates_s l)` at the lags l >= 1.
        The memories interpolate between 129 orders, which changes weights by less than 1e-6.
    """
    found = _wane.order_weights(nodes, horizon, list(map(float, alpha)))
    return tuple(map(numpy.array, found))


def post_rates(count, position, beta=0.5):
    """The rates that PoST makes for a position, slowest first, `[count]`.

    They are even in the logarithm, from 0.3 / position to 4; fewer than 16 lie where they fit the
    kernel `l^-beta` best.
    """
    return numpy.array(_wane.post(count, position, beta))


def post_log_rates(slowest, gaps):
    """Increasing log rates from unbounded parameters (PoST, Algorithm 1), with gradients.

    `p_0 = slowest`, `p_k = p_{k-1} + softplus(gaps_{k-1})`

    Args:
        slowest: `[..., 1]`.
        gaps: `[..., N - 1]`.

    Returns:
        `[..., N]`.
    """
    of = _framework_of(gaps)
    return of.concatenate([slowest, of.softplus(gaps)], -1).cumsum(-1)


def post_parameters(log_rates):
    """The inverse of post_log_rates(), of increasing log rates `[N]`: `(slowest, gaps)`."""
    slowest, gaps = _wane.parameters_of(list(map(float, log_rates)))
    return numpy.array([slowest]), numpy.array(gaps)


def post_taper(log_rates, log_reference=None):
    """The exponents by which PoST's timescales grow with the position, `[N]`.

    Without `log_reference` they are even, from 1 for the slowest channel to 0 for the fastest; with
    it, those that make uneven log rates geometric at that reference (PoST, Prop. 4.16).
    """
    if log_reference is None:
        return numpy.array(_wane.linear_taper(len(log_rates)))
    return numpy.array(_wane.adaptive_taper(list(map(float, log_rates)), float(log_reference)))


def post_log_decays(g, taper, trained_at=1, seen=0):
    """Log decays stretched with the position, `g (t / trained_at)^-taper`, with gradients.

    Args:
        g: Log decays, `[B, T, H]` or `[B, T, H, K]`.
        taper: Exponents, `[H]` or `[H, K]`, from 0 to 1.
        trained_at: The position at which the taper has no effect: 1, or the length trained at.
        seen: How many tokens the state has seen before; positions t begin with seen + 1.

    A single sequence a row: stretch packed sequences one by one.
    """
    of = _framework_of(g)
    positions = numpy.arange(seen + 1, seen + 1 + g.shape[1], dtype=numpy.float64)
    logs = of.scalars(numpy.log(positions / trained_at), g)
    logs = logs.reshape((-1,) + (1,) * (g.ndim - 2))
    if isinstance(taper, numpy.ndarray):
        taper = of.scalars(taper, g)
    return g * of.exp(-logs * taper)
