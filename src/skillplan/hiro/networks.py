"""What both levels are made of: a deterministic policy, and two critics of which the lower one is believed."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from skillplan.config import HiroConfig, NetworkConfig
from skillplan.networks import MLP

NETWORK = NetworkConfig(activation="relu")


class Actor(eqx.Module):
    """A policy whose every output lies in (−1, 1); what reads it gives that a unit."""

    mlp: MLP
    outputs: int = eqx.field(static=True)

    def __init__(self, inputs: int, outputs: int, hiro: HiroConfig, key: PRNGKeyArray):
        self.mlp = MLP(inputs, hiro.units, hiro.layers, outputs, NETWORK, key)
        self.outputs = outputs

    def __call__(self, inputs: Float[Array, " inputs"]) -> Float[Array, " action"]:
        """The action, without noise."""
        return jnp.tanh(self.mlp(inputs))


class TwinCritic(eqx.Module):
    """Two estimates of the return of an action, that differ in nothing but their initial parameters."""

    first: MLP
    second: MLP

    def __init__(self, inputs: int, actions: int, hiro: HiroConfig, key: PRNGKeyArray):
        first_key, second_key = jax.random.split(key)
        self.first = MLP(inputs + actions, hiro.units, hiro.layers, 1, NETWORK, first_key)
        self.second = MLP(inputs + actions, hiro.units, hiro.layers, 1, NETWORK, second_key)

    def __call__(self, inputs: Float[Array, " inputs"], action: Float[Array, " action"]) -> Float[Array, " 2"]:
        """Both estimates."""
        x = jnp.concatenate([inputs, action])
        return jnp.concatenate([self.first(x), self.second(x)])


class ActorCritic(eqx.Module):
    """One level's networks."""

    actor: Actor
    critic: TwinCritic

    def __init__(self, inputs: int, actions: int, hiro: HiroConfig, key: PRNGKeyArray):
        actor_key, critic_key = jax.random.split(key)
        self.actor = Actor(inputs, actions, hiro, actor_key)
        self.critic = TwinCritic(inputs, actions, hiro, critic_key)
