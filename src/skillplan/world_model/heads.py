"""Heads on the latent feature that predict a number: the reward, and whether the episode goes on."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import NetworkConfig, WorldModelConfig
from skillplan.distributions import unit_normal_log_prob
from skillplan.networks import MLP

REWARD_LAYERS = 2
CONTINUATION_LAYERS = 3


class RewardHead(eqx.Module):
    """The reward module q_θ(r_t | s_t): Normal(mean, 1)."""

    mlp: MLP

    def __init__(self, feature: int, config: WorldModelConfig, network: NetworkConfig, key: PRNGKeyArray):
        self.mlp = MLP(feature, config.head_units, REWARD_LAYERS, 1, network, key, network.output_scale)

    def __call__(self, feature: Float[Array, " feature"]) -> Float[Array, ""]:
        """Expected reward."""
        return self.mlp(feature)[0]

    def log_prob(self, feature: Float[Array, " feature"], reward: Float[Array, ""]) -> Float[Array, ""]:
        """ln q(r | s)."""
        return unit_normal_log_prob(reward, self(feature))


class ContinuationHead(eqx.Module):
    """The probability that the episode does not end in a state."""

    mlp: MLP

    def __init__(self, feature: int, config: WorldModelConfig, network: NetworkConfig, key: PRNGKeyArray):
        self.mlp = MLP(feature, config.head_units, CONTINUATION_LAYERS, 1, network, key, network.output_scale)

    def __call__(self, feature: Float[Array, " feature"]) -> Float[Array, ""]:
        """Probability of going on."""
        return jax.nn.sigmoid(self.mlp(feature)[0])

    def log_prob(self, feature: Float[Array, " feature"], goes_on: Float[Array, ""]) -> Float[Array, ""]:
        """ln Bernoulli(goes_on), `goes_on` being 0 or 1."""
        logit = self.mlp(feature)[0]
        return goes_on * jax.nn.log_sigmoid(logit) + (1 - goes_on) * jax.nn.log_sigmoid(-logit)
