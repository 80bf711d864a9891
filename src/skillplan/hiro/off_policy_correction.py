"""HIRO's off-policy correction: old experience, told with the goal that today's low level would have needed for it."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import HiroConfig
from skillplan.hiro.goal import Goal
from skillplan.hiro.networks import Actor
from skillplan.hiro.segment import Segment


def goals_on_the_way(goal: Goal, first: Float[Array, " goal"], segment: Segment) -> Float[Array, "steps goal"]:
    """What the low level would have been asked for at each step, had the high level chosen `first`."""

    def step(now: Array, states: tuple[Array, Array]) -> tuple[Array, Array]:
        return goal.onward(now, *states), now

    return jax.lax.scan(step, first, (segment.observation[:-1], segment.observation[1:]))[1]


def action_error(goal: Goal, low: Actor, first: Float[Array, " goal"], segment: Segment) -> Float[Array, ""]:
    """Σ_t ‖a_t − π_lo(s_t, g_t)‖² over the steps that happened: minus a log-likelihood, but for constants."""
    inputs = jnp.concatenate([segment.observation[:-1], goals_on_the_way(goal, first, segment)], axis=-1)
    error = jnp.sum(jnp.square(segment.action - jax.vmap(low)(inputs)), axis=-1)
    return jnp.sum(error * segment.happened)


def candidates(goal: Goal, segment: Segment, hiro: HiroConfig, key: PRNGKeyArray) -> Float[Array, "candidates goal"]:
    """The goal that was given, the one that was achieved, and Gaussian draws around that, all within bounds."""
    given, centre = segment.goal[0], goal.centre(segment)
    noise = jax.random.normal(key, (hiro.candidates - 2, goal.size))
    draws = centre[None] + hiro.candidate_std * goal.bound * noise
    return jnp.clip(jnp.concatenate([given[None], centre[None], draws]), -goal.bound, goal.bound)


def corrected_goal(
    goal: Goal, low: Actor, segment: Segment, hiro: HiroConfig, key: PRNGKeyArray
) -> Float[Array, " goal"]:
    """Of the candidates the one under which the low level comes closest to the actions that were taken."""
    tried = candidates(goal, segment, hiro, key)
    errors = jax.vmap(lambda first: action_error(goal, low, first, segment))(tried)
    return tried[jnp.argmin(errors)]
