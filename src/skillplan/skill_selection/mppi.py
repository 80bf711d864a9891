"""Model-predictive path integral: every plan counts, by the softmax of its score (Williams et al. 2017)."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.cem import Judge, Search, weighted_fit
from skillplan.types import SkillDistribution


def softmax_weights(scores: Float[Array, " population"], temperature: float) -> Float[Array, " population"]:
    """Weights ∝ exp((score − best) / (temperature · std of the scores)); zero where a score is not finite.

    Measured in their own standard deviation, scores weigh the same whatever the rewards of a task are worth. Where all
    finite scores are equal, so are their weights.
    """
    finite = jnp.isfinite(scores)
    count = jnp.maximum(jnp.sum(finite), 1)
    known = jnp.where(finite, scores, 0.0)
    below = jnp.where(finite, scores - jnp.max(jnp.where(finite, scores, -jnp.inf)), -jnp.inf)
    spread = jnp.sqrt(jnp.sum(jnp.where(finite, jnp.square(known - jnp.sum(known) / count), 0.0)) / count)
    return jnp.where(finite, jnp.exp(below / (temperature * jnp.maximum(spread, 1e-8))), 0.0)


class PathIntegral(Search):
    """The search of CEM with a softmax-weighted refit; `elites` plays no part."""

    temperature: float = eqx.field(static=True)

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        super().__init__(config, action_size, key)
        self.temperature = config.planner.temperature

    def weights(self, scores: Float[Array, " population"]) -> Float[Array, " population"]:
        """The softmax of the scores."""
        return softmax_weights(scores, self.temperature)

    def fit(
        self,
        distribution: SkillDistribution,
        plans: Float[Array, "population plan_length skill"],
        scores: Float[Array, " population"],
        judge: Judge,
        elites: int,
    ) -> SkillDistribution:
        """Weighted mean and std of the whole population."""
        return weighted_fit(distribution, plans, self.weights(scores))
