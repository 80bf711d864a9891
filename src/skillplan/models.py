"""All that an agent has learned: the paper's θ, φ, ψ, χ, and the way it selects skills."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from skillplan.behavior.policy import Policy, SkillAsAction
from skillplan.behavior.value import Value
from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.skill_discovery.predictor import SkillPredictor
from skillplan.skill_selection import SkillSelection, make_selection
from skillplan.skill_selection.base import ImagineAndScore
from skillplan.skill_selection.score import plan_score
from skillplan.types import Latent, Memory
from skillplan.world_model import WorldModel


class Models(eqx.Module):
    """The parts of one agent.

    Without skills, or with the forward estimate, there is no predictor; where actions are planned, no value either.
    """

    world_model: WorldModel
    policy: Policy | SkillAsAction
    value: Value | None
    predictor: SkillPredictor | None
    selection: SkillSelection

    @property
    def skill_size(self) -> int:
        """Numbers in a skill; zero for an agent without skills, also where actions are selected in their place."""
        return 0 if isinstance(self.policy, SkillAsAction) else self.selection.skill_size

    def blank_memory(self) -> Memory:
        """What is remembered before an episode begins."""
        action, skill = jnp.zeros(self.policy.action_size), jnp.zeros(self.selection.skill_size)
        return Memory(self.world_model.rssm.initial(), action, skill, jnp.zeros((), jnp.int32))

    def score(self, start: Latent, config: Config) -> ImagineAndScore:
        """How the planner judges plans from one latent."""
        return plan_score(self.world_model, self.policy, self.value, self.predictor, start, config)


def make_models(config: Config, spec: EnvSpec, key: PRNGKeyArray) -> Models:
    """Freshly initialised parts for a world."""
    keys = jax.random.split(key, 5)
    predicts = config.skill.size > 0 and config.discovery.intrinsic == "backward"
    plans_actions = config.skill.selection == "actions"
    return Models(
        world_model=WorldModel(config, spec, keys[0]),
        policy=SkillAsAction(spec.action_size) if plans_actions else Policy(config, spec.action_size, keys[1]),
        value=None if plans_actions else Value(config, keys[2]),
        predictor=SkillPredictor(config, spec, keys[3]) if predicts else None,
        selection=make_selection(config, spec.action_size, keys[4]),
    )
