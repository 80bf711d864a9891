"""What every way of selecting skills has in common."""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.types import SkillDistribution

ImagineAndScore = Callable[[Float[Array, "plan_length skill"], PRNGKeyArray], Float[Array, ""]]
"""Imagine what a plan brings and say how good that is; the model behind it is the caller's affair."""


class SkillSelection(eqx.Module):
    """From one latent to a distribution over plans of skills."""

    plan_length: eqx.AbstractVar[int]
    """Skills in a plan that is imagined while training."""
    skill_size: eqx.AbstractVar[int]
    skill_noise: eqx.AbstractVar[float]
    """Standard deviation of the paper's ε, added to the mean of the distribution while training and collecting."""

    @property
    def acting_length(self) -> int:
        """Skills in a plan that is acted on: as many, unless acting plans further ahead."""
        return self.plan_length

    @abstractmethod
    def select(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """The paper's ζ for one start: mean and std `[plan_length, skill_size]`."""

    def select_to_act(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> SkillDistribution:
        """ζ where it is acted on, not only imagined: the same, unless a selection says otherwise."""
        return self.select(imagine_and_score, feature, key)

    def sample(self, distribution: SkillDistribution, key: PRNGKeyArray) -> Float[Array, "plan_length skill"]:
        """A plan z ~ N(mean + ε, std)."""
        noise_key, sample_key = jax.random.split(key)
        mean = distribution.mean + self.skill_noise * jax.random.normal(noise_key, distribution.mean.shape)
        return mean + distribution.std * jax.random.normal(sample_key, mean.shape)

    def decide(
        self, distribution: SkillDistribution, key: PRNGKeyArray, explore: Float[Array, ""]
    ) -> Float[Array, " skill"]:
        """The first skill to act on: a sample where `explore` is 1, the mean where it is 0."""
        sample = self.sample(distribution, key)[0]
        return distribution.mean[0] + explore * (sample - distribution.mean[0])

    def loss(
        self, imagine_and_score: ImagineAndScore, feature: Float[Array, " feature"], key: PRNGKeyArray
    ) -> Float[Array, ""]:
        """What a selection with parameters minimises at one state; the others have nothing to learn."""
        return jnp.zeros(())
