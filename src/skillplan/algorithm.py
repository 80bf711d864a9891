"""Learning: one update of Algorithm 1, which trains every part on one batch of sequences."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from skillplan.behavior.loss import Start, behavior_loss
from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.learner import Metrics, Updates
from skillplan.models import Models, make_models
from skillplan.optimizer import apply_gradient, make_optimizers
from skillplan.skill_selection.plan_shape import while_training
from skillplan.types import Batch, Latent
from skillplan.world_model.loss import world_model_loss
from skillplan.world_model.rssm import feature

RETURN_RANGE_DECAY = 0.98


class LearnerState(eqx.Module):
    """Everything that an update changes."""

    models: Models
    optimizers: dict[str, optax.OptState]
    return_range: Float[Array, ""]
    """Running 5-95 percentile range of the imagined returns."""
    updates: Int[Array, ""]


def make_learner(config: Config, spec: EnvSpec, key: PRNGKeyArray) -> LearnerState:
    """The state before the first update."""
    models = make_models(config, spec, key)
    optimizers = {part: optimizer.init(getattr(models, part)) for part, optimizer in make_optimizers(config).items()}
    return LearnerState(models, optimizers, jnp.ones(()), jnp.zeros((), jnp.int32))


def make_update(config: Config) -> Callable[[LearnerState, Batch, PRNGKeyArray], tuple[LearnerState, Metrics]]:
    """The function `update(state, batch, key)` for one batch `[batch, length, …]`."""
    config = while_training(config)
    optimizers = make_optimizers(config)
    frozen = config.training.frozen

    def improve(state: LearnerState, gradients: dict[str, object]) -> tuple[LearnerState, Metrics]:
        parts, optimizer_states, norms = {}, dict(state.optimizers), {}
        for part, gradient in gradients.items():
            parts[part], optimizer_states[part] = apply_gradient(
                optimizers[part], getattr(state.models, part), gradient, state.optimizers[part]
            )
            norms[f"{part}/gradient_norm"] = optax.tree.norm(gradient)
        models = replace_parts(state.models, parts)
        return LearnerState(models, optimizer_states, state.return_range, state.updates), norms

    def update(state: LearnerState, batch: Batch, key: PRNGKeyArray) -> tuple[LearnerState, Metrics]:
        model_key, select_key, imagine_key, selection_key = jax.random.split(key, 4)

        # Model learning: update θ; the posterior states become the starts of imagination.
        model_loss = lambda model: world_model_loss(model, batch, model_key, config.world_model)  # noqa: E731
        (_, (posterior, metrics)), gradient = jax.value_and_grad(model_loss, has_aux=True)(state.models.world_model)
        if "world_model" not in frozen:
            state, norms = improve(state, {"world_model": gradient})
            metrics |= norms

        # Behaviour learning: select skills by ζ, imagine, update φ, ψ and χ. Planned actions leave nothing to learn.
        posterior = jax.tree.map(lambda x: x[: config.behavior.start_sequences], jax.lax.stop_gradient(posterior))
        spread = state.return_range
        if state.models.value is not None:
            starts = select_skills(state.models, posterior, batch.is_terminal, select_key, config)
            learning = {p: getattr(state.models, p) for p in ("policy", "value", "predictor") if p not in frozen}

            def behavior(parts: dict[str, eqx.Module | None]) -> tuple[Array, tuple[Array, Metrics]]:
                models = replace_parts(state.models, parts)
                return behavior_loss(models, starts, state.return_range, imagine_key, config)

            (_, (spread, behavior_metrics)), gradients = jax.value_and_grad(behavior, has_aux=True)(learning)
            state, norms = improve(state, {part: g for part, g in gradients.items() if g is not None})
            metrics |= behavior_metrics | norms

        # A selection with parameters learns to choose what the planner would.
        if jax.tree.leaves(state.models.selection) and "selection" not in frozen:
            loss, gradient = jax.value_and_grad(selection_loss)(
                state.models.selection, state.models, posterior, batch.is_terminal, selection_key, config
            )
            state, norms = improve(state, {"selection": gradient})
            metrics |= norms | {"selection/loss": loss}

        return_range = RETURN_RANGE_DECAY * state.return_range + (1 - RETURN_RANGE_DECAY) * spread
        return LearnerState(state.models, state.optimizers, return_range, state.updates + 1), metrics

    return update


def make_updates(config: Config) -> Updates:
    """The compiled function that makes many updates of Algorithm 1."""
    return repeated(make_update(config))


def repeated(update: Callable[..., tuple[Any, Metrics]]) -> Updates:
    """The compiled function `updates(state, batches, count, key)`: `count` times `update(state, batch, key)`.

    `batches` is `[updates_per_call, batch, length, …]`, of which the first `count` are used. Each update draws from
    `key` folded with the number of updates so far, so calls may be cut anywhere. Metrics are means over the updates.
    The state is donated: the old one is gone.
    """

    def updates(state: Any, batches: Batch, count: Int[Array, ""], key: PRNGKeyArray) -> tuple[Any, Metrics]:
        def one(i: Int[Array, ""], carry: tuple[Any, Metrics]) -> tuple[Any, Metrics]:
            state, sums = carry
            batch = jax.tree.map(lambda x: x[i], batches)
            state, metrics = update(state, batch, jax.random.fold_in(key, state.updates))
            return state, jax.tree.map(jnp.add, sums, metrics)

        shapes = jax.eval_shape(update, state, jax.tree.map(lambda x: x[0], batches), key)[1]
        zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
        state, sums = jax.lax.fori_loop(0, count, one, (state, zeros))
        return state, jax.tree.map(lambda x: x / jnp.maximum(count, 1), sums)

    return jax.jit(updates, donate_argnums=0)


def replace_parts(models: Models, parts: dict[str, Any]) -> Models:
    """The same models with some parts exchanged."""
    return dataclasses.replace(models, **parts)


def planned_states(posterior: Latent, config: Config) -> tuple[Latent, Int[Array, " length"]]:
    """The states `[batch, planned, …]` for which skills are selected, and for each step which of them it belongs to.

    All of them, or with `planner.starts` "segment" every K-th of a sequence, as in acting.
    """
    length = posterior.deter.shape[1]
    stride = 1 if config.planner.starts == "all" else config.skill.training_segment
    return jax.tree.map(lambda x: x[:, ::stride], posterior), jnp.arange(length) // stride


def select_skills(models: Models, posterior: Latent, is_terminal: Array, key: PRNGKeyArray, config: Config) -> Start:
    """Every posterior state with the skills to imagine from it, flattened to `[batch · length, …]`.

    A share `prior_fraction` of them gets skills from N(0, I), so that skills the planner avoids are practised too.
    """
    plan_key, sample_key, mix_key, prior_key = jax.random.split(key, 4)
    selection = models.selection
    planned, owner = planned_states(posterior, config)
    batch, count = planned.deter.shape[:2]
    flat = jax.tree.map(lambda x: x.reshape(batch * count, -1), planned)
    distribution = jax.vmap(lambda latent, k: selection.select(models.score(latent, config), feature(latent), k))(
        flat, jax.random.split(plan_key, batch * count)
    )
    # Each state's ζ is that of the planned state it belongs to.
    total = batch * len(owner)
    distribution = jax.tree.map(
        lambda x: x.reshape(batch, count, *x.shape[1:])[:, owner].reshape(total, *x.shape[1:]), distribution
    )
    plan = jax.vmap(selection.sample)(distribution, jax.random.split(sample_key, total))
    if config.skill.prior_fraction > 0:
        from_prior = jax.random.bernoulli(mix_key, config.skill.prior_fraction, (total, 1, 1))
        plan = jnp.where(from_prior, jax.random.normal(prior_key, plan.shape), plan)
    goes_on = 1.0 - is_terminal[:batch].reshape(total).astype(jnp.float32)
    latents = jax.tree.map(lambda x: x.reshape(total, -1), posterior)
    return jax.lax.stop_gradient(Start(latents, goes_on, plan))


def selection_loss(
    selection: eqx.Module, models: Models, posterior: Latent, is_terminal: Array, key: PRNGKeyArray, config: Config
) -> Float[Array, ""]:
    """Mean loss of a learning selection over the states where skills begin; an episode's end is not one of them."""
    stride = config.skill.training_segment
    states = jax.tree.map(lambda x: x[:, ::stride].reshape(-1, x.shape[-1]), posterior)
    goes_on = 1.0 - is_terminal[: len(posterior.deter), ::stride].ravel().astype(jnp.float32)
    models = replace_parts(models, {"selection": selection})
    keys = jax.random.split(key, len(states.deter))
    each = jax.vmap(lambda latent, k: models.selection.loss(models.score(latent, config), feature(latent), k))
    return jnp.mean(goes_on * each(states, keys))
