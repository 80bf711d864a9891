"""The skill predictor q_χ(z | observations): LSP's, for an agent without latents."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.distributions import clamped_gaussian, normal_log_prob
from skillplan.envs.interface import EnvSpec
from skillplan.networks import MLP
from skillplan.types import Gaussian


class ObservationPredictor(eqx.Module):
    """MLP from the squashed observations of a segment to a Gaussian over the skill, std softly clamped to (0.1, 1.5).

    As LSP's, it reads all of them, or ("change") the first and how the last differs from it.
    """

    mlp: MLP
    noise: float = eqx.field(static=True)
    change: bool = eqx.field(static=True)

    def __init__(self, config: Config, spec: EnvSpec, key: PRNGKeyArray):
        discovery = config.discovery
        self.change, self.noise = discovery.predictor_input == "change", discovery.predictor_noise
        states = 2 if self.change else config.skill.training_segment + 1
        inputs = states * spec.observation_shape[0]
        self.mlp = MLP(inputs, discovery.units, discovery.layers, 2 * config.skill.size, config.network, key)

    def flat(self, observations: Float[Array, "states size"]) -> Float[Array, " inputs"]:
        """What is read of a segment."""
        if self.change:
            return jnp.concatenate([observations[0], observations[-1] - observations[0]])
        return jnp.ravel(observations)

    def inputs(self, observations: Float[Array, "states size"], key: PRNGKeyArray) -> Float[Array, " inputs"]:
        """The same with noise on the observations, that hides small differences (appendix)."""
        return self.flat(observations + self.noise * jax.random.normal(key, observations.shape))

    def __call__(self, inputs: Float[Array, " inputs"]) -> Gaussian:
        """The skill that was probably held."""
        return clamped_gaussian(self.mlp(inputs))

    def log_prob(self, inputs: Float[Array, " inputs"], skill: Float[Array, " skill"]) -> Float[Array, ""]:
        """ln q_χ(z | observations)."""
        return normal_log_prob(skill, self(inputs))
