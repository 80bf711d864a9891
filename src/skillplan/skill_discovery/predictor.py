"""The backward skill predictor q_χ(z | {s}, s_0)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.distributions import clamped_gaussian, normal_log_prob
from skillplan.envs.interface import EnvSpec
from skillplan.networks import MLP
from skillplan.types import Gaussian
from skillplan.world_model.decoder import FeatureDecoder
from skillplan.world_model.model import WorldModel, feature_size


class SkillPredictor(eqx.Module):
    """MLP from one imagined segment to a Gaussian over the skill that was held, std softly clamped to (0.1, 1.5).

    It reads either all features s_0 … s_K of the segment, or ("change") the first decoded observation and how the
    last one differs from it; with images, where decoding is dear, the features of those two states instead.
    """

    mlp: MLP
    noise: float = eqx.field(static=True)
    change: bool = eqx.field(static=True)
    segment: int = eqx.field(static=True)

    def __init__(self, config: Config, spec: EnvSpec, key: PRNGKeyArray):
        discovery = config.discovery
        self.segment = config.skill.training_segment
        self.change = discovery.predictor_input == "change"
        self.noise = discovery.predictor_noise
        if self.change:
            inputs = 2 * (feature_size(config) if spec.pixels else spec.observation_shape[0])
        else:
            inputs = (self.segment + 1) * feature_size(config)
        self.mlp = MLP(inputs, discovery.units, discovery.layers, 2 * config.skill.size, config.network, key)

    def inputs(
        self,
        world_model: WorldModel,
        start: Float[Array, " feature"],
        features: Float[Array, "segment feature"],
        key: PRNGKeyArray,
    ) -> Float[Array, " inputs"]:
        """What the predictor reads of one segment, with noise that hides small differences (appendix)."""
        if self.change:
            first, last = start, features[-1]
            if isinstance(world_model.decoder, FeatureDecoder):
                first, last = world_model.decoder(first).mean, world_model.decoder(last).mean
            noise = self.noise * jax.random.normal(key, (2, *first.shape))
            first, last = first + noise[0], last + noise[1]
            return jnp.concatenate([first, last - first])
        states = jnp.concatenate([start[None], features])
        return jnp.ravel(states + self.noise * jax.random.normal(key, states.shape))

    def __call__(self, inputs: Float[Array, " inputs"]) -> Gaussian:
        """The skill that was probably held."""
        return clamped_gaussian(self.mlp(inputs))

    def log_prob(self, inputs: Float[Array, " inputs"], skill: Float[Array, " skill"]) -> Float[Array, ""]:
        """ln q_χ(z | segment)."""
        return normal_log_prob(skill, self(inputs))
