"""No skill and no policy: the actions themselves are planned (PlaNet, the fully online end of the paper's figure 2)."""

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.cem import Judge, Search, refit
from skillplan.types import SkillDistribution


class PlannedActions(Search):
    """CEM over sequences of actions, from N(0, I); what it selects is not a skill but the action to take.

    Its policy is `skillplan.behavior.policy.SkillAsAction`, and an action is held for one agent step (K = 1).
    """

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        super().__init__(config, action_size, key)
        self.skill_size, self.skill_noise = action_size, 0.0

    def fit(
        self,
        distribution: SkillDistribution,
        plans: Float[Array, "population plan_length skill"],
        scores: Float[Array, " population"],
        judge: Judge,
        elites: int,
    ) -> SkillDistribution:
        """Mean and std of the elites as they are carried out, that is clipped to [−1, 1]."""
        return refit(distribution, jnp.clip(plans, -1.0, 1.0), scores, elites)

    def decide(
        self, distribution: SkillDistribution, key: PRNGKeyArray, explore: Float[Array, ""]
    ) -> Float[Array, " skill"]:
        """The mean in collection too: what explores is the noise on actions."""
        return distribution.mean[0]
