"""What each agent costs: one update, one agent step; and what either estimate of mutual information does."""

import jax
import jax.numpy as jnp

from benchmarks.timing import interleaved
from benchmarks.update import parts, random_batch
from skillplan.agent import blank_memory
from skillplan.algorithm import make_learner
from skillplan.envs.interface import EnvSpec
from skillplan.learners import learner_of
from skillplan.presets import AGENTS, make_config, with_overrides

COMPARED = (4, 16, 64)
"""How many skills the forward estimate compares."""


def measure_agents(task: str, spec: EnvSpec, size: str, rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds per update of each agent, and per agent step, meaned over the K steps for which a skill is held."""
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
    taken = interleaved(steps, rounds)
    return interleaved(updates, rounds), {name: value / held for (name, held), value in taken.items()}


def measure_information(task: str, spec: EnvSpec, size: str, rounds: int) -> dict[str, float]:
    """Seconds of LSP's behaviour learning, forward and backward pass, with either estimate and with none."""
    settings = {"no skills (Dreamer at the same length)": ("dreamer", {"behavior": {"imagination_length": 10}})}
    settings["backward: skill predictor"] = ("lsp", {})
    for count in COMPARED:
        forward = {"discovery": {"intrinsic": "forward", "compared_skills": count}}
        settings[f"forward: {count} skills compared"] = ("lsp", forward)
    functions = {}
    for name, (agent, overrides) in settings.items():
        config = make_config(task, agent, size, overrides)
        state = jax.jit(lambda k, c=config: make_learner(c, spec, k))(jax.random.key(0))
        functions[name] = parts(config, state.models, random_batch(config, spec), jax.random.key(0))["behaviour"]
    return interleaved(functions, rounds)
