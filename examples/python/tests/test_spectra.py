"""Sums of exponentials and the spectra of PoST."""
# SPDX-License-Identifier: MIT

import numpy
import pytest
import wane


def kernel(found, lags):
    return numpy.exp(-numpy.outer(lags, found.rates)) @ found.weights


@pytest.mark.parametrize("beta, horizon, terms", [
    (0.5, 100, 5), (0.2, 3000, 12), (1.5, 1000, 9), (1.0, 64, 3), (0.5, 50, 1)])
def test_error_bound(beta, horizon, terms):
    found = wane.sum_of_exponentials(beta, horizon, terms)
    assert 1 <= len(found.rates) == len(found.weights) <= terms
    lags = numpy.arange(1.0, horizon + 1)
    errors = abs(kernel(found, lags) * lags ** beta - 1)
    assert errors.max() <= found.max_relative_error * (1 + 1e-9) + 1e-13
    # and the bound is no loose one: some lag comes near
    assert errors.max() >= found.max_relative_error / 3


def test_more_terms_are_better():
    bounds = [wane.sum_of_exponentials(0.5, 500, n).max_relative_error for n in (2, 4, 8)]
    assert bounds[0] > bounds[1] > bounds[2]


@pytest.mark.parametrize("accuracy", [1e-2, 1e-4, 1e-8])
def test_accuracy(accuracy):
    found = wane.sum_of_exponentials(0.5, 1000, accuracy=accuracy)
    assert found.max_relative_error <= accuracy
    lags = numpy.arange(1.0, 1001)
    assert abs(kernel(found, lags) * lags ** 0.5 - 1).max() <= accuracy
    fewer = wane.sum_of_exponentials(0.5, 1000, terms=len(found.rates) - 1)
    assert fewer.max_relative_error > accuracy  # fewer would not do


@pytest.mark.parametrize("arguments", [
    {}, dict(terms=3, accuracy=1e-2), dict(terms=0), dict(accuracy=0.0), dict(accuracy=1e-30)])
def test_refused_sums(arguments):
    with pytest.raises(ValueError):
        wane.sum_of_exponentials(0.5, 100, **arguments)


@pytest.mark.parametrize("beta, horizon", [(0.0, 100), (-1.0, 100), (float("nan"), 100), (0.5, 0)])
def test_refused_kernels(beta, horizon):
    with pytest.raises(ValueError):
        wane.sum_of_exponentials(beta, horizon, 4)


def test_order_weights():
    """Gruenwald-Letnikov weights, w_j = w_{j-1} (j - 1 + alpha) / j; and slopes as differences."""
    alpha = numpy.array([0.1, 0.3, 0.5, 0.77, 1.0])
    rates, weights, slopes = wane.order_weights(alpha)
    assert rates.shape == (16,) and weights.shape == slopes.shape == (5, 16)
    lags = numpy.arange(1.0, 4097)
    exact = numpy.cumprod((lags - 1 + alpha[:, None]) / lags, 1)
    found = weights @ numpy.exp(-numpy.outer(rates, lags))
    assert abs(found / exact - 1).max() < 3e-6  # 2.97e-6 measured, at 0.1
    h = 1e-5
    _, more, _ = wane.order_weights(alpha[1:4] + h)
    _, less, _ = wane.order_weights(alpha[1:4] - h)
    differences = (more - less) / (2 * h)
    numpy.testing.assert_allclose(slopes[1:4], differences, atol=1e-8 * abs(slopes).max())


@pytest.mark.parametrize("nodes, horizon", [(6, 300), (16, 4096)])
def test_order_weights_are_those_of_retention(nodes, horizon):
    alpha = numpy.linspace(0.1, 1, 901)
    _, weights, _ = wane.order_weights(alpha, nodes, horizon)
    _, state = wane.retention(numpy.ones((901, 1, 1, 1)), alpha.reshape(-1, 1, 1), nodes, horizon,
                              output_final_state=True)
    errors = abs(state[:, 0, :, 0] - weights).max(1) / abs(weights).max(1)
    assert errors.max() < 1e-7  # interpolated between orders: 9.2e-8 measured


@pytest.mark.parametrize("alpha", [0.0, 0.05, 1.01, float("nan")])
def test_refused_orders(alpha):
    with pytest.raises(ValueError):
        wane.order_weights([alpha])


