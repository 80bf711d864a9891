"""Random skills: z ~ N(0, I), whatever the state (the paper's Random Skills baselines)."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.base import ImagineAndScore, SkillSelection
from skillplan.types import SkillDistribution


def standard_normal(plan_length: int, skill_size: int) -> SkillDistribution:
    """ζ⁰ = N(0, I)."""
    return SkillDistribution(jnp.zeros((plan_length, skill_size)), jnp.ones((plan_length, skill_size)))


class PriorSkill(SkillSelection):
    """Skills from N(0, I), as many as imagination has room for."""

    plan_length: int = eqx.field(static=True)
    skill_size: int = eqx.field(static=True)
    skill_noise: float = eqx.field(static=True)

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        self.plan_length = -(-config.behavior.imagination_length // config.skill.training_segment)
        self.skill_size, self.skill_noise = config.skill.size, 0.0

    def select(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """N(0, I)."""
        return standard_normal(self.plan_length, self.skill_size)

    def decide(
        self, distribution: SkillDistribution, key: PRNGKeyArray, explore: Float[Array, ""]
    ) -> Float[Array, " skill"]:
        """A sample, when evaluating too: the mean would be one single skill."""
        return self.sample(distribution, key)[0]
