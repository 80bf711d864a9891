"""The transitions of either level in one segment."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.hiro.goal import Goal
from skillplan.hiro.segment import Segment
from skillplan.hiro.td3 import Transition


def low_level_transition(
    goal: Goal, segment: Segment, rewards: Float[Array, " steps"], key: PRNGKeyArray
) -> Transition:
    """A step of the segment, each equally likely, that the low level takes towards a goal and is paid for by it.

    The goal then moves on by itself, after the segment's last step too: what the high level would choose next is none
    of the low level's affair.
    """
    step = jax.random.randint(key, (), 0, segment.steps)
    now, after, given = segment.observation[step], segment.observation[step + 1], segment.goal[step]
    return Transition(
        inputs=jnp.concatenate([now, given]),
        action=segment.action[step],
        reward=rewards[step],
        following=jnp.concatenate([after, goal.onward(given, now, after)]),
        goes_on=1.0 - (segment.ended & (step == segment.steps - 1)),
    )


def high_level_transition(
    goal: Goal, segment: Segment, chosen: Float[Array, " goal"], reward_scale: float
) -> Transition:
    """The whole segment as one step of the high level, which chose a goal and is paid what the world paid."""
    return Transition(
        inputs=segment.observation[0],
        action=chosen / goal.bound,
        reward=reward_scale * jnp.sum(segment.reward),
        following=segment.observation[-1],
        goes_on=1.0 - segment.ended,
    )
