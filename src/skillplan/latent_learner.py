"""Learning as the paper does: Algorithm 1 on the parts that its presets swap."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.agent import make_act
from skillplan.algorithm import LearnerState, make_learner, make_updates, replace_parts
from skillplan.envs.interface import EnvSpec
from skillplan.learner import Act, Learner, Updates
from skillplan.models import Models
from skillplan.skill_discovery.log_q_held import log_q_over_marginal
from skillplan.skill_discovery.log_q_prior import log_q_prior
from skillplan.types import Batch
from skillplan.world_model import WorldModel


class LatentLearner(Learner):
    """A world model, and behaviour learned or planned inside it."""

    def initial(self, spec: EnvSpec, key: PRNGKeyArray) -> LearnerState:
        """Freshly initialised parts and their optimisers."""
        return make_learner(self.config, spec, key)

    def carry_over(self, state: LearnerState, fresh: LearnerState, *, keep_heads: bool) -> LearnerState:
        """World model, policy, predictor and selection go on with their optimisers; reward head and value start anew.

        So does the range of returns. The reward head's share of its optimiser's moments is set to zero.
        """
        if keep_heads:
            return dataclasses.replace(state, updates=fresh.updates)
        # Not by `replace`, which would call the world model's own constructor.
        world_model = eqx.tree_at(lambda model: model.reward, state.models.world_model, fresh.models.world_model.reward)
        optimizers = dict(state.optimizers, value=fresh.optimizers["value"])
        reward_moments = lambda tree: [  # noqa: E731
            part.reward for part in jax.tree.leaves(tree, is_leaf=_is_world_model) if _is_world_model(part)
        ]
        optimizers["world_model"] = eqx.tree_at(
            reward_moments, state.optimizers["world_model"], reward_moments(fresh.optimizers["world_model"])
        )
        models = replace_parts(state.models, {"world_model": world_model, "value": fresh.models.value})
        return LearnerState(models, optimizers, fresh.return_range, fresh.updates)

    def carried(self, *, keep_heads: bool, fix_policy: bool) -> dict[str, str]:
        """Without skills there is no predictor."""
        fixed, anew = "kept, frozen" if fix_policy else "kept", "kept" if keep_heads else "starts anew"
        parts = {"world model": "kept", "reward head": anew, "policy": fixed, "value": anew, "skill predictor": fixed}
        if self.config.skill.size == 0:
            del parts["skill predictor"]
        return parts

    def make_updates(self) -> Updates:
        """Updates of every part."""
        return make_updates(self.config)

    def make_act(self, *, choose_skills: bool = True) -> Act:
        """The posterior, a skill every K steps, and the policy on it."""
        return make_act(self.config, choose_skills=choose_skills)

    def log_q_prior(self, models: Models, batch: Batch, key: PRNGKeyArray) -> Float[Array, ""] | None:
        """On segments imagined from the batch's states."""
        return log_q_prior(models, batch, key)

    def log_q_held(
        self, models: Models, batch: Batch, skills: Float[Array, "episodes skill"], key: PRNGKeyArray
    ) -> Float[Array, " episodes"] | None:
        """On the latents of what was observed."""
        return log_q_over_marginal(models, batch, skills, key)

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
            "plan": [models.selection.acting_length, models.selection.skill_size],
        }


def _is_world_model(node: Any) -> bool:
    return isinstance(node, WorldModel)
