"""What the policy, the value and the skill predictor minimise in imagination (paper section 3)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.behavior.imagination import draw_noise, imagine
from skillplan.behavior.returns import discount_weights, lambda_returns
from skillplan.config import Config
from skillplan.distributions import unit_normal_log_prob
from skillplan.models import Models
from skillplan.skill_discovery import DISCOVERIES, METRICS
from skillplan.types import Latent

RETURN_PERCENTILES = (5.0, 95.0)


class Start(NamedTuple):
    """Where one imagined trajectory begins."""

    latent: Latent
    goes_on: Float[Array, "*b"]
    """0 where the episode ended in this state, else 1."""
    plan: Float[Array, "*b plan_length skill"]
    """The selected skills."""


class Imagined(NamedTuple):
    """The three losses of one start, and what is logged of it."""

    policy_loss: Float[Array, "*b"]
    value_loss: Float[Array, "*b"]
    predictor_loss: Float[Array, "*b"]
    returns: Float[Array, "*b n"]
    reward: Float[Array, "*b"]
    discernibility: Float[Array, "*b"]
    entropy: Float[Array, "*b"]


def imagined_losses(
    models: Models, start: Start, return_scale: Float[Array, ""], key: PRNGKeyArray, config: Config
) -> Imagined:
    """Imagine N steps from one start and compute

    policy: −mean(weight · R) / scale − entropy bonus (− w · mean log q / N with `intrinsic_path` "loss";
    with `intrinsic` "forward" the information stands in for log q),
    value: −mean(weight · ln Normal(R; v, 1)) with R held fixed,
    predictor: −mean ln q_χ(z | segment) with the segment held fixed.

    Each loss reaches its own part only, so that one gradient of their sum trains all three; a frozen copy of the
    other parts passes gradient on to the actions.
    """
    behavior, discovery = config.behavior, config.discovery
    fixed = jax.lax.stop_gradient(models)
    if models.value is None or fixed.value is None:
        raise ValueError("An agent that plans its actions has no behaviour to learn.")
    noise_key, predictor_key = jax.random.split(key)
    noise = draw_noise(noise_key, behavior.imagination_length, models.policy.action_size, len(start.latent.stoch))
    duration = config.skill.training_segment
    trajectory = imagine(fixed.world_model, models.policy, start.latent, start.plan, duration, noise)
    reward = jax.vmap(fixed.world_model.reward)(trajectory.feature)
    discount = behavior.discount * jax.vmap(fixed.world_model.goes_on)(trajectory.feature)

    total, bonus, discernibility, predictor_loss = reward, jnp.zeros(()), jnp.zeros(()), jnp.zeros(())
    if config.skill.size:
        found = DISCOVERIES[discovery.intrinsic](
            models.predictor,
            fixed.world_model,
            models.policy,
            start.latent,
            trajectory,
            start.plan,
            duration,
            predictor_key,
            config,
        )
        discernibility, predictor_loss = found.discernibility, found.predictor_loss
        if discovery.intrinsic_scale > 0 and discovery.intrinsic_path == "reward":
            total = reward + discovery.intrinsic_scale * found.intrinsic_reward
        elif discovery.intrinsic_scale > 0:
            bonus = start.goes_on * discovery.intrinsic_scale * discernibility / len(reward)

    values = jax.vmap(fixed.value)(trajectory.feature)
    returns = lambda_returns(total, values, discount, behavior.return_lambda)
    weights = jax.lax.stop_gradient(discount_weights(discount, start.goes_on))
    entropy = jnp.mean(trajectory.entropy)
    policy_loss = -jnp.mean(weights * returns) / return_scale - bonus - config.policy.entropy_scale * entropy

    predicted = jax.vmap(models.value)(jax.lax.stop_gradient(trajectory.feature))[:-1]
    target = jax.lax.stop_gradient(returns)
    value_loss = -jnp.mean(weights * unit_normal_log_prob(target, predicted))
    return Imagined(policy_loss, value_loss, predictor_loss, target, jnp.mean(reward), discernibility, entropy)


def behavior_loss(
    models: Models, starts: Start, return_range: Float[Array, ""], key: PRNGKeyArray, config: Config
) -> tuple[Float[Array, ""], tuple[Float[Array, ""], dict[str, Float[Array, ""]]]]:
    """The sum of the three losses over a batch of starts; also the range of the returns, and metrics."""
    keys = jax.random.split(key, len(starts.goes_on))
    scale = jnp.maximum(1.0, return_range) if config.behavior.normalize_returns else jnp.ones(())
    each = jax.vmap(lambda start, k: imagined_losses(models, start, scale, k, config))(starts, keys)
    low, high = jnp.percentile(each.returns, jnp.array(RETURN_PERCENTILES))
    policy_loss, value_loss = jnp.mean(each.policy_loss), jnp.mean(each.value_loss)
    metrics = {
        "policy/loss": policy_loss,
        "policy/entropy": jnp.mean(each.entropy),
        "value/loss": value_loss,
        "imagined/return": jnp.mean(each.returns),
        "imagined/reward": jnp.mean(each.reward),
        "imagined/return_range": high - low,
    }
    loss = policy_loss + value_loss
    if config.skill.size:
        loss = loss + jnp.mean(each.predictor_loss)
        metrics[METRICS[config.discovery.intrinsic]] = jnp.mean(each.discernibility)
    return loss, (high - low, metrics)
