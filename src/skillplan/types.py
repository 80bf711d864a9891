"""The values that travel between the parts: latents, noise, skill distributions, replay batches."""

from typing import NamedTuple

from jaxtyping import Array, Bool, Float, Int, Shaped


class Gaussian(NamedTuple):
    """A diagonal Gaussian."""

    mean: Float[Array, "*batch size"]
    std: Float[Array, "*batch size"]


class Latent(NamedTuple):
    """The paper's s_t: a deterministic memory, and a sample of the stochastic part with the Gaussian it came from."""

    deter: Float[Array, "*batch deter"]
    stoch: Float[Array, "*batch stoch"]
    mean: Float[Array, "*batch stoch"]
    std: Float[Array, "*batch stoch"]


class SkillDistribution(NamedTuple):
    """The paper's zeta = (mu, Sigma) over a plan of skills; `std` is the root of the diagonal of Sigma."""

    mean: Float[Array, "*batch plan_length skill_size"]
    std: Float[Array, "*batch plan_length skill_size"]


class Noise(NamedTuple):
    """Standard normal draws that one imagined trajectory uses up, so that imagination itself is deterministic."""

    action: Float[Array, "*batch length action_size"]
    latent: Float[Array, "*batch length stoch"]


class Memory(NamedTuple):
    """What an agent remembers of the episodes it is in."""

    latent: Latent
    action: Float[Array, "*batch action"]
    skill: Float[Array, "*batch skill"]
    step: Int[Array, "*batch"]
    """Agent steps since the start of the episode; a skill is chosen where it is a multiple of K."""


class Batch(NamedTuple):
    """Sequences from replay. Index t holds an observation, the action that led to it, the reward that came with it."""

    observation: Shaped[Array, "*shape"]
    action: Float[Array, "*batch length action_size"]
    reward: Float[Array, "*batch length"]
    is_first: Bool[Array, "*batch length"]
    is_terminal: Bool[Array, "*batch length"]
