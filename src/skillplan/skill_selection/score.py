"""How good a plan is: its imagined λ-return (the V_g of the paper's Algorithm 2)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.behavior.imagination import draw_noise, imagine
from skillplan.behavior.policy import Policy, SkillAsAction
from skillplan.behavior.returns import lambda_returns
from skillplan.behavior.value import Value
from skillplan.config import Config
from skillplan.skill_discovery import DISCOVERIES
from skillplan.skill_discovery.predictor import SkillPredictor
from skillplan.skill_selection.base import ImagineAndScore
from skillplan.types import Latent
from skillplan.world_model.model import WorldModel


def plan_score(
    world_model: WorldModel,
    policy: Policy | SkillAsAction,
    value: Value | None,
    predictor: SkillPredictor | None,
    start: Latent,
    config: Config,
) -> ImagineAndScore:
    """The score of plans from one latent: λ-return of predicted task reward over H steps, value at the end.

    Without a value, as where actions are planned, it is the sum of all H predicted rewards, none discounted (PlaNet).
    With `plan_lambda` 1 only the last value counts, so only that one is computed.
    With `planner.objective` "total" the intrinsic reward of each whole skill is added.
    """
    planner, behavior = config.planner, config.behavior

    def imagine_and_score(plan: Float[Array, "plan_length skill"], key: PRNGKeyArray) -> Float[Array, ""]:
        noise_key, predictor_key = jax.random.split(key)
        noise = draw_noise(noise_key, planner.horizon, policy.action_size, len(start.stoch))
        trajectory = imagine(world_model, policy, start, plan, config.skill.duration, noise)
        reward = jax.vmap(world_model.reward)(trajectory.feature)
        if planner.objective == "total" and config.skill.size:
            found = DISCOVERIES[config.discovery.intrinsic](
                predictor,
                world_model,
                policy,
                start,
                trajectory,
                plan,
                config.skill.duration,
                predictor_key,
                config,
            )
            reward = reward + config.discovery.intrinsic_scale * found.intrinsic_reward
        goes_on = jax.vmap(world_model.goes_on)(trajectory.feature)
        if value is None:
            return jnp.sum(reward * jnp.cumprod(jnp.concatenate([jnp.ones(1), goes_on[:-1]])))
        discount = behavior.discount * goes_on
        if planner.plan_lambda == 1:
            values = jnp.zeros_like(reward).at[-1].set(value(trajectory.feature[-1]))
        else:
            values = jax.vmap(value)(trajectory.feature)
        return lambda_returns(reward, values, discount, planner.plan_lambda)[0]

    return imagine_and_score
