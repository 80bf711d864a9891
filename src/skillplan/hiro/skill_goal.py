"""The paper's goal for HIRO: a skill, for the same intrinsic reward as LSP's."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.hiro.goal import Goal
from skillplan.hiro.predictor import ObservationPredictor
from skillplan.hiro.segment import Segment
from skillplan.learner import Metrics
from skillplan.skill_selection.high_level_policy import MEAN_BOUND


class SkillGoal(Goal):
    """A skill z, paid with log q_χ(z | the segment's observations).

    No state asks for z, so the achieved change of HIRO's correction has no counterpart: q_χ's mean is in its place.
    """

    predictor: ObservationPredictor
    size: int = eqx.field(static=True)
    bound: float = eqx.field(static=True)

    def __init__(self, config: Config, spec: EnvSpec, key: PRNGKeyArray):
        self.predictor = ObservationPredictor(config, spec, key)
        self.size, self.bound = config.skill.size, MEAN_BOUND

    @property
    def held_size(self) -> int:
        """All of it."""
        return self.size

    def onward(
        self, goal: Float[Array, " goal"], observation: Float[Array, " size"], following: Float[Array, " size"]
    ) -> Float[Array, " goal"]:
        """The same skill."""
        return goal

    def prior(self, key: PRNGKeyArray) -> Float[Array, " goal"]:
        """N(0, I), within bounds."""
        return jnp.clip(jax.random.normal(key, (self.size,)), -self.bound, self.bound)

    def log_q(self, segment: Segment, key: PRNGKeyArray) -> Float[Array, ""]:
        """log q_χ(z | observations)."""
        return self.predictor.log_prob(self.predictor.inputs(segment.observation, key), segment.goal[0])

    def rewards(self, segment: Segment, key: PRNGKeyArray) -> Float[Array, " steps"]:
        """log q_χ, an equal share to each of the K steps; nothing to those of a segment that was cut short.

        The low level does not see how long it has held a skill: a reward at the last step alone would be noise to it.
        """
        steps = len(segment.reward)
        return jnp.full(steps, segment.is_whole * self.log_q(segment, key) / steps)

    def centre(self, segment: Segment) -> Float[Array, " goal"]:
        """The skill that q_χ thinks was held."""
        return self.predictor(self.predictor.flat(segment.observation)).mean

    def metrics(self, segments: Segment, rewards: Float[Array, "batch steps"]) -> Metrics:
        """Also the mean log q_χ of whole segments."""
        log_q = jnp.sum(rewards) / jnp.maximum(jnp.sum(segments.is_whole), 1)
        return super().metrics(segments, rewards) | {"skill/log_q": log_q}

    def loss(self, segment: Segment, key: PRNGKeyArray) -> Float[Array, ""]:
        """−log q_χ of the skill that was held for a whole segment."""
        return -(segment.is_whole * self.log_q(segment, key))
