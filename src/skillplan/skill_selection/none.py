"""No skill at all: the policy alone acts (Dreamer)."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.base import ImagineAndScore, SkillSelection
from skillplan.types import SkillDistribution


class NoSkill(SkillSelection):
    """A plan of one skill with no numbers in it."""

    plan_length: int = eqx.field(static=True)
    skill_size: int = eqx.field(static=True)
    skill_noise: float = eqx.field(static=True)

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        self.plan_length, self.skill_size, self.skill_noise = 1, 0, 0.0

    def select(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """Nothing to choose."""
        return SkillDistribution(jnp.zeros((1, 0)), jnp.ones((1, 0)))

    def sample(self, distribution: SkillDistribution, key: PRNGKeyArray) -> Float[Array, "plan_length skill"]:
        """The empty plan."""
        return distribution.mean
