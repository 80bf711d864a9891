"""The original goal of HIRO: a change of what is observed."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.errors import unknown_name
from skillplan.hiro.goal import Goal
from skillplan.hiro.segment import Segment


class StateGoal(Goal):
    """g asks for s + g, where s are some numbers of the squashed observation; paid with −‖s + g − s'‖."""

    size: int = eqx.field(static=True)
    bound: float = eqx.field(static=True)
    places: tuple[int, ...] = eqx.field(static=True)
    """Which numbers of the observation."""

    def __init__(self, config: Config, spec: EnvSpec, key: PRNGKeyArray):
        self.places = goal_places(spec, config.hiro.goal_keys)
        self.size, self.bound = len(self.places), config.hiro.goal_bound

    def _read(self, observation: Float[Array, "*b size"]) -> Float[Array, "*b goal"]:
        return observation[..., np.array(self.places)]

    def onward(
        self, goal: Float[Array, " goal"], observation: Float[Array, " size"], following: Float[Array, " size"]
    ) -> Float[Array, " goal"]:
        """s + g − s': the place asked for stays where it is."""
        return self._read(observation) + goal - self._read(following)

    def prior(self, key: PRNGKeyArray) -> Float[Array, " goal"]:
        """Uniform within bounds."""
        return jax.random.uniform(key, (self.size,), minval=-self.bound, maxval=self.bound)

    def rewards(self, segment: Segment, key: PRNGKeyArray) -> Float[Array, " steps"]:
        """−‖s + g − s'‖ of each step."""
        left = jax.vmap(self.onward)(segment.goal, segment.observation[:-1], segment.observation[1:])
        return -jnp.sqrt(jnp.sum(jnp.square(left), axis=-1))

    def centre(self, segment: Segment) -> Float[Array, " goal"]:
        """The achieved change."""
        return self._read(segment.observation[-1]) - self._read(segment.observation[0])


def goal_places(spec: EnvSpec, keys: tuple[str, ...]) -> tuple[int, ...]:
    """Places in the flat observation of the named pieces, of all pieces where none is named."""
    for key in keys:
        if key not in spec.observation_keys:
            raise unknown_name(f"observation of {spec.task} in --hiro.goal-keys", key, spec.observation_keys)
    ends = np.cumsum(spec.observation_sizes)
    pieces = zip(spec.observation_keys, spec.observation_sizes, ends, strict=True)
    places = [range(end - size, end) for key, size, end in pieces if not keys or key in keys]
    return tuple(int(place) for piece in places for place in piece)