def test_post_rates():
    for position in 1, 10, 1000:
        rates = wane.post_rates(6, position)
        assert rates.shape == (6,) and (numpy.diff(rates) > 0).all() and rates[0] > 0
        steps = numpy.diff(numpy.log(rates))
        numpy.testing.assert_allclose(steps, steps[0], rtol=1e-9)  # geometric at every position
    slowest = [wane.post_rates(6, t)[0] for t in (1, 10, 100, 1000)]
    assert (numpy.diff(slowest) < 0).all()


def softplus(x):
    return numpy.log1p(numpy.exp(x))


def test_post_log_rates():
    rng = numpy.random.default_rng(0)
    slowest, gaps = rng.standard_normal((4, 1)), rng.standard_normal((4, 6))
    p = wane.post_log_rates(slowest, gaps)
    assert p.shape == (4, 7) and (numpy.diff(p) > 0).all()
    expected = numpy.concatenate([slowest, slowest + numpy.cumsum(softplus(gaps), 1)], 1)
    numpy.testing.assert_allclose(p, expected, rtol=1e-13, atol=1e-13)
    assert numpy.isfinite(wane.post_log_rates(numpy.zeros(1), numpy.array([-800.0, 800.0]))).all()


def test_post_parameters():
    p = numpy.array([-7.0, -6.999, -3.0, -2.5, 40.0])
    slowest, gaps = wane.post_parameters(p)
    assert slowest.shape == (1,) and gaps.shape == (4,)
    numpy.testing.assert_allclose(wane.post_log_rates(slowest, gaps), p, rtol=1e-12)
    with pytest.raises(ValueError):
        wane.post_parameters([0.0, -1.0])


def test_post_taper():
    even = wane.post_taper(numpy.array([-5.0, -4.0, -1.0, 0.0]))
    numpy.testing.assert_allclose(even, [1, 2 / 3, 1 / 3, 0], atol=1e-15)
    # PoST, eq. 9: clamped to [0, 1]
    p, log_reference = numpy.array([-5.0, -4.7, -2.0, -1.1, 0.0]), 7.0
    k = numpy.arange(5)
    expected = numpy.clip((4 - k) / 4 + (p - p[0] - k * (p[4] - p[0]) / 4) / log_reference, 0, 1)
    found = wane.post_taper(p, log_reference)
    numpy.testing.assert_allclose(found, expected, atol=1e-13)
    assert found[0] == 1 and found[-1] == 0
    stretched = numpy.diff(p - found * log_reference)
    numpy.testing.assert_allclose(stretched, stretched[0], rtol=1e-12)


@pytest.mark.parametrize("rows", [False, True])
def test_post_log_decays(rows):
    rng = numpy.random.default_rng(1)
    g = -rng.uniform(0, 1, (2, 9, 3, 4) if rows else (2, 9, 3))
    taper = rng.uniform(0, 1, g.shape[2:])
    for trained_at, seen in (1, 0), (16, 0), (5, 7):
        t = numpy.arange(seen + 1, seen + 10.0).reshape(-1, *(1,) * (g.ndim - 2))
        found = wane.post_log_decays(g, taper, trained_at, seen)
        numpy.testing.assert_allclose(found, g * (t / trained_at) ** -taper, rtol=1e-13)


def test_gradients_in_torch():
    torch = pytest.importorskip("torch")
    rng = numpy.random.default_rng(2)
    real = lambda *s: torch.tensor(rng.standard_normal(s), requires_grad=True)
    assert torch.autograd.gradcheck(wane.post_log_rates, (real(2, 1), real(2, 4)))
    assert torch.autograd.gradcheck(lambda g, taper: wane.post_log_decays(g, taper, 3, 2),
                                    (real(2, 5, 3, 2), real(3, 2)))


def test_gradients_in_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    gaps = jax.numpy.array([0.3, -1.0, 2.0])
    found = jax.grad(lambda x: wane.post_log_rates(jax.numpy.zeros(1), x)[-1])(gaps)
    numpy.testing.assert_allclose(found, 1 / (1 + numpy.exp(-gaps)), rtol=1e-12)
    taper = jax.numpy.array([0.2, 0.9])
    by_taper = jax.grad(lambda x: wane.post_log_decays(-jax.numpy.ones((1, 4, 2)), x).sum())(taper)
    t = numpy.arange(1, 5.0)[:, None]
    numpy.testing.assert_allclose(by_taper, (numpy.log(t) * t ** -taper).sum(0), rtol=1e-12)
