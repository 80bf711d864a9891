"""What the high level can hand down to the low level: siblings behind one interface."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.hiro.segment import Segment
from skillplan.learner import Metrics


class Goal(eqx.Module):
    """The meaning of the numbers that pass from the high level to the low level."""

    size: eqx.AbstractVar[int]
    bound: eqx.AbstractVar[float]
    """The high level chooses each number between minus and plus this."""

    @property
    def held_size(self) -> int:
        """Numbers in a skill that keeps its meaning when it is held; zero for a goal, which wears off."""
        return 0

    @abstractmethod
    def onward(
        self, goal: Float[Array, " goal"], observation: Float[Array, " size"], following: Float[Array, " size"]
    ) -> Float[Array, " goal"]:
        """HIRO's goal transition h(s, g, s'): what is left to ask for after one more step."""

    @abstractmethod
    def prior(self, key: PRNGKeyArray) -> Float[Array, " goal"]:
        """A goal that nobody chose."""

    @abstractmethod
    def rewards(self, segment: Segment, key: PRNGKeyArray) -> Float[Array, " steps"]:
        """What the low level is paid for each step; `key` is for noise on what judges it."""

    @abstractmethod
    def centre(self, segment: Segment) -> Float[Array, " goal"]:
        """The goal that a segment looks to have served, whatever it was."""

    def metrics(self, segments: Segment, rewards: Float[Array, "batch steps"]) -> Metrics:
        """What is logged of a batch of segments and what was paid for them."""
        steps = jnp.maximum(jnp.sum(segments.happened), 1)
        return {"low_level/reward": jnp.sum(rewards * segments.happened) / steps}

    def loss(self, segment: Segment, key: PRNGKeyArray) -> Float[Array, ""]:
        """What a goal with parameters minimises on one segment; the others have nothing to learn."""
        raise ValueError(f"{type(self).__name__} has no parameters.")
