"""Skill selection by the cross-entropy method (the paper's Algorithm 2)."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.base import ImagineAndScore, SkillSelection
from skillplan.skill_selection.plan_shape import SearchSize, search_size, while_training
from skillplan.skill_selection.prior import standard_normal
from skillplan.types import SkillDistribution

Judge = Callable[[Float[Array, "plan_length skill"], Int[Array, ""]], Float[Array, ""]]
"""The score of a plan under the random draws of one member of the population, given by its number."""
Refit = Callable[
    [SkillDistribution, Float[Array, "population plan_length skill"], Float[Array, " population"], Judge],
    SkillDistribution,
]
"""The next distribution, from the present one, its population, the population's scores, and the judge of them."""


def best(scores: Float[Array, " population"], elites: int) -> tuple[Int[Array, " elites"], Float[Array, " elites"]]:
    """The numbers of the best plans, and their weights: 1, or 0 for one whose score is not finite."""
    top, index = jax.lax.top_k(jnp.where(jnp.isfinite(scores), scores, -jnp.inf), elites)
    return index, jnp.isfinite(top).astype(scores.dtype)


def weighted_fit(
    distribution: SkillDistribution, plans: Float[Array, "n plan_length skill"], weights: Float[Array, " n"]
) -> SkillDistribution:
    """Mean and population std of plans that count by their weights; without any weight the distribution stays."""
    total = jnp.sum(weights)
    share = (weights / jnp.where(total > 0, total, 1.0))[:, None, None]
    mean = jnp.sum(share * plans, axis=0)
    variance = jnp.sum(share * jnp.square(plans - mean[None]), axis=0)
    fitted = SkillDistribution(mean, jnp.sqrt(variance))
    return jax.tree.map(lambda new, old: jnp.where(total > 0, new, old), fitted, distribution)


def refit(
    distribution: SkillDistribution,
    plans: Float[Array, "population plan_length skill"],
    scores: Float[Array, " population"],
    elites: int,
) -> SkillDistribution:
    """Mean and population std of the best plans. A plan whose score is not finite is never among them.

    Fewer finite scores than `elites` make fewer elites; none at all leaves the distribution as it was.
    """
    index, weights = best(scores, elites)
    return weighted_fit(distribution, plans[index], weights)


class Iterations(NamedTuple):
    """What a search went through: each iteration's distribution, the plans drawn from it, and their scores."""

    distribution: SkillDistribution
    """Before the iteration, `[iterations, plan_length, skill]`."""
    plans: Float[Array, "iterations population plan_length skill"]
    scores: Float[Array, "iterations population"]


def cross_entropy_method(
    imagine_and_score: ImagineAndScore,
    initial: SkillDistribution,
    key: PRNGKeyArray,
    *,
    population: int,
    elites: int,
    iterations: int,
    common_noise: bool,
    fit: Refit | None = None,
) -> tuple[SkillDistribution, Iterations]:
    """Draw `population` plans, score them, fit the distribution to the `elites` best; `iterations` times.

    Returns the last distribution and what led there; a compiled function that does not use the latter does not keep it.
    With `common_noise` all plans of an iteration are scored under the same key, which lowers the variance of their
    comparison and the cost of the draws. Another `fit` than that of the elites makes another planner.
    """

    def iteration(
        distribution: SkillDistribution, number: Int[Array, ""]
    ) -> tuple[SkillDistribution, tuple[SkillDistribution, Array, Array]]:
        plan_key, score_key = jax.random.split(jax.random.fold_in(key, number))
        draws = jax.random.normal(plan_key, (population, *distribution.mean.shape))
        plans = distribution.mean[None] + distribution.std[None] * draws
        if common_noise:
            keys = jnp.broadcast_to(score_key, (population,))
            scores = jax.vmap(imagine_and_score, in_axes=(0, None))(plans, score_key)
        else:
            keys = jax.random.split(score_key, population)
            scores = jax.vmap(imagine_and_score)(plans, keys)
        if fit is None:
            return refit(distribution, plans, scores, elites), (distribution, plans, scores)
        judge = lambda plan, member: imagine_and_score(plan, jax.random.clone(keys[member]))  # noqa: E731
        return fit(distribution, plans, scores, judge), (distribution, plans, scores)

    distribution, gone_through = jax.lax.scan(iteration, initial, jnp.arange(iterations))
    return distribution, Iterations(*gone_through)


class Search(SkillSelection):
    """Plans over skills online, from N(0, I) anew each time; what becomes of a scored population is the subclass's."""

    plan_length: int = eqx.field(static=True)
    training: SearchSize = eqx.field(static=True)
    acting: SearchSize = eqx.field(static=True)
    skill_size: int = eqx.field(static=True)
    skill_noise: float = eqx.field(static=True)
    common_noise: bool = eqx.field(static=True)

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        planner = config.planner
        self.training, self.acting = search_size(while_training(config)), search_size(config)
        self.plan_length = self.training.plan_length
        self.skill_size = config.skill.size
        self.skill_noise = planner.skill_noise
        self.common_noise = planner.common_noise

    @property
    def acting_length(self) -> int:
        """⌈H/K⌉ with the H and K of acting."""
        return self.acting.plan_length

    @abstractmethod
    def fit(
        self,
        distribution: SkillDistribution,
        plans: Float[Array, "population plan_length skill"],
        scores: Float[Array, " population"],
        judge: Judge,
        elites: int,
    ) -> SkillDistribution:
        """The distribution of the next iteration."""

    def weights(self, scores: Float[Array, " population"]) -> Float[Array, " population"]:
        """How much each plan of a population counts that was scored to act: the elites alone, all alike."""
        index, weights = best(scores, self.acting.elites)
        return jnp.zeros_like(scores).at[index].set(weights)

    def iterate(
        self, imagine_and_score: ImagineAndScore, initial: SkillDistribution, key: PRNGKeyArray, size: SearchSize
    ) -> tuple[SkillDistribution, Iterations]:
        """All iterations, from a given distribution, and what they went through."""
        return cross_entropy_method(
            imagine_and_score,
            initial,
            key,
            population=size.population,
            elites=size.elites,
            iterations=size.iterations,
            common_noise=self.common_noise,
            fit=partial(self.fit, elites=size.elites),
        )

    def anew(self, size: SearchSize) -> SkillDistribution:
        """Where a search begins: N(0, I)."""
        return standard_normal(size.plan_length, self.skill_size)

    def select(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """Search from N(0, I)."""
        return self.iterate(imagine_and_score, self.anew(self.training), key, self.training)[0]

    def select_to_act(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """Search from N(0, I) for a plan as long as acting wants it, as hard as acting can afford."""
        return self.watch_to_act(imagine_and_score, feature, key)[0]

    def watch_to_act(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> tuple[SkillDistribution, Iterations]:
        """The search of `select_to_act`, and what it went through."""
        return self.iterate(imagine_and_score, self.anew(self.acting), key, self.acting)


class CrossEntropyMethod(Search):
    """The paper's planner."""

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        super().__init__(config, action_size, key)

    def fit(
        self,
        distribution: SkillDistribution,
        plans: Float[Array, "population plan_length skill"],
        scores: Float[Array, " population"],
        judge: Judge,
        elites: int,
    ) -> SkillDistribution:
        """Mean and std of the elites."""
        return refit(distribution, plans, scores, elites)
