"""Amortised while training, planned while acting: CEM started at what the high-level policy proposes."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.base import ImagineAndScore, SkillSelection
from skillplan.skill_selection.cem import CrossEntropyMethod, Iterations
from skillplan.skill_selection.high_level_policy import HighLevelPolicy
from skillplan.skill_selection.prior import standard_normal
from skillplan.types import SkillDistribution


class AmortizedTrain(SkillSelection):
    """Training imagines under the high-level policy, at the price of one forward pass; acting improves on it by CEM.

    The paper names this as future work: no planning inside the loop that trains, planning where it is used.
    """

    policy: HighLevelPolicy
    planner: CrossEntropyMethod
    plan_length: int = eqx.field(static=True)
    skill_size: int = eqx.field(static=True)
    skill_noise: float = eqx.field(static=True)

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        self.policy = HighLevelPolicy(config, action_size, key)
        self.planner = CrossEntropyMethod(config, action_size, key)
        self.plan_length, self.skill_size = self.policy.plan_length, self.policy.skill_size
        self.skill_noise = self.policy.skill_noise

    @property
    def acting_length(self) -> int:
        """As long as the planner's."""
        return self.planner.acting_length

    def select(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """The high-level policy's distribution."""
        return self.policy.select(imagine_and_score, feature, key)

    def select_to_act(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """CEM from the high-level policy's distribution; skills of the plan beyond that begin at N(0, I)."""
        return self.watch_to_act(imagine_and_score, feature, key)[0]

    def watch_to_act(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> tuple[SkillDistribution, Iterations]:
        """The search of `select_to_act`, and what it went through."""
        proposed = self.policy.select(imagine_and_score, feature, key)
        beyond = standard_normal(max(self.planner.acting_length - self.plan_length, 0), self.skill_size)
        initial = jax.tree.map(
            lambda near, far: jnp.concatenate([near, far])[: self.planner.acting_length], proposed, beyond
        )
        return self.planner.iterate(imagine_and_score, initial, key, self.planner.acting)

    def weights(self, scores: Float[Array, " population"]) -> Float[Array, " population"]:
        """The planner's."""
        return self.planner.weights(scores)

    def loss(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> Float[Array, ""]:
        """The high-level policy's."""
        return self.policy.loss(imagine_and_score, feature, key)
