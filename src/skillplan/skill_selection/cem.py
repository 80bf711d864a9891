"""Skill selection by the cross-entropy method (the paper's Algorithm 2)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.base import ImagineAndScore, SkillSelection
from skillplan.skill_selection.prior import standard_normal
from skillplan.types import SkillDistribution


def refit(
    distribution: SkillDistribution,
    plans: Float[Array, "population plan_length skill"],
    scores: Float[Array, " population"],
    elites: int,
) -> SkillDistribution:
    """Mean and population std of the best plans. A plan whose score is not finite is never among them.

    Fewer finite scores than `elites` make fewer elites; none at all leaves the distribution as it was.
    """
    best, index = jax.lax.top_k(jnp.where(jnp.isfinite(scores), scores, -jnp.inf), elites)
    finite = jnp.isfinite(best)[:, None, None].astype(plans.dtype)
    chosen = jnp.where(finite > 0, plans[index], 0.0)
    count = jnp.maximum(jnp.sum(finite), 1.0)
    mean = jnp.sum(chosen, axis=0) / count
    variance = jnp.sum(finite * jnp.square(chosen - mean[None]), axis=0) / count
    fitted = SkillDistribution(mean, jnp.sqrt(variance))
    any_finite = jnp.any(finite > 0)
    return jax.tree.map(lambda new, old: jnp.where(any_finite, new, old), fitted, distribution)


def cross_entropy_method(
    imagine_and_score: ImagineAndScore,
    initial: SkillDistribution,
    key: PRNGKeyArray,
    *,
    population: int,
    elites: int,
    iterations: int,
    common_noise: bool,
) -> SkillDistribution:
    """Draw `population` plans, score them, fit the distribution to the `elites` best; `iterations` times.

    With `common_noise` all plans of an iteration are scored under the same key, which lowers the variance of their
    comparison and the cost of the draws.
    """

    def iteration(distribution: SkillDistribution, number: Int[Array, ""]) -> tuple[SkillDistribution, None]:
        plan_key, score_key = jax.random.split(jax.random.fold_in(key, number))
        draws = jax.random.normal(plan_key, (population, *distribution.mean.shape))
        plans = distribution.mean[None] + distribution.std[None] * draws
        if common_noise:
            scores = jax.vmap(imagine_and_score, in_axes=(0, None))(plans, score_key)
        else:
            scores = jax.vmap(imagine_and_score)(plans, jax.random.split(score_key, population))
        return refit(distribution, plans, scores, elites), None

    distribution, _ = jax.lax.scan(iteration, initial, jnp.arange(iterations))
    return distribution


class CrossEntropyMethod(SkillSelection):
    """Plans over skills online, from N(0, I) anew each time."""

    plan_length: int = eqx.field(static=True)
    skill_size: int = eqx.field(static=True)
    skill_noise: float = eqx.field(static=True)
    population: int = eqx.field(static=True)
    elites: int = eqx.field(static=True)
    iterations: int = eqx.field(static=True)
    common_noise: bool = eqx.field(static=True)

    def __init__(self, config: Config, key: PRNGKeyArray):
        planner = config.planner
        self.plan_length = plan_length(config)
        self.skill_size = config.skill.size
        self.skill_noise = planner.skill_noise
        self.population, self.elites, self.iterations = planner.population, planner.elites, planner.iterations
        self.common_noise = planner.common_noise

    def select(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """Search from N(0, I)."""
        return cross_entropy_method(
            imagine_and_score,
            standard_normal(self.plan_length, self.skill_size),
            key,
            population=self.population,
            elites=self.elites,
            iterations=self.iterations,
            common_noise=self.common_noise,
        )


def plan_length(config: Config) -> int:
    """Skills in a plan: ⌈H/K⌉."""
    return -(-config.planner.horizon // config.skill.duration)
