"""Decoders: the observation module q_θ(o_t | s_t), as a log density."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import NetworkConfig, WorldModelConfig
from skillplan.distributions import clamped_gaussian, normal_log_prob, unit_normal_log_prob
from skillplan.networks import ACTIVATIONS, MLP, Conv, Dense
from skillplan.types import Gaussian


class FeatureDecoder(eqx.Module):
    """Gaussian over features with learned mean and standard deviation, the latter softly clamped (appendix)."""

    mlp: MLP

    def __init__(self, feature: int, outputs: int, config: WorldModelConfig, network: NetworkConfig, key: PRNGKeyArray):
        self.mlp = MLP(feature, config.feature_units, config.feature_layers, 2 * outputs, network, key)

    def __call__(self, feature: Float[Array, " feature"]) -> Gaussian:
        """The predicted observation."""
        return clamped_gaussian(self.mlp(feature))

    def log_prob(self, feature: Float[Array, " feature"], observation: Float[Array, " outputs"]) -> Float[Array, ""]:
        """ln q(o | s)."""
        return normal_log_prob(observation, self(feature))


class PixelDecoder(eqx.Module):
    """Four transposed convolutions to a 64×64×3 image of means; unit standard deviation."""

    dense: Dense
    layers: tuple[Conv, ...]
    activation: str = eqx.field(static=True)

    def __init__(self, feature: int, config: WorldModelConfig, network: NetworkConfig, key: PRNGKeyArray):
        depth = config.pixel_depth
        depths, sizes = [32 * depth, 4 * depth, 2 * depth, depth, 3], [5, 5, 6, 6]
        dense_key, *keys = jax.random.split(key, 5)
        self.dense = Dense(feature, depths[0], dense_key)
        self.layers = tuple(
            Conv(i, o, s, k, transpose=True) for i, o, s, k in zip(depths[:-1], depths[1:], sizes, keys, strict=True)
        )
        self.activation = network.activation

    def __call__(self, feature: Float[Array, " feature"]) -> Gaussian:
        """The predicted image, in [-0.5, 0.5]."""
        x = self.dense(feature)[None, None]
        for layer in self.layers[:-1]:
            x = ACTIVATIONS[self.activation](layer(x))
        mean = self.layers[-1](x)
        return Gaussian(mean, jnp.ones_like(mean))

    def log_prob(self, feature: Float[Array, " feature"], observation: Float[Array, "64 64 3"]) -> Float[Array, ""]:
        """ln q(o | s)."""
        return jnp.sum(unit_normal_log_prob(observation, self(feature).mean))
