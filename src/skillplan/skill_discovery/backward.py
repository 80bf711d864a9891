"""H(z | s_0) − H(z | {s}, s_0) by the skill predictor: r^i = log q_χ(z | {s}, s_0) (paper section 3.2)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.behavior.imagination import Trajectory
from skillplan.behavior.policy import Policy, SkillAsAction
from skillplan.config import Config
from skillplan.skill_discovery.base import Discovered
from skillplan.skill_discovery.intrinsic_reward import intrinsic_rewards, read_segments
from skillplan.skill_discovery.predictor import SkillPredictor
from skillplan.types import Latent
from skillplan.world_model.model import WorldModel
from skillplan.world_model.rssm import feature


def backward_information(
    predictor: SkillPredictor | None,
    world_model: WorldModel,
    policy: Policy | SkillAsAction,
    start: Latent,
    trajectory: Trajectory,
    plan: Float[Array, "plan_length skill"],
    duration: int,
    key: PRNGKeyArray,
    config: Config,
) -> Discovered:
    """log q_χ of each whole skill; the loss is −mean log q_χ with the segments held fixed."""
    if predictor is None:
        raise ValueError("The backward estimate needs a skill predictor.")
    length = len(trajectory.feature)
    segments = read_segments(predictor, world_model, feature(start), trajectory.feature, plan, duration, key)
    reward, log_q = intrinsic_rewards(jax.lax.stop_gradient(predictor), segments, length, duration)
    segments = jax.lax.stop_gradient(segments)
    loss = -jnp.mean(jax.vmap(predictor.log_prob)(segments.inputs, segments.skill))
    return Discovered(reward, log_q, loss)
