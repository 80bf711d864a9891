"""How good a plan is: its imagined λ-return (the V_g of the paper's Algorithm 2)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.behavior.imagination import draw_noise, imagine
from skillplan.behavior.policy import Policy
from skillplan.behavior.returns import lambda_returns
from skillplan.behavior.value import Value
from skillplan.config import Config
from skillplan.skill_discovery.intrinsic_reward import intrinsic_rewards, read_segments
from skillplan.skill_discovery.predictor import SkillPredictor
from skillplan.skill_selection.base import ImagineAndScore
from skillplan.types import Latent
from skillplan.world_model.model import WorldModel
from skillplan.world_model.rssm import feature


def plan_score(
    world_model: WorldModel,
    policy: Policy,
    value: Value,
    predictor: SkillPredictor | None,
    start: Latent,
    config: Config,
) -> ImagineAndScore:
    """The score of plans from one latent: λ-return of predicted task reward over H steps, value at the end.

    With `plan_lambda` 1 only the last value counts, so only that one is computed.
    With `planner.objective` "total" the intrinsic reward of each whole skill is added.
    """
    planner, behavior = config.planner, config.behavior

    def imagine_and_score(plan: Float[Array, "plan_length skill"], key: PRNGKeyArray) -> Float[Array, ""]:
        noise_key, predictor_key = jax.random.split(key)
        noise = draw_noise(noise_key, planner.horizon, policy.action_size, len(start.stoch))
        trajectory = imagine(world_model, policy, start, plan, config.skill.duration, noise)
        reward = jax.vmap(world_model.reward)(trajectory.feature)
        if planner.objective == "total" and predictor is not None:
            duration = config.skill.duration
            segments = read_segments(
                predictor, world_model, feature(start), trajectory.feature, plan, duration, predictor_key
            )
            intrinsic, _ = intrinsic_rewards(predictor, segments, planner.horizon, duration)
            reward = reward + config.discovery.intrinsic_scale * intrinsic
        discount = behavior.discount * jax.vmap(world_model.goes_on)(trajectory.feature)
        if planner.plan_lambda == 1:
            values = jnp.zeros_like(reward).at[-1].set(value(trajectory.feature[-1]))
        else:
            values = jax.vmap(value)(trajectory.feature)
        return lambda_returns(reward, values, discount, planner.plan_lambda)[0]

    return imagine_and_score
