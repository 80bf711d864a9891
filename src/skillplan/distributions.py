"""Densities of Gaussians and of the tanh-Gaussian, and the two squashings the models use."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from skillplan.types import Gaussian

LOG_2PI = 1.8378770664093453


def normal_log_prob(x: Float[Array, "*b n"], gaussian: Gaussian) -> Float[Array, "*b"]:
    """ln Normal(x; mean, std), summed over the last axis."""
    z = (x - gaussian.mean) / gaussian.std
    return jnp.sum(-0.5 * jnp.square(z) - jnp.log(gaussian.std) - 0.5 * LOG_2PI, axis=-1)


def unit_normal_log_prob(x: Float[Array, "*b"], mean: Float[Array, "*b"]) -> Float[Array, "*b"]:
    """ln Normal(x; mean, 1) of scalars."""
    return -0.5 * jnp.square(x - mean) - 0.5 * LOG_2PI


def kl_divergence(p: Gaussian, q: Gaussian) -> Float[Array, "*b"]:
    """KL(p ‖ q) of diagonal Gaussians, summed over the last axis."""
    ratio = jnp.square(p.std / q.std)
    shift = jnp.square((p.mean - q.mean) / q.std)
    return 0.5 * jnp.sum(ratio + shift - 1 - jnp.log(ratio), axis=-1)


def soft_clamp(x: Float[Array, "*b"], low: float, high: float) -> Float[Array, "*b"]:
    """Smoothly keep x above `low` and about below `high`, by two softplus in turn (PETS's form).

    The upper bound is applied first, so values can exceed `high` by softplus(low − high).
    """
    x = high - jax.nn.softplus(high - x)
    return low + jax.nn.softplus(x - low)


def clamped_gaussian(raw: Float[Array, "*b twice"], low: float = 0.1, high: float = 1.5) -> Gaussian:
    """Read [mean, log-std] and softly clamp the standard deviation to about (low, high)."""
    mean, log_std = jnp.split(raw, 2, axis=-1)
    return Gaussian(mean, jnp.exp(soft_clamp(log_std, math.log(low), math.log(high))))


def tanh_log_jacobian(x: Float[Array, "*b"]) -> Float[Array, "*b"]:
    """ln(1 − tanh²x), stable for large |x|."""
    return 2 * (math.log(2.0) - x - jax.nn.softplus(-2 * x))


def symlog(x: Float[Array, "*b"]) -> Float[Array, "*b"]:
    """sign(x)·ln(1 + |x|): the identity near zero, logarithmic far away."""
    return jnp.sign(x) * jnp.log1p(jnp.abs(x))


def symexp(x: Float[Array, "*b"]) -> Float[Array, "*b"]:
    """The inverse of `symlog`."""
    return jnp.sign(x) * jnp.expm1(jnp.abs(x))
