"""A segment: the K agent steps under one decision of the high level, as replay keeps them."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from skillplan.distributions import symlog
from skillplan.types import Batch


class Segment(NamedTuple):
    """Step t goes from observation t to t + 1. An episode that ended in between leaves fewer than K steps."""

    observation: Float[Array, "*b states size"]
    """K + 1 of them, squashed by symlog; after the episode's end its last one is repeated."""
    goal: Float[Array, "*b steps goal"]
    """The skill or goal that each action was to serve."""
    action: Float[Array, "*b steps action"]
    reward: Float[Array, "*b steps"]
    happened: Bool[Array, "*b steps"]
    """Whether the step belongs to the episode."""
    ended: Bool[Array, "*b"]
    """Whether the world ended the episode in the segment's last step that happened."""

    @property
    def steps(self) -> Int[Array, "*b"]:
        """Steps that happened; at least one."""
        return jnp.sum(self.happened, axis=-1)

    @property
    def is_whole(self) -> Bool[Array, "*b"]:
        """Whether all K steps happened."""
        return jnp.all(self.happened, axis=-1)


def read_segment(window: Batch, action_size: int) -> Segment:
    """Cut the K + 1 indices of one window of replay into steps; what was stored as action holds the goal too.

    A window may run on into the next episode, which begins where `is_first` says.
    """
    # Once another episode has begun, no later step belongs to this one.
    happened = jnp.cumsum(window.is_first[1:].astype(jnp.int32)) == 0
    last = jnp.minimum(jnp.arange(len(window.reward)), jnp.sum(happened))
    return Segment(
        observation=symlog(window.observation)[last],
        goal=window.action[1:, action_size:],
        action=window.action[1:, :action_size],
        reward=window.reward[1:] * happened,
        happened=happened,
        ended=jnp.any(window.is_terminal[1:] & happened),
    )
