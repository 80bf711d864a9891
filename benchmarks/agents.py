"""What each agent costs: one update, one agent step; and what either estimate of mutual information does."""

import time
from collections.abc import Callable

import jax
import jax.numpy as jnp

from benchmarks.timing import interleaved
from benchmarks.update import random_batch
from skillplan.agent import blank_memory
from skillplan.algorithm import replace_parts
from skillplan.behavior.loss import Start, behavior_loss
from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.learners import learner_of
from skillplan.models import make_models
from skillplan.presets import AGENTS, make_config, with_overrides

COMPARED = (4, 16, 64)
"""How many skills the forward estimate compares."""


def measure_agents(task: str, spec: EnvSpec, size: str, rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Processor seconds per update of each agent, and per agent step, meaned over the K steps that a skill is held."""
    updates, steps = {}, {}
    for name in AGENTS:
        config = make_config(task, name, size, {"training": {"updates_per_call": 1}})
        learner = learner_of(config)
        config = with_overrides(config, {"training": {"sequence_length": learner.sequence_length}})
        state = jax.jit(lambda k, learner=learner: learner.initial(spec, k))(jax.random.key(0))
        batches = jax.tree.map(lambda x: x[None], random_batch(config, learner.stored_spec(spec)))
        compiled, act = learner.make_updates(), learner.make_act()
        models = jax.tree.map(jnp.copy, state.models)
        held = [state]

        def update(held=held, compiled=compiled, batches=batches) -> jax.Array:
            # The state that is given is consumed.
            held[0], metrics = compiled(held[0], batches, jnp.int32(1), jax.random.key(0))
            return metrics

        def play(act=act, models=models, duration=config.skill.duration) -> jax.Array:
            memory, action = blank_memory(models, 1), None
            for step in range(duration):
                seen, first = jnp.zeros((1, *spec.observation_shape)), jnp.array([step == 0])
                memory, action = act(models, memory, seen, first, jax.random.key(0)[None], jnp.float32(1))
            return action

        updates[f"{name} ({config.training.updates_per_frame:g} per frame)"] = update
        steps[name, config.skill.duration] = play
    taken = interleaved(steps, rounds, time.process_time)
    return interleaved(updates, rounds, time.process_time), {
        name: value / held for (name, held), value in taken.items()
    }


def measure_information(task: str, spec: EnvSpec, size: str, rounds: int) -> dict[str, float]:
    """Processor seconds of LSP's behaviour learning, forward and backward pass, with either estimate and with none."""
    settings = {"no skills (Dreamer at the same length)": ("dreamer", {"behavior": {"imagination_length": 10}})}
    settings["backward: skill predictor"] = ("lsp", {})
    for count in COMPARED:
        forward = {"discovery": {"intrinsic": "forward", "compared_skills": count}}
        settings[f"forward: {count} skills compared"] = ("lsp", forward)
    functions = {}
    for name, (agent, overrides) in settings.items():
        functions[name] = behaviour_learning(make_config(task, agent, size, overrides), spec)
    return interleaved(functions, rounds, time.process_time)


def behaviour_learning(config: Config, spec: EnvSpec) -> Callable[[], tuple]:
    """Losses and gradients of policy, value and predictor, from as many starts as an update has."""
    key = jax.random.key(0)
    models = jax.jit(lambda k: make_models(config, spec, k))(key)
    count = (config.behavior.start_sequences or config.training.batch_size) * config.training.sequence_length
    latents = jax.tree.map(lambda x: jnp.ones((count, *x.shape)), models.world_model.rssm.initial())
    plans = jax.random.normal(key, (count, models.selection.plan_length, models.selection.skill_size))

    def loss(learning: dict) -> tuple:
        starts = Start(latents, jnp.ones(count), plans)
        return behavior_loss(replace_parts(models, learning), starts, jnp.ones(()), key, config)

    learn = jax.jit(jax.value_and_grad(loss, has_aux=True))
    learning = {name: getattr(models, name) for name in ("policy", "value", "predictor")}
    return lambda: learn(learning)
