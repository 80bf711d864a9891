"""Amortised skills: a network chooses the plan, trained on the score that the planner would maximise."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.distributions import clamped_gaussian
from skillplan.networks import MLP
from skillplan.skill_selection.base import ImagineAndScore, SkillSelection
from skillplan.skill_selection.plan_shape import plan_length, while_training
from skillplan.types import SkillDistribution
from skillplan.world_model.model import feature_size

MEAN_BOUND = 3.0


class HighLevelPolicy(SkillSelection):
    """Gaussian over plans given the feature: mean 3·tanh(m/3), std softly clamped to about (0.1, 1.5).

    The bound keeps skills where N(0, I) has mass, so that planned and amortised skills share one range.
    """

    mlp: MLP
    plan_length: int = eqx.field(static=True)
    skill_size: int = eqx.field(static=True)
    skill_noise: float = eqx.field(static=True)

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        self.plan_length, self.skill_size = plan_length(while_training(config)), config.skill.size
        self.skill_noise = config.planner.skill_noise
        outputs = 2 * self.plan_length * self.skill_size
        policy = config.policy
        self.mlp = MLP(
            feature_size(config), policy.units, policy.layers, outputs, config.network, key, config.network.output_scale
        )

    def select(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """One forward pass."""
        mean, std = clamped_gaussian(self.mlp(feature))
        shape = (self.plan_length, self.skill_size)
        return SkillDistribution(MEAN_BOUND * jnp.tanh(mean / MEAN_BOUND).reshape(shape), std.reshape(shape))

    def loss(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> Float[Array, ""]:
        """Minus the score of a plan drawn from this policy at one state; its gradient flows through imagination."""
        select_key, sample_key, score_key = jax.random.split(key, 3)
        plan = self.sample(self.select(imagine_and_score, jax.lax.stop_gradient(feature), select_key), sample_key)
        return -imagine_and_score(plan, score_key)
