"""One update of HIRO: the predictor, the low level, and every so often the high level, on one batch of segments."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.hiro.levels import high_level_transition, low_level_transition
from skillplan.hiro.models import HiroState, goal_optimizer
from skillplan.hiro.off_policy_correction import corrected_goal
from skillplan.hiro.segment import Segment, read_segment
from skillplan.hiro.td3 import Level, improve, make_optimizers
from skillplan.learner import Metrics
from skillplan.optimizer import apply_gradient
from skillplan.types import Batch


def make_update(config: Config) -> Callable[[HiroState, Batch, PRNGKeyArray], tuple[HiroState, Metrics]]:
    """The function `update(state, batch, key)` for one batch of windows `[batch, K + 1, …]`."""
    hiro, frozen = config.hiro, config.training.frozen
    optimizers = make_optimizers(hiro, config.training.gradient_clip)

    def learn_goal(state: HiroState, segments: Segment, keys: PRNGKeyArray) -> tuple[HiroState, Metrics]:
        loss = lambda goal: jnp.mean(jax.vmap(goal.loss)(segments, keys))  # noqa: E731
        gradient = jax.grad(loss)(state.goal)
        goal, optimizer = apply_gradient(goal_optimizer(config), state.goal, gradient, state.goal_optimizer)
        state = dataclasses.replace(state, goal=goal, goal_optimizer=optimizer)
        return state, {"predictor/gradient_norm": optax.tree.norm(gradient)}

    def learn_low(
        state: HiroState, segments: Segment, rewards: Float[Array, "batch steps"], key: PRNGKeyArray
    ) -> tuple[HiroState, Metrics]:
        step_key, improve_key = jax.random.split(key)
        keys = jax.random.split(step_key, len(rewards))
        transition = lambda segment, reward, k: low_level_transition(state.goal, segment, reward, k)  # noqa: E731
        transitions = jax.vmap(transition)(segments, rewards, keys)
        low, metrics = improve(state.low, transitions, optimizers, hiro, improve_key)
        return dataclasses.replace(state, low=low), _named("low_level", metrics)

    def learn_high(state: HiroState, segments: Segment, key: PRNGKeyArray) -> tuple[Level, Metrics]:
        candidate_key, improve_key = jax.random.split(key)
        keys = jax.random.split(candidate_key, len(segments.ended))
        low = state.low.learned.actor
        chosen = jax.vmap(lambda segment, k: corrected_goal(state.goal, low, segment, hiro, k))(segments, keys)
        transition = lambda segment, goal: high_level_transition(state.goal, segment, goal, hiro.reward_scale)  # noqa: E731
        transitions = jax.vmap(transition)(segments, chosen)
        high, metrics = improve(state.high, transitions, optimizers, hiro, improve_key)
        corrected = jnp.any(chosen != segments.goal[:, 0], axis=-1).astype(jnp.float32)
        return high, metrics | {"reward": jnp.mean(transitions.reward), "corrected": jnp.mean(corrected)}

    def update(state: HiroState, batch: Batch, key: PRNGKeyArray) -> tuple[HiroState, Metrics]:
        goal_key, reward_key, low_key, high_key = jax.random.split(key, 4)
        action_size = state.low.learned.actor.outputs
        segments = jax.vmap(lambda window: read_segment(window, action_size))(batch)
        keys = jax.random.split(reward_key, len(segments.ended))
        paid = jax.vmap(state.goal.rewards)(segments, keys)
        metrics = state.goal.metrics(segments, paid)

        if jax.tree.leaves(state.goal) and "predictor" not in frozen:
            state, found = learn_goal(state, segments, jax.random.split(goal_key, len(segments.ended)))
            metrics |= found

        if "policy" not in frozen:
            rewards = config.discovery.intrinsic_scale * paid
            state, found = learn_low(state, segments, rewards, low_key)
            metrics |= found

        if "selection" not in frozen:
            high, newest = jax.lax.cond(
                state.updates % hiro.high_level_every == 0,
                lambda: learn_high(state, segments, high_key),
                lambda: (state.high, state.high_metrics),
            )
            state = dataclasses.replace(state, high=high, high_metrics=newest)
            metrics |= _named("high_level", newest)
        return dataclasses.replace(state, updates=state.updates + 1), metrics

    return update


def _named(level: str, metrics: Metrics) -> Metrics:
    return {f"{level}/{name}": value for name, value in metrics.items()}
