"""Learning as the paper does: Algorithm 1 on the parts that its presets swap."""

from typing import Any

from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.agent import make_act
from skillplan.algorithm import LearnerState, make_learner, make_updates
from skillplan.envs.interface import EnvSpec
from skillplan.learner import Act, Learner, Updates
from skillplan.models import Models
from skillplan.skill_discovery.log_q_prior import log_q_prior
from skillplan.types import Batch


class LatentLearner(Learner):
    """A world model, and behaviour learned or planned inside it."""

    def initial(self, spec: EnvSpec, key: PRNGKeyArray) -> LearnerState:
        """Freshly initialised parts and their optimisers."""
        return make_learner(self.config, spec, key)

    def make_updates(self) -> Updates:
        """Updates of every part."""
        return make_updates(self.config)

    def make_act(self, *, choose_skills: bool = True) -> Act:
        """The posterior, a skill every K steps, and the policy on it."""
        return make_act(self.config, choose_skills=choose_skills)

    def log_q_prior(self, models: Models, batch: Batch, key: PRNGKeyArray) -> Float[Array, ""] | None:
        """On segments imagined from the batch's states."""
        return log_q_prior(models, batch, key)

    def parts(self, models: Models) -> dict[str, Any]:
        """The paper's θ, φ, ψ, χ, and a selection that learns."""
        return {
            "world_model": models.world_model,
            "policy": models.policy,
            "value": models.value,
            "skill_predictor": models.predictor,
            "skill_selection": models.selection,
        }

    def shapes(self, models: Models) -> dict[str, list[int]]:
        """Latents, skills and plans."""
        return {
            "deter": [self.config.world_model.deter],
            "stoch": [self.config.world_model.stoch],
            "skill": [self.config.skill.size],
            "plan": [models.selection.plan_length, models.selection.skill_size],
        }
