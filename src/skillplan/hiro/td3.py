"""TD3 (Fujimoto et al. 2018), by which either level learns from transitions of its own."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from skillplan.config import HiroConfig
from skillplan.hiro.networks import Actor, ActorCritic, TwinCritic
from skillplan.learner import Metrics
from skillplan.optimizer import apply_gradient


class Transition(NamedTuple):
    """One step of one level."""

    inputs: Float[Array, "*b inputs"]
    """What the level read."""
    action: Float[Array, "*b action"]
    """What it did, in [−1, 1]."""
    reward: Float[Array, "*b"]
    following: Float[Array, "*b inputs"]
    """What it read next."""
    goes_on: Float[Array, "*b"]
    """0 where the world ended the episode, so that nothing follows; else 1."""


class Level(eqx.Module):
    """Everything that an update of one level changes."""

    learned: ActorCritic
    target: ActorCritic
    """Followed slowly by tau; what the critics' targets are computed with."""
    actor_optimizer: optax.OptState
    critic_optimizer: optax.OptState
    updates: Int[Array, ""]
    """Of the critics."""
    policy_loss: Float[Array, ""]
    """The newest: not every update computes it."""


class Optimizers(NamedTuple):
    """Adam for policy and critics."""

    actor: optax.GradientTransformation
    critic: optax.GradientTransformation


def make_optimizers(hiro: HiroConfig, gradient_clip: float) -> Optimizers:
    """Both, with a clipped gradient."""
    rates = hiro.actor_learning_rate, hiro.critic_learning_rate
    return Optimizers(*(optax.chain(optax.clip_by_global_norm(gradient_clip), optax.adam(rate)) for rate in rates))


def make_level(inputs: int, actions: int, hiro: HiroConfig, optimizers: Optimizers, key: PRNGKeyArray) -> Level:
    """A level before its first update; the targets begin as copies."""
    learned = ActorCritic(inputs, actions, hiro, key)
    return Level(
        learned=learned,
        target=jax.tree.map(jnp.copy, learned),
        actor_optimizer=optimizers.actor.init(learned.actor),
        critic_optimizer=optimizers.critic.init(learned.critic),
        updates=jnp.zeros((), jnp.int32),
        policy_loss=jnp.zeros(()),
    )


def critic_target(
    target: ActorCritic, transition: Transition, noise: Float[Array, " action"], hiro: HiroConfig
) -> Float[Array, ""]:
    """r + γ·min(Q'₁, Q'₂)(s', π'(s') + ε), with ε the clipped and scaled standard normal `noise`."""
    smoothing = jnp.clip(hiro.target_noise * noise, -hiro.target_noise_clip, hiro.target_noise_clip)
    action = jnp.clip(target.actor(transition.following) + smoothing, -1.0, 1.0)
    return transition.reward + hiro.discount * transition.goes_on * jnp.min(target.critic(transition.following, action))


def critic_loss(
    critic: TwinCritic, transitions: Transition, targets: Float[Array, " batch"]
) -> Float[Array, ""]:
    """Huber loss of each critic against the targets, summed over the two, meaned over the batch."""
    estimates = jax.vmap(critic)(transitions.inputs, transitions.action)
    return jnp.mean(jnp.sum(optax.huber_loss(estimates, targets[:, None]), axis=1))


def actor_loss(actor: Actor, critic: TwinCritic, inputs: Float[Array, "batch inputs"]) -> Float[Array, ""]:
    """−mean Q₁(s, π(s))."""
    return -jnp.mean(jax.vmap(lambda x: critic(x, actor(x))[0])(inputs))


def follow(target: ActorCritic, learned: ActorCritic, rate: float) -> ActorCritic:
    """τ·learned + (1 − τ)·target."""
    return jax.tree.map(lambda old, new: old + rate * (new - old), target, learned)


def improve(
    level: Level, transitions: Transition, optimizers: Optimizers, hiro: HiroConfig, key: PRNGKeyArray
) -> tuple[Level, Metrics]:
    """One update: the critics always, the policy and the targets every `policy_delay`-th time."""
    noise = jax.random.normal(key, transitions.action.shape)
    targets = jax.vmap(lambda transition, e: critic_target(level.target, transition, e, hiro))(transitions, noise)
    loss, gradient = jax.value_and_grad(critic_loss)(level.learned.critic, transitions, targets)
    critic, critic_optimizer = apply_gradient(
        optimizers.critic, level.learned.critic, gradient, level.critic_optimizer
    )
    updates = level.updates + 1

    def with_policy() -> tuple[Actor, optax.OptState, ActorCritic, Float[Array, ""]]:
        policy_loss, gradient = jax.value_and_grad(actor_loss)(level.learned.actor, critic, transitions.inputs)
        actor, state = apply_gradient(optimizers.actor, level.learned.actor, gradient, level.actor_optimizer)
        learned = eqx.tree_at(lambda both: (both.actor, both.critic), level.learned, (actor, critic))
        return actor, state, follow(level.target, learned, hiro.target_rate), policy_loss

    def without() -> tuple[Actor, optax.OptState, ActorCritic, Float[Array, ""]]:
        return level.learned.actor, level.actor_optimizer, level.target, level.policy_loss

    actor, actor_optimizer, target, policy_loss = jax.lax.cond(updates % hiro.policy_delay == 0, with_policy, without)
    learned = eqx.tree_at(lambda both: (both.actor, both.critic), level.learned, (actor, critic))
    improved = Level(learned, target, actor_optimizer, critic_optimizer, updates, policy_loss)
    return improved, {"critic_loss": loss, "policy_loss": policy_loss}
