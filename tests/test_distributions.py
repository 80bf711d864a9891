"""Densities against scipy, closed forms and numerical integrals."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from skillplan.distributions import (
    clamped_gaussian,
    kl_divergence,
    normal_log_prob,
    soft_clamp,
    symlog,
    tanh_log_jacobian,
    unit_normal_log_prob,
)
from skillplan.types import Gaussian

MEAN, STD = np.array([0.5, -2.0, 3.0]), np.array([0.1, 1.0, 2.5])


def gaussian(mean, std):
    return Gaussian(jnp.asarray(mean, jnp.float32), jnp.asarray(std, jnp.float32))


def test_normal_log_prob_sums_over_the_last_axis():
    x = np.array([[0.4, 0.0, -1.0], [0.5, -2.0, 3.0]])
    batch = gaussian(np.stack([MEAN, MEAN]), np.stack([STD, STD]))
    np.testing.assert_allclose(
        normal_log_prob(jnp.asarray(x, jnp.float32), batch), stats.norm.logpdf(x, MEAN, STD).sum(-1), rtol=1e-5
    )


def test_unit_normal_log_prob():
    x, mean = np.array([0.0, 2.0, -3.0]), np.array([0.0, 1.0, 4.0])
    actual = unit_normal_log_prob(jnp.asarray(x, jnp.float32), jnp.asarray(mean, jnp.float32))
    np.testing.assert_allclose(actual, stats.norm.logpdf(x, mean, 1), rtol=1e-6)


def test_kl_divergence_is_the_integral_of_its_definition():
    p, q = (0.3, 0.7), (-0.5, 1.4)
    x, dx = np.linspace(-12, 12, 200_001, retstep=True)
    density = stats.norm.pdf(x, *p)
    integral = np.sum(density * (stats.norm.logpdf(x, *p) - stats.norm.logpdf(x, *q))) * dx
    # Twice the same number makes twice the divergence.
    twice = kl_divergence(gaussian([p[0]] * 2, [p[1]] * 2), gaussian([q[0]] * 2, [q[1]] * 2))
    np.testing.assert_allclose(twice, 2 * integral, rtol=1e-5)
    assert abs(kl_divergence(gaussian(MEAN, STD), gaussian(MEAN, STD))) < 1e-6


def test_soft_clamp_by_hand():
    softplus = lambda x: np.log1p(np.exp(x))  # noqa: E731
    for x in (-1.0, 0.5, 2.0):
        below = 1.0 - softplus(1.0 - x)
        np.testing.assert_allclose(soft_clamp(jnp.float32(x), -2.0, 1.0), -2.0 + softplus(below + 2.0), rtol=1e-5)
    # Far inside, the clamp is no change.
    np.testing.assert_allclose(soft_clamp(jnp.float32(0.0), -20.0, 20.0), 0.0, atol=1e-5)


def test_the_standard_deviation_stays_between_a_tenth_and_1_6():
    log_std = jnp.array([-1e4, -5.0, 0.0, 5.0, 1e4])
    mean, std = clamped_gaussian(jnp.concatenate([jnp.arange(5.0), log_std]))
    np.testing.assert_array_equal(mean, np.arange(5.0))
    np.testing.assert_allclose(std[0], 0.1, rtol=1e-5)
    np.testing.assert_allclose(std[-1], 1.6, rtol=1e-5)  # low + softplus(high − low) = ln 0.1 + ln(1 + 15)
    assert np.all(np.diff(std) > 0)


def test_tanh_log_jacobian_near_and_far():
    x = np.array([-3.0, -0.2, 0.0, 1.5])
    np.testing.assert_allclose(tanh_log_jacobian(jnp.asarray(x, jnp.float32)), np.log(1 - np.tanh(x) ** 2), atol=1e-5)
    # 1 − tanh²x is 4·exp(−2|x|) far away, where its own float32 value is 0.
    far = tanh_log_jacobian(jnp.array([-40.0, 40.0]))
    np.testing.assert_allclose(far, [np.log(4) - 80] * 2, rtol=1e-6)
    assert np.isfinite(jax.grad(tanh_log_jacobian)(40.0))


def test_symlog():
    x = np.array([-100.0, -1.0, 0.0, 0.001, np.e - 1])
    expected = [-np.log(101), -np.log(2), 0, np.log1p(0.001), 1]
    np.testing.assert_allclose(symlog(jnp.asarray(x, jnp.float32)), expected, rtol=1e-5)
