"""The intrinsic reward r^i = log q_χ(z | {s}, s_0) of imagined skills (paper section 3.2)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.skill_discovery.predictor import SkillPredictor
from skillplan.world_model.model import WorldModel


class Segments(NamedTuple):
    """The whole skills of one imagined trajectory, as the predictor reads them."""

    inputs: Float[Array, "segments inputs"]
    skill: Float[Array, "segments skill"]


def segment_starts(length: int, duration: int, segment: int) -> list[int]:
    """Steps at which a skill begins that is held for a whole `segment` within `length` imagined steps."""
    return [start for start in range(0, length, duration) if start + segment <= length]


def reward_places(length: int, duration: int, segment: int) -> np.ndarray:
    """Index of the imagined state that is paid for each whole skill: the skill's last one that enters a return.

    State number min(end, N − 1), counted from 1, because the reward of state N enters no λ-return.
    """
    ends = [start + segment for start in segment_starts(length, duration, segment)]
    return np.minimum(ends, length - 1) - 1


def read_segments(
    predictor: SkillPredictor,
    world_model: WorldModel,
    start: Float[Array, " feature"],
    features: Float[Array, "length feature"],
    plan: Float[Array, "plan_length skill"],
    duration: int,
    key: PRNGKeyArray,
) -> Segments:
    """Cut a trajectory into its whole skills, each held `duration` steps and read for the predictor's own length."""
    states = jnp.concatenate([start[None], features])
    starts = segment_starts(len(features), duration, predictor.segment)
    inputs = [
        predictor.inputs(world_model, states[begin], states[begin + 1 : begin + 1 + predictor.segment], segment_key)
        for begin, segment_key in zip(starts, jax.random.split(key, len(starts)), strict=True)
    ]
    return Segments(jnp.stack(inputs), plan[np.array(starts) // duration])


def intrinsic_rewards(
    predictor: SkillPredictor, segments: Segments, length: int, duration: int
) -> tuple[Float[Array, " length"], Float[Array, ""]]:
    """log q_χ of each whole skill, placed at its last state that counts and zero elsewhere; and their mean."""
    log_prob = jax.vmap(predictor.log_prob)(segments.inputs, segments.skill)
    places = reward_places(length, duration, predictor.segment)
    return jnp.zeros(length).at[places].add(log_prob), jnp.mean(log_prob)
