"""All that HIRO has learned, and everything that its update changes."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.hiro.goal import Goal
from skillplan.hiro.networks import ActorCritic
from skillplan.hiro.skill_goal import SkillGoal
from skillplan.hiro.state_goal import StateGoal
from skillplan.hiro.td3 import Level, make_level, make_optimizers
from skillplan.learner import Metrics

HIGH_METRICS = ("critic_loss", "policy_loss", "reward", "corrected")
GOALS: dict[str, type[SkillGoal] | type[StateGoal]] = {"skill": SkillGoal, "state": StateGoal}


class HiroMemory(NamedTuple):
    """What is remembered of the episodes in which the agent acts."""

    skill: Float[Array, "*batch goal"]
    """The skill or goal that is being served."""
    observation: Float[Array, "*batch size"]
    """The squashed observation of the step before, from which a goal is moved on."""
    step: Int[Array, "*batch"]


class HiroModels(eqx.Module):
    """Both levels, and what passes between them."""

    high: ActorCritic
    low: ActorCritic
    goal: Goal
    observation_size: int = eqx.field(static=True)

    @property
    def skill_size(self) -> int:
        """Numbers in a skill that can be held."""
        return self.goal.held_size

    def blank_memory(self) -> HiroMemory:
        """What is remembered before an episode begins."""
        return HiroMemory(jnp.zeros(self.goal.size), jnp.zeros(self.observation_size), jnp.zeros((), jnp.int32))


class HiroState(eqx.Module):
    """Both levels with their targets and optimisers, and a predictor with its own."""

    high: Level
    low: Level
    goal: Goal
    goal_optimizer: optax.OptState
    high_metrics: Metrics
    """The newest of the high level, which does not learn in every update."""
    updates: Int[Array, ""]
    observation_size: int = eqx.field(static=True)

    @property
    def models(self) -> HiroModels:
        """What acting needs."""
        return HiroModels(self.high.learned, self.low.learned, self.goal, self.observation_size)


def make_goal(config: Config, spec: EnvSpec, key: PRNGKeyArray) -> Goal:
    """What `hiro.goal` names."""
    return GOALS[config.hiro.goal](config, spec, key)


def goal_optimizer(config: Config) -> optax.GradientTransformation:
    """Adam for the predictor, as LSP's."""
    clip = optax.clip_by_global_norm(config.training.gradient_clip)
    return optax.chain(clip, optax.adam(config.discovery.learning_rate, eps=1e-7))


def make_state(config: Config, spec: EnvSpec, key: PRNGKeyArray) -> HiroState:
    """The state before the first update."""
    high_key, low_key, goal_key = jax.random.split(key, 3)
    hiro, size = config.hiro, spec.observation_shape[0]
    optimizers = make_optimizers(hiro, config.training.gradient_clip)
    goal = make_goal(config, spec, goal_key)
    return HiroState(
        high=make_level(size, goal.size, hiro, optimizers, high_key),
        low=make_level(size + goal.size, spec.action_size, hiro, optimizers, low_key),
        goal=goal,
        goal_optimizer=goal_optimizer(config).init(goal),
        high_metrics={name: jnp.zeros(()) for name in HIGH_METRICS},
        updates=jnp.zeros((), jnp.int32),
        observation_size=size,
    )
