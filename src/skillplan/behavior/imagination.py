"""Imagined trajectories: the policy acting on skills inside the world model (paper section 3)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.behavior.policy import Policy, SkillAsAction
from skillplan.types import Latent, Noise
from skillplan.world_model.model import WorldModel
from skillplan.world_model.rssm import feature


class Trajectory(NamedTuple):
    """N imagined steps; index i is the (i+1)-th imagined state and the action that led to it."""

    latent: Latent
    feature: Float[Array, "length feature"]
    action: Float[Array, "length action"]
    entropy: Float[Array, " length"]


def draw_noise(key: PRNGKeyArray, length: int, action_size: int, stoch: int) -> Noise:
    """The draws of one trajectory of `length` steps."""
    normal = jax.random.normal(key, (length, action_size + stoch))
    return Noise(normal[:, :action_size], normal[:, action_size:])


def skill_at_each_step(
    plan: Float[Array, "plan_length skill"], length: int, duration: int
) -> Float[Array, "length skill"]:
    """Which skill acts when: k(t) = ⌊t/K⌋; a plan that is too short goes on with its last skill."""
    index = jnp.minimum(jnp.arange(length) // duration, len(plan) - 1)
    return plan[index]


def imagine(
    world_model: WorldModel,
    policy: Policy | SkillAsAction,
    start: Latent,
    plan: Float[Array, "plan_length skill"],
    duration: int,
    noise: Noise,
) -> Trajectory:
    """Act on a plan's skills, each held `duration` steps, from one latent. Deterministic given the noise."""
    skills = skill_at_each_step(plan, len(noise.action), duration)

    def step(latent: Latent, inputs: tuple[Array, Noise]) -> tuple[Latent, tuple[Latent, Array, Array]]:
        skill, step_noise = inputs
        action, entropy = policy.act(feature(latent), skill, step_noise.action)
        latent = world_model.rssm.imagine_step(latent, action, step_noise.latent)
        return latent, (latent, action, entropy)

    # Recomputed on the way back: kept for all steps, the values in between outgrow the processor's cache.
    step = jax.checkpoint(step, prevent_cse=False)
    _, (latents, actions, entropy) = jax.lax.scan(step, start, (skills, noise))
    return Trajectory(latents, feature(latents), actions, entropy)
