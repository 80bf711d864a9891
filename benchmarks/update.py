"""What one update costs, for Dreamer and for LSP with both ways of planning, and the share of each part."""

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.timing import interleaved
from skillplan.algorithm import make_learner, make_update, select_skills
from skillplan.behavior.loss import behavior_loss
from skillplan.config import Config
from skillplan.envs.interface import EnvSpec
from skillplan.models import Models
from skillplan.presets import make_config
from skillplan.types import Batch
from skillplan.world_model.loss import world_model_loss

WALKER = EnvSpec("walker-walk", ("features",), (24,), (24,), False, 6, 2, 1000, False)
ROVER = EnvSpec("rover-field", ("features",), (21,), (21,), False, 2, 1, 300, False)


def random_batch(config: Config, spec: EnvSpec, seed: int = 0) -> Batch:
    """Standard normal observations: the cost of an update does not depend on what is in them."""
    rng = np.random.default_rng(seed)
    shape = (config.training.batch_size, config.training.sequence_length)
    return Batch(
        jnp.asarray(rng.normal(size=(*shape, *spec.observation_shape)), jnp.float32),
        jnp.asarray(rng.uniform(-1, 1, (*shape, spec.action_size)), jnp.float32),
        jnp.asarray(rng.uniform(size=shape), jnp.float32),
        jnp.zeros(shape, bool),
        jnp.zeros(shape, bool),
    )


def measure_update(task: str, spec: EnvSpec, size: str, rounds: int, *, with_all: bool) -> dict[str, float]:
    """Seconds per update of Dreamer and LSP, and of LSP's parts."""
    configs = {
        "dreamer": make_config(task, "dreamer", size),
        "lsp, plans at every K-th state": make_config(task, "lsp", size, {"planner": {"starts": "segment"}}),
    }
    if with_all:
        configs["lsp, plans at every state"] = make_config(task, "lsp", size, {"planner": {"starts": "all"}})
    functions = {}
    key = jax.random.key(0)
    for name, config in configs.items():
        state = jax.jit(lambda k, c=config: make_learner(c, spec, k))(key)
        batch = random_batch(config, spec)
        update = jax.jit(make_update(config))
        functions[name] = lambda update=update, state=state, batch=batch: update(state, batch, key)
        for part, function in parts(config, state.models, batch, key).items():
            functions[f"{name}: {part}"] = function
    return interleaved(functions, rounds)


def parts(config: Config, models: Models, batch: Batch, key: jax.Array) -> dict:
    """The three stages of an update, each compiled alone."""
    model_loss = jax.jit(
        jax.value_and_grad(lambda m: world_model_loss(m, batch, key, config.world_model), has_aux=True)
    )
    (_, (posterior, _)), _ = model_loss(models.world_model)
    posterior = jax.tree.map(lambda x: x[: config.behavior.start_sequences], posterior)
    select = jax.jit(lambda m: select_skills(m, posterior, batch.is_terminal, key, config))
    starts = select(models)

    def behavior(learning: dict) -> tuple:
        changed = Models(**{name: learning.get(name, getattr(models, name)) for name in Models.__dataclass_fields__})
        return behavior_loss(changed, starts, jnp.ones(()), key, config)

    learn = jax.jit(jax.value_and_grad(behavior, has_aux=True))
    learning = {name: getattr(models, name) for name in ("policy", "value", "predictor")}
    return {
        "world model": lambda: model_loss(models.world_model),
        "selecting skills": lambda: select(models),
        "behaviour": lambda: learn(learning),
    }
