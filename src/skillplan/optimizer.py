"""Adam with a clipped gradient, one for each part of the agent."""

import optax
from jaxtyping import PyTree

from skillplan.config import Config

PARTS = ("world_model", "policy", "value", "predictor", "selection")


def make_optimizers(config: Config) -> dict[str, optax.GradientTransformation]:
    """One optimiser per part, with Dreamer's epsilon; the high-level policy learns at the policy's rate."""
    rates = {
        "world_model": config.world_model.learning_rate,
        "policy": config.policy.learning_rate,
        "value": config.value.learning_rate,
        "predictor": config.discovery.learning_rate,
        "selection": config.policy.learning_rate,
    }
    return {
        part: optax.chain(optax.clip_by_global_norm(config.training.gradient_clip), optax.adam(rate, eps=1e-7))
        for part, rate in rates.items()
    }


def begin(optimizer: optax.GradientTransformation, part: PyTree) -> optax.OptState:
    """The state of an optimiser before its first step."""
    return optimizer.init(part)


def apply_gradient(
    optimizer: optax.GradientTransformation, part: PyTree, gradient: PyTree, state: optax.OptState
) -> tuple[PyTree, optax.OptState]:
    """One step: the part and its optimiser's state afterwards."""
    change, state = optimizer.update(gradient, state, part)
    return optax.apply_updates(part, change), state
