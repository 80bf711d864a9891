"""The low-level policy q_φ(a | s, z): a tanh-Gaussian over actions."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.distributions import tanh_log_jacobian
from skillplan.networks import MLP
from skillplan.types import Gaussian
from skillplan.world_model.model import feature_size

MEAN_BOUND = 5.0
MIN_STD = 1e-4


class Policy(eqx.Module):
    """MLP on [feature, skill]. The Gaussian before the tanh has mean 5·tanh(m/5), std softplus(s + shift) + 1e-4,

    where the shift makes the std `initial_std` at s = 0. An agent without skills has `skill_size` 0.
    The feature is held fixed on the way in: gradient reaches actions only through what they bring about.
    """

    mlp: MLP
    initial_std: float = eqx.field(static=True)
    action_size: int = eqx.field(static=True)

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        policy = config.policy
        inputs = feature_size(config) + config.skill.size
        self.mlp = MLP(inputs, policy.units, policy.layers, 2 * action_size, config.network, key)
        self.initial_std, self.action_size = policy.initial_std, action_size

    def __call__(self, feature: Float[Array, " feature"], skill: Float[Array, " skill"]) -> Gaussian:
        """The Gaussian before the tanh."""
        raw = self.mlp(jnp.concatenate([jax.lax.stop_gradient(feature), skill]))
        mean, std = jnp.split(raw, 2)
        shift = math.log(math.expm1(self.initial_std))
        return Gaussian(MEAN_BOUND * jnp.tanh(mean / MEAN_BOUND), jax.nn.softplus(std + shift) + MIN_STD)

    def act(
        self, feature: Float[Array, " feature"], skill: Float[Array, " skill"], noise: Float[Array, " action"]
    ) -> tuple[Float[Array, " action"], Float[Array, ""]]:
        """An action in (−1, 1) from standard normal `noise` (zero: tanh of the mean), and its entropy estimate.

        The estimate is the Gaussian's entropy plus ln |da/du| at the drawn u: unbiased under the noise.
        """
        gaussian = self(feature, skill)
        before_tanh = gaussian.mean + gaussian.std * noise
        gaussian_entropy = jnp.log(gaussian.std) + 0.5 * math.log(2 * math.pi * math.e)
        entropy = jnp.sum(gaussian_entropy + tanh_log_jacobian(before_tanh))
        return jnp.tanh(before_tanh), entropy


class SkillAsAction(eqx.Module):
    """What stands in the policy's place where actions are planned: the selected "skill" is the action."""

    action_size: int = eqx.field(static=True)

    def act(
        self, feature: Float[Array, " feature"], skill: Float[Array, " skill"], noise: Float[Array, " action"]
    ) -> tuple[Float[Array, " action"], Float[Array, ""]]:
        """The planned action, clipped to [−1, 1]; it has no entropy."""
        return jnp.clip(skill, -1.0, 1.0), jnp.zeros(())
