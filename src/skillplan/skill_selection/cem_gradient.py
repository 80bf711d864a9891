"""CEM whose elites are refined by gradient steps through the world model (the paper's future work)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from skillplan.config import Config
from skillplan.skill_selection.cem import Judge, Search, best, weighted_fit
from skillplan.types import SkillDistribution


def refine(
    judge: Judge,
    plan: Float[Array, "plan_length skill"],
    score: Float[Array, ""],
    member: Int[Array, ""],
    *,
    steps: int,
    step_size: float,
) -> Float[Array, "plan_length skill"]:
    """The best of a plan and of those that `steps` steps up its score's gradient lead to, under the same draws.

    Each step is `step_size` long whatever the gradient's length, as rewards have no common scale. A gradient or a
    score that is not finite improves nothing.
    """

    def step(carry: tuple[Array, Array, Array], _: None) -> tuple[tuple[Array, Array, Array], None]:
        here, found, found_score = carry
        gradient = jax.grad(judge)(here, member)
        length = jnp.sqrt(jnp.sum(jnp.square(gradient)))
        usable = jnp.isfinite(length) & (length > 0)
        here = here + jnp.where(usable, step_size / jnp.where(usable, length, 1.0), 0.0) * jnp.where(
            usable, gradient, 0.0
        )
        here_score = judge(here, member)
        better = jnp.isfinite(here_score) & (here_score > found_score)
        return (here, jnp.where(better, here, found), jnp.where(better, here_score, found_score)), None

    (_, found, _), _ = jax.lax.scan(step, (plan, plan, score), None, length=steps)
    return found


class GradientCEM(Search):
    """CEM with a local search around each elite before the refit."""

    steps: int = eqx.field(static=True)
    step_size: float = eqx.field(static=True)

    def __init__(self, config: Config, action_size: int, key: PRNGKeyArray):
        super().__init__(config, action_size, key)
        self.steps, self.step_size = config.planner.gradient_steps, config.planner.gradient_step_size

    def fit(
        self,
        distribution: SkillDistribution,
        plans: Float[Array, "population plan_length skill"],
        scores: Float[Array, " population"],
        judge: Judge,
        elites: int,
    ) -> SkillDistribution:
        """Mean and std of the refined elites."""
        index, weights = best(scores, elites)
        refined = jax.vmap(
            lambda plan, score, member: refine(judge, plan, score, member, steps=self.steps, step_size=self.step_size)
        )(plans[index], scores[index], index)
        return weighted_fit(distribution, refined, weights)
