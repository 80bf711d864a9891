"""Encoders: from one observation to the vector that the posterior reads."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import NetworkConfig, WorldModelConfig
from skillplan.networks import ACTIVATIONS, Conv, Hidden


class FeatureEncoder(eqx.Module):
    """Hidden layers over a feature vector; the last one is the embedding."""

    layers: tuple[Hidden, ...]
    embed_size: int = eqx.field(static=True)

    def __init__(self, inputs: int, config: WorldModelConfig, network: NetworkConfig, key: PRNGKeyArray):
        widths = [inputs] + [config.feature_units] * config.feature_layers
        keys = jax.random.split(key, config.feature_layers)
        self.layers = tuple(Hidden(i, o, network, k) for i, o, k in zip(widths[:-1], widths[1:], keys, strict=True))
        self.embed_size = config.feature_units

    def __call__(self, observation: Float[Array, " inputs"]) -> Float[Array, " embed"]:
        """The embedding of a feature vector."""
        for layer in self.layers:
            observation = layer(observation)
        return observation


class PixelEncoder(eqx.Module):
    """Four strided convolutions over a 64×64×3 image; depths 1, 2, 4, 8 times `pixel_depth`, flattened."""

    layers: tuple[Conv, ...]
    activation: str = eqx.field(static=True)
    embed_size: int = eqx.field(static=True)

    def __init__(self, config: WorldModelConfig, network: NetworkConfig, key: PRNGKeyArray):
        depths = [3] + [config.pixel_depth * 2**i for i in range(4)]
        keys = jax.random.split(key, 4)
        self.layers = tuple(Conv(i, o, 4, k) for i, o, k in zip(depths[:-1], depths[1:], keys, strict=True))
        self.activation = network.activation
        self.embed_size = 4 * depths[-1]

    def __call__(self, observation: Float[Array, "64 64 3"]) -> Float[Array, " embed"]:
        """The embedding of an image."""
        for layer in self.layers:
            observation = ACTIVATIONS[self.activation](layer(observation))
        return jnp.ravel(observation)
